"""Writes the trained verifier as two ONNX files, and checks that they say the same.

    python training/export.py build/verifier.pt langchain_semcache/verifiers

`pair_reader.onnx` reads one text, `pair_judge.onnx` compares what was read (`serving.py`). The
reduction of the token vectors is folded into the first layer. Weights are kept in half precision,
which halves the files, and are widened when they are loaded.
"""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(Path(__file__).parent.parent))
from training.features import REDUCED
from training.model import MARKS, Verifier
from training.serving import Judge, Reader

FEATURES = 1280
NAMES = ("read", "marks", "same", "mask", "cosine")
SMALL = 64
"""Tensors up to so many values stay in single precision."""

Inputs = tuple[torch.Tensor, ...]


def folded(checkpoint: dict[str, object]) -> Verifier:
    """The model for whole token vectors, [n, l, 1280]."""
    model = Verifier(REDUCED, layers=checkpoint["layers"])
    model.load_state_dict(checkpoint["model"])
    directions = torch.tensor(checkpoint["reduce"])
    centre = torch.tensor(checkpoint["centre"])
    whole = torch.nn.Linear(FEATURES, model.project.out_features)
    with torch.no_grad():
        whole.weight.copy_(model.project.weight @ directions.T)
        whole.bias.copy_(model.project.bias - model.project.weight @ (directions.T @ centre))
    model.project = whole
    return model.eval()


def example(left: int = 7, right: int = 9, count: int = 3) -> Inputs:
    """What `Verifier` reads of pairs with these many pieces; the last of `right` is padding."""
    dice = torch.Generator().manual_seed(0)

    def random(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=dice)

    there = (torch.arange(right) < max(1, right - 1)).float()
    return (
        random(1, left, FEATURES).repeat(count, 1, 1), random(count, right, FEATURES),
        random(count, left, MARKS), random(count, right, MARKS) * there[:, None],
        (random(count, left, right) > 1).float() * there,
        torch.ones(count, left), there.repeat(count, 1), random(count),
    )  # fmt: skip


def served(reader: Reader, inputs: Inputs) -> Inputs:
    """The same pairs as `Judge` is given them."""
    a, b, marks_a, marks_b, same, mask_a, mask_b, cosine = inputs
    longest = max(a.shape[1], b.shape[1])

    def padded(values: torch.Tensor, *axes: int) -> torch.Tensor:
        whole = list(values.shape)
        for axis in axes:
            whole[axis] = longest
        result = torch.zeros(whole)
        result[tuple(slice(size) for size in values.shape)] = values
        return result

    with torch.no_grad():
        read = torch.cat([padded(reader(a[:1]), 1), padded(reader(b), 1)])
    marks = torch.cat([padded(marks_a, 1), padded(marks_b, 1)])
    mask = torch.cat([padded(mask_a[:1], 1), padded(mask_b, 1)])
    return read, marks, padded(same, 1, 2), mask, cosine


def exported(
    model: torch.nn.Module, inputs: Inputs, names: tuple[str, ...], axes: dict[str, dict[int, str]]
) -> onnx.ModelProto:
    *given, result = names
    file = io.BytesIO()
    torch.onnx.export(
        model, inputs, file, input_names=given, output_names=[result],
        dynamic_axes=axes, opset_version=17, dynamo=False,
    )  # fmt: skip
    return onnx.load_from_string(file.getvalue())


def reader_file(reader: Reader) -> bytes:
    axes = {name: {0: "texts", 1: "pieces"} for name in ("vectors", "read")}
    model = exported(reader, (torch.zeros(1, 3, FEATURES),), ("vectors", "read"), axes)
    written: bytes = halved(model).SerializeToString(deterministic=True)
    return written


def judge_file(judge: Judge, inputs: Inputs) -> bytes:
    axes = {
        "read": {0: "texts", 1: "pieces"},
        "marks": {0: "sides", 1: "pieces"},
        "same": {0: "pairs", 1: "pieces", 2: "pieces"},
        "mask": {0: "texts", 1: "pieces"},
        "cosine": {0: "pairs"},
        "logits": {0: "pairs"},
    }
    model = exported(judge, inputs, (*NAMES, "logits"), axes)
    written: bytes = halved(model).SerializeToString(deterministic=True)
    return written


def halved(model: onnx.ModelProto) -> onnx.ModelProto:
    """Large weights in float16, each with a cast to float32 behind it."""
    casts = []
    for tensor in model.graph.initializer:
        values = numpy_helper.to_array(tensor)
        if values.dtype != np.float32 or values.size <= SMALL:
            continue
        name = tensor.name
        tensor.CopyFrom(numpy_helper.from_array(values.astype(np.float16), f"{name}_half"))
        casts.append(helper.make_node("Cast", [f"{name}_half"], [name], to=TensorProto.FLOAT))
    for cast in reversed(casts):
        model.graph.node.insert(0, cast)
    model.producer_name, model.producer_version, model.doc_string = "semcache", "", ""
    onnx.checker.check_model(model)
    return model


def main() -> None:
    import onnxruntime

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("folder", type=Path)
    args = parser.parse_args()
    model = folded(torch.load(args.checkpoint, weights_only=False))
    reader, judge = Reader(model).eval(), Judge(model).eval()
    files = {
        "pair_reader.onnx": reader_file(reader),
        "pair_judge.onnx": judge_file(judge, served(reader, example())),
    }
    session = onnxruntime.InferenceSession(
        files["pair_judge.onnx"], providers=["CPUExecutionProvider"]
    )
    for shape in ((7, 9), (1, 1), (40, 3)):
        inputs = example(*shape)
        with torch.no_grad():
            wanted = model(*inputs).numpy()
        given = zip(NAMES, served(reader, inputs), strict=True)
        found = session.run(["logits"], {name: tensor.numpy() for name, tensor in given})[0]
        print(shape, "largest difference", float(np.abs(wanted - found).max()))
    for name, written in files.items():
        (args.folder / name).write_bytes(written)
        print(args.folder / name, len(written), "bytes")


if __name__ == "__main__":
    main()
