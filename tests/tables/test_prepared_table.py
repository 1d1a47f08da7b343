"""A table's columns are chosen, encoded by the training rows alone, split by the seed and kept."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ensemble.errors import ConfigError, DataError
from ensemble.storage.atomic_files import read_json, write_json
from ensemble.tables.prepared_table import PreparedTable, prepare_table, read_prepared_table, write_prepared_table
from ensemble.tables.raw_table import DATE, NUMBER, TEXT, RawColumn, RawTable

ROWS = 50
RNG = np.random.default_rng(1)
AREA = RNG.uniform(20, 200, ROWS)
AREA[7] = np.nan
PRICE = 3 * np.nan_to_num(AREA, nan=90) + RNG.normal(size=ROWS)
PRICE[[3, 40]] = np.nan
CITY = np.array(["Ulm", "Bern", None, "Graz"] * 12 + ["Ulm", "Bern"], object)


def build_table(*more: RawColumn) -> RawTable:
    """Areas, cities and prices, and whatever is given beside them."""
    columns = (RawColumn("area", NUMBER, AREA), RawColumn("City", TEXT, CITY), RawColumn("price", NUMBER, PRICE), *more)
    return RawTable("houses.csv", ROWS, columns)


def prepare(*more: RawColumn, **settings: object) -> PreparedTable:
    """The table, split by seed 0 unless another is given."""
    values: dict[str, Any] = {"seed": 0, "test_share": 0.2, "validation_share": 0.1, **settings}
    return prepare_table(build_table(*more), "price", **values)


def test_numbers_are_standardised_by_the_training_rows_alone() -> None:
    table = prepare()
    file_rows = table.row_numbers[table.split.train] - 1
    seen = AREA[file_rows]
    mean, spread = np.nanmean(seen), np.nanstd(seen)
    expected = np.nan_to_num((AREA[table.row_numbers - 1] - mean) / spread)
    np.testing.assert_allclose(table.features[:, 0], expected, rtol=1e-5)
    features, targets = table.select_part(table.split.train)
    np.testing.assert_allclose([targets.mean(), targets.std()], [0, 1], atol=1e-6)
    back = targets * table.encoding.target_scale + table.encoding.target_mean
    np.testing.assert_allclose(back, PRICE[file_rows], rtol=1e-5)
    assert features.shape == (len(file_rows), len(table.encoding.feature_names))


def test_categories_have_a_column_each_and_gaps_are_said() -> None:
    table = prepare()
    names = table.encoding.feature_names
    assert [name for name in names if name.startswith("City")] == [
        "City = Bern",
        "City = Graz",
        "City = Ulm",
        "City missing",
    ]
    cities = CITY[table.row_numbers - 1]
    for place, name in enumerate(names):
        if name.startswith("City ="):
            wanted = cities == name.removeprefix("City = ")
            np.testing.assert_array_equal(table.features[:, place], wanted)
    missing = table.features[:, names.index("City missing")]
    np.testing.assert_array_equal(missing, [city is None for city in cities])
    assert table.notes[0] == "2 rows have no price and were left out."
    assert any(note.startswith("Where City is missing") for note in table.notes)
    assert len(table.targets) == ROWS - 2
    assert not {4, 41} & set(table.row_numbers.tolist())


def test_the_seed_alone_splits_and_no_row_is_in_two_parts() -> None:
    one, again, other = prepare(), prepare(), prepare(seed=1)
    np.testing.assert_array_equal(one.split.test, again.split.test)
    assert not np.array_equal(one.split.test, other.split.test)
    parts = [one.split.train, one.split.validation, one.split.test]
    assert sorted(np.concatenate(parts)) == list(range(ROWS - 2))
    assert [len(part) for part in parts] == [34, 4, 10]


def test_what_says_nothing_is_left_out_with_its_reason() -> None:
    table = prepare(
        RawColumn("id", NUMBER, RNG.permutation(ROWS) + 100.0),
        RawColumn("line", NUMBER, np.arange(1.0, ROWS + 1)),
        RawColumn("sold", DATE, np.empty(0)),
        RawColumn("remark", TEXT, np.array([f"nice {n}" for n in range(ROWS)], object)),
        RawColumn("country", TEXT, np.array(["AT"] * ROWS, object)),
        RawColumn("zip", NUMBER, np.arange(ROWS) % 3 * 100.0 + 1000),
        RawColumn("agent", NUMBER, RNG.normal(size=ROWS)),
        leave_out=["agent"],
        as_categories=["ZIP"],
    )
    note = next(note for note in table.notes if note.startswith("Columns that were not used"))
    assert note == (
        "Columns that were not used: “id” (names the rows), “sold” (dates), “remark” (text that differs from row to "
        "row), “country” (the same in every row), “agent” (as was asked), “line” (numbers the rows)."
    )
    assert [number["name"] for number in table.encoding.numbers] == ["area"]
    assert table.encoding.categories[1]["values"] == ["1000", "1100", "1200"]


def test_a_new_value_of_a_category_is_nothing_and_said() -> None:
    table = prepare()
    new = RawTable(
        "new.csv",
        2,
        (
            RawColumn("AREA ", NUMBER, np.array([np.nan, 100.0])),
            RawColumn("City", TEXT, np.array(["Oslo", "Ulm"], object)),
        ),
    )
    features, notes = table.encoding.encode_features(new)
    assert notes == ["1 row has a value of City that no training row has."]
    places = [at for at, name in enumerate(table.encoding.feature_names) if "City" in name]
    assert features[:, places].sum(axis=1).tolist() == [0, 1]
    with pytest.raises(DataError, match="has no column “City”: its columns are area"):
        table.encoding.encode_features(RawTable("x", 1, (RawColumn("area", NUMBER, np.ones(1)),)))


def test_it_is_kept_in_a_folder_and_what_is_damaged_is_refused(tmp_path: Path) -> None:
    table = prepare()
    write_prepared_table(tmp_path, table)
    kept = read_prepared_table(tmp_path)
    assert (kept.encoding, kept.source, kept.notes) == (table.encoding, "houses.csv", table.notes)
    np.testing.assert_array_equal(kept.features, table.features)
    np.testing.assert_array_equal(kept.targets, table.targets)
    np.testing.assert_array_equal(kept.split.test, table.split.test)
    said = read_json(tmp_path / "table.json")
    write_json(tmp_path / "table.json", said | {"train": said["train"] + 1})
    with pytest.raises(DataError, match=r"table.npz cannot be read"):
        read_prepared_table(tmp_path)
    write_json(tmp_path / "table.json", said | {"target_scale": 0})
    with pytest.raises(DataError, match=r"table.json cannot be read"):
        read_prepared_table(tmp_path)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("prize", "has no column “prize”: its columns are area, City, price"),
        ("City", "is text, not numbers"),
        ("none", "is empty"),
        ("flat", "is 4 in every row"),
    ],
)
def test_a_target_that_cannot_be_learnt_is_refused(target: str, words: str) -> None:
    table = build_table(RawColumn("none", NUMBER, np.full(ROWS, np.nan)), RawColumn("flat", NUMBER, np.full(ROWS, 4.0)))
    with pytest.raises(DataError, match=words):
        prepare_table(table, target, 0, 0.2, 0.0)


def test_shares_that_leave_too_little_are_refused() -> None:
    with pytest.raises(ConfigError, match="choose a share that holds 2 rows or more"):
        prepare(test_share=0.01)
    with pytest.raises(ConfigError, match="left to learn from"):
        prepare(test_share=0.94)
    with pytest.raises(DataError, match="has no column to predict “price” from"):
        prepare(leave_out=["area", "city"])


def test_copies_and_groups_stay_in_one_part_of_the_split() -> None:
    rng = np.random.default_rng(5)
    area, price = np.tile(rng.normal(size=(2, 40)), 4)
    patient = RawColumn("patient", TEXT, np.array([f"p{row // 8}" for row in range(160)], object))
    columns = (RawColumn("area", NUMBER, area), RawColumn("price", NUMBER, price))
    table = prepare_table(RawTable("copies.csv", 160, columns), "price", 0, 0.2, 0.1)
    assert table.notes[0].startswith("120 rows are exact copies of another row")
    parts = [set(table.targets[rows]) for rows in vars(table.split).values()]
    assert [len(part) for part in parts] == [29, 3, 8]
    assert sum(map(len, parts)) == len(set.union(*parts))
    fresh = RawColumn("area", NUMBER, rng.normal(size=160))
    grouped = prepare_table(RawTable("g.csv", 160, (fresh, columns[1], patient)), "price", 0, 0.2, 0.1, group="patient")
    assert "patient = p0" not in grouped.encoding.feature_names
    groups = [set((grouped.row_numbers[rows] - 1) // 8) for rows in vars(grouped.split).values()]
    assert sum(map(len, groups)) == len(set.union(*groups)) == 20
    assert grouped.groups is not None
    assert len(set(grouped.groups[grouped.split.test])) == len(groups[2])
    two = RawColumn("half", TEXT, np.array(["a", "b"] * 80, object))
    halves = RawTable("g.csv", 160, (fresh, columns[1], two))
    with pytest.raises(ConfigError, match="form 2 groups, and 3 are needed"):
        prepare_table(halves, "price", 0, 0.2, 0.1, group="half")


def test_rows_without_a_target_take_their_own_group_and_number_along(tmp_path: Path) -> None:
    streets = np.array([f"street {row // 3}" for row in range(ROWS)], object)
    table = prepare(RawColumn("street", TEXT, streets), group="street")
    assert table.row_numbers.tolist() == [row + 1 for row in range(ROWS) if row not in (3, 40)]
    np.testing.assert_array_equal(table.targets, PRICE[table.row_numbers - 1])
    for rows in (table.split.train, table.split.validation, table.split.test):
        others = np.setdiff1d(np.arange(len(table.targets)), rows)
        own, other = (set(streets[table.row_numbers[part] - 1]) for part in (rows, others))
        assert not own & other
    tested = streets[table.row_numbers[table.split.test] - 1]
    write_prepared_table(tmp_path, table)
    read = read_prepared_table(tmp_path)
    assert read.groups is not None
    tested_groups = read.groups[table.split.test]
    np.testing.assert_array_equal(tested_groups[:, None] == tested_groups, tested[:, None] == tested)
    # The groups of the training rows stay in one fold.
    learned, folds = streets[table.row_numbers[table.split.train] - 1], read.assign_folds(3, 0)
    assert all(len(set(folds[learned == street])) == 1 for street in set(learned))
    assert np.bincount(folds).min() >= len(learned) // 3 - 3
    (tmp_path / "table_groups.npz").unlink()
    with pytest.raises(DataError, match=r"table_groups.npz cannot be read"):
        read_prepared_table(tmp_path)


def test_a_group_that_leaves_too_few_training_rows_is_refused() -> None:
    kind = RawColumn("kind", TEXT, np.array(["large"] * 47 + ["a", "b", "c"], object))
    with pytest.raises(ConfigError, match="only 3 of 48 rows are left to learn from"):
        prepare(kind, group="kind", seed=3, validation_share=0.0)


def test_rows_of_few_categories_that_repeat_by_chance_are_not_copies() -> None:
    rng = np.random.default_rng(6)
    columns = tuple(
        RawColumn(name, NUMBER, rng.integers(0, 3, 300).astype(float)) for name in ("first", "second", "rating")
    )
    table = prepare_table(RawTable("ratings.csv", 300, columns), "rating", 0, 0.2, 0.1)
    assert not any("copies" in note for note in table.notes)
    assert len(table.split.test) == 60


def test_rows_in_time_order_are_tested_on_at_the_end_and_few_rows_choose_no_epoch() -> None:
    table = prepare(in_time_order=True)
    np.testing.assert_array_equal(table.split.test, np.arange(38, 48))
    np.testing.assert_array_equal(table.split.validation, np.arange(34, 38))
    assert table.notes[1] == "Rows are in time order: the last ones are tested on."
    few = prepare(validation_share=0.05)
    assert len(few.split.validation) == 0
    assert "Validation is off, because 5% of 38 rows are fewer than 4" in few.notes[1]


def test_rows_outside_the_training_range_are_found() -> None:
    table = prepare()
    seen = AREA[table.row_numbers[table.split.train] - 1]
    low, high = table.encoding.ranges["area"]
    assert (low, high) == (np.nanmin(seen), np.nanmax(seen))
    new = RawTable(
        "new.csv",
        3,
        (
            RawColumn("area", NUMBER, np.array([low - 1, np.nan, high])),
            RawColumn("City", TEXT, np.array(["Ulm"] * 3, object)),
        ),
    )
    outside, notes = table.encoding.find_extrapolated_rows(new)
    assert outside.tolist() == [True, False, False]
    assert notes[0].startswith("1 row has a value of area outside the training range, ")


def test_what_to_look_at_in_the_columns_is_named() -> None:
    codes = np.where(np.arange(ROWS) % 9 == 0, -999.0, RNG.uniform(2, 9, ROWS))
    columns = (
        RawColumn("room", NUMBER, codes),
        RawColumn("price in EUR", NUMBER, (PRICE * 0.92 + 3).round(2)),
        RawColumn("sold", DATE, np.empty(0)),
    )
    notes = prepare(*columns).notes
    found = [note for note in notes if note.startswith(("room is", "price lies", "sold holds"))]
    assert found[0].startswith(f"room is -999 in {(codes == -999).sum()} rows and 2.")
    assert "as a copy in another unit does: leave the column out" in found[1]
    assert found[2].endswith("(--time-order), which tests on the last ones.")
    assert not any("straight line" in note or "-999" in note for note in prepare().notes)


def add_text(name: str, words: list[str]) -> RawColumn:
    return RawColumn(name, TEXT, np.array([words[n % len(words)] for n in range(ROWS)], object))


@pytest.mark.parametrize(
    ("words", "counts"),
    [
        (["train", "Training", "validation", "test"], {"train": 25, "validation": 12, "test": 11}),
        (["train", "train", "train", "test"], {"train": 33, "validation": 4, "test": 11}),
    ],
    ids=["of three parts", "of two parts"],
)
def test_a_column_split_is_followed(words: list[str], counts: dict[str, int]) -> None:
    table = prepare(add_text("Split", words))
    assert {name: len(rows) for name, rows in vars(table.split).items()} == counts
    for part, wanted in (("train", "train"), ("test", "test")):
        rows = table.row_numbers[getattr(table.split, part)] - 1
        assert {words[row % len(words)].lower()[:5].strip() for row in rows} <= {wanted, f"{wanted}i"}
    assert not any(name.startswith("Split") for name in table.encoding.feature_names)
    sizes = f"{counts['train']} train, {counts['validation']} validation and {counts['test']} test rows"
    assert f"The split is that of the column Split: {sizes}." in " ".join(table.notes)
    assert table.split_column == "Split"
    drawn = prepare(add_text("Split", words), leave_out=["Split"])
    assert drawn.split_column == ""
    np.testing.assert_array_equal(drawn.split.test, prepare().split.test)


def test_a_column_split_that_divides_groups_is_followed_and_doubted() -> None:
    table = prepare(add_text("split", ["train", "train", "test"]), add_text("patient", ["a", "b"]), group="patient")
    assert "2 groups of rows that belong together or are copies are in more than one part of it: " in " ".join(
        table.notes
    )
    assert "2 groups by patient." in table.notes


@pytest.mark.parametrize(
    ("words", "settings", "reason"),
    [
        (["0", "1"], {}, "0 and 1 do not say which part is which: write train, validation and test"),
        (["train", "test", ""], {}, "it is empty in some rows: fill it, and it is followed"),
        (["train"], {}, "to be followed it needs 4 rows to train or more, 2 to test, and 4 or none for validation"),
        (["train", "test"], {"in_time_order": True}, "rows are in time order"),
    ],
)
def test_a_column_split_that_is_not_followed_is_named(words: list[str], settings: dict[str, Any], reason: str) -> None:
    table = prepare(add_text("split", words), **settings)
    assert f"Columns that were not used: “split” ({reason})." in table.notes
    np.testing.assert_array_equal(table.split.test, prepare(**settings).split.test)


def test_a_column_split_of_other_words_is_a_column_as_any_other() -> None:
    table = prepare(add_text("split", ["banana", "tree"]))
    assert {"split = banana", "split = tree"} <= set(table.encoding.feature_names)


def test_a_column_that_looks_like_groups_is_named_with_its_option() -> None:
    patients = [f"patient {n}" for n in range(10)]
    said = (
        "subject_id has 10 values in 50 rows: if rows with the same value belong together, choose it as the group "
        "(--group subject_id), so that none is both in training and in test."
    )
    assert said in prepare(add_text("subject_id", patients)).notes
    for column, settings in (
        (add_text("subject_id", patients), {"group": "subject_id"}),
        (add_text("subject_id", [f"patient {n}" for n in range(40)]), {}),
        (add_text("subject", patients), {}),
    ):
        assert not any("belong together" in note for note in prepare(column, **settings).notes)
