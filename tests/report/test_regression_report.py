"""A regression as one file, and in Python: what Parallel says of it."""

from pathlib import Path

import pytest
from click.testing import CliRunner

import ensemble
from ensemble import regression, runs
from ensemble.api.regressions import SolvedRegression
from ensemble.cli.program import main
from ensemble.config import EnsembleConfig
from ensemble.errors import ConfigError, PredictionsError
from ensemble.report import write_report
from tests.regression.test_solve_traces import SMALL, tell


@pytest.fixture
def solve() -> regression.Regression:
    """Twice as fast on two devices, with a sweep."""
    made = regression.create_regression(SMALL)
    tell(made, "without", 1, [4.0] * 8)
    tell(made, "with", 2, [2.0] * 8, spread=0.0)
    tell(made, "sweep-1", 1, [8.0, 8.0])
    tell(made, "sweep-2", 2, [4.0, 4.0])
    return made


def test_the_file_has_the_answer_the_pictures_and_every_solve(solve: regression.Regression, tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["report", solve.id, "--out", str(tmp_path / "a.html")])
    assert result.exit_code == 0, result.output
    page = (tmp_path / "a.html").read_text("utf-8")
    solved = SolvedRegression(solve.id)
    assert solved.answer in page
    for alt in ("norm by iteration", "Step time by iteration; medians", "2 times on 2"):
        assert alt in page
    assert "the median ratio is 2.00×, 2.00× to 2.00×" in page
    assert "2 devices, pmap" in page
    assert "120 × 8 · 3 iterations" in page


def test_it_stands_alone_and_has_no_members(solve: regression.Regression, tmp_path: Path) -> None:
    other = runs.create_run(EnsembleConfig())
    with pytest.raises(PredictionsError, match="is a regression, and a report of several"):
        write_report([other.id, solve.id], tmp_path / "a.html")
    with pytest.raises(PredictionsError, match="is a regression and has no members"):
        write_report([solve.id], tmp_path / "a.html", with_members=True)
    assert not (tmp_path / "a.html").exists()


def test_before_the_first_iteration_it_says_that_there_is_nothing(tmp_path: Path) -> None:
    empty = regression.create_regression(SMALL)
    write_report([empty.id], tmp_path / "a.html")
    assert "No iteration has been measured" in (tmp_path / "a.html").read_text("utf-8")
    assert "No iteration has been measured" in SolvedRegression(empty.id).answer


def test_python_has_figures_and_tables(solve: regression.Regression) -> None:
    solved = SolvedRegression(solve.id)
    assert "pmap" in solved.answer
    assert set(solved.figures) == {"Error by iteration", "Step time by iteration", "Speed-up by number of devices"}
    assert solved.solves["solve"].tolist()[:2] == ["1 device", "2 devices, pmap"]
    assert len(solved.iterations) >= 16
    assert repr(solved).startswith(f"<SolvedRegression {solve.id}: queued.")


def test_a_setting_that_is_none_is_named() -> None:
    with pytest.raises(ConfigError, match="No such setting: sample"):
        ensemble.solve_regression(sample=3)


@pytest.mark.long
def test_one_is_solved_and_waited_for(capsys: pytest.CaptureFixture[str]) -> None:
    solved = ensemble.solve_regression(samples=200, features=8, classes=3, iterations=5, devices=2, sweep=False)
    assert solved.state == "finished"
    assert len(solved.traces.without.error) == 5 if solved.traces.without else False
    assert "finished" in capsys.readouterr().out
