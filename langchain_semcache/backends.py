"""The backends a configuration names; the only place that knows every one of them.

Heavy modules are imported only when asked for.
"""

from __future__ import annotations

from pathlib import Path

from langchain_semcache.clock import Clock
from langchain_semcache.config import SemcacheConfig
from langchain_semcache.errors import ConfigurationError, IndexUnavailable
from langchain_semcache.ports import Encoder, EntryIndex, Verifier
from langchain_semcache.threshold.confidence import shipped


def make_encoder(name: str) -> Encoder:
    """The encoder a configuration names; heavy modules are imported only when asked for."""
    kind, _, model = name.partition(":")
    match kind:
        case "local" if not model:
            from langchain_semcache.encoders.onnx import OnnxEncoder

            return OnnxEncoder().open()
        case "hash" if not model:
            from langchain_semcache.encoders.hashing import TokenizerHashEncoder

            return TokenizerHashEncoder()
        case "sentence-transformers" if model:
            from langchain_semcache.encoders.sentence_transformers import SentenceTransformerEncoder

            return SentenceTransformerEncoder(model)
    raise ConfigurationError(
        f"no encoder is called {name!r}: use "
        "'local', 'hash' or 'sentence-transformers:NAME_OR_PATH'"
    )


def make_index(config: SemcacheConfig, *, dimension: int, clock: Clock) -> EntryIndex:
    """The index a configuration names, opened."""
    if config.location == ":memory:":
        from langchain_semcache.index.memory import MemoryIndex

        return MemoryIndex(dimension)
    if config.is_url:
        from langchain_semcache.index.qdrant_server import QdrantServerIndex

        qdrant = config.qdrant
        server = QdrantServerIndex(
            config.location,
            dimension=dimension,
            collection=qdrant.collection,
            api_key=qdrant.api_key.get_secret_value() if qdrant.api_key else None,
            prefer_grpc=qdrant.prefer_grpc,
            grpc_port=qdrant.grpc_port,
            timeout_seconds=config.deadline_seconds,
            shard_number=qdrant.shard_number,
            replication_factor=qdrant.replication_factor,
            write_consistency_factor=qdrant.write_consistency_factor,
        )
        try:
            server.open()
        except IndexUnavailable as error:
            raise ConfigurationError(str(error)) from error
        return server
    from langchain_semcache.index.qdrant_edge import QdrantEdgeIndex

    edge = QdrantEdgeIndex(
        Path(config.location).expanduser(),
        dimension=dimension,
        graph_from=config.graph_from,
        clock=clock,
    )
    edge.open()
    return edge


def make_verifier(name: str, encoder: Encoder) -> Verifier | None:
    """The verifier a configuration names; heavy modules are imported only when asked for."""
    kind, _, model = name.partition(":")
    match kind:
        case "none" if not model:
            return None
        case "local" if not model:
            from langchain_semcache.verifiers.pairs import PairVerifier

            return PairVerifier(encoder)
        case "auto" if not model:
            from langchain_semcache.verifiers.pairs import IDENTITY, PairVerifier

            return PairVerifier(encoder) if shipped(encoder.identity, IDENTITY) else None
        case "cross-encoder" if model:
            from langchain_semcache.verifiers.cross_encoder import CrossEncoderVerifier

            return CrossEncoderVerifier(model)
    raise ConfigurationError(
        f"no verifier is called {name!r}: use 'auto', 'none', 'local' or "
        "'cross-encoder:NAME_OR_PATH'"
    )
