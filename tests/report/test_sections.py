"""A report says of a run what the screens say of it, in the same words and figures."""

import shutil

import numpy as np
import pytest

from ensemble import runs
from ensemble.analysis.members.gain import gain_over_mean_member
from ensemble.analysis.predictions import evaluate_predictions
from ensemble.analysis.quality.temperature_scaling import compare_fitted_temperatures
from ensemble.comparison.comparison_table import build_comparison_table
from ensemble.comparison.run_groups import group_runs
from ensemble.config import EnsembleConfig
from ensemble.report import render_report, single_run
from ensemble.report.training_machine import list_machine_facts
from ensemble.runs.annotations.baseline import write_baseline
from ensemble.storage.atomic_files import write_json
from ensemble.views import calibration
from ensemble.views.registry import VIEWS
from ensemble.wording import formats
from ensemble.wording.provenance import build_rerun_command, format_citation
from ensemble.wording.terms import TERMS_BY_NAME
from ensemble.wording.verdicts import ensemble_gain as words
from tests.comparison.drawn import finished
from tests.pages.ensembles import held_out, trained
from tests.report.pages import Page

Made = tuple[runs.Run, str]
# What a run without varied values, a teacher or a stress test has nothing of.
ABSENT = {"loss_by_value", "shift", "distillation"}
TITLES = [view.title for name, view in VIEWS.items() if name not in ABSENT]


def read(text: str) -> str:
    return " ".join(text.split())


def test_every_view_that_needs_no_model_is_there(page: Page) -> None:
    assert [one.text for one in page.all("h2")] == [*TITLES, "Settings and versions"]


def test_the_verdict_and_its_evidence_are_the_screens_own(written: Made, page: Page) -> None:
    run, _ = written
    folder = run.path / "predictions" / "epoch-0002.npz"
    with np.load(folder) as kept:
        made = evaluate_predictions(kept["probabilities"], runs.load_test_set(run).labels)
    gained = gain_over_mean_member(made)
    assert page.by_class("answer")[0].text == words.describe_ensemble_gain(made, gained, "digit")
    assert page.by_class("evidence")[0].text == words.describe_gain_evidence(made, gained, "digit")
    nll = -np.log(made.averaged[np.arange(500), made.labels]).mean()
    ensemble = page.all("table")[0].text
    assert formats.format_significant(float(nll)) in ensemble
    assert formats.format_percent(float(made.right.mean()), 500) in ensemble


def test_what_is_fitted_is_fitted_on_the_images_held_out(written: Made, page: Page) -> None:
    run, _ = written
    with np.load(run.path / "predictions" / "epoch-0002.npz") as kept:
        probabilities = kept["probabilities"]
    scaled = compare_fitted_temperatures(probabilities, runs.load_test_set(run).labels, held_out(run, 2, 3.0))
    assert read(calibration.describe_temperature_evidence(scaled, "digit")) in page.said


def test_settings_that_differ_come_first_and_how_it_is_made_again_is_there(written: Made, page: Page) -> None:
    run, _ = written
    names = [one.text for one in page.all("dt")]
    assert names[:3] == ["Members", "Epochs", "Validation"]
    assert len(names) >= len(EnsembleConfig.__dataclass_fields__)
    shown = [one.text for one in page.all("pre")]
    assert build_rerun_command(run) in shown
    assert format_citation(run) in shown
    assert "jax" in names


@pytest.mark.long
def test_learning_curves_end_at_what_the_history_says() -> None:
    run = finished({"members": 2, "epochs": 3})
    page = Page(render_report([run]))
    loss = next(
        one["figure"] for one in page.figures if one["figure"]["layout"]["title"]["text"].startswith("NLL over")
    )
    ends = {trace["name"]: trace["y"][-1] for trace in loss["data"]}
    last = [row for row in runs.read_history(run.id) if row["kind"] == "epoch"][-1]
    assert ends["ensemble"] == pytest.approx(last["ensemble_test_nll"], rel=1e-4)
    assert [ends["member 1"], ends["2"]] == pytest.approx(last["test_loss"], rel=1e-4)


def test_one_member_has_no_views_of_several() -> None:
    page = Page(render_report([trained(members=1, epochs=1)]))
    titles = [one.text for one in page.all("h2")]
    assert "Committee" not in titles
    assert "Calibration" in titles
    assert page.by_class("answer")[0].text.startswith("One member alone")


def test_a_run_without_predictions_says_so_and_shows_its_curves() -> None:
    run = finished({"members": 2})
    shutil.rmtree(run.path / "predictions")
    page = Page(render_report([run]))
    assert [one.text for one in page.all("h2")] == ["Result", "Learning curves", "Settings and versions"]
    assert "has no predictions" in page.by_class("answer")[0].text


def test_what_was_trained_on_is_read_with_care() -> None:
    run = trained(epochs=1)
    assert list_machine_facts(run) == []
    (run.path / "devices.json").write_text("[")
    assert list_machine_facts(run) == []
    write_json(
        run.path / "devices.json",
        {"platform": "cpu", "cores": 2, "devices": [{"id": 0, "kind": "<b>cpu</b>"}], "host": "mine"},
    )
    assert list_machine_facts(run) == [("platform", "cpu"), ("devices", "<b>cpu</b>"), ("cores", "2")]
    write_json(run.path / "devices.json", {"devices": {"kind": 1}, "cores": [2]})
    assert ("platform", "cpu") not in list_machine_facts(run)


def test_several_runs_are_the_comparison_and_each_in_short() -> None:
    every = [
        finished({"learning_rate": rate}, skill=skill, draw=place)
        for place, (rate, skill) in enumerate([(0.01, 1.0), (0.1, 3.0)])
    ]
    page = Page(render_report(every))
    titles = [one.text for one in page.all("h2")]
    assert titles[:3] == ["Side by side", "Learning curves", "Where members stand"]
    assert len(titles) == 5
    assert "Members of two runs differ on " in page.said
    found = build_comparison_table(group_runs(every), every[0].id)
    value = found.columns[1].metrics["accuracy"].value
    assert formats.format_percent(value, 500) in page.all("table")[0].text
    types = [one.attributes.get("type") for one in page.all("script")]
    assert types.count("application/vnd.ensemble.capsule") == 2


def test_the_first_sentences_say_what_it_is_and_how_good(written: Made) -> None:
    run, source = written
    page = Page(source)
    with np.load(run.path / "predictions" / "epoch-0002.npz") as kept:
        right = kept["probabilities"].mean(axis=0).argmax(axis=1) == runs.load_test_set(run).labels
    lead = page.by_class("lead")[0].text
    assert lead.startswith("A deep ensemble: 3 networks that answer as one")
    assert f"it gets {right.sum()} of 500 test digits right" in lead
    assert "header" in page.by_class("lead")[0].parents


def test_what_the_figures_are_stands_below_them(page: Page) -> None:
    for name in ("NLL", "Brier", "ECE", "MCE"):
        assert f"{name}: {TERMS_BY_NAME[name].gloss}" in page.by_class("note")[0].text


def test_one_setting_differs_and_several_differ() -> None:
    assert single_run.describe_settings_fold(1).startswith("Settings: 1 differs from its default")
    assert single_run.describe_settings_fold(3).startswith("Settings: 3 differ from their defaults")


def test_the_default_settings_are_the_baseline_whichever_run_is_named_first() -> None:
    low, high = (
        finished({"learning_rate": rate}, skill=skill, draw=place)
        for place, (rate, skill) in enumerate([(0.01, 1.0), (0.1, 3.0)])
    )
    for every in ([low, high], [high, low]):
        page = Page(render_report(every))
        said = [one.text for one in page.by_class("evidence")]
        assert "The baseline is rate 0.1, the default settings." in said
        cells = next(one.text for one in page.all("tr") if one.text.startswith("Accuracy, verdict"))
        assert cells.endswith("baseline")


def test_the_run_that_is_pinned_is_the_baseline_wherever_it_stands() -> None:
    first, second, third = (
        finished({"learning_rate": rate}, skill=skill, draw=place)
        for place, (rate, skill) in enumerate([(0.01, 1.0), (0.1, 3.0), (0.2, 2.0)])
    )
    write_baseline("digits", second.id)
    for every, baseline in (
        ([first, second], "rate 0.1, which is pinned on Runs"),
        ([second, first], "rate 0.1, which is pinned on Runs"),
        ([third, first], "rate 0.01, the first group"),
        ([first, third, second], "rate 0.1, which is pinned on Runs"),
    ):
        said = [one.text for one in Page(render_report(every)).by_class("evidence")]
        assert f"The baseline is {baseline}." in said
