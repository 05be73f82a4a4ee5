"""Trains the verifier on open pairs and our own; see README.md for what it is and what it reached.

    python training/train.py --open DATA/open --data DATA --out build/verifier.pt
"""

from __future__ import annotations

import argparse
import queue
import random
import sys
import threading
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parent.parent))
from training import data, features
from training.model import MARKS, Verifier


def collate(texts, rows, marks_of):
    """Padded tensors of a batch of rows (a, b, same, weight, number)."""
    la = max(texts.length(r[0]) for r in rows)
    lb = max(texts.length(r[1]) for r in rows)
    n, width = len(rows), features.REDUCED
    a, b = np.zeros((n, la, width), np.float32), np.zeros((n, lb, width), np.float32)
    ma, mb = np.zeros((n, la, MARKS), np.float32), np.zeros((n, lb, MARKS), np.float32)
    ka, kb = np.zeros((n, la), np.float32), np.zeros((n, lb), np.float32)
    same = np.zeros((n, la, lb), np.float32)
    for i, (x, y, *_, number) in enumerate(rows):
        for side, mask, at in ((a, ka, x), (b, kb, y)):
            side[i, : texts.length(at)] = texts.vectors[at]
            mask[i, : texts.length(at)] = 1
        one, other = marks_of(number)
        ma[i, : len(one)], mb[i, : len(other)] = one, other
        mine, yours = texts.pieces[x].keys, texts.pieces[y].keys
        where = {}
        for j, key in enumerate(yours):
            where.setdefault(key, []).append(j)
        for k, key in enumerate(mine):
            for j in where.get(key, ()):
                same[i, k, j] = 1
    cosine = np.array([texts.sentence[r[0]] @ texts.sentence[r[1]] for r in rows], np.float32)
    return [torch.from_numpy(t) for t in (a, b, ma, mb, same, ka, kb, cosine)]


def batches(texts, rows, size, shuffle, seed=0):
    """Rows of like length together, so that little is padded."""
    order = list(range(len(rows)))
    if shuffle:
        random.Random(seed).shuffle(order)
    blocks = [order[i : i + size * 40] for i in range(0, len(order), size * 40)]
    result = []
    for block in blocks:
        block.sort(key=lambda i: texts.length(rows[i][0]) + texts.length(rows[i][1]))
        result += [block[i : i + size] for i in range(0, len(block), size)]
    if shuffle:
        random.Random(seed).shuffle(result)
    return result


def ahead(texts, rows, order, kept):
    """The batches, each made while the one before it is worked on."""
    waiting = queue.Queue(4)

    def fill():
        for batch in order:
            chosen = [rows[i] for i in batch]
            waiting.put((chosen, collate(texts, chosen, kept.__getitem__)))
        waiting.put(None)

    threading.Thread(target=fill, daemon=True).start()
    while (item := waiting.get()) is not None:
        yield item


def scores(model, texts, rows, marks_of, size=256):
    model.eval()
    out = np.empty(len(rows), np.float32)
    with torch.no_grad():
        for batch in batches(texts, rows, size, False):
            out[batch] = model(*collate(texts, [rows[i] for i in batch], marks_of)).numpy()
    return out


def auc(score, label):
    order = np.argsort(score, kind="stable")
    rank = np.empty(len(score)); rank[order] = np.arange(1, len(score) + 1)
    pos = label.sum(); neg = len(label) - pos
    return (rank[label == 1].sum() - pos * (pos + 1) / 2) / max(1, pos * neg)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--made", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--own", type=float, default=1.0)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(args.threads); torch.manual_seed(args.seed)
    pairs = [*data.open_pairs(args.data / "open"), *data.word_swaps(args.data), *data.own_clusters(args.own)]
    train = [p for p in pairs if not data.held_out(p)]
    valid = [p for p in pairs if data.held_out(p)]
    random.Random(1).shuffle(train)
    random.Random(1).shuffle(valid)
    valid = valid[:5000]
    if args.made:
        from training.templates import made
        invented = list(made(args.made))
        train += [p for p in invented if not data.held_out(p)]
        valid += [p for p in invented if data.held_out(p)][:1500]
    if args.limit:
        train = train[: args.limit]
    train += [*data.with_typos(train, 0.12), *data.strangers(train, 6000)]
    print(len(train), "training pairs,", len(valid), "for validation", flush=True)
    t0 = time.time()
    texts = features.embed([t for p in train + valid for t in (p.a, p.b)], cache=args.cache)
    print(f"{len(texts.pieces)} texts in {time.time() - t0:.0f} s", flush=True)
    rows = [(texts.number[p.a], texts.number[p.b], float(p.same), p.weight, n) for n, p in enumerate(train + valid)]
    kept = [features.pair_marks(texts, r[0], r[1]) for r in rows]
    print(f"marks after {time.time() - t0:.0f} s", flush=True)
    learn, check = rows[: len(train)], rows[len(train) :]
    model = Verifier(features.REDUCED, layers=args.layers)
    print(sum(p.numel() for p in model.parameters()), "parameters", flush=True)
    optimiser = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.02)
    size = 64
    steps = args.epochs * (len(learn) // size + 1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, args.lr, total_steps=steps + args.epochs + 10, pct_start=0.1)
    label = np.array([r[2] for r in check])
    for epoch in range(args.epochs):
        model.train(); total = count = 0
        for chosen, tensors in ahead(texts, learn, batches(texts, learn, size, True, epoch), kept):
            logits = model(*tensors)
            target = torch.tensor([r[2] for r in chosen]); weight = torch.tensor([r[3] for r in chosen])
            loss = (torch.nn.functional.binary_cross_entropy_with_logits(logits, target * 0.97 + 0.015, reduction="none") * weight).mean()
            optimiser.zero_grad(); loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step(); schedule.step()
            total += loss.item() * len(chosen); count += len(chosen)
        got = scores(model, texts, check, kept.__getitem__)
        by = defaultdict(list)
        for n, p in enumerate(valid):
            by[p.source].append(n)
        table = " ".join(f"{s.replace('pairs_','')[:16]}={auc(got[i], label[i]):.2f}" for s, i in sorted(by.items()) if 0 < label[i].mean() < 1)
        print(f"epoch {epoch} loss {total / count:.4f} auc {auc(got, label):.4f} {time.time() - t0:.0f} s | {table}", flush=True)
        torch.save({"model": model.state_dict(), "reduce": texts.reduction.directions, "centre": texts.reduction.centre, "layers": args.layers}, args.out)


if __name__ == "__main__":
    main()
