"""Classes that are spelt almost alike: one by Unicode, asked about where capitals differ."""

import unicodedata

import numpy as np
import pytest
from click.testing import CliRunner

from ensemble.cli.program import main
from ensemble.errors import ConfigError, DataError

COMPOSED, DECOMPOSED = (unicodedata.normalize(form, "Käfer") for form in ("NFC", "NFD"))


def test_forms_of_unicode_are_one_class(draw, add):
    draw({COMPOSED: 3, "Baum": 3}, "train")
    report = add(draw({DECOMPOSED: 2, "Baum": 2}, "test"))
    assert report.note.class_names == ["Baum", COMPOSED]
    assert report.counts == {"train": [3, 3], "test": [2, 2]}
    assert any("two forms of Unicode" in one for one in report.note.said)


def test_forms_of_unicode_in_arrays_are_one_class(tmp_path, add):
    images = np.random.default_rng(0).integers(0, 256, (12, 6, 5), np.uint8)
    np.savez(tmp_path / "a.npz", x=images, y=np.array([COMPOSED, DECOMPOSED, "Baum"] * 4))
    report = add(tmp_path / "a.npz", test_share=0.25)
    assert report.note.class_names == ["Baum", COMPOSED]
    assert [sum(many) for many in zip(*report.counts.values(), strict=True)] == [4, 8]


@pytest.mark.parametrize("pair", [("Cat", "cat"), ("sea lion", "sea_lion"), ("Sea Lion", "sealion")])
def test_other_spellings_are_asked_about_and_done_as_said(pair, draw, add):
    one, other = pair
    draw({one: 4, "dog": 3}, "train")
    root = draw({other: 2, "dog": 2}, "test")
    with pytest.raises(DataError) as refused:
        add(root)
    for word in (f"“{one}”", f"“{other}”", "--merge-classes", "--keep-classes"):
        assert word in str(refused.value)
    merged = add(root, "merged", merge_classes=True)
    assert sorted(merged.note.class_names) == sorted([one, "dog"])  # the commoner spelling
    place = merged.note.class_names.index(one)
    assert (merged.counts["train"][place], merged.counts["test"][place]) == (4, 2)
    assert any("are one class" in sentence for sentence in merged.note.said)
    kept = add(root, "kept", merge_classes=False)
    assert sorted(kept.note.class_names) == sorted([one, other, "dog"])
    assert any("kept as classes of their own" in sentence for sentence in kept.note.said)


@pytest.mark.parametrize("pair", [("Cat", "cat"), ("sea lion", "sea_lion"), ("Sea Lion", "sealion")])
def test_spellings_beside_each_other_are_asked_about_too(pair, draw, add):
    one, other = pair
    root = draw({one: 4, other: 2, "dog": 3})
    with pytest.raises(DataError, match="--merge-classes or --keep-classes") as refused:
        add(root)
    assert f"“{one}”" in str(refused.value)
    assert f"“{other}”" in str(refused.value)
    report = add(root, merge_classes=True)
    assert sorted(report.note.class_names) == sorted([one, "dog"])
    assert sum(map(sum, report.counts.values())) == 9


def test_numbers_with_a_sign_are_not_alike(tmp_path, add):
    images = np.random.default_rng(0).integers(0, 256, (12, 6, 5), np.uint8)
    np.savez(tmp_path / "a.npz", x=images, y=np.array([-1, 1] * 6))
    assert len(add(tmp_path / "a.npz").note.class_names) == 2


def test_the_choice_is_yes_no_or_none(draw, add):
    with pytest.raises(ConfigError, match="merge_classes"):
        add(draw({"a": 2, "b": 2}), merge_classes="perhaps")


def test_the_command_prints_the_tree_and_takes_the_choice(draw):
    draw({"Cat": 4, "dog": 3}, "train")
    root = str(draw({"cat": 2, "dog": 2}, "test"))
    refused = CliRunner().invoke(main, ["data", "add", "pets", root])
    assert refused.exit_code == 1
    assert "“Cat” and “cat”" in refused.stderr
    added = CliRunner().invoke(main, ["data", "add", "pets", root, "--merge-classes"])
    assert added.exit_code == 0
    assert "├── train → 7 training images" in added.stderr
    assert "2 classes" in added.stdout
