"""Cheaper ensembles of a run, and how many independent members they are worth."""

import math

import numpy as np
import pytest

from ensemble import runs
from ensemble.analysis.planning.equivalents import MemberEquivalent
from ensemble.errors import RunError
from ensemble.planning.cheap_ensembles import CheapEnsemble, iterate_cheap_ensembles
from ensemble.planning.worth import CheapEnsembleWorth, CheapEnsembleWorths, measure_cheap_ensembles
from ensemble.runs.epoch_files import locate_epoch_file
from ensemble.runs.history import write_predictions
from ensemble.views import cheaper_members as words
from tests.comparison.drawn import finished, imported, probabilities

CYCLIC = {"members": 4, "epochs": 6, "schedule": "cyclic", "cycles": 3}


def by_kind(run: runs.Run) -> dict[str, CheapEnsemble]:
    return {f"{one.kind} {one.networks}": one for one in iterate_cheap_ensembles(run) if isinstance(one, CheapEnsemble)}


def test_snapshots_are_the_predictions_at_the_ends_of_cycles() -> None:
    run = finished(CYCLIC, epochs=6)
    found = by_kind(run)
    assert found["snapshots 3"].epochs == (2, 4, 6)
    each = [runs.read_run_predictions(run.id, epoch) for epoch in (2, 4, 6)]
    np.testing.assert_allclose(found["snapshots 3"].probabilities, np.mean(each, 0), atol=1e-7)
    last = [runs.read_run_predictions(run.id, epoch) for epoch in (4, 5, 6)]
    np.testing.assert_allclose(found["last 3"].probabilities, np.mean(last, 0), atol=1e-7)
    assert sorted(found) == ["last 2", "last 3", "last 5", "member 1", "snapshots 3"]
    locate_epoch_file(run.path, "predictions", 4).unlink()
    assert sorted(by_kind(run)) == ["last 2", "member 1", "snapshots 2"]


def test_one_member_is_worth_one_member() -> None:
    assert measure_cheap_ensembles(finished({"members": 8}, 1)).rows[0].equivalent.value == pytest.approx(1)


def test_epochs_as_good_as_independent_members_are_worth_as_many() -> None:
    run = finished({"members": 8}, 1)
    for epoch in (2, 3):  # drawn anew, and no better: each epoch is another member
        write_predictions(run.path, epoch, probabilities(100 * epoch, 8))
    found = {row.networks: row.equivalent for row in measure_cheap_ensembles(run).rows}
    for networks in (2, 3):
        assert found[networks].low <= networks <= found[networks].high
        assert found[networks].value == pytest.approx(networks, abs=0.35)


def test_what_the_images_cannot_tell_is_said_to_be_so() -> None:
    def held(low: float, high: float) -> str:
        row = CheapEnsembleWorth("snapshots", (2, 4), 2, MemberEquivalent(1.7, low, high, 6))
        return words.describe_best_cheaper_ensemble(CheapEnsembleWorths((row,), 6, False, ()))

    assert held(1.4, 2.1) == ("This snapshot ensemble is worth 1.7 independent members (95 %: 1.4 to 2.1).")
    assert held(0.0, math.inf).startswith("Too few test images or members to say what cheaper ensembles are worth")
    assert "less than 1 to 2.1" in held(0.0, 2.1)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (MemberEquivalent(1.7, 1.4, 2.1, 8), "1.7 independent members (95 %: 1.4 to 2.1)"),
        (MemberEquivalent(6.0, 4.2, math.inf, 8), "6.0 independent members (95 %: 4.2 to more than 8)"),
        (MemberEquivalent(math.inf, math.inf, math.inf, 8), "more than 8 independent members"),
        (MemberEquivalent(0, 0, 0, 8), "less than one independent member"),
        (MemberEquivalent(0, 0, 1.3, 8), "less than one independent member (95 %: less than 1 to 1.3)"),
    ],
)
def test_what_predictions_are_worth_is_said_up_to_what_is_known(found: MemberEquivalent, said: str) -> None:
    assert words.format_member_equivalent(found) == said


def test_runs_without_several_members_or_predictions_are_refused() -> None:
    with pytest.raises(RunError, match="With one member"):
        measure_cheap_ensembles(finished({"members": 1}))
    with pytest.raises(RunError, match="trained elsewhere"):
        measure_cheap_ensembles(imported())
    with pytest.raises(RunError, match="no predictions yet"):
        measure_cheap_ensembles(runs.create_run(finished({"members": 2}).config))
