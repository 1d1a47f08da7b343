"""Tables of data are read as spreadsheets and programs write them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ensemble.errors import DataError
from ensemble.exchange.data_tables import read_data_table


def write(folder: Path, content: str | bytes, name: str = "t.csv") -> Path:
    """A file with this content."""
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_numbers_dates_and_text_are_told_apart(tmp_path: Path) -> None:
    rows = "\n".join(f" {n}.5 ,x{n % 2},2024-01-{n + 10},{'NA' if n == 3 else n}" for n in range(9))
    table = read_data_table(write(tmp_path, f"a,b,c,d\n{rows}\n"))
    assert [(column.name, column.kind) for column in table.columns] == [
        ("a", "number"),
        ("b", "text"),
        ("c", "date"),
        ("d", "number"),
    ]
    assert table.columns[0].values.tolist() == [n + 0.5 for n in range(9)]
    assert np.flatnonzero(np.isnan(table.columns[3].values.astype(float))).tolist() == [3]


@pytest.mark.parametrize(
    ("cells", "delimiter", "wanted"),
    [
        (["1.234,5", "7,25", "-1.000"], ";", [1234.5, 7.25, -1000.0]),
        (['"1,234.5"', "7.25", "1e3"], ",", [1234.5, 7.25, 1000.0]),
        (["1 234", "7.25", "+2"], ";", [1234.0, 7.25, 2.0]),
    ],
)
def test_decimal_commas_and_thousands(cells: list[str], delimiter: str, wanted: list[float], tmp_path: Path) -> None:
    lines = "\n".join(f"{cell}{delimiter}x" for cell in cells)
    table = read_data_table(write(tmp_path, f"a{delimiter}b\n{lines}"))
    assert table.columns[0].values.tolist() == wanted
    assert table.columns[0].notes == ("a: signs between thousands are left out.",)


def test_a_stray_word_among_numbers_counts_as_missing_and_is_said(tmp_path: Path) -> None:
    lines = [f"{cell},1" for cell in ("unknown", *range(30))]
    column = read_data_table(write(tmp_path, "\n".join(["a,b", *lines]))).columns[0]
    assert column.kind == "number"
    assert column.notes == ("a: 1 cell that is no number (“unknown”) counts as missing.",)


def test_parquet_gives_the_same_as_csv(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "size": [1.5, None, 3.0, 4.0],
            "kind": ["a", "b", None, "a"],
            "yes": [True, False, True, True],
            "when": pd.to_datetime(["2024-01-01"] * 4),
        }
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    one, other = (read_data_table(tmp_path / name) for name in ("t.csv", "t.parquet"))
    for left, right in zip(one.columns, other.columns, strict=True):
        assert (left.name, left.kind) == (right.name, right.kind)
        assert [str(value).lower() for value in left.values] == [str(value).lower() for value in right.values]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"PK\x03\x04" + bytes(40), "save the sheet as CSV"),
        (b"\x00\x01\x02\x03" * 20, "not a table that can be read"),
        (b"a,a\n1,2\n", "its column “a” appears twice"),
        (b"a,b\n", "no rows"),
        (b"a,b\n1,2\n1,2,3\n", "line 3 has 3 cells, and the first row 2"),
        (b"PAR1" + bytes(60), "not a readable Parquet file"),
    ],
)
def test_what_is_no_table_is_refused_in_a_sentence(content: bytes, words: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=words) as refusal:
        read_data_table(write(tmp_path, content))
    assert "t.csv" in str(refusal.value)


def test_a_table_larger_than_what_is_taken_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ensemble.exchange.data_tables.MOST_ROWS", 3)
    with pytest.raises(DataError, match="give a sample of the rows"):
        read_data_table(write(tmp_path, "a,b\n" + "1,2\n" * 4))
    with pytest.raises(DataError, match="exists and that you may read"):
        read_data_table(tmp_path / "missing.csv")
