"""What charts of our own share in the browser: cells of a CSV file, and ticks."""

import csv
import io
import json
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Page

from ensemble.figures.comparison.columns import AxisColumn, build_parallel_axes
from ensemble.storage import csv_format
from ensemble.ui.compare import parallel_coordinates
from ensemble.ui.compare.axis_brushes import compute_brush_mask, parse_browser_brushes
from ensemble.ui.frame import chart_component

FOLDER = Path(chart_component.__file__).parent / "js"
SCRIPTS = "\n".join((FOLDER / name).read_text("utf-8") for name in chart_component.SHARED_SCRIPTS)
HOSTILE = [
    'a run, with "quotes"',
    "two\nlines",
    "two\r\nlines\rthree",
    "=HYPERLINK(1)",
    "+1+1",
    "-2+3",
    "@SUM(1)",
    "\tx",
    "\r\ny",
    "\uff1d1",
    "-0.5",
    "1e5",
    "-inf",
    "",
    " ",
    "Größe ✓",
]


def run(page: Page, expression: str) -> Any:
    """What an expression is where the scripts have been read."""
    return page.evaluate(f"() => {{ {SCRIPTS}\nreturn {expression} }}")


def test_csv_is_what_the_program_writes_itself_and_reads_back(page: Page) -> None:
    rows = [["run", "value", "kept"], *([name, at - 0.5, None] for at, name in enumerate(HOSTILE))]
    written = run(page, f"csvOf({json.dumps(rows)})")
    assert written == csv_format.format_csv(rows)
    read = list(csv.reader(io.StringIO(written)))
    assert [row[0] for row in read[1:4]] == [*HOSTILE[:2], "two\nlines\nthree"]
    assert read[4][0] == "'=HYPERLINK(1)"
    assert {len(row) for row in read} == {3}


def test_ticks_are_round_and_within_their_axis(page: Page) -> None:
    for low, high, about in ((0.0, 1.0, 5), (0.01, 0.1, 5), (-3.0, 1250.0, 8), (0.93, 0.97, 4)):
        ticks = run(page, f"linearTicks({low}, {high}, {about})")
        steps = [later - sooner for sooner, later in pairwise(ticks)]
        assert 2 <= len(ticks) <= about + 2
        assert low - 1e-9 <= ticks[0] <= ticks[-1] <= high + 1e-9
        assert max(steps) - min(steps) < 1e-9 * max(steps) + 1e-12
        lead = steps[0] / 10 ** math.floor(math.log10(steps[0]) + 1e-9)
        assert any(math.isclose(lead, one) for one in (1, 2, 5)), lead
    places = run(page, "decadeTicks(-2, 0.5)")
    assert [round(10**place, 6) for place in places] == [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2]
    assert run(page, "decadeTicks(0, 40)") == [0, 5, 10, 15, 20, 25, 30, 35, 40]
    shown = run(page, "[0.05, 12000, 2.5e10, 1e-5, 0, 0.12345].map((one) => shortNumber(one))")
    assert shown == ["0.05", "12000", "2.5e10", "1e-5", "0", "0.123"]


def test_a_brush_keeps_the_same_runs_while_it_is_dragged_and_after(page: Page) -> None:
    """500 drawn brushes of two numbers and a choice, some of whose runs have no value."""
    cases, kept = [], []
    for number in range(500):
        draw = np.random.default_rng(number)
        rows = int(draw.integers(1, 9))
        values = np.round(draw.normal(0, 2, (2, rows)), 1)
        known = draw.random((3, rows)) < 0.85
        words = draw.choice(["cnn", "mlp", "a|b;c"], rows)
        columns = [
            AxisColumn(name, name, tuple(float(v) if k else None for v, k in zip(own, has, strict=True)))
            for name, own, has in zip(("first", "second"), values, known, strict=False)
        ]
        choice = tuple(str(word) if has else None for word, has in zip(words, known[2], strict=True))
        columns.append(AxisColumn("network", "network", choice, is_number=False))
        ends = np.sort(draw.choice(values.ravel(), 2)).tolist()  # at values of runs, which stay
        opened = draw.integers(0, 3)
        brush: dict[str, list[Any]] = {"first": [None if opened == 0 else ends[0], None if opened == 1 else ends[1]]}
        if draw.random() < 0.5:
            brush["network"] = sorted({str(word) for word in words[: 1 + rows // 2]})
        cases.append({"data": {"axes": build_parallel_axes(columns)}, "keep": brush, "rows": rows})
        kept.append(compute_brush_mask(parse_browser_brushes(json.dumps(brush), columns), columns))
    scales = Path(parallel_coordinates.__file__).with_name("js") / "scales.js"
    found = page.evaluate(
        f"""(cases) => {{ {scales.read_text("utf-8")}
        return cases.map((chart) => Array.from({{ length: chart.rows }}, (_, place) => staysAll(chart, place))) }}""",
        cases,
    )
    assert found == kept
    assert 0.2 < np.mean([run for case in kept for run in case]) < 0.8
