"""Builds the inference graph of Universal Sentence Encoder multilingual v3, without its weights.

    python scripts/build_use_graph.py           # writes encoders/use_multilingual.onnx
    python scripts/build_use_graph.py --check   # fails when the committed file is another one

Needs the `onnx` package; whoever runs the encoder does not. The architecture is Google's (token
embeddings, three residual n-gram convolutions of order 2, 3 and 5, a sum over tokens divided by
the square root of their number, then a residual feed-forward network; Apache-2.0). The graph takes
the tokens of *all* texts of a batch in one row, so a batch pays for no padding:

    codes    uint8   [tokens, 512]    rows of the quantised embedding table, text after text
    chunk    int64   [tokens]         which of the 17 scales each row was quantised with
    windows  int64   [tokens, 5]      the positions two before to two after each token; a place
                                      beyond the token's own text points at `tokens`, a row of zeros
    pool     float32 [texts, tokens]  1/sqrt(length) where the token belongs to the text, else 0
    vectors  float32 [texts, 512]     rows of length 1
    features float32 [tokens, 1280]   each token in its context: what `vectors` is the sum of
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import onnx
from onnx import TensorProto, helper

TARGET = Path(__file__).parent.parent / "langchain_semcache/encoders/use_multilingual.onnx"
CHUNKS = 17  # the embedding table is quantised in 17 interleaved chunks
EMBEDDING, BRANCH, HIDDEN, OUTPUT = 512, 256, 320, 512
FEATURES = EMBEDDING + 3 * BRANCH
WINDOW_LEFT = 2  # columns of `windows` before the token itself
ORDERS = ((2, 0), (3, 1), (5, 2))  # n-gram length, tokens of left context
EPSILON = 1e-12


class Graph:
    """Collects nodes and tensors; every method returns the name of what it added."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.tensors: list[onnx.TensorProto] = []

    def weight(self, name: str, shape: Sequence[int], dtype: int = TensorProto.FLOAT) -> str:
        """A tensor that the session is given at load time."""
        tensor = onnx.TensorProto(name=name, data_type=dtype, dims=shape)
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="given-at-load")
        self.tensors.append(tensor)
        return name

    def constant(self, name: str, values: Sequence[float], shape: Sequence[int]) -> str:
        """A tensor that the file holds; whole numbers become int64."""
        whole = all(isinstance(value, int) for value in values)
        dtype = TensorProto.INT64 if whole else TensorProto.FLOAT
        self.tensors.append(helper.make_tensor(name, dtype, shape, values))
        return name

    def add(self, kind: str, inputs: Sequence[str], output: str, **attributes: float) -> str:
        node = helper.make_node(kind, inputs, [output])
        for name, value in attributes.items():
            node.attribute.append(helper.make_attribute(name, value))
        self.nodes.append(node)
        return output

    def matmul(self, x: str, weight: str, rows: int, columns: int) -> str:
        return self.add("MatMul", [x, self.weight(weight, [rows, columns])], f"{x}@{weight}")

    def affine(self, x: str, weight: str, bias: str, rows: int, columns: int) -> str:
        product = self.matmul(x, weight, rows, columns)
        return self.add("Add", [product, self.weight(bias, [columns])], f"{product}+")

    def normalise(self, x: str, gamma: str, beta: str, width: int, output: str) -> str:
        inputs = [x, self.weight(gamma, [width]), self.weight(beta, [width])]
        return self.add("LayerNormalization", inputs, output, axis=-1, epsilon=EPSILON)


def embed(graph: Graph) -> str:
    """Codes of one byte to embeddings, scaled by the chunk that the row belongs to.

    The table stays outside: the runtime would make a second copy of its 65 MB.
    """
    floats = graph.add("Cast", ["codes"], "codes_float", to=TensorProto.FLOAT)
    scale = graph.add("Gather", [graph.weight("scale", [CHUNKS, 1]), "chunk"], "row_scale")
    low = graph.add("Gather", [graph.weight("lo", [CHUNKS, 1]), "chunk"], "row_low")
    return graph.add("Add", [graph.add("Mul", [floats, scale], "scaled"), low], "embeddings")


def convolve(graph: Graph, x: str, order: int, left: int) -> str:
    """Two residual n-gram layers over `x`: each token sees its neighbours in its own text."""
    first = WINDOW_LEFT - left
    bounds = [
        graph.constant(f"from_{order}", [first], [1]),
        graph.constant(f"to_{order}", [first + order], [1]),
        "axis_1",
    ]
    window = graph.add("Slice", ["windows", *bounds], f"window_{order}")
    flat = graph.constant(f"flat_{order}", [-1, order * BRANCH], [2])
    for layer in (1, 2):
        name = f"{order}_{layer}"
        padded = graph.add("Concat", [x, "zero_row"], f"padded_{name}", axis=0)
        grams = graph.add("Gather", [padded, window], f"grams_{name}")
        rows = graph.add("Reshape", [grams, flat], f"rows_{name}")
        shape = (order * BRANCH, BRANCH)
        hidden = graph.affine(rows, f"w{layer}_{order}", f"b{layer}_{order}", *shape)
        active = graph.add("Relu", [hidden], f"active_{name}")
        x = graph.add("Add", [active, x], f"out_{name}")
    return x


def pool(graph: Graph, features: str) -> str:
    """Sum over tokens by sqrt(length), projected; the sum first, so the projection is small."""
    summed = graph.add("MatMul", ["pool", features], "summed")
    projected = graph.matmul(summed, "cnn_W", FEATURES, OUTPUT)
    # The bias was added to every token: the sum of a row of `pool` is sqrt(length).
    root = graph.add("ReduceSum", ["pool", "axis_1"], "root_length", keepdims=1)
    bias = graph.add("Mul", [root, graph.weight("cnn_b", [OUTPUT])], "bias")
    return graph.add("Add", [projected, bias], "sentence")


def feed_forward(graph: Graph, x: str) -> str:
    """The residual network on top, and the normalisation to length 1."""
    first = graph.add("Relu", [graph.matmul(x, "d0", OUTPUT, HIDDEN)], "first")
    parts = [graph.matmul(x, "p1", OUTPUT, HIDDEN), graph.matmul(first, "d1", HIDDEN, HIDDEN)]
    second = graph.add("Relu", [graph.add("Add", parts, "second_sum")], "second")
    third = graph.add("Relu", [graph.matmul(second, "d2", HIDDEN, OUTPUT)], "third")
    parts = [graph.matmul(second, "p3", HIDDEN, OUTPUT), graph.matmul(third, "d3", OUTPUT, OUTPUT)]
    bounded = graph.add("Tanh", [graph.add("Add", parts, "last_sum")], "bounded")
    return graph.add("LpNormalization", [bounded], "vectors", axis=-1, p=2)


def build() -> bytes:
    """The serialised model."""
    graph = Graph()
    graph.constant("axis_1", [1], [1])
    graph.constant("zero_row", [0.0] * BRANCH, [1, BRANCH])
    embeddings = embed(graph)
    width = len(ORDERS) * BRANCH
    projected = graph.affine(embeddings, "proj", "proj_b", EMBEDDING, width)
    normal = graph.normalise(projected, "proj_gamma", "proj_beta", width, "branches")
    names = [f"branch_{order}" for order, _ in ORDERS]
    sizes = graph.constant("sizes", [BRANCH] * len(ORDERS), [len(ORDERS)])
    graph.nodes.append(helper.make_node("Split", [normal, sizes], names, axis=-1))
    grams = [
        convolve(graph, name, order, left)
        for name, (order, left) in zip(names, ORDERS, strict=True)
    ]
    joined = graph.add("Concat", [embeddings, *grams], "joined", axis=-1)
    features = graph.normalise(joined, "ln_g", "ln_b", FEATURES, "features")
    feed_forward(graph, pool(graph, features))
    return _serialise(graph)


def _serialise(graph: Graph) -> bytes:
    inputs = [
        helper.make_tensor_value_info("codes", TensorProto.UINT8, ["tokens", EMBEDDING]),
        helper.make_tensor_value_info("chunk", TensorProto.INT64, ["tokens"]),
        helper.make_tensor_value_info("windows", TensorProto.INT64, ["tokens", 5]),
        helper.make_tensor_value_info("pool", TensorProto.FLOAT, ["texts", "tokens"]),
    ]
    outputs = [
        helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", OUTPUT]),
        helper.make_tensor_value_info("features", TensorProto.FLOAT, ["tokens", FEATURES]),
    ]
    made = helper.make_graph(
        graph.nodes, "use_multilingual_v3", inputs, outputs, initializer=graph.tensors
    )
    # Opset 17 is the first with LayerNormalization; newer ones would only shut out runtimes.
    model = helper.make_model(
        made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="semcache"
    )
    serialised: bytes = model.SerializeToString(deterministic=True)
    return serialised


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    model = build()
    if parser.parse_args().check:
        return 0 if TARGET.read_bytes() == model else 1
    TARGET.write_bytes(model)
    return 0


if __name__ == "__main__":
    sys.exit(main())
