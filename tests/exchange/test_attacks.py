"""Small files that ask for much, and names that would spoil the text around them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from ensemble import exchange
from ensemble.errors import PredictionsError
from tests.exchange.given import LABELS, PROBABILITIES, csv_of, rows_of, saved, taken, written

COLUMNS = ["example", "member", "label", "p_0", "p_1", "p_2", "p_3"]
ROWS = rows_of(PROBABILITIES, LABELS)
SURE = {"p_0": [1.0], "p_1": [0.0]}
UNSEEN = "\u202e\u2066\u200b\x1b[31m\x00\u0085"  # what turns text around, hides, or steers


def repeated(text: str, rows: int) -> dict[str, pa.Array]:
    """A table whose label is one text in every row."""
    label = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array([text]))
    one, none = np.ones(rows), np.zeros(rows)
    return {"example": pa.array(np.arange(rows)), "label": label, "p_0": one, "p_1": none}


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"example": [0], "label": ["y" * 2**24], **SURE}, "“label” unpacks to more"),
        (repeated("x" * 2**15, 49_000), "“label” unpacks to more"),
        ({"example": [0], "label": [["a"] * 2**22], **SURE}, "“label” is neither numbers nor text"),
        ({"example": [0], "label": [0], **SURE, "p_0": [np.zeros(2**22)]}, "“p_0” is neither"),
        (
            {
                "example": np.arange(40_000) % 7,
                "member": np.arange(40_000),
                **{key: value * 40_000 for key, value in SURE.items()},
            },
            "members has 40,000 different",
        ),
    ],
    ids=["one text", "one text in every row", "a list", "a list of numbers", "members"],
)
def test_a_small_parquet_is_not_made_a_large_one(tmp_path: Path, columns: dict[str, pa.Array], why: str) -> None:
    path = tmp_path / "a.parquet"
    pa.parquet.write_table(pa.table(columns), path, compression="zstd")
    assert path.stat().st_size < 2**20
    before = pa.total_allocated_bytes()
    with pytest.raises(PredictionsError, match=f"^a.parquet: .*{why}"):
        exchange.read_prediction_files([path])
    assert pa.total_allocated_bytes() - before < 2**22


def test_a_long_text_beside_every_example_stands_there_once(tmp_path: Path) -> None:
    rows = 40_000
    columns = repeated("1", rows)
    note = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), ["x" * 2**15])
    path = tmp_path / "a.parquet"
    pa.parquet.write_table(pa.table({**columns, "note": note}), path, compression="zstd")
    before = pa.total_allocated_bytes()
    found = exchange.read_prediction_files([path])
    assert pa.total_allocated_bytes() - before < 2**25
    assert set(map(len, found.details.columns["note"])) == {200}


def test_a_line_without_an_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("label,p_0,p_1\n".encode("utf-16") + ("1" * 2**23).encode("utf-16-le"))
    with pytest.raises(PredictionsError, match="save it with ordinary line ends"):
        exchange.read_prediction_files([path])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (csv_of(COLUMNS, [[*ROWS[0][:2], "x" * 2000, *ROWS[0][3:]], *ROWS[1:]]), "“label” has a text of 2,000 bytes"),
        (
            csv_of(COLUMNS, [[row[0], n, *row[2:]] for n, row in enumerate(ROWS * 35)]),
            "members has 4,200 different values, but at most 4,?096",
        ),
    ],
    ids=["a long cell", "a member a row"],
)
def test_a_table_is_refused_by_what_is_odd_about_it(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(PredictionsError, match=f"^a.csv: .*{why}"):
        exchange.read_prediction_files([written(tmp_path, text)])


def test_a_long_text_among_names_is_said_by_its_length(tmp_path: Path) -> None:
    with pytest.raises(PredictionsError, match="`class_names` holds a text of 10,000 characters"):
        taken(tmp_path, probabilities=PROBABILITIES, class_names=["a" * 10_000, *"bcd"])


def test_names_lose_what_cannot_be_seen(tmp_path: Path) -> None:
    names = [f"ä{UNSEEN} {letter}" for letter in "abcd"]
    plain = tuple(f"ä [31m {letter}" for letter in "abcd")
    labels = np.array(names)[LABELS]
    made = [
        taken(
            tmp_path,
            probabilities=PROBABILITIES,
            class_names=names,
            labels=labels,
            member_names=names[:3],
            split=f"te{UNSEEN}st",
        ),
        exchange.read_prediction_files(
            [
                saved(
                    tmp_path,
                    f"{UNSEEN[:4]}.npz".replace("\x00", ""),
                    labels=LABELS,
                    probabilities=PROBABILITIES,
                    class_names=names,
                )
            ]
        ),
    ]
    frame = pd.DataFrame(ROWS, columns=[*COLUMNS[:3], *(f"p_{name}" for name in names)])
    frame["member"] = np.array(names)[frame["member"]]
    frame["label"] = labels[frame["example"]]
    frame.to_parquet(tmp_path / "a.parquet")
    made.append(exchange.read_prediction_files([tmp_path / "a.parquet"]))
    for one in made:
        assert one.class_names == plain
        assert (one.labels == LABELS).all()
        assert all(name.isprintable() for name in one.member_names)
        assert one.split.isprintable()
    with pytest.raises(PredictionsError, match=r"`class_names\[1\]` is empty"):
        taken(tmp_path, probabilities=PROBABILITIES, class_names=["a", "\u200b", "c", "d"])
    with pytest.raises(PredictionsError, match="has “a” twice"):
        taken(tmp_path, probabilities=PROBABILITIES, class_names=["a", "a\u200b", "c", "d"])


@pytest.mark.parametrize("order", [(False, True), (True, False)])
def test_labels_may_be_true_and_false(tmp_path: Path, order: tuple[bool, bool]) -> None:
    labels = LABELS > 1
    values = np.where(labels[:, None] == np.array(order), 0.75, 0.25)
    frame = pd.DataFrame({"label": labels, f"p_{order[0]}": values[:, 0], f"p_{order[1]}": values[:, 1]})
    numbered = frame.set_axis(["label", "p_0", "p_1"], axis=1)
    for table, first in ((frame, order[0]), (numbered, False)):
        table.to_parquet(tmp_path / "a.parquet")
        table.to_csv(tmp_path / "a.csv", index=False)
        for name in ("a.parquet", "a.csv"):
            found = exchange.read_prediction_files([tmp_path / name])
            assert (found.labels == (labels != first)).all()


def test_what_is_ruled_out_and_yet_so_is_said(tmp_path: Path) -> None:
    sure = np.eye(4)[(LABELS + np.array([[0], [0], [1]])) % 4]
    note = f"{len(LABELS):,} of {3 * len(LABELS):,} times a member gives an example's own class a"
    assert taken(tmp_path, probabilities=sure).notes[0].startswith(note)
    assert not taken(tmp_path, probabilities=sure[:2]).notes
    # Of several epochs the last is what is looked at first.
    assert taken(tmp_path, probabilities=[sure[:2], sure[1:]]).notes
    assert not taken(tmp_path, probabilities=[sure[1:], sure[:2]]).notes


def test_several_files_share_what_they_may_take_together(tmp_path: Path) -> None:
    frame = pd.DataFrame({"label": [0] * 1000, "p_0": 1.0, "p_1": 0.0})
    paths = [tmp_path / f"{place}.parquet" for place in range(4)]
    for path in paths:
        frame.to_parquet(path)
    assert exchange.read_prediction_files(paths, 80_000).members == 4
    with pytest.raises(PredictionsError, match=r"^0.parquet: unpacked, it takes .* but an upload"):
        exchange.read_prediction_files(paths, 60_000)
    assert exchange.read_prediction_files(paths[:1], 60_000).members == 1
