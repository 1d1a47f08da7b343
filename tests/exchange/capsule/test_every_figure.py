"""Whatever tells figures of a run tells the same of the one that came out of its report."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import ensemble
from ensemble import runs
from ensemble.cli.program import main
from ensemble.runs.history import write_predictions
from ensemble.storage.records.json_lines import append_line
from tests.exchange.capsule.pages import there_and_back
from tests.pages.ensembles import trained
from tests.runs.test_imported_run import imported

# Who worked on it, and where: nobody does any more. And what says that it came from elsewhere.
WORKER = ("pid", "pid_created", "pid_ticks", "host", "seconds_left")


def called(*words: str) -> str:
    done = CliRunner().invoke(main, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def shown(run_id: str) -> Any:
    """What `runs show` says, without its worker."""
    found = json.loads(called("runs", "show", run_id))
    found["status"] = {name: value for name, value in found["status"].items() if name not in WORKER}
    del found["origin"]
    return found


def held_out() -> runs.Run:
    """A run that holds images out."""
    made = trained(members=3, epochs=2, validation=0.1, name="one of three")
    append_line(
        made.path / "history.jsonl",
        {
            "kind": "epoch",
            "epoch": 1,
            "step": 10,
            "progress": 1.0,
            "train_loss": [0.1, 0.2, 0.3],
            "test_loss": [0.3, 0.1 / 3, 0.2],
            "test_accuracy": [0.5, 1.0, 0.9],
            "ensemble_test_accuracy": 0.75,
        },
    )
    return runs.find_run(made.id)


def set_aside() -> runs.Run:
    """A run one of whose members was set aside in its second epoch."""
    made = trained(members=3, epochs=2, set_aside={1: 15})
    found = np.array(runs.read_run_predictions(made.id, 1))
    whole = np.insert(runs.read_run_predictions(made.id, 2), 1, np.nan, axis=0)[:3]
    write_predictions(made.path, 1, found)
    write_predictions(made.path, 2, whole)
    return made


@pytest.mark.parametrize("make", [held_out, set_aside, imported])
def test_the_command_line_and_notebooks_say_the_same(make: Any, tmp_path: Path) -> None:
    made = make()
    again = there_and_back(tmp_path, made, all_epochs=True)

    def renamed(text: str) -> str:
        return text.replace(again.id, made.id)

    assert json.loads(renamed(json.dumps(shown(again.id)))) == shown(made.id)
    for words in (("compare", "--json"), ("plan",), ("worth",)):
        said = [CliRunner().invoke(main, (*words, one.id)) for one in (made, again)]
        if said[0].exit_code == 0:
            assert renamed(said[1].stdout).split() == said[0].stdout.split(), words
        else:
            assert said[1].exit_code == said[0].exit_code, words
    one, other = ensemble.open_run(made.id), ensemble.open_run(again.id)
    assert other.history() == one.history()
    for epoch in one.epochs:
        before, after = one.predictions(epoch), other.predictions(epoch)
        assert after.probabilities.tobytes() == before.probabilities.tobytes()
        assert (after.summary(), after.gain) == (before.summary(), before.gain)
        assert after.member_names == before.member_names
