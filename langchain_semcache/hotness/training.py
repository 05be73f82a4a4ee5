"""Trains the network on uses of the past. Needs the extra `hotness`.

Time divides what it learns from and what it is tried on: the last part of the uses is kept back,
and training stops when the network gets no better on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from langchain_semcache.errors import ConfigurationError
from langchain_semcache.hotness.accesses import Accesses, Moment, moments
from langchain_semcache.hotness.features import HORIZON, distinct
from langchain_semcache.hotness.lstm import HeatLSTM
from langchain_semcache.ports import Heats, HotnessModel, Windows

_CLIP: Final = 1.0
_FLOOR: Final = 1e-6
"""What a baseline that expects nothing is taken to expect, so that its loss is finite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSettings:
    """How long and on how much.

    Attributes:
        epochs: Passes over the windows at most.
        patience: Passes without a gain on what was kept back, after which it is enough.
        batch: Windows of a step of the optimiser (Adam).
        learning_rate: Of the first pass; it falls to nothing along half a cosine.
        max_windows: Different windows to learn from at most; a seeded choice of them.
        validation: Share of the time, at its end, that is kept back.
        seed: Equal seeds make equal networks, on one machine with one release of torch.

    Raises:
        ConfigurationError: A number is out of its range.
    """

    epochs: int = 20
    patience: int = 3
    batch: int = 512
    learning_rate: float = 2e-3
    max_windows: int = 40_000
    validation: float = 0.2
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("epochs", "patience", "batch", "max_windows"):
            value = getattr(self, name)
            if isinstance(value, bool) or value < 1:
                raise ConfigurationError(f"{name} is {value!r}, expected a whole number from 1 up")
        if not 0 < self.learning_rate < 1:
            raise ConfigurationError(f"learning_rate is {self.learning_rate!r}, expected 0 to 1")
        if not 0 < self.validation < 1:
            raise ConfigurationError(f"validation is {self.validation!r}, expected 0 to 1")


@dataclass(frozen=True, slots=True)
class Epoch:
    """One pass: the loss on what was learned from and on what was kept back.

    The loss is the negative log-likelihood of a Poisson distribution, without its constant; lower
    is better.
    """

    number: int
    loss: float
    validation: float


@dataclass(frozen=True, slots=True)
class Trained:
    """A network and how it came about.

    Attributes:
        network: That of the best pass.
        epochs: Every pass.
        best: The pass that was kept.
        windows: Different windows that were learned from.
        step_seconds: Length of a step of the uses.
        name: Of the uses.
    """

    network: HeatLSTM
    epochs: tuple[Epoch, ...]
    best: Epoch
    windows: int
    step_seconds: float
    name: str


@dataclass(frozen=True, slots=True)
class Examples:
    """Different windows with the mean of what followed, weighed by how often each was seen."""

    windows: Windows
    uses: Heats
    weights: Heats

    def __len__(self) -> int:
        return len(self.uses)


@dataclass(slots=True)
class _Patience:
    left: int
    allowed: int = field(init=False)
    best: float = math.inf

    def __post_init__(self) -> None:
        self.allowed = self.left

    def better(self, loss: float) -> bool:
        if loss < self.best:
            self.best, self.left = loss, self.allowed
            return True
        self.left -= 1
        return False


def examples(at: Iterator[Moment], *, limit: int, chance: np.random.Generator) -> Examples:
    """What the moments hold, at most `limit` different windows.

    Raises:
        ConfigurationError: Nothing was used twice: there is nothing to learn.
    """
    gathered = [(moment.windows.astype(np.uint16), moment.uses) for moment in at]
    if not gathered:
        raise ConfigurationError("the uses are too few or too short: there is no window before any")
    windows = np.concatenate([rows for rows, _ in gathered]).astype(np.float32)
    uses = np.concatenate([counts for _, counts in gathered])
    rows, places = distinct(windows)
    weights = np.bincount(places).astype(np.float32)
    means = (np.bincount(places, weights=uses) / weights).astype(np.float32)
    if not means.any():
        raise ConfigurationError("nothing in the uses is used again: there is nothing to learn")
    if len(rows) > limit:
        kept = np.sort(chance.choice(len(rows), limit, replace=False))
        rows, means, weights = rows[kept], means[kept], weights[kept]
    return Examples(rows, means, weights)


def divided(uses: Accesses, until: int, settings: TrainingSettings) -> tuple[Examples, Examples]:
    """What to learn from, and what is kept back: no use is in both.

    Raises:
        ConfigurationError: One of them would be empty.
    """
    chance = np.random.default_rng(settings.seed)
    border = round(until * (1 - settings.validation))
    learn = moments(uses, start=1, end=border, every=1)
    back = moments(uses, start=border, end=until, every=HORIZON)
    limit = settings.max_windows
    return examples(learn, limit=limit, chance=chance), examples(back, limit=limit, chance=chance)


def train(
    uses: Accesses,
    settings: TrainingSettings | None = None,
    *,
    until: int | None = None,
    progress: Callable[[float, str], None] | None = None,
) -> Trained:
    """A network that has learned from the uses before the step `until` (all of them by default).

    Args:
        progress: Told how much of all passes is done, in [0, 1], and the last losses.

    Raises:
        ConfigurationError: The uses are too few.
    """
    settings = settings or TrainingSettings()
    learn, back = divided(uses, uses.end if until is None else until, settings)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        network = HeatLSTM()
        epochs = []
        patience = _Patience(settings.patience)
        best, kept = None, network.state_dict()
        for epoch in _passes(network, learn, back, settings, progress):
            epochs.append(epoch)
            if patience.better(epoch.validation):
                best = epoch
                kept = {name: value.clone() for name, value in network.state_dict().items()}
            if not patience.left:
                break
    if best is None:
        raise ConfigurationError("training diverged: lower the learning rate")
    network.load_state_dict(kept)
    return Trained(network.eval(), tuple(epochs), best, len(learn), uses.step_seconds, uses.name)


def poisson_loss(log_rate: Tensor, uses: Tensor) -> Tensor:
    """Negative log-likelihood of each, without the logarithm of the factorial."""
    loss: Tensor = log_rate.exp() - uses * log_rate
    return loss


def loss_of(model: HotnessModel, on: Examples) -> float:
    """The same loss of any model, for comparison."""
    heats = np.maximum(model.predict(on.windows).astype(np.float64), _FLOOR)
    return float(np.average(heats - on.uses * np.log(heats), weights=on.weights))


def _passes(
    network: HeatLSTM,
    learn: Examples,
    back: Examples,
    settings: TrainingSettings,
    progress: Callable[[float, str], None] | None,
) -> Iterator[Epoch]:
    batches = math.ceil(len(learn) / settings.batch)
    total = settings.epochs * batches
    optimiser = torch.optim.Adam(network.parameters(), lr=settings.learning_rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, total)
    chance = np.random.default_rng(settings.seed)
    # Few kinds of windows are most of what is seen. Weighing by the root leaves what is right for
    # each window as it is, and the rare ones their say in every step.
    roots = np.sqrt(learn.weights)
    roots /= roots.mean()
    said = ""
    for number in range(1, settings.epochs + 1):
        network.train()
        losses = []
        for done, rows in enumerate(_shuffled(len(learn), settings.batch, chance)):
            losses.append(_step(network, optimiser, learn, roots, rows))
            schedule.step()
            if progress is not None:
                progress(((number - 1) * batches + done + 1) / total, said)
        epoch = Epoch(number, float(np.mean(losses)), _loss(network.eval(), back, settings.batch))
        said = f"loss {epoch.loss:.4f}, kept back {epoch.validation:.4f}"
        yield epoch


def _shuffled(count: int, batch: int, chance: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    order = chance.permutation(count)
    for first in range(0, count, batch):
        yield order[first : first + batch]


def _step(
    network: HeatLSTM,
    optimiser: torch.optim.Optimizer,
    learn: Examples,
    weights: Heats,
    rows: NDArray[np.int64],
) -> float:
    rate = network.log_rate(torch.from_numpy(learn.windows[rows]))[:, 0]
    weighed = torch.from_numpy(weights[rows])
    loss = (poisson_loss(rate, torch.from_numpy(learn.uses[rows])) * weighed).mean()
    optimiser.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(network.parameters(), _CLIP)
    optimiser.step()
    return float(loss.detach())


def _loss(network: HeatLSTM, on: Examples, batch: int) -> float:
    """Weighed as it was seen: what a cache would have lost."""
    losses = []
    with torch.inference_mode():
        for first in range(0, len(on), batch):
            part = slice(first, first + batch)
            rate = network.log_rate(torch.from_numpy(on.windows[part]))[:, 0]
            losses.append(poisson_loss(rate, torch.from_numpy(on.uses[part])).numpy())
    return float(np.average(np.concatenate(losses), weights=on.weights))
