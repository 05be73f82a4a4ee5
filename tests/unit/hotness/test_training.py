"""The network learns, the same again with the same seed, and is the same from its file."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from langchain_semcache.errors import ConfigurationError
from langchain_semcache.hotness import EWMAHotness, PopularityHotness
from langchain_semcache.hotness.accesses import accesses, read_accesses
from langchain_semcache.hotness.torchscript import TorchScriptHotness, about, save

torch = pytest.importorskip("torch", reason="needs torch: make tests installs it")
lstm = pytest.importorskip("langchain_semcache.hotness.lstm")
training = pytest.importorskip("langchain_semcache.hotness.training")
TrainingSettings, divided, train = (
    training.TrainingSettings,
    training.divided,
    training.train,
)

pytestmark = [
    pytest.mark.torch,
    pytest.mark.usefixtures("one_thread"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
]
QUICK = TrainingSettings(epochs=24, patience=10, batch=16, max_windows=400, learning_rate=4e-3)


def test_it_learns_what_no_average_can(log: Path) -> None:
    """Of what comes every ten minutes, when it came is all that counts: averages cannot tell."""
    uses = read_accesses(log)
    told: list[float] = []
    trained = train(uses, QUICK, progress=lambda share, said: told.append(share))
    _, back = divided(uses, uses.end, QUICK)
    best = min(training.loss_of(model, back) for model in (EWMAHotness(), PopularityHotness()))
    assert trained.best.validation < best - 0.05
    assert trained.best.validation == min(epoch.validation for epoch in trained.epochs)
    assert told == sorted(told)
    assert told[-1] <= 1
    assert trained.windows <= 400


def test_equal_seeds_make_equal_networks_and_leave_chance_alone(log: Path) -> None:
    uses = read_accesses(log)
    settings = TrainingSettings(epochs=1, batch=128, max_windows=200, seed=4)
    before = torch.random.get_rng_state()
    one, two = (train(uses, settings).network.state_dict() for _ in range(2))
    assert all(torch.equal(one[name], two[name]) for name in one)
    assert torch.equal(before, torch.random.get_rng_state())
    other = train(uses, TrainingSettings(epochs=1, batch=128, max_windows=200, seed=5)).network
    assert not torch.equal(one["head.weight"], other.state_dict()["head.weight"])


def test_it_stops_when_it_gets_no_better() -> None:
    """Uses by chance alone: there is nothing to gain after the first passes."""
    chance = np.random.default_rng(1)
    uses = accesses(
        "chance", zip(chance.uniform(0, 7200, 900), chance.integers(0, 30, 900), strict=True)
    )
    settings = TrainingSettings(epochs=30, patience=1, batch=64, max_windows=200)
    assert len(train(uses, settings).epochs) < 30


def test_what_is_kept_back_is_later_than_what_is_learned_from(log: Path) -> None:
    """Other uses after the border change nothing of what is learned from."""
    uses = read_accesses(log)
    learn, back = divided(uses, uses.end, QUICK)
    border = round(uses.end * 0.8)
    later = uses.steps >= border
    entries = np.where(later, 0, uses.entries)
    changed = type(uses)(uses.name, uses.steps, entries, uses.step_seconds)
    learn_too, back_too = divided(changed, uses.end, QUICK)
    assert learn.windows.tolist() == learn_too.windows.tolist()
    assert learn.uses.tolist() == learn_too.uses.tolist()
    assert back.uses.tolist() != back_too.uses.tolist()


def test_the_network_is_the_one_that_was_promised() -> None:
    network = lstm.HeatLSTM()
    assert (network.lstm.num_layers, network.lstm.hidden_size) == (2, 128)
    assert isinstance(network.norm, torch.nn.LayerNorm)
    huge = torch.full((2, 64), 65_535.0)
    assert torch.isfinite(network(huge)).all()
    assert network(huge).shape == (2, 1)


def test_its_file_gives_the_same_answers(log: Path, tmp_path: Path, windows) -> None:
    trained = train(read_accesses(log), TrainingSettings(epochs=1, batch=128, max_windows=200))
    save(trained, tmp_path / "heat.pt")
    loaded = TorchScriptHotness(tmp_path / "heat.pt").open()
    with torch.inference_mode():
        expected = trained.network(torch.from_numpy(windows))[:, 0].numpy()
    np.testing.assert_allclose(loaded.predict(windows), expected, rtol=1e-5)
    assert loaded.predict(windows[:0]).shape == (0,)
    assert loaded.identity.startswith("lstm-")
    assert loaded.step_seconds == 60
    assert about(tmp_path / "heat.pt").trained_on == log.name


def test_one_window_more_or_less_changes_no_other_answer(model: Path, windows) -> None:
    loaded = TorchScriptHotness(model)
    whole = loaded.predict(windows)
    single = np.concatenate([loaded.predict(windows[row : row + 1]) for row in range(len(windows))])
    np.testing.assert_allclose(whole, single, rtol=1e-5)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("absent.pt", None, "no model .*absent.pt: give the file"),
        ("text.pt", b"no archive", "is no model of semcache hotness train"),
    ],
)
def test_what_is_no_model_is_refused(tmp_path: Path, name, content, says) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ConfigurationError, match=says):
        TorchScriptHotness(tmp_path / name).open()
    with pytest.raises(ConfigurationError, match=says):
        about(tmp_path / name)


def test_a_network_of_others_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.pt"
    torch.jit.save(torch.jit.script(torch.nn.Linear(64, 1)), path)
    with pytest.raises(ConfigurationError, match="does not say what it was made for"):
        TorchScriptHotness(path).open()


@pytest.mark.parametrize("changed", ['"steps": 64', '"format": 1', '"horizon": 5'])
def test_a_network_for_other_windows_is_refused(model: Path, tmp_path: Path, changed: str) -> None:
    path = tmp_path / "changed.pt"
    with zipfile.ZipFile(model) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name.endswith("semcache.json"):
                assert changed.encode() in content
                content = content.replace(changed.encode(), (changed + "0").encode())
            new.writestr(name, content)
    with pytest.raises(ConfigurationError, match=r"is for other windows .* train it anew"):
        about(path)


def test_a_device_that_is_not_there_is_refused(model: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be loaded onto 'cuda:99'"):
        TorchScriptHotness(model, device="cuda:99").open()


@pytest.mark.parametrize(
    "uses",
    [
        [(0.0, "a")],
        [(60.0 * step, step) for step in range(200)],
    ],
)
def test_uses_that_teach_nothing_are_refused(uses) -> None:
    with pytest.raises(ConfigurationError, match=r"no window before|nothing to learn"):
        train(accesses("uses", uses), QUICK)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[(name, value) for name in ("epochs", "patience", "batch") for value in (0, True)],
        *[(name, value) for name in ("learning_rate", "validation") for value in (0, 1)],
    ],
)
def test_settings_that_cannot_be_are_refused(name: str, value: float) -> None:
    with pytest.raises(ConfigurationError, match=f"{name} is"):
        TrainingSettings(**{name: value})
