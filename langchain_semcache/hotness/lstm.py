"""The network: two layers of LSTM over the counts of an hour. Needs the extra `hotness`."""

from __future__ import annotations

import torch
from torch import Tensor, nn

LAYERS, HIDDEN = 2, 128


class HeatLSTM(nn.Module):  # type: ignore[misc]  # torch is not always there to be checked
    """Expected uses in the next five steps, from the uses in the last 64.

    Counts go in as they are, and `log1p` is part of the network: whoever serves it need not know
    how it was made. Two layers of LSTM, 128 wide, a LayerNorm of the last state, and one number,
    which is the logarithm of the mean of a Poisson distribution.
    """

    def __init__(self, hidden: int = HIDDEN, layers: int = LAYERS) -> None:
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, layers, batch_first=True)
        self.norm = nn.LayerNorm(hidden)
        self.head = nn.Linear(hidden, 1)

    def log_rate(self, windows: Tensor) -> Tensor:
        """Logarithm of the expected uses, float32 [n, 1], of windows float32 [n, 64]."""
        states, _ = self.lstm(torch.log1p(windows).unsqueeze(-1))
        rate: Tensor = self.head(self.norm(states[:, -1]))
        return rate.clamp(-20.0, 12.0)  # finite, whatever the network says

    def forward(self, windows: Tensor) -> Tensor:
        """Expected uses, float32 [n, 1], of windows float32 [n, 64]."""
        return self.log_rate(windows).exp()
