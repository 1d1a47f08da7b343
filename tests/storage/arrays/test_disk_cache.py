"""Cached arrays: made once, made again where they are damaged, and bounded."""

import os
from pathlib import Path

import numpy as np
import pytest

from ensemble.storage.arrays import disk_cache

Made = list[str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path))
    return tmp_path / "kept"


def ask(name: str, made_from: str, made: Made) -> float:
    """A number cached under a name; `made` is told where it had to be made."""

    def make() -> disk_cache.Arrays:
        made.append(name)
        return {"number": np.full(500, float(len(made)))}

    return float(disk_cache.load_or_compute_arrays(name, made_from, make)["number"][0])


def test_what_was_made_is_found_again_and_another_origin_is_another(folder: Path) -> None:
    made: Made = []
    assert [ask("a", "digits", made), ask("a", "digits", made)] == [1.0, 1.0]
    assert [ask("a", "mnist", made), ask("b", "digits", made)] == [2.0, 3.0]
    assert made == ["a", "a", "b"]
    for number, rest in ((4.0, b""), (5.0, b"no arrays")):
        for path in folder.glob("b-*.npz"):
            path.write_bytes(rest)
        assert [ask("b", "digits", made), ask("b", "digits", made)] == [number, number]
    assert len(list(folder.glob("*.npz"))) == 3


def test_beyond_the_bound_goes_what_was_used_longest_ago(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: Made = []
    for age, name in enumerate(("one", "two"), 1):
        ask(name, "", made)
        (path,) = folder.glob(f"{name}-*.npz")
        os.utime(path, (age, age))
    monkeypatch.setattr(disk_cache, "MAX_CACHE_BYTES", path.stat().st_size * 5 // 2)
    assert ask("one", "", made) == 1.0  # used now, so that the second has waited longest
    ask("three", "", made)
    assert sorted(path.name.split("-")[0] for path in folder.glob("*.npz")) == ["one", "three"]


def test_any_changed_number_or_shape_makes_another_word() -> None:
    tree = [np.arange(6.0).reshape(2, 3), np.ones(2)]
    words = {
        disk_cache.digest_array_list(one)
        for one in (
            tree,
            [tree[0].T.copy(), tree[1]],
            [tree[0].reshape(3, 2), tree[1]],
            [tree[0] + 1e-12, tree[1]],
            tree[:1],
            tree[::-1],
        )
    }
    assert len(words) == 6
    assert disk_cache.digest_array_list([array.copy() for array in tree]) == disk_cache.digest_array_list(tree)
