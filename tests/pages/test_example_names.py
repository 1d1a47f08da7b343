"""What examples are called stands on their tiles, in the opened one, in tables and in reports."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import ensemble
from ensemble import exchange, runs
from ensemble.cli.program import main
from ensemble.datasets.example_details import ExampleDetails, serialize_details
from ensemble.errors import PredictionsError
from ensemble.exchange.capsule import capsule_format
from ensemble.ui.predictions import image_grid
from ensemble.views.evaluated_epoch import evaluate_epoch
from ensemble.views.examples.example_table import tabulate_examples
from tests.exchange.capsule.pages import taken, with_parts
from tests.exchange.given import LABELS, PROBABILITIES, N, csv_of, written
from tests.pages.predictions_screen import opened, tiles
from tests.pages.stressed import said

NAMES = [f"ward/patient-{n:04}-*of*-the-first-visit.png" for n in range(N)]


@pytest.fixture
def run(tmp_path: Path) -> runs.Run:
    """A run of a table whose examples have names, ages and notes that look like formulas."""
    rows = [[NAMES[n], 20 + n, f"=note {n}", LABELS[n], *PROBABILITIES[0, n].tolist()] for n in range(N)]
    columns = ["filename", "age", "note", "label", "p_0", "p_1", "p_2", "p_3"]
    path = written(tmp_path, csv_of(columns, rows))
    return exchange.import_run(exchange.read_prediction_files([path]), "named")


def test_tiles_and_the_opened_example_show_its_name_and_details(run: runs.Run) -> None:
    """Without an image what is known of an example stands in its place."""
    epoch = evaluate_epoch(run)
    tile = image_grid.build_image_tile(epoch.predictions, 3, epoch.class_names, "example", NAMES[3])
    assert NAMES[3].endswith(tile["name"].removeprefix("…"))
    assert len(tile["name"]) <= image_grid.MAX_TILE_NAME
    assert NAMES[3] in tile["alt"]
    at = opened(run)
    shown = {one["number"]: one for one in tiles(at)}
    assert shown[3]["name"] == tile["name"]
    assert shown[3]["card"] == ["age: 23", "note: =note 3"]
    assert "a tile has what is known of each example" in said(at)
    at = opened(run, digit=3)
    text = " ".join(str(one.value) for one in (*at.subheader, *at.caption))
    assert "patient-0003" in text
    assert "age: 23" in text
    assert not at.get("imgs")
    walked = opened(run, page="why", image=3)
    assert "age: 23" in said(walked)
    assert "blank tile" not in said(walked)


def test_a_tile_has_a_text_or_a_name_in_place_of_an_image() -> None:
    text = ExampleDetails((), {"review": ("good", "")})
    assert [text.describe_tile(n) for n in (0, 1)] == [["good"], []]
    assert ExampleDetails(("a", "b")).describe_tile(1) == ["b"]


def test_its_tables_and_python_have_the_names(run: runs.Run) -> None:
    epoch = evaluate_epoch(run)
    frame = tabulate_examples(epoch.predictions, np.array([4, 2]), epoch.class_names, epoch.dataset.details)
    assert frame["example"].tolist() == [NAMES[4], NAMES[2]]
    assert frame["example_age"].tolist() == ["24", "22"]
    assert ensemble.open_run(run.id).predictions().example_names == tuple(NAMES)


def test_a_report_brings_them_along(run: runs.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = tmp_path / "report.html"
    ensemble.open_run(run.id).save_report(report)
    details = runs.load_test_set(run).details
    page = report.read_text("utf-8")
    monkeypatch.setenv("ENSEMBLE_RUNS", str(tmp_path / "elsewhere"))
    done = CliRunner().invoke(main, ["import", str(report)])
    assert done.exit_code == 0, done.output
    (copy,) = runs.list_runs()
    assert runs.load_test_set(copy).details == details
    for broken in (b"[]", b"{", serialize_details(ExampleDetails(("a",))).encode()):

        def put(part: str, content: bytes, broken: bytes = broken) -> bytes:
            return broken if part == capsule_format.EXAMPLES else content

        with pytest.raises(PredictionsError, match="“examples” cannot be used"):
            taken(with_parts(page, put))
    assert [one.id for one in runs.list_runs()] == [copy.id]


def test_a_run_of_an_earlier_version_has_none(run: runs.Run) -> None:
    (run.path / "test_examples.npz").unlink()
    assert not runs.load_test_set(run).details
    (run.path / "test_examples.npz").write_bytes(json.dumps({}).encode())
    with pytest.raises(ensemble.EnsembleError, match=r"names of the examples .* import it again"):
        runs.load_test_set(run)
