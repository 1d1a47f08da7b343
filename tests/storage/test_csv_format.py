"""Cells that begin like a formula are text to a spreadsheet; numbers stay numbers."""

import csv
import io

import pytest

from ensemble.storage import csv_format


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+1+1",
        "-1+1",
        "@SUM(A1)",
        "\t=1",
        "\n=1",
        "=cmd|' /C calc'!A0",
        '=HYPERLINK("http://evil.example")',
        "-",
        "--",
        "－1+1",  # noqa: RUF001
        "＝1",  # noqa: RUF001
    ],
)
def test_a_formula_is_preceded_by_an_apostrophe(text: str) -> None:
    assert csv_format.escape_csv_formula(text) == f"'{text}"
    assert next(csv.reader(io.StringIO(csv_format.format_csv([[text]]), newline=""))) == [f"'{text}"]


@pytest.mark.parametrize("cell", [-0.5, 3, None, True, "-0.5", "+3", "-1e-7", "-inf", "7", "a=b", "run - 1", "", "'x"])
def test_numbers_and_ordinary_words_stay_as_they_are(cell: object) -> None:
    assert csv_format.escape_csv_formula(cell) == cell
    assert type(csv_format.escape_csv_formula(cell)) is type(cell)


def test_a_carriage_return_ends_no_row() -> None:
    text = csv_format.format_csv([["a\r\nb\rc", "\r=1"]])
    assert [*csv.reader(io.StringIO(text, newline=""))] == [["a\nb\nc", "'\n=1"]]


def test_a_table_reads_back_with_commas_quotes_and_empty_cells() -> None:
    text = csv_format.format_csv([["a", "b,c"], [1, None], [-0.5, 'say "x"\nz']])
    assert text.startswith('a,"b,c"\n1,\n-0.5,')
    assert [*csv.reader(io.StringIO(text, newline=""))] == [["a", "b,c"], ["1", ""], ["-0.5", 'say "x"\nz']]
