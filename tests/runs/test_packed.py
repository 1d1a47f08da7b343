"""Runs trained side by side in one program: each comes to what it comes to alone."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import jax
import numpy as np
import pytest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.runs import Run, Status
from ensemble.runs.checkpoints.folders import list_checkpoint_ticks
from ensemble.runs.checkpoints.members import read_progress
from ensemble.runs.parameters import read_parameters
from ensemble.runs.training import packed_training

# Two members to a device, alone and in a pack: there every bit is the same.
CONFIG = EnsembleConfig(network="logistic", members=2, epochs=3, batch_size=50, devices=1, validation=0.1)
TRIALS = (CONFIG, replace(CONFIG, learning_rate=0.03, momentum=0.5))
# Its parameters are multiplied by about -9 at each step: it is lost within the second epoch.
LOST = replace(CONFIG, learning_rate=10.0, momentum=0.0, weight_decay=1.0)
TIMES = ("seconds", "img_member_per_s")


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """The trials, each trained by itself."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENSEMBLE_RUNS", str(tmp_path_factory.mktemp("runs")))
        return [runs.execute_run(runs.create_run(one).id) for one in TRIALS]


@pytest.fixture(autouse=True)
def beside_them(alone: list[Run], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENSEMBLE_RUNS", str(alone[0].path.parent))


def never() -> bool:
    return False


def together(*configs: EnsembleConfig, stops: dict[int, Callable[[Status], bool]] | None = None) -> list[Run]:
    """Runs of these settings side by side; one is stopped when its status says so."""
    made, asked = [runs.create_run(one) for one in configs], set[int]()

    def reporter(place: int) -> Callable[[Status], None]:
        def report(status: Status) -> None:
            if (stops or {}).get(place, lambda status: False)(status):
                asked.add(place)

        return report

    places = range(len(configs))
    ended = packed_training.train_packed_runs(
        [one.id for one in made], [reporter(one) for one in places], [lambda one=one: one in asked for one in places]
    )
    assert all(ended)
    return [one for one in ended if one]


def assert_same(run: Run, wanted: Run, rtol: float = 0.0) -> None:
    """Two runs have come to the same in everything but the time: to the bit, or so nearly."""
    assert run.status.state == wanted.status.state == "finished"
    files = [
        {str(file.relative_to(one.path)) for file in one.path.rglob("*") if file.is_file()} for one in (run, wanted)
    ]
    assert without_ocdbt(files[0]) == without_ocdbt(files[1])
    ends = [[line for line in runs.read_history(one.id) if line["kind"] == "epoch"] for one in (run, wanted)]
    for line, other in zip(*ends, strict=True):
        assert line.keys() == other.keys()
        for name in line.keys() - set(TIMES) - {"kind"}:
            # The average of one's own members is summed up among those of all.
            close = max(rtol, 1e-6 if name.startswith("ensemble") else 0.0)
            np.testing.assert_allclose(line[name], other[name], close, err_msg=name)
    for read in (
        lambda one: runs.read_run_predictions(one.id, 3),
        lambda one: runs.read_validation_predictions(one.id, 2),
        lambda one: read_parameters(one.id, 3),
        lambda one: read_progress(one).state,
    ):
        for leaf, other in zip(*map(jax.tree.leaves, (read(run), read(wanted))), strict=True):
            np.testing.assert_allclose(leaf, other, rtol, atol=rtol)
    assert list_checkpoint_ticks(run.path) == list_checkpoint_ticks(wanted.path)
    assert run.status.best_epoch == wanted.status.best_epoch


def without_ocdbt(files: set[str]) -> set[str]:
    """Files of a run but for those of its checkpoints, which orbax names at random."""
    return {file for file in files if Path(file).parts[0] != "checkpoints"}


@pytest.mark.long
def test_runs_trained_in_one_program_are_each_as_trained_alone_to_the_bit(alone: list[Run]) -> None:
    for run, wanted in zip(together(*TRIALS), alone, strict=True):
        assert_same(run, wanted)
        assert run.message == wanted.message


@pytest.mark.long
def test_one_that_diverges_ends_as_it_would_alone_and_the_other_goes_on(alone: list[Run]) -> None:
    lost, run = together(LOST, TRIALS[0])
    assert_same(run, alone[0], rtol=1e-6)  # beside one with weight decay: by another rule
    wanted = runs.execute_run(runs.create_run(LOST).id)
    assert (lost.state, lost.message) == (wanted.state, wanted.message)
    assert lost.state == "diverged"
    assert lost.status.step == wanted.status.step < run.status.step
    assert len(runs.list_prediction_epochs(lost.id)) == 1


@pytest.mark.long
def test_one_that_is_stopped_is_resumed_alone_to_the_same_bits(alone: list[Run]) -> None:
    stopped, run = together(*TRIALS, stops={0: lambda status: status.epoch == 1})
    assert_same(run, alone[1])
    assert (stopped.state, stopped.message) == ("stopped", alone_stopped())
    assert stopped.status.epoch == 1
    runs.requeue_run(stopped.id)
    assert_same(runs.execute_run(stopped.id), alone[0])


def alone_stopped() -> str:
    return "Stopped. Resume continues from here."


def test_a_bug_is_written_into_all_that_go_on_and_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    from ensemble.engine import Trainer

    def broken(*args: object, **more: object) -> None:
        raise ZeroDivisionError("no such thing")

    monkeypatch.setattr(Trainer, "train", broken)
    made = [runs.create_run(one) for one in TRIALS]
    with pytest.raises(ZeroDivisionError):
        packed_training.train_packed_runs([one.id for one in made], [lambda status: None] * 2, [never] * 2)
    for one in made:
        ended = runs.find_run(one.id)
        assert ended.state == "failed"
        assert "no such thing" in ended.message


def test_what_one_cannot_write_is_no_end_of_the_other(alone: list[Run]) -> None:
    made = [runs.create_run(one) for one in TRIALS]

    def in_the_way(status: Status) -> None:
        if status.epoch == 1:
            (made[1].path / "predictions").rename(made[1].path / "predictions-2")
            (made[1].path / "predictions").write_text("a file")

    first, second = packed_training.train_packed_runs(
        [one.id for one in made], [lambda status: None, once(in_the_way)], [never] * 2
    )
    assert first
    assert second
    assert_same(first, alone[0])
    assert second.state == "failed"
    assert second.message.startswith("Could not write to the disk")


def once(report: Callable[[Status], None]) -> Callable[[Status], None]:
    done: list[int] = []

    def reported(status: Status) -> None:
        if status.epoch == 1 and not done:
            done.append(1)
            report(status)

    return reported


@pytest.mark.parametrize("change", [{"seed": 1}, {"members": 3}, {"groups": 2, "members": 4}], ids=str)
def test_only_runs_that_differ_in_numbers_of_members_share_a_program(change) -> None:
    other = replace(CONFIG, learning_rate=0.5, vary="momentum=0.5,0.9")
    assert packed_training.can_share_program([CONFIG, other])
    assert not packed_training.can_share_program([CONFIG, replace(CONFIG, **change)])
    made = [runs.create_run(one).id for one in (CONFIG, replace(CONFIG, **change))]
    with pytest.raises(ValueError, match="differ in more"):
        packed_training.train_packed_runs(made, [lambda status: None] * 2, [never] * 2)
