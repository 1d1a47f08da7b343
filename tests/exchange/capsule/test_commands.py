"""`import` of reports: every run or one, told by what the file begins with, refused in a line."""

import json
from pathlib import Path

from click.testing import CliRunner, Result

from ensemble import runs
from ensemble.cli.program import main
from tests.exchange.capsule.pages import written
from tests.exchange.given import LABELS, PROBABILITIES, saved
from tests.pages.ensembles import trained


def called(*words: object) -> Result:
    return CliRunner().invoke(main, ["import", *map(str, words)])


def refused(*words: object) -> str:
    done = called(*words)
    assert done.exit_code in (1, 2)
    assert "error" in json.loads(done.stdout)
    assert "Traceback" not in done.stderr
    return done.stderr


def test_a_report_gives_its_run_back(tmp_path: Path) -> None:
    run = trained(members=2, epochs=1, name="Ours")
    done = called(written(tmp_path, run, name="report.txt"))
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout.splitlines()[-1])
    again = runs.find_run(said["run_id"])
    assert (again.name, said["origin"], said["notes"]) == ("Ours", run.id, [])
    assert said["ensemble_test_accuracy"] == run.status.ensemble_test_accuracy
    assert f"imported from {run.id} of a report" in done.stderr
    shown = CliRunner().invoke(main, ["runs", "show", again.id])
    assert json.loads(shown.stdout)["origin"] == run.id


def test_of_several_runs_all_are_imported_or_the_one_that_is_named(tmp_path: Path) -> None:
    first, second = trained(members=2, epochs=1), trained(members=1, epochs=1)
    page = written(tmp_path, first, second)
    said = json.loads(called(page).stdout.splitlines()[-1])
    assert [one["origin"] for one in said["runs"]] == [first.id, second.id]
    said = json.loads(called(page, "--run", second.id, "--name", "one").stdout.splitlines()[-1])
    assert (said["origin"], runs.find_run(said["run_id"]).name) == (second.id, "one")
    there = len(runs.list_runs())
    assert f"It has: {first.id}, {second.id}." in refused(page, "--run", "digits-1")
    assert "choose one with --run" in refused(page, "--name", "both")
    assert "at most 80" in refused(page, "--run", second.id, "--name", "x" * 81)
    assert len(runs.list_runs()) == there


def test_what_is_no_report_is_refused_in_one_line(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("\ufeff \n<!DOCTYPE html><p>Hello</p>", "utf-8")
    assert refused(page).count("\n") == 1
    assert "page.html: it is a web page without the data of a run" in refused(page)
    table = saved(tmp_path, probabilities=PROBABILITIES, labels=LABELS)
    assert "import reports separately" in refused(table, page)
    assert "--run is for reports" in refused(table, "--run", "digits-1")
    assert "cannot be read" in refused(tmp_path / "none.html")
    assert "folder" in refused(tmp_path)
