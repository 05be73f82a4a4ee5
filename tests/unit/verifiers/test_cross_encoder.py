"""The cross-encoder verifier: a tiny real model where the library is, its rules anywhere."""

import os
import weakref
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest

from langchain_semcache.errors import ConfigurationError, MissingExtra, VerifierUnavailable
from langchain_semcache.testing.verifier_conformance import VerifierSuite
from langchain_semcache.verifiers import cross_encoder
from langchain_semcache.verifiers.cross_encoder import CrossEncoderVerifier

INSTALLED = find_spec("sentence_transformers") is not None

needs_library = pytest.mark.skipif(
    not INSTALLED, reason='needs pip install "langchain-semcache[sentence-transformers]"'
)
quiet = [
    pytest.mark.torch,
    # The library and its dependencies deprecate things among themselves.
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
]
NLI = {0: "contradiction", 1: "entailment", 2: "neutral"}
WINDOW = 64


# ── the rules, with a stand-in for the model ─────────────────────────────────────────────────────


class Identity:
    pass


class Sigmoid:
    pass


class Model:
    """Gives what it is told to; a character is a token."""

    def __init__(self, output, labels=None, activation=Identity, window=WINDOW):
        labels = labels or {0: "LABEL_0"}
        self.output, self.max_seq_length, self.seen = output, window, []
        self.activation_fn = activation()
        self.config = SimpleNamespace(num_labels=len(labels), id2label=labels)

    def predict(self, pairs, **options):
        self.seen += pairs
        return self.output(pairs) if callable(self.output) else np.array(self.output)

    def tokenizer(self, first, second, **options):
        return {"input_ids": [0] * (len(first) + len(second) + 3)}

    def state_dict(self):
        return {}


@pytest.fixture
def verifier(monkeypatch):
    monkeypatch.setattr(cross_encoder, "weights_digest", lambda tensors: "0" * 12)

    def make(output, labels=None, *, activation=Identity, window=WINDOW, **options):
        made = CrossEncoderVerifier(Model(output, labels, activation, window), **options)
        return made.open()

    return make


def test_one_output_goes_through_the_logistic_function(verifier):
    found = verifier([0.0, 800.0, -800.0, 2.0]).judge("q", ["a", "b", "c", "d"])
    assert found == pytest.approx([0.5, 1, 0, 0.880797], abs=1e-6)


def test_what_is_a_probability_already_stays(verifier):
    found = verifier([[0.25], [1.0]], activation=Sigmoid).judge("q", ["a", "b"])
    assert found == [0.25, 1.0]


def test_several_labels_are_a_share_and_the_lesser_direction_counts(verifier):
    """Both texts entail each other, or they are not the same."""
    logits = {
        ("q", "a"): [0, 9, 0],
        ("a", "q"): [9, 0, 0],
        ("q", "b"): [0, 9, 0],
        ("b", "q"): [0, 8, 0],
    }
    made = verifier(lambda pairs: np.array([logits[pair] for pair in pairs], dtype=float), NLI)
    one_way, both_ways = made.judge("q", ["a", "b"])
    assert one_way < 0.001
    assert both_ways == pytest.approx(np.exp(8) / (np.exp(8) + 2))
    assert "label=1;directions=both" in made.identity


@pytest.mark.parametrize("label", ["entailment", "ENTAILMENT", 1])
def test_the_label_can_be_named(verifier, label):
    made = verifier([[0, 9, 0]], NLI, entailment_label=label, both_directions=False)
    assert made.judge("q", ["a"])[0] > 0.99


def test_one_output_can_be_read_both_ways(verifier):
    made = verifier([5.0, -5.0], both_directions=True)
    assert made.judge("q", ["a"])[0] < 0.01


@pytest.mark.parametrize(
    ("labels", "label"),
    [
        ({0: "LABEL_0", 1: "LABEL_1"}, None),
        (NLI, "same"),
        (NLI, 3),
        (NLI, -1),
        (NLI, True),
        ({0: "entailment", 1: "entailment"}, None),
    ],
)
def test_a_label_that_is_not_clear_is_refused_in_one_line(verifier, labels, label):
    with pytest.raises(ConfigurationError, match="entailment_label is") as caught:
        verifier([[0.0] * len(labels)], labels, entailment_label=label)
    assert "\n" not in str(caught.value)


def test_a_pair_beyond_the_window_is_refused_and_not_cut(verifier):
    model = Model([9.0])
    made = CrossEncoderVerifier(model)
    fits, too_long = "x" * (WINDOW - 3 - 1), "x" * (WINDOW - 3)
    assert made.judge("q", [too_long, fits, "x" * 100_000])[0::2] == [0.0, 0.0]
    assert model.seen == [("q", fits)]
    assert made.judge("q" * WINDOW, ["a"]) == [0.0]


def test_a_prompt_of_the_model_takes_room(verifier):
    model = Model([9.0])
    model.prompts, model.default_prompt_name = {"same": "x" * 10}, "same"
    made = CrossEncoderVerifier(model)
    assert made.judge("q", ["x" * (WINDOW - 3 - 1)]) == [0.0]


@pytest.mark.parametrize(
    ("output", "says"),
    [
        ([float("nan")], "NaN"),
        ([float("inf")], "NaN or infinite"),
        ([0.1, 0.2], r"shape \[2\] for 1 pairs"),
        ([], "shape"),
        (lambda pairs: "text", "failed: ValueError"),
        (lambda pairs: 1 / 0, "failed: ZeroDivisionError"),
    ],
)
def test_a_model_gone_wrong_is_an_unavailable_verifier(verifier, output, says):
    with pytest.raises(VerifierUnavailable, match=says) as caught:
        verifier(output).judge("secret", ["a"])
    assert "secret" not in str(caught.value)


def test_a_probability_out_of_range_is_refused(verifier):
    with pytest.raises(VerifierUnavailable, match="no probability"):
        verifier([1.5], activation=Sigmoid).judge("q", ["a"])


def test_an_unknown_activation_is_refused(verifier):
    with pytest.raises(ConfigurationError, match="activation is Model"):
        verifier([0.0], activation=lambda: Model([]))


def test_a_model_without_a_window_is_refused(verifier):
    with pytest.raises(ConfigurationError, match="how many tokens"):
        verifier([0.0], window=None)


def test_nothing_to_judge_asks_nothing(verifier):
    model = Model([])
    assert CrossEncoderVerifier(model).judge("q", []) == []
    assert model.seen == []


def test_a_verifier_that_is_let_go_frees_its_model_at_once(verifier):
    """And not when the collector comes by: models are large."""
    model = Model([0.0])
    freed = weakref.ref(model)
    made = CrossEncoderVerifier(model).open()
    del model
    assert freed() is not None
    del made
    assert freed() is None


@pytest.mark.parametrize("batch_size", [0, -1, True])
def test_batch_size_is_checked(batch_size):
    with pytest.raises(ConfigurationError, match="batch_size"):
        CrossEncoderVerifier("any", batch_size=batch_size)


def test_a_missing_library_is_named_with_the_fix(monkeypatch):
    monkeypatch.setattr(cross_encoder, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"\[sentence-transformers\]"):
        CrossEncoderVerifier("any")


def test_something_else_is_no_model():
    with pytest.raises(ConfigurationError, match="model is a int"):
        CrossEncoderVerifier(7)


# ── the real library, with a tiny model of random weights ────────────────────────────────────────


def build(folder, labels):
    """A BERT of one layer that knows letters; saved as the library's users save theirs."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    letters = [chr(code) for code in range(33, 127)]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary += [*letters, *("##" + letter for letter in letters)]
    folder.mkdir(parents=True)
    (folder / "vocab.txt").write_text("\n".join(vocabulary))
    torch.manual_seed(len(labels))
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=128,
        id2label=labels,
        label2id={name: number for number, name in labels.items()},
        initializer_range=0.5,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer = BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=128)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def one_label(tmp_path_factory):
    return build(tmp_path_factory.mktemp("models") / "one", {0: "LABEL_0"})


@pytest.fixture(scope="module")
def nli(tmp_path_factory):
    return build(tmp_path_factory.mktemp("models") / "nli", NLI)


@needs_library
class TestOneLabel(VerifierSuite):
    pytestmark = quiet
    identical_at_least = None

    @pytest.fixture
    def verifier(self, one_label):
        return CrossEncoderVerifier(one_label, device="cpu").open()


@needs_library
class TestNLI(VerifierSuite):
    pytestmark = quiet
    identical_at_least = None

    @pytest.fixture
    def verifier(self, nli):
        return CrossEncoderVerifier(nli, device="cpu").open()


@needs_library
class TestRealModel:
    pytestmark = quiet

    def test_probabilities_are_those_of_the_library(self, one_label):
        from sentence_transformers import CrossEncoder

        model = CrossEncoder(str(one_label), device="cpu", local_files_only=True)
        pairs = [("how are you", "who are you"), ("how are you", "no")]
        expected = model.predict(pairs, show_progress_bar=False)
        found = CrossEncoderVerifier(model).judge("how are you", ["who are you", "no"])
        np.testing.assert_allclose(found, expected, atol=1e-6)

    def test_the_entailment_of_both_directions(self, nli):
        from sentence_transformers import CrossEncoder

        model = CrossEncoder(str(nli), device="cpu", local_files_only=True)
        before = model.activation_fn
        shares = model.predict(
            [("how are you", "no"), ("no", "how are you")],
            apply_softmax=True,
            show_progress_bar=False,
        )
        found = CrossEncoderVerifier(model).judge("how are you", ["no"])
        np.testing.assert_allclose(found, [shares[:, 1].min()], atol=1e-6)
        assert model.activation_fn is before

    def test_a_given_model_and_its_folder_are_the_same_verifier(self, one_label, nli):
        from sentence_transformers import CrossEncoder

        given = CrossEncoder(str(one_label), device="cpu", local_files_only=True)
        read = CrossEncoderVerifier(one_label, device="cpu")
        assert CrossEncoderVerifier(given).identity == read.identity
        assert read.identity != CrossEncoderVerifier(nli, device="cpu").identity

    def test_the_window_is_that_of_the_model(self, one_label):
        verifier = CrossEncoderVerifier(one_label, device="cpu")
        room = 128 - 3 - 1
        fits, too_long = verifier.judge("q", ["x " * room, "x " * (room + 1)])
        assert fits > 0
        assert too_long == 0

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
    @pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
    @pytest.mark.parametrize("given", [True, False])
    def test_a_forked_child_judges_the_same(self, one_label, given):
        import torch
        from sentence_transformers import CrossEncoder

        model = one_label
        if given:
            model = CrossEncoder(str(one_label), device="cpu", local_files_only=True)
        verifier = CrossEncoderVerifier(model, device="cpu")
        expected = verifier.judge("q", ["a", "b"])
        parents = verifier._holder.get()
        child = os.fork()
        if child == 0:
            same = np.allclose(verifier.judge("q", ["a", "b"]), expected, atol=1e-6)
            own = verifier._holder.get() is not parents
            os._exit(0 if same and own and torch.get_num_threads() == 1 else 1)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0

    @pytest.mark.parametrize(
        ("model", "says"),
        [
            ("nobody/has-this-model", "'nobody/has-this-model' is not in this machine's"),
            ("/nowhere/model", "no directory /nowhere/model"),
            ("./nowhere", r"no directory nowhere"),
        ],
    )
    def test_a_model_that_is_not_here_fails_at_once_in_one_line(self, model, says):
        with pytest.raises(ConfigurationError, match=says) as caught:
            CrossEncoderVerifier(model).open()
        assert "\n" not in str(caught.value)

    def test_a_directory_without_a_model_is_refused_in_one_line(self, tmp_path):
        with pytest.raises(ConfigurationError, match="cannot be read") as caught:
            CrossEncoderVerifier(tmp_path).open()
        assert "\n" not in str(caught.value)

    def test_the_constructor_reads_nothing(self):
        CrossEncoderVerifier("/nowhere/model")
