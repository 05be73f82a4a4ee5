"""Trains the verifier on open pairs and our own; see README.md for what it is and what it reached.

python training/train.py --data DATA --out build/verifier.pt
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
from langchain_semcache.encoders.onnx import OnnxEncoder
from training import data, features
from training.model import MARKS, Verifier
from training.templates import made

SIZE = 96
AVERAGED = 0.998
"""What is kept is the mean of the weights over some hundreds of steps."""


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
    rank = np.empty(len(score))
    rank[order] = np.arange(1, len(score) + 1)
    pos = label.sum()
    neg = len(label) - pos
    return (rank[label == 1].sum() - pos * (pos + 1) / 2) / max(1, pos * neg)


def gathered(args):
    """The pairs to learn from, and those to look at after each round."""
    pairs = [
        *data.open_pairs(args.data / "open"),
        *data.word_swaps(args.data),
        *data.own_clusters(args.own),
        *data.neighbours(OnnxEncoder().open()),
        *made(args.made),
    ]
    train = [pair for pair in pairs if not data.held_out(pair)]
    valid = [pair for pair in pairs if data.held_out(pair)]
    random.Random(1).shuffle(train)
    random.Random(1).shuffle(valid)
    own = [pair for pair in valid if pair.source.startswith("own")]
    others = [pair for pair in valid if not pair.source.startswith("own")]
    dice = random.Random(args.seed)
    ours = ("own", "neighbours")
    train = [p for p in train if p.source.startswith(ours) or dice.random() < args.others]
    train += [*data.with_typos(train, args.typos, args.seed), *data.strangers(train, 3000)]
    return train, own[:5000] + others[:4000]


def one_round(model, average, texts, rows, kept, optimiser, schedule, epoch):
    """One pass over all rows; the mean loss. `average` follows the model slowly."""
    model.train()
    total = count = 0
    for chosen, tensors in ahead(texts, rows, batches(texts, rows, SIZE, True, epoch), kept):
        target = torch.tensor([row[2] for row in chosen])
        weight = torch.tensor([row[3] for row in chosen])
        # Labels are smoothed: a few of every hundred are wrong.
        losses = torch.nn.functional.binary_cross_entropy_with_logits(
            model(*tensors), target * 0.97 + 0.015, reduction="none"
        )
        loss = (losses * weight).mean()
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        average.update_parameters(model)
        total += loss.item() * len(chosen)
        count += len(chosen)
    return total / count


def report(found, label, valid):
    """Area under the curve, of all, of our own clusters, and of each source."""
    places = defaultdict(list)
    for number, pair in enumerate(valid):
        places[pair.source].append(number)
    each = {
        source: auc(found[at], label[at])
        for source, at in sorted(places.items())
        if 0 < label[at].mean() < 1
    }
    own = [value for source, value in each.items() if source.startswith("own")]
    single = " ".join(f"{source}={value:.3f}" for source, value in each.items())
    return f"auc {auc(found, label):.4f}, own clusters {np.mean(own):.4f} | {single}"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--start", type=Path, help="go on from this checkpoint")
    parser.add_argument("--cache", type=Path, help="remembers token vectors between runs")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--lr", type=float, default=1.5e-3)
    parser.add_argument("--own", type=float, default=1.4, help="how much our own clusters count")
    parser.add_argument("--made", type=int, default=20_000, help="pairs from templates")
    parser.add_argument("--others", type=float, default=1.0, help="share kept of all but our own")
    parser.add_argument("--typos", type=float, default=0.25, help="share of pairs mistyped as well")
    parser.add_argument("--layers", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def main():
    args = arguments()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    train, valid = gathered(args)
    print(len(train), "training pairs,", len(valid), "for validation", flush=True)
    started = time.time()
    questions = [text for pair in train + valid for text in (pair.a, pair.b)]
    texts = features.embed(questions, cache=args.cache)
    rows = [
        (texts.number[pair.a], texts.number[pair.b], float(pair.same), pair.weight, number)
        for number, pair in enumerate(train + valid)
    ]
    kept = [features.pair_marks(texts, row[0], row[1]) for row in rows]
    print(f"{len(texts.pieces)} texts read after {time.time() - started:.0f} s", flush=True)
    learn, check = rows[: len(train)], rows[len(train) :]
    model = Verifier(features.REDUCED, layers=args.layers)
    if args.start:
        model.load_state_dict(torch.load(args.start, weights_only=False)["model"])
    optimiser = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.02)
    steps = args.epochs * (len(learn) // SIZE + 2) + 10
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, args.lr, total_steps=steps, pct_start=0.1
    )
    average = torch.optim.swa_utils.AveragedModel(
        model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(AVERAGED)
    )
    label = np.array([row[2] for row in check])
    for epoch in range(args.epochs):
        loss = one_round(model, average, texts, learn, kept, optimiser, schedule, epoch)
        found = scores(average.module, texts, check, kept.__getitem__)
        print(f"round {epoch}, loss {loss:.4f}, {report(found, label, valid)}", flush=True)
        checkpoint = {
            "model": average.module.state_dict(),
            "reduce": texts.reduction.directions,
            "centre": texts.reduction.centre,
            "layers": args.layers,
        }
        torch.save(checkpoint, args.out)


if __name__ == "__main__":
    main()
