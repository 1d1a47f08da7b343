"""What a run that has ended came to, in a sentence on Train."""

import pytest

from ensemble import runs
from ensemble.analysis.members.gain import MeanGain
from ensemble.config import EnsembleConfig
from ensemble.ui.shared import loaders
from ensemble.ui.train import run_verdict
from ensemble.views.answer import describe_answer_headline
from ensemble.views.evaluated_epoch import evaluate_epoch
from tests.pages.ensembles import trained
from tests.pages.predictions_screen import opened


def gain(low: float, high: float) -> MeanGain:
    return MeanGain(500, (low + high) / 2, low, high, 0.1, 0.05, 0.15, 20.0, 5.0)


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (8.2, 21.6, "Hardly luck of the test set: +8 to +22 digits (95 %)."),
        (-2.2, 10.4, "May be luck of the test set: −2 to +10 digits (95 %)."),
        (-9.0, -1.0, "Hardly luck of the test set: −9 to −1 digits (95 %)."),
    ],
)
def test_luck_is_told_by_the_interval(low: float, high: float, said: str) -> None:
    assert run_verdict.describe_gain_luck(gain(low, high), "digit") == said


def test_a_finished_run_says_what_inspect_says_and_leads_there() -> None:
    run = trained(members=3)
    at = opened(run, "train")
    [said] = [one.value for one in at.main.markdown if one.value.startswith("#### ")]
    assert said == f"#### {describe_answer_headline(evaluate_epoch(run))}"
    assert any("luck of the test set" in one.value for one in at.main.caption)
    [link] = [one for one in at.main.get("page_link") if one.proto.label == "Inspect"]
    assert run.id in link.proto.query_string
    alone = trained(members=1)
    at.query_params["run"] = alone.id
    loaders.forget_runs()
    assert not at.run().exception
    assert at.query_params["run"] in (alone.id, [alone.id])
    assert not [one for one in at.main.markdown if one.value.startswith("#### ")]


def test_a_run_that_goes_on_or_has_one_member_says_nothing_yet() -> None:
    assert not run_verdict.has_verdict(runs.create_run(EnsembleConfig(members=4)))
    assert not run_verdict.has_verdict(trained(members=1))
