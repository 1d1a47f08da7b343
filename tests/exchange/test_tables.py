"""CSV and Parquet: a row an example and member in any order, or a table a member."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from numpy.testing import assert_array_equal

from ensemble import exchange
from ensemble.errors import PredictionsError
from tests.exchange.given import LABELS, LOGITS, PROBABILITIES, C, M, N, csv_of, rows_of, uploaded, written

COLUMNS = ["example", "member", "label", *(f"p_{c}" for c in range(C))]
ROWS = rows_of(PROBABILITIES, LABELS)
NAMES = ("ant", "bee", "cat", "dog")


def shuffled(rows: list[list[Any]]) -> list[list[Any]]:
    return [rows[at] for at in np.random.default_rng(1).permutation(len(rows))]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_rows_may_stand_in_any_order(tmp_path: Path, delimiter: str) -> None:
    path = written(tmp_path, csv_of(COLUMNS, shuffled(ROWS), delimiter))
    for file in (path, uploaded(path)):
        found = exchange.read_prediction_files([file])
        assert_array_equal(found.probabilities[0], PROBABILITIES)
        assert_array_equal(found.labels, LABELS)
        assert found.class_names == ("0", "1", "2", "3")
        assert found.member_names == ("member 1", "member 2", "member 3")


def test_decimal_commas_of_a_spreadsheet_are_read(tmp_path: Path) -> None:
    text = csv_of(COLUMNS, ROWS, ";").replace(".", ",")
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert_array_equal(exchange.read_prediction_files([path]).probabilities[0], PROBABILITIES)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_what_pandas_writes_of_any_types_is_read(tmp_path: Path, kind: str) -> None:
    frame = pd.DataFrame(ROWS, columns=["example", "model", "label", *NAMES])
    frame["model"] = frame["model"].map({0: "forest", 1: "boosted", 2: "net"})
    frame["label"] = frame["label"].map(dict(enumerate(NAMES)))
    frame["split"] = "validation"
    frame["prediction"] = "ant"
    path = tmp_path / f"a.{kind}"
    if kind == "csv":
        frame.to_csv(path)
    else:
        frame.astype({"label": "category", "ant": "float32"}).to_parquet(path)
    found = exchange.read_prediction_files([path])
    np.testing.assert_allclose(found.probabilities[0], PROBABILITIES, rtol=1e-7)
    assert_array_equal(found.labels, LABELS)
    assert found.class_names == NAMES
    assert found.member_names == ("forest", "boosted", "net")
    assert found.split == "validation"
    rows = int((PROBABILITIES.argmax(axis=2) != 0).sum())  # "ant" is class 0
    assert found.notes == (
        f"In {rows} of {M * N} rows “prediction” is not the likeliest class: the columns of the classes were taken.",
    )


def test_parquet_keeps_float32_and_logits_their_softmax(tmp_path: Path) -> None:
    columns: dict[str, Any] = {"label": LABELS}
    columns |= {f"p_{c}": PROBABILITIES[0, :, c] for c in range(C)}
    pa.parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
    found = exchange.read_prediction_files([tmp_path / "a.parquet"])
    assert_array_equal(found.probabilities[0, 0], PROBABILITIES[0])
    rows = [[labels, *row] for labels, row in zip(LABELS, LOGITS[1].tolist(), strict=True)]
    path = written(tmp_path, csv_of(["y_true", *(f"logit_{c}" for c in range(C))], rows))
    logits = exchange.read_prediction_files([path]).probabilities[0, 0]
    np.testing.assert_allclose(logits, PROBABILITIES[1], rtol=1e-6)


def test_a_table_a_member_with_labels_in_one_of_them(tmp_path: Path) -> None:
    files, draw, first = [], np.random.default_rng(1), np.arange(N)
    for m in range(M):
        rows = [[f"photo-{n:03}", *PROBABILITIES[m, n].tolist()] for n in range(N)]
        columns = ["id", *NAMES]
        if m == 1:
            rows = [[*row, NAMES[LABELS[n]]] for n, row in enumerate(rows)]
            columns.append("label")
        order = draw.permutation(N)
        first = order if m == 0 else first
        text = csv_of(columns, [rows[at] for at in order])
        files.append(written(tmp_path, text, f"net {m}.csv"))
    found = exchange.read_prediction_files(files)
    assert_array_equal(found.probabilities[0], PROBABILITIES[:, first])
    assert_array_equal(found.labels, LABELS[first])
    assert found.details.names == tuple(f"photo-{n:03}" for n in first)
    assert found.member_names == ("net 0", "net 1", "net 2")
    other = csv_of(["id", *NAMES], [[f"photo-{n + 1:03}", *row[3:]] for n, row in enumerate(ROWS[:N])])
    with pytest.raises(PredictionsError, match=r"^odd\.csv: its examples have other names"):
        exchange.read_prediction_files([*files, written(tmp_path, other, "odd.csv")])


def test_epochs_members_without_examples_and_two_classes(tmp_path: Path) -> None:
    rows = [
        [epoch, f"m{m}", LABELS[n] % 2, PROBABILITIES[m, n, epoch // 10]]
        for epoch in (10, 20)
        for n in range(N)
        for m in range(2)
    ]
    path = written(tmp_path, csv_of(["epoch", "member", "label", "p_1"], rows))
    found = exchange.read_prediction_files([path])
    assert found.probabilities.shape == (2, 2, N, 2)
    for epoch in (0, 1):
        assert_array_equal(found.probabilities[epoch, ..., 1], PROBABILITIES[:2, :, epoch + 1])
    assert found.member_names == ("m0", "m1")
    assert "Epochs 10 … 20 of the table are numbered 1 to 2." in found.notes


def test_classes_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    wide = np.random.default_rng(0).dirichlet(np.ones(12), 5).astype(np.float32)
    order = np.random.default_rng(1).permutation(12)
    rows = [[11 - n, *wide[n, order].tolist()] for n in range(5)]
    path = written(tmp_path, csv_of(["label", *(f"prob_{c}" for c in order)], rows))
    assert_array_equal(exchange.read_prediction_files([path]).probabilities[0, 0], wide)


def put(row: int, column: int, value: Any) -> str:
    rows = [list(one) for one in ROWS]
    rows[row][column] = value
    return csv_of(COLUMNS, rows)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (put(5, 4, "x"), "column “p_1” has “x” in line 7"),
        (put(5, 4, ""), "member 0, example 5, class 1 .* is nan"),
        (put(5, 4, 7), "example 5, class 1 .* is 7"),
        (put(45, 2, 4), "two labels of example 5"),
        (put(45, 1, 0), "two rows of example 5 and member 0"),
        (put(45, 1, ""), "row 46 has no member"),
        (csv_of(COLUMNS, ROWS[:-1]), "no row of example 39 and member 2"),
        (csv_of(COLUMNS, [*ROWS, [1, 2]]), "line 122 has 2 cells, and the first row 7"),
        (csv_of([*COLUMNS[:-1], "p_2"], ROWS), "column “p_2” appears twice"),
        (csv_of([*COLUMNS[:-1], "logit_3"], ROWS), "of probabilities and of logits"),
        (
            csv_of(
                ["example", "member", "label", "file", "b", "c", "d"],
                [[*row[:4], "a.png" if at == 3 else row[4], *row[5:]] for at, row in enumerate(ROWS)],
            ),
            "“b” has “a.png” in line 5",
        ),
        (csv_of(COLUMNS, [[*row[:2], row[2] + 1, *row[3:]] for row in ROWS]), "begins at 1"),
    ],
)
def test_a_table_is_refused_by_its_line(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(PredictionsError, match=f"^a.csv: .*{why}"):
        exchange.read_prediction_files([written(tmp_path, text)])


def test_a_damaged_parquet_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pd.DataFrame(ROWS, columns=COLUMNS).to_parquet(path)
    whole = path.read_bytes()
    draw = np.random.default_rng(1)
    for part in np.array_split(np.arange(4, len(whole)), 20):  # each takes a process
        changed = bytearray(whole)
        for place in (draw.choice(part), *draw.integers(4, len(whole), 2)):
            changed[place] ^= 1 << int(draw.integers(8))
        path.write_bytes(bytes(changed[: draw.integers(8, len(whole))] if draw.random() < 0.3 else changed))
        try:
            found = exchange.read_prediction_files([path])
        except PredictionsError:
            continue
        assert found.probabilities.shape[-1] == C
