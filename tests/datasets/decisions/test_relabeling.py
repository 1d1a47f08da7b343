"""A table of decisions becomes a new version of a dataset, and planted flips are mended."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from ensemble import datasets
from ensemble.access import Person, Role, set_person_source
from ensemble.cli.program import main
from ensemble.datasets import Dataset
from ensemble.datasets.decisions import decision_log, decision_table, relabeling
from ensemble.datasets.decisions.label_decision import KEEP, RELABEL, REMOVE, UNSURE, LabelDecision, checksum_image
from ensemble.datasets.label_meanings import find_class_by_name, index_class_names
from ensemble.datasets.own import custom_registry, staging
from ensemble.errors import AccessError, DataError
from tests.pages import own_images


@pytest.fixture
def leaves() -> Dataset:
    return datasets.load_dataset(own_images.add())


@pytest.fixture(autouse=True)
def no_dataset_is_left() -> Iterator[None]:
    yield
    for name in custom_registry.list_custom_datasets():
        staging.remove_custom_dataset(name)
    shutil.rmtree(decision_log.decisions_folder(), ignore_errors=True)


def decide(dataset: Dataset, split: str, number: int, decision: str, new_label: int = -1) -> None:
    images, labels = getattr(dataset, f"{split}_images"), getattr(dataset, f"{split}_labels")
    log = decision_log.open_decision_log(split, labels, len(dataset.class_names))
    log.append_decision(
        LabelDecision(decision, number, checksum_image(images, number), int(labels[number]), new_label, "run")
    )


def invoke(*words: str) -> str:
    done = CliRunner().invoke(main, ["data", *words])
    assert done.exit_code == 0, done.output
    return done.stdout


def refuse(*words: str) -> str:
    done = CliRunner().invoke(main, ["data", *words])
    assert done.exit_code == 1, done.output
    return done.stderr


def test_planted_flips_are_mended_by_the_table_that_was_written(leaves: Dataset, tmp_path: Path) -> None:
    planted = {"test": {3: 1, 8: 2, 150: 7}, "train": {5: 9, 399: 4}}
    flips = decision_table.LabelChanges(new_labels=planted)
    relabeling.relabel_dataset(leaves, flips, "flipped")
    flipped = datasets.load_dataset("flipped")
    for split, each in planted.items():
        truth = getattr(leaves, f"{split}_labels")
        assert {n: getattr(flipped, f"{split}_labels")[n] for n in each} == each
        for number in each:
            decide(flipped, split, number, RELABEL, int(truth[number]))
    decide(flipped, "test", 20, KEEP)
    decide(flipped, "test", 21, UNSURE)
    decide(flipped, "test", 30, REMOVE)
    decide(flipped, "train", 31, REMOVE)
    table = tmp_path / "decisions.csv"
    table.write_text(invoke("decisions", "flipped"))
    assert len(table.read_text().splitlines()) == 1 + 9
    answer = json.loads(invoke("relabel", "flipped", str(table), "--json"))
    assert answer["name"] == "flipped_2"
    assert (answer["relabeled"], answer["removed"], answer["unchanged"]) == ([2, 3], [1, 1], 2)
    mended = datasets.load_dataset("flipped_2")
    for split, removed in (("test", 30), ("train", 31)):
        for what in ("labels", "images"):
            expected = np.delete(getattr(leaves, f"{split}_{what}"), removed, axis=0)
            np.testing.assert_array_equal(getattr(mended, f"{split}_{what}"), expected)
    assert mended.class_names == leaves.class_names
    info = datasets.find_dataset_info("flipped_2")
    assert (info.noun, info.own) == ("leaf", True)
    again = datasets.load_dataset("flipped")
    assert again.fingerprint == flipped.fingerprint, "the old version stays"
    assert invoke("decisions", "flipped_2").count("\n") == 1, "its labels are others"


def test_a_version_is_named_after_the_one_before_and_no_other_is_overwritten(leaves: Dataset, tmp_path: Path) -> None:
    decide(leaves, "test", 0, RELABEL, 4)
    table = tmp_path / "decisions.csv"
    table.write_text(invoke("decisions", "leaves"))
    assert "leaves with 1 label mended" in invoke("relabel", "leaves", str(table))
    assert "leaves_3 has been added" in invoke("relabel", "leaves", str(table))
    assert relabeling.suggest_version_name("leaves_3") == "leaves_4"
    assert len(relabeling.suggest_version_name("l" * 32)) == 32
    assert "already exists" in refuse("relabel", "leaves", str(table), "--as", "leaves_2")
    titles = [datasets.find_dataset_info(name).title for name in ("leaves_2", "leaves_3")]
    assert titles == ["My leaves (2)", "My leaves (3)"]
    versions = relabeling.list_relabeled_versions("leaves", leaves.fingerprint)
    assert list(versions) == ["leaves_3", "leaves_2"]
    assert not relabeling.list_relabeled_versions("leaves", "of another of that name")
    changes = decision_table.read_label_changes(table, leaves)
    assert relabeling.find_equal_version(leaves, changes) == "leaves_3"
    changes.new_labels["test"][0] = 5
    assert relabeling.find_equal_version(leaves, changes) == ""


def test_a_built_in_dataset_becomes_one_of_ones_own(tmp_path: Path) -> None:
    digits = datasets.load_dataset("digits")
    table = tmp_path / "mine.csv"
    table.write_text("number;label;decision;new_label\n0;0;relabel;8\n1;1;remove;\n")
    assert "digits_2 has been added" in invoke("relabel", "digits", str(table))
    mended = datasets.load_dataset("digits_2")
    assert mended.test_labels[0] == 8
    np.testing.assert_array_equal(mended.test_images[1:], digits.test_images[2:])


def test_an_image_that_is_removed_takes_its_own_group_along(leaves: Dataset) -> None:
    groups = {"train": np.arange(400) // 7, "test": np.arange(200) // 3}
    grouped = replace(leaves, train_groups=groups["train"], test_groups=groups["test"])
    removed = {"train": {5, 201}, "test": {40}}
    relabeling.relabel_dataset(grouped, decision_table.LabelChanges(removed=removed), "thinned")
    thinned = datasets.load_dataset("thinned")
    for split, gone in removed.items():
        kept = np.delete(groups[split], sorted(gone))
        np.testing.assert_array_equal(getattr(thinned, f"{split}_groups"), kept)
        expected = np.delete(getattr(leaves, f"{split}_images"), sorted(gone), axis=0)
        np.testing.assert_array_equal(getattr(thinned, f"{split}_images"), expected)


def test_every_row_that_does_not_fit_is_told_with_its_line_and_nothing_is_changed(
    leaves: Dataset, tmp_path: Path
) -> None:
    other = checksum_image(leaves.train_images, 0)
    rows = [
        "split,number,image,label,decision,new_label",
        "test,0,,leaf a,relabel,leaf b",  # as it should be
        "test,1,,leaf a,keep,",
        "test,2,,leaf c,burn,",
        "test,900,,leaf a,keep,",
        f"test,4,{other},leaf e,keep,",
        "test,5,,leaf f,relabel,leaf z",
        "test,6,,leaf g,relabel,",
        "val,7,,leaf h,keep,",
        "test,,,leaf h,keep,",
        "test,0,,leaf a,remove,",
        "test,x,,leaf h,keep,",
    ]
    table = tmp_path / "decisions.csv"
    table.write_text("\n".join(rows) + "\n")
    said = refuse("relabel", "leaves", str(table))
    told = {
        3: "labelled “leaf b” here, not “leaf a”",
        4: "“burn” is not one of keep, relabel, remove, unsure",
        5: "there is no test image 900",
        6: "of another dataset",
        7: "“leaf z” is none of the classes",
        8: "new_label is empty",
        9: "“val” is not train or test",
        10: "neither number nor image",
        11: "is in line 2 too",
        12: "“x” is no whole number",
    }
    for line, words in told.items():
        part = said.split(f"line {line}: ")[1].split("; line ")[0]
        assert words in part, (line, part)
    assert "line 2:" not in said
    assert "nothing was changed" in said
    assert custom_registry.list_custom_datasets() == ("leaves",)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"decision,label\nkeep,leaf a\n", "no column number or image"),
        (b"number,label,decision\n0,leaf a,keep\n", "nothing to make a new version of"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "not a table that can be read"),
        (b'number,label,decision\n"' + b"x" * 200_000 + b'",a,b\n', "first rows cannot be read"),
    ],
)
def test_what_is_no_table_of_decisions_is_refused_in_a_sentence(
    leaves: Dataset, tmp_path: Path, content: bytes, words: str
) -> None:
    table = tmp_path / "decisions.csv"
    table.write_bytes(content)
    assert words in refuse("relabel", "leaves", str(table))
    assert "cannot be read" in refuse("relabel", "leaves", str(tmp_path / "none.csv"))


def test_names_of_classes_go_before_positions(leaves: Dataset, tmp_path: Path) -> None:
    table = tmp_path / "decisions.csv"
    table.write_text("number,label,decision,new_label\n0,0,relabel,9\n1,leaf b,relabel,leaf c\n")
    changes = decision_table.read_label_changes(table, leaves)
    assert changes.new_labels["test"] == {0: 9, 1: 2}
    swapped = replace(leaves, class_names=tuple("1023456789"))
    table.write_text("number,label,decision,new_label\n0,1,relabel,2.0\n1,0,relabel,'3\n")
    assert decision_table.read_label_changes(table, swapped).new_labels["test"] == {0: 2, 1: 3}
    table.write_text("number,label,decision\n0,10,keep\n")
    with pytest.raises(DataError, match="“10” is none of the classes"):
        decision_table.read_label_changes(table, swapped)


def test_images_are_found_by_their_checksum_where_they_have_moved(leaves: Dataset, tmp_path: Path) -> None:
    decide(leaves, "test", 50, RELABEL, 3)
    decide(leaves, "test", 10, REMOVE)
    table = tmp_path / "decisions.csv"
    table.write_text(invoke("decisions", "leaves"))
    removed = decision_table.LabelChanges()
    removed.removed["test"].add(4)
    relabeling.relabel_dataset(leaves, removed, "fewer")
    changes = decision_table.read_label_changes(table, datasets.load_dataset("fewer"))
    assert (changes.new_labels["test"], changes.removed["test"]) == ({49: 3}, {9})


def test_the_names_of_classes_that_look_like_formulas_come_back(leaves: Dataset, tmp_path: Path) -> None:
    named = replace(leaves, class_names=("=1+1", "'quoted", *leaves.class_names[2:]))
    decision = LabelDecision(RELABEL, 1, "", 1, 0)
    table = tmp_path / "decisions.csv"
    table.write_text(decision_table.format_decisions_csv({"test": [decision]}, named.class_names))
    assert "'=1+1" in table.read_text()
    assert decision_table.read_label_changes(table, named).new_labels["test"] == {1: 0}


def test_a_viewer_makes_no_version_and_what_fails_leaves_nothing_behind(leaves: Dataset) -> None:
    changes = decision_table.LabelChanges()
    changes.removed["test"] |= set(range(len(leaves.test_labels)))
    with pytest.raises(DataError, match="No picture of the test set"):
        relabeling.relabel_dataset(leaves, changes)
    set_person_source(lambda: Person("eve@example.org", Role.VIEWER))
    try:
        changes.removed["test"] = {1}
        with pytest.raises(AccessError, match="but not add data"):
            relabeling.relabel_dataset(leaves, changes)
    finally:
        set_person_source(None)
    left = {path.name for path in custom_registry.custom_datasets_folder().iterdir()}
    assert left == {"leaves"}


@pytest.mark.parametrize(
    ("cell", "expected"), [("07", 0), ("7", 0), ("'7", 0), ("'=a", 1), ("8", 2), ("08", 3), ("9", None)]
)
def test_a_class_is_found_as_a_spreadsheet_writes_it(cell: str, expected: int | None) -> None:
    assert find_class_by_name(cell, index_class_names(["07", "=a", "8", "08"])) == expected
