"""What Triton's Python backend runs: one TorchScript network, all waiting requests at once.

`semcache hotness export-triton` copies this file beside the network as `model.py`. It knows nothing
of the package, needs torch alone, and hands tensors over by DLPack: nothing is copied, and no
release of numpy has to fit.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence

import torch
import triton_python_backend_utils as triton
from torch.utils.dlpack import from_dlpack, to_dlpack


class TritonPythonModel:
    """Named and called as the backend wants it."""

    def initialize(self, args: Mapping[str, str]) -> None:
        """Load the network onto the device of this instance."""
        config = json.loads(args["model_config"])
        self.input, self.output = config["input"][0]["name"], config["output"][0]["name"]
        gpu = args["model_instance_kind"] == "GPU"
        self.device = f"cuda:{args['model_instance_device_id']}" if gpu else "cpu"
        threads = config["parameters"]["INTRA_OP_THREAD_COUNT"]["string_value"]
        torch.set_num_threads(int(threads))
        path = os.path.join(args["model_repository"], args["model_version"], "model.pt")  # noqa: PTH118 - as the backend gives it
        self.network = torch.jit.load(path, map_location=self.device).eval()
        steps = config["input"][0]["dims"][0]
        with torch.inference_mode():
            # TorchScript makes its plans on the first calls: no request is to wait for that.
            for count in (1, 1, 2):
                self.network(torch.zeros(count, int(steps), device=self.device))

    def execute(
        self, requests: Sequence[triton.InferenceRequest]
    ) -> list[triton.InferenceResponse]:
        """Answer all requests that the server has gathered by one pass through the network."""
        windows = [
            from_dlpack(triton.get_input_tensor_by_name(request, self.input).to_dlpack())
            for request in requests
        ]
        with torch.inference_mode():
            heats = self.network(torch.cat(windows).to(self.device)).cpu()
        parts = heats.split([len(part) for part in windows])
        return [
            triton.InferenceResponse(
                [triton.Tensor.from_dlpack(self.output, to_dlpack(part.contiguous()))]
            )
            for part in parts
        ]
