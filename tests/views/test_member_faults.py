"""Broken members are named before all else, on the page, in the report and by the command."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.special import softmax

import ensemble
from ensemble import runs
from ensemble.cli.program import main
from ensemble.report import render_report
from ensemble.views.evaluated_epoch import evaluate_epoch
from ensemble.views.member_faults import list_epoch_member_faults
from tests.analysis.members.test_broken_members import members
from tests.pages.predictions_screen import opened
from tests.report.pages import Page


def import_members(probabilities: np.ndarray, labels: np.ndarray) -> runs.Run:
    return runs.find_run(ensemble.import_predictions(probabilities, labels).id)


def import_with_broken_member() -> runs.Run:
    probabilities, labels, draws = members(5)
    probabilities[2] = softmax(draws.normal(0, 4, probabilities.shape[1:]), axis=-1)
    return import_members(probabilities, labels)


def import_doubles() -> runs.Run:
    probabilities, labels, _ = members(3)
    return import_members(probabilities[[0, 1, 2, 1]], labels)


STORIES = {
    "broken": (import_with_broken_member, "Better without member 3: NLL "),
    "doubles": (import_doubles, "Members 2 and 4 give the same answers: they count as one."),
}


@pytest.mark.long_cases
@pytest.mark.parametrize("story", STORIES)
def test_a_fault_stands_before_the_verdict_on_every_face(story: str) -> None:
    create, claim = STORIES[story]
    run = create()
    ((found, evidence),) = list_epoch_member_faults(evaluate_epoch(run))
    assert found.startswith(claim)
    assert len(found) <= 90

    at = opened(run, "inspect")
    assert not at.exception
    assert found in at.warning[0].value.replace("\\", "")
    assert " ".join(evidence.split()) in " ".join(at.warning[0].value.replace("\\", "").split())
    assert sum(claim in one.value for one in (*at.markdown, *at.caption, *at.warning)) == 1

    report = Page(render_report([run])).said
    assert report.index(found) < report.index(" ".join(evidence.split()))
    assert report.index(evidence.split(".")[0]) < report.index("members do on average") or (story == "doubles")

    command = CliRunner().invoke(main, ["inspect", run.id, "answer", "--json"])
    assert json.loads(command.output)["answer"] == found
    for choice in ("accuracy", "ece"):
        asked = ["inspect", run.id, "members", "--choose", f"figure={choice}", "--json"]
        headline = json.loads(CliRunner().invoke(main, asked).output)["answer"]
        assert headline.startswith(f"{found} ") is (story == "broken")
        assert ("is not judged by ECE." in headline) is (choice == "ece")
    for view in ("members", "agreement"):
        said = CliRunner().invoke(main, ["inspect", run.id, view]).output
        assert found in said


def test_the_evidence_says_by_how_much_on_which_images_and_what_to_do() -> None:
    ((_, evidence),) = list_epoch_member_faults(evaluate_epoch(import_with_broken_member()))
    assert "nats lower" in evidence
    assert "p < 0.001" in evidence.replace("\N{NO-BREAK SPACE}", " ")
    assert "Member 3 gets" in evidence
    assert "picked on one half of the test examples (250) and judged on the other (250)" in evidence
    assert evidence.endswith("How many members? shows what every other choice of members gives.")


def test_sound_members_are_not_warned_of() -> None:
    probabilities, labels, _ = members(4)
    run = import_members(probabilities, labels)
    assert list_epoch_member_faults(evaluate_epoch(run)) == []
