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
    def __init__(self, features: int, width: int = WIDTH, layers: int = 1, dropout: float = 0.15):
        super().__init__()
        self.project = nn.Linear(features, width)
        self.normal = nn.LayerNorm(width)
        self.heads = nn.ModuleList([nn.Linear(width, 64, bias=False) for _ in range(2)])
        self.scale = nn.Parameter(torch.tensor([4.0, 4.0]))
        self.exact = nn.Parameter(torch.tensor([2.0, 0.0]))
        self.compare = nn.Sequential(
            nn.Linear(width * 7 + 2 * MARKS + 2, 256), nn.GELU(), nn.Dropout(dropout), nn.Linear(256, width),
        )
        self.layers = nn.ModuleList([Layer(width, dropout) for _ in range(layers)])
        self.weigh = nn.Linear(width, 4)
        self.drop = nn.Dropout(dropout)
        self.judge = nn.Sequential(
            nn.Linear(width * 6 * 3 + 1, 256), nn.GELU(), nn.Dropout(dropout), nn.Linear(256, 1),
        )

    def forward(self, a: Tensor, b: Tensor, marks_a: Tensor, marks_b: Tensor, same: Tensor,
                mask_a: Tensor, mask_b: Tensor, cosine: Tensor) -> Tensor:
        """a [n, la, features], b [n, lb, features], marks [n, l, MARKS], same [n, la, lb] 0/1,
        masks [n, l] 1 where a piece is, cosine [n] of the sentence vectors. Logits [n]."""
        p, q = self.drop(self.normal(self.project(a))), self.drop(self.normal(self.project(b)))
        ours, theirs, near_a, near_b, gone_a, gone_b = [], [], [], [], [], []
        for head, scale, exact in zip(self.heads, self.scale, self.exact):
            x, y = nn.functional.normalize(head(p), dim=-1), nn.functional.normalize(head(q), dim=-1)
            likeness = x @ y.transpose(1, 2)
            logits = scale * 3 * likeness + exact * same
            to_b = torch.softmax(logits.masked_fill(mask_b[:, None, :] == 0, -1e4), dim=2)
            to_a = torch.softmax(logits.masked_fill(mask_a[:, :, None] == 0, -1e4), dim=1)
            ours.append(to_b @ q)
            theirs.append(to_a.transpose(1, 2) @ p)
            near_a.append((to_b * likeness).sum(2, keepdim=True))
            near_b.append((to_a * likeness).sum(1).unsqueeze(-1))
            gone_a.append(to_b @ marks_b)
            gone_b.append(to_a.transpose(1, 2) @ marks_a)
        pooled = (self._side(p, ours, marks_a, gone_a[0], near_a, mask_a), self._side(q, theirs, marks_b, gone_b[0], near_b, mask_b))
        joined = torch.cat([pooled[0] + pooled[1], torch.maximum(*pooled), (pooled[0] - pooled[1]).abs(), cosine[:, None]], dim=1)
        return self.judge(joined).squeeze(1)

    def _side(self, p: Tensor, partners: list[Tensor], marks: Tensor, their_marks: Tensor, near: list[Tensor], mask: Tensor) -> Tensor:
        parts = [p]
        for partner in partners:
            parts += [partner, p - partner, p * partner]
        x = self.compare(torch.cat([*parts, marks, their_marks, *near], dim=-1))
        for layer in self.layers:
            x = layer(x, mask)
        weights = torch.softmax(self.weigh(x).masked_fill(mask[:, :, None] == 0, -1e4), dim=1)
        several = (weights.transpose(1, 2) @ x).flatten(1)
        total = (x * mask[:, :, None]).sum(1) / 8.0
        most = x.masked_fill(mask[:, :, None] == 0, -1e4).amax(1)
        return torch.cat([several, total, most], dim=1)


class Layer(nn.Module):
    """Self-attention within one question, before the leftovers are weighed."""

    def __init__(self, width: int, dropout: float, heads: int = 4):
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.feed = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.drop = nn.Dropout(dropout)
        self.heads = heads

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        n, length, width = x.shape
        q, k, v = self.qkv(self.first(x)).view(n, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        logits = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        logits = logits.masked_fill(mask[:, None, None, :] == 0, -1e4)
        x = x + self.drop(self.out((torch.softmax(logits, -1) @ v).transpose(1, 2).reshape(n, length, width)))
        return x + self.drop(self.feed(self.second(x)))
