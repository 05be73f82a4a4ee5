"""The verifier: aligns two questions piece by piece and judges what is left over.

Symmetric by construction: both questions pass through the same weights, and are joined by sum,
maximum and product.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

WIDTH = 128
MARKS = 14


class Verifier(nn.Module):
    """Two questions in, one logit out. `features` is the width of a token vector."""

    def __init__(self, features: int, width: int = WIDTH, layers: int = 2, dropout: float = 0.12):
        super().__init__()
        self.project = nn.Linear(features, width)
        self.normal = nn.LayerNorm(width)
        self.heads = nn.ModuleList([nn.Linear(width, 64, bias=False) for _ in range(2)])
        self.scale = nn.Parameter(torch.tensor([4.0, 4.0]))
        self.exact = nn.Parameter(torch.tensor([2.0, 0.0]))
        self.compare = nn.Sequential(
            nn.Linear(width * 5 + 2 * MARKS + 2, 256),
            nn.GELU(),
            nn.Dropout(dropout),
            nn.Linear(256, width),
        )
        self.layers = nn.ModuleList([Layer(width, dropout) for _ in range(layers)])
        self.last = nn.LayerNorm(width)
        self.weigh = nn.Linear(width, 4)
        self.drop = nn.Dropout(dropout)
        self.judge = nn.Sequential(
            nn.Linear(width * 6 * 2 + 1, 256), nn.GELU(), nn.Dropout(dropout), nn.Linear(256, 1)
        )

    def forward(
        self,
        a: Tensor,
        b: Tensor,
        marks_a: Tensor,
        marks_b: Tensor,
        same: Tensor,
        mask_a: Tensor,
        mask_b: Tensor,
        cosine: Tensor,
    ) -> Tensor:
        """Logits [n].

        Args:
            a, b: Token vectors [n, la, features] and [n, lb, features].
            marks_a, marks_b: [n, la, MARKS] and [n, lb, MARKS].
            same: [n, la, lb], 1 where both pieces are the same.
            mask_a, mask_b: [n, la] and [n, lb], 1 where a piece is and 0 in the padding.
            cosine: [n], of the vectors of the whole texts.
        """
        p = self.drop(self.normal(self.project(a)))
        q = self.drop(self.normal(self.project(b)))
        ours, theirs = [p], [q]
        near_a, near_b = [], []
        for number, head in enumerate(self.heads):
            x = nn.functional.normalize(head(p), dim=-1)
            y = nn.functional.normalize(head(q), dim=-1)
            likeness = x @ y.transpose(1, 2)
            logits = self.scale[number] * 3 * likeness + self.exact[number] * same
            to_b = torch.softmax(logits.masked_fill(mask_b[:, None, :] == 0, -1e4), dim=2)
            to_a = torch.softmax(logits.masked_fill(mask_a[:, :, None] == 0, -1e4), dim=1)
            from_b, from_a = to_b @ q, to_a.transpose(1, 2) @ p
            ours += [p - from_b, p * from_b]
            theirs += [q - from_a, q * from_a]
            near_a.append((to_b * likeness).sum(2, keepdim=True))
            near_b.append((to_a * likeness).sum(1).unsqueeze(-1))
            if number == 0:
                gone_a, gone_b = to_b @ marks_b, to_a.transpose(1, 2) @ marks_a
        left = self.compare(torch.cat([*ours, marks_a, gone_a, *near_a], dim=-1))
        right = self.compare(torch.cat([*theirs, marks_b, gone_b, *near_b], dim=-1))
        for layer in self.layers:
            left, right = layer(left, right, mask_a, mask_b), layer(right, left, mask_b, mask_a)
        one, other = self._pooled(left, mask_a), self._pooled(right, mask_b)
        joined = torch.cat([one + other, (one - other).abs(), cosine[:, None]], dim=1)
        return self.judge(joined).squeeze(1)

    def _pooled(self, x: Tensor, mask: Tensor) -> Tensor:
        x = self.last(x)
        weights = torch.softmax(self.weigh(x).masked_fill(mask[:, :, None] == 0, -1e4), dim=1)
        several = (weights.transpose(1, 2) @ x).flatten(1)
        total = (x * mask[:, :, None]).sum(1) / 8.0
        most = x.masked_fill(mask[:, :, None] == 0, -1e4).amax(1)
        return torch.cat([several, total, most], dim=1)


class Layer(nn.Module):
    """Every piece looks at the pieces of its own question and of the other one."""

    def __init__(self, width: int, dropout: float, heads: int = 4):
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query, self.out = nn.Linear(width, width), nn.Linear(width, width)
        self.keys = nn.ModuleList([nn.Linear(width, 2 * width) for _ in range(2)])
        self.feed = nn.Sequential(
            nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)
        )
        self.drop = nn.Dropout(dropout)
        self.count = heads

    def forward(self, x: Tensor, y: Tensor, mask_x: Tensor, mask_y: Tensor) -> Tensor:
        u, v = self.first(x), self.first(y)
        query = self._split(self.query(u))
        logits, values = [], []
        for keys, side, mask in ((self.keys[0], u, mask_x), (self.keys[1], v, mask_y)):
            key, value = keys(side).chunk(2, dim=-1)
            found = query @ self._split(key).transpose(-1, -2) / query.shape[-1] ** 0.5
            logits.append(found.masked_fill(mask[:, None, None, :] == 0, -1e4))
            values.append(self._split(value))
        weights = torch.softmax(torch.cat(logits, dim=-1), dim=-1)
        seen = weights @ torch.cat(values, dim=2)
        x = x + self.drop(self.out(seen.transpose(1, 2).flatten(2)))
        return x + self.drop(self.feed(self.second(x)))

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.count, -1)).transpose(1, 2)
