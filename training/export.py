"""Writes the trained verifier as one ONNX file, and checks that it says the same.

    python training/export.py build/verifier.pt langchain_semcache/verifiers/pair_verifier.onnx

The reduction of the token vectors is folded into the first layer. Weights are kept in half
precision, which halves the file, and are widened when it is loaded.
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

FEATURES = 1280
NAMES = ("a", "b", "marks_a", "marks_b", "same", "mask_a", "mask_b", "cosine")
SMALL = 64
"""Tensors up to so many values stay in single precision."""


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


def example(left: int = 7, right: int = 9, count: int = 3) -> tuple[torch.Tensor, ...]:
    """Inputs of the shapes that the runtime sends."""
    dice = torch.Generator().manual_seed(0)

    def random(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=dice)

    return (
        random(count, left, FEATURES), random(count, right, FEATURES),
        random(count, left, MARKS), random(count, right, MARKS),
        (random(count, left, right) > 1).float(),
        torch.ones(count, left), (torch.arange(right) < 8).float().repeat(count, 1),
        random(count),
    )  # fmt: skip


def exported(model: Verifier) -> onnx.ModelProto:
    axes = {name: {0: "pairs", 1: "left" if name.endswith("a") else "right"} for name in NAMES[:-1]}
    axes["same"] = {0: "pairs", 1: "left", 2: "right"}
    axes["cosine"] = axes["logits"] = {0: "pairs"}
    file = io.BytesIO()
    torch.onnx.export(
        model, example(), file, input_names=list(NAMES), output_names=["logits"],
        dynamic_axes=axes, opset_version=17, dynamo=False,
    )  # fmt: skip
    return onnx.load_from_string(file.getvalue())


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
    parser.add_argument("target", type=Path)
    args = parser.parse_args()
    model = folded(torch.load(args.checkpoint, weights_only=False))
    written = halved(exported(model)).SerializeToString(deterministic=True)
    session = onnxruntime.InferenceSession(written, providers=["CPUExecutionProvider"])
    for shape in ((7, 9), (1, 1), (40, 3)):
        inputs = example(*shape)
        with torch.no_grad():
            wanted = model(*inputs).numpy()
        feed = {name: tensor.numpy() for name, tensor in zip(NAMES, inputs, strict=True)}
        found = session.run(["logits"], feed)[0]
        print(shape, "largest difference", float(np.abs(wanted - found).max()))
    args.target.write_bytes(written)
    print(args.target, len(written), "bytes")


if __name__ == "__main__":
    main()
