"""Tables as Excel, R, NumPy and pandas write them: encodings, first lines, delimiters."""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ensemble import exchange
from ensemble.errors import PredictionsError
from tests.exchange.given import LABELS, PROBABILITIES, C, M, N, csv_of, rows_of, uploaded

NAMES = ("Äpfel", "Birnen", "Käse", "Nüsse")
COLUMNS = ["example", "member", "label", *NAMES]
ROWS = [[*row[:2], NAMES[row[2]], *row[3:]] for row in rows_of(PROBABILITIES, LABELS)]
SEMICOLONS = csv_of(COLUMNS, ROWS, ";").replace(".", ",")
PLAIN = csv_of(COLUMNS, ROWS)
DIALECTS: dict[str, tuple[bytes, str]] = {
    "Excel, German": (SEMICOLONS.replace("\n", "\r\n").encode("cp1252"), "cp1252"),
    "Excel's sep=": (("sep=;\n" + SEMICOLONS).encode("utf-8-sig"), "before the header"),
    "Excel's Unicode text": (csv_of(COLUMNS, ROWS, "\t").encode("utf-16"), "UTF-16"),
    "UTF-16, big end first": (b"\xfe\xff" + PLAIN.encode("utf-16-be"), "UTF-16"),
    "UTF-16 without a mark": (PLAIN.encode("utf-16-le"), "UTF-16"),
    "cp1252 with commas": (PLAIN.encode("cp1252"), "cp1252"),
    "comments before it": (f"# model: resnet18\n# seed: 3\n\n{PLAIN}".encode(), "before the header"),
    "comments within": (PLAIN.replace("\n", "\n# epoch 2\n", 3).encode() + b"# the end\n", ""),
    "comments, UTF-16": (f"# a\n{PLAIN}# b\n".encode("utf-16"), "UTF-16"),
    "line ends of old Macs": (PLAIN.replace("\n", "\r").encode(), ""),
    "bars": (csv_of(COLUMNS, ROWS, "|").encode(), ""),
}


@pytest.mark.parametrize(("content", "note"), DIALECTS.values(), ids=DIALECTS)
def test_a_dialect_is_read_as_pandas_reads_the_plain_table(tmp_path: Path, content: bytes, note: str) -> None:
    frame = pd.read_csv(io.StringIO(PLAIN))
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    for file in (path, uploaded(path)):
        found = exchange.read_prediction_files([file])
        expected = frame[list(NAMES)].to_numpy(np.float32).reshape(M, N, C)
        np.testing.assert_array_equal(found.probabilities[0], expected)
        assert found.class_names == NAMES
        assert [NAMES[label] for label in found.labels] == frame["label"][:N].tolist()
        assert any(note in text for text in found.notes) if note else found.notes == ()


def test_a_header_that_numpy_writes_is_taken(tmp_path: Path) -> None:
    values = np.column_stack([PROBABILITIES[0], LABELS])
    for delimiter in (",", " "):
        path = tmp_path / "a.csv"
        np.savetxt(path, values, header=delimiter.join(["p_0", "p_1", "p_2", "p_3", "label"]), delimiter=delimiter)
        found = exchange.read_prediction_files([path])
        np.testing.assert_allclose(found.probabilities[0, 0], PROBABILITIES[0], rtol=1e-7)
        np.testing.assert_array_equal(found.labels, LABELS)


def test_a_comment_with_as_many_words_as_columns_is_no_header_where_there_is_one(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    text = csv_of(["label", "p_0", "p_1", "p_2", "p_3"], [[LABELS[n], *PROBABILITIES[0, n]] for n in range(N)])
    path.write_text(f"# made,by,a,random,forest\n{text}")
    found = exchange.read_prediction_files([path])
    np.testing.assert_array_equal(found.labels, LABELS)
    assert "Lines before the header of the table were passed over." in found.notes


def test_an_example_whose_name_begins_like_a_comment_stays(tmp_path: Path) -> None:
    rows = [[f"#{n}", LABELS[n], *PROBABILITIES[0, n]] for n in range(N)]
    path = tmp_path / "a.csv"
    path.write_text(csv_of(["id", "label", "p_0", "p_1", "p_2", "p_3"], rows))
    assert exchange.read_prediction_files([path]).details.names == tuple(f"#{n}" for n in range(N))


@pytest.mark.parametrize("label", ["y", "class", "target", "ground_truth", "Y_True", "y_test", "gt", "true_label"])
def test_labels_are_called_as_people_call_them(tmp_path: Path, label: str) -> None:
    path = tmp_path / "a.csv"
    rows = rows_of(PROBABILITIES, LABELS)
    path.write_text(csv_of(["example", "member", label, *(f"p_{c}" for c in range(C))], rows))
    np.testing.assert_array_equal(exchange.read_prediction_files([path]).labels, LABELS)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("p_0,p_1,label\n0.9,0.1,0\n0.2,oops,1\n", "column “p_1” has “oops” in line 3"),
        ("p_0,p_1,label\nNA,0.1,0\noops,0.8,1\n0.5,0.5,0\n0.4,0.6,1\n0.1,0.9,1\n", "column “p_0” has “oops” in line 3"),
        ("sep=;\np_0;p_1;label\n0,9;0,1;0\n0,2;oops;1\n", "column “p_1” has “oops” in line 4"),
        ("# a\nlabel,x,p_0,p_1\n0,q,?,0.1\n1,q,0.2,0.8\n", "column “p_0” has “.” in line 3"),
        ("label,prediction\n0.25,0.5\n1.5,2.5\n3.25,1\n", "it holds predicted numbers, not classes"),
        ("label,prediction\n0,0\n1,1\n", "only what is predicted .“prediction”."),
        ("label,p_1\n0.25,0.5\n1.5,0.25\n3.25,1\n", "look like numbers to predict .regression."),
    ],
)
def test_an_error_names_the_column_that_holds_it(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(PredictionsError, match=f"^a.csv: .*{why}"):
        exchange.read_prediction_files([path])
