"""The table of runs: its figures, as they read and as a file has them."""

import io
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.elements.lib.pandas_styler_utils import marshall_styler
from streamlit.proto.ArrowData_pb2 import ArrowData

from ensemble import datasets, runs
from ensemble.runs.annotations.notes import write_run_note
from ensemble.runs.annotations.tags import write_tags
from ensemble.ui.predictions import downloads
from ensemble.ui.runs import columns, summary
from ensemble.ui.runs import table as runs_table
from tests.pages.ensembles import trained


def test_a_gain_is_the_number_of_images_that_a_count_finds() -> None:
    run = trained(sure=3.0)
    made = runs.read_run_predictions(run.id, 2)
    labels = datasets.load_dataset("digits").test_labels
    whole = int((made.mean(axis=0).argmax(axis=-1) == labels).sum())
    each = [int((member.argmax(axis=-1) == labels).sum()) for member in made]
    assert runs_table.tabulate_runs([run])["gain"].tolist() == [round(whole - sum(each) / 3)]


def test_the_download_holds_every_setting_and_figure() -> None:
    run = trained(name="a, b", done=1, state="stopped")
    write_run_note(run.id, "two\nlines")
    read = pd.read_csv(io.BytesIO(downloads.encode_table_csv(summary.tabulate_runs_export([run]))))
    row = read.iloc[0].to_dict()
    assert (row["id"], row["name"], row["note"]) == (run.id, "a, b", "two\nlines")
    assert {"learning_rate", "bootstrap", "rotation_degrees"} <= set(row)
    assert row["last_ensemble_test_accuracy"] == pytest.approx(run.status.ensemble_test_accuracy)


def test_the_best_run_is_the_lowest_by_validation_only_where_all_have_one() -> None:
    held = {"best_on": "validation", "best_epoch": 1}
    low = trained(name="low", done=1, best_ensemble_test_accuracy=0.9, best_ensemble_validation_nll=0.1, **held)
    high = trained(name="high", done=1, best_ensemble_test_accuracy=0.95, best_ensemble_validation_nll=0.2, **held)
    assert summary.describe_best_runs([low, high]) == (
        "Digits 90.0 % (low); chosen on the validation images, not on the test images"
    )
    without = trained(name="none", done=1, best_ensemble_test_accuracy=0.93)
    assert summary.describe_best_runs([low, high, without]) == (
        "Digits 95.0 % (high); the highest of several flatters: expect less on new images"
    )
    assert summary.tabulate_runs_export([low, without])["best_on"].tolist() == ["validation", "test"]


def test_of_many_datasets_those_that_were_trained_on_last_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    digits = trained(name="old", done=1, best_ensemble_test_accuracy=0.9)
    mnist = replace(
        trained(name="new", done=1, best_ensemble_test_accuracy=0.95), config=replace(digits.config, dataset="mnist")
    )
    both = summary.describe_best_runs([mnist, digits])
    assert "(old)" in both
    assert "(new)" in both
    monkeypatch.setattr(summary, "MAX_NAMED_DATASETS", 1)
    one = summary.describe_best_runs([mnist, digits])
    assert "(old)" not in one
    assert "(new)" in one
    assert one.endswith(". 1 more dataset, trained on before: see the table")


def test_figures_read_as_on_every_other_screen() -> None:
    run = trained(sure=6.0)
    shown = runs_table.style_runs_table(runs_table.tabulate_runs([run]), [500]).to_html()
    share = 100 * (run.status.ensemble_test_accuracy or 0)
    assert f">{share:.1f} %<" in shown
    assert [columns.format_signed_gain(gain) for gain in (18, -1, 0, 1033)] == ["+18", "−1", "±0", "+1,033"]


def test_a_name_or_note_that_begins_like_a_formula_is_none_in_a_file() -> None:
    run, other = trained(name="=1+1", done=1), trained(name="-0.5")
    write_run_note(run.id, '@SUM(A1)\n=HYPERLINK("http://evil.example")')
    read = pd.read_csv(io.BytesIO(downloads.encode_table_csv(summary.tabulate_runs_export([run, other]))), dtype=str)
    assert read["name"].tolist() == ["'=1+1", "-0.5"]
    assert read["note"][0] == '\'@SUM(A1)\n=HYPERLINK("http://evil.example")'
    assert float(read["learning_rate"][0]) == run.config.learning_rate


def test_the_table_shows_a_name_as_it_is_and_holds_it_as_no_formula() -> None:
    run, other = trained(name="=1+1", done=1), trained(name="'=2+2")
    style = runs_table.style_runs_table(runs_table.tabulate_runs([run, other]), [500, 500])
    # What the browser's own download takes, and what stands on the screen.
    assert style.data["name"].tolist() == ["'=1+1", "'=2+2"]
    shown = style.to_html(escape=False)
    assert ">=1+1<" in shown
    assert ">'=2+2<" in shown


def test_a_run_that_only_guesses_is_said_to_and_is_never_the_best() -> None:
    low = {"ensemble_test_accuracy": 0.09, "best_ensemble_test_accuracy": 0.1}
    run = trained(name="guesses", sure=0.0, **low)
    assert runs_table.tabulate_runs([run])["state"].tolist() == ["guesses"]
    assert summary.describe_best_runs([run]) == ""
    assert "(learns)" in summary.describe_best_runs([run, trained(name="learns")])


def test_figures_of_which_less_is_better_read_as_a_dash_where_there_are_none() -> None:
    some, none = trained(done=1, ensemble_test_nll=0.12345), trained(done=0, state="stopped")
    frame = runs_table.tabulate_runs([some, none], ["nll", "ece", "gain"], ece={some.id: 0.0123})
    shown = runs_table.style_runs_table(frame, [500, 500])
    assert shown.data["nll"].tolist() == [0.12345, float("inf")]
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", shown.to_html())
    assert cells[:2] == ["0.123", "0.0123"]
    assert cells[4:7] == ["–", "–", "–"]


def test_a_row_is_made_once_for_each_version_of_the_run_and_of_its_note(monkeypatch: pytest.MonkeyPatch) -> None:
    trained(name="one", done=0, state="stopped")
    other = trained(done=0, state="stopped")
    made: list[str] = []
    real = runs_table.build_run_row

    def made_row(run: runs.Run) -> dict[str, Any]:
        made.append(run.id)
        return real(run)

    monkeypatch.setattr(runs_table, "build_run_row", made_row)
    for _ in range(3):
        runs_table.tabulate_runs(runs.list_runs())
    assert len(made) == 2
    write_run_note(other.id, "new")
    notes = runs_table.tabulate_runs(runs.list_runs())["note"].tolist()
    assert sorted(notes) == ["", "new"]
    write_tags(other.id, ["rates"])
    assert sorted(runs_table.tabulate_runs(runs.list_runs())["tags"]) == ["", "rates"]
    assert made[2:] == [other.id, other.id]


def test_what_the_browser_gets_is_what_pandas_would_make_of_the_table() -> None:
    frame = pd.DataFrame(
        {
            "name": ["=1+1", "mine", ""],
            "accuracy": [97.8, np.nan, 88.25],
            "gain": [18.0, -2.0, np.nan],
            "learning_rate": [0.1, 0.05, 1e-5],
            "made": pd.to_datetime(["2026-11-01 10:00", "2026-11-02 09:30", None]),
            "state": ["finished", None, "failed"],
        }
    )
    table = runs_table.style_runs_table(frame, [360, 10_000, 360])
    ours, theirs = ArrowData(), ArrowData()
    marshall_styler(ours, table, "a")
    del table._translate
    marshall_styler(theirs, table, "a")
    assert ours == theirs


def test_a_table_with_colours_keeps_them() -> None:
    table = downloads.style_downloadable_table(pd.DataFrame({"a": ["=1", "b"]}))
    proto = ArrowData()
    marshall_styler(proto, table.map(lambda _: "color: red"), "a")
    assert "color: red" in proto.styler.styles
