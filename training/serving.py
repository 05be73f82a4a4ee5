"""The trained network in the form that answers fastest: the same sums, done once and side by side.

`model.Verifier` reads both questions of a pair each time. Served, a question is compared with
several, and the stored ones come back with the next question: so what is read of one text alone is
a network of its own, whose results are kept, and both directions of a comparison run as one batch.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from training.model import Layer, Verifier

OUT = -1e4


class Reader(nn.Module):
    """Token vectors [n, l, features] to [n, l, width]: all that is read of one text alone."""

    def __init__(self, model: Verifier) -> None:
        super().__init__()
        self.project, self.normal = model.project, model.normal

    def forward(self, vectors: Tensor) -> Tensor:
        read: Tensor = self.normal(self.project(vectors))
        return read


class Judge(nn.Module):
    """One question against n stored ones, all padded to l pieces; logits [n]."""

    def __init__(self, model: Verifier) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, read: Tensor, marks: Tensor, same: Tensor, mask: Tensor, cosine: Tensor
    ) -> Tensor:
        """Logits [n].

        Args:
            read: [1 + n, l, width], the question and the stored ones.
            marks: [2 n, l, MARKS]: of the question beside each stored one, and of the stored ones.
            same: [n, l, l], 1 where both pieces are the same.
            mask: [1 + n, l], 1 where a piece is and 0 in the padding.
            cosine: [n], of the vectors of the whole texts.
        """
        model = self.model
        x, gaps = self._both(read), self._both(mask[:, :, None]) == 0
        y, others = _turned(x), _turned(gaps).transpose(1, 2)
        alike = torch.cat([same, same.transpose(1, 2)])
        seen, near = [x], []
        for number, head in enumerate(model.heads):
            heads = nn.functional.normalize(head(read), dim=-1)
            likeness = heads[:1] @ heads[1:].transpose(1, 2)
            likeness = torch.cat([likeness, likeness.transpose(1, 2)])
            logits = model.scale[number] * 3 * likeness + model.exact[number] * alike
            weights = torch.softmax(logits.masked_fill(others, OUT), dim=2)
            there = weights @ y
            seen += [x - there, x * there]
            near.append((weights * likeness).sum(2, keepdim=True))
            if number == 0:
                gone = weights @ _turned(marks)
        x = model.compare(torch.cat([*seen, marks, gone, *near], dim=-1))
        for layer in model.layers:
            x = _looked(layer, x, gaps.transpose(1, 2)[:, None])
        pooled = self._pooled(x, gaps)
        one, other = pooled.chunk(2)
        joined = torch.cat([one + other, (one - other).abs(), cosine[:, None]], dim=1)
        judged: Tensor = model.judge(joined)[:, 0]
        return judged

    def _both(self, values: Tensor) -> Tensor:
        """[2 n, …]: the question n times over, and the stored ones."""
        stored = values[1:]
        return torch.cat([values[:1].expand_as(stored), stored])

    def _pooled(self, x: Tensor, gaps: Tensor) -> Tensor:
        x = self.model.last(x)
        weights = torch.softmax(self.model.weigh(x).masked_fill(gaps, OUT), dim=1)
        several = (weights.transpose(1, 2) @ x).flatten(1)
        total = x.masked_fill(gaps, 0.0).sum(1) / 8.0
        most = x.masked_fill(gaps, OUT).amax(1)
        return torch.cat([several, total, most], dim=1)


def _turned(values: Tensor) -> Tensor:
    """[2 n, …] with the two halves changed over: of each question the other one."""
    ours, theirs = values.chunk(2)
    return torch.cat([theirs, ours])


def _looked(layer: Layer, x: Tensor, gaps: Tensor) -> Tensor:
    """`Layer.forward` of both directions; `gaps` is [2 n, 1, 1, l]."""
    first = layer.first(x)
    query, width = layer.query(first), x.shape[-1]
    keys, others = layer.keys[0](first), _turned(layer.keys[1](first))
    key = torch.cat([keys[..., :width], others[..., :width]], dim=1)
    value = torch.cat([keys[..., width:], others[..., width:]], dim=1)
    away = torch.cat([gaps, _turned(gaps)], dim=3)
    scale = (width // layer.count) ** 0.5
    found = _split(layer, query) @ _split(layer, key).transpose(-1, -2) / scale
    weights = torch.softmax(found.masked_fill(away, OUT), dim=-1)
    seen = weights @ _split(layer, value)
    x = x + layer.out(seen.transpose(1, 2).flatten(2))
    fed: Tensor = x + layer.feed(layer.second(x))
    return fed


def _split(layer: Layer, x: Tensor) -> Tensor:
    return x.reshape(x.shape[0], x.shape[1], layer.count, -1).transpose(1, 2)
