"""Files of every kind, corrupted in ways drawn from a seed: one sentence, and nobody else hurt.

A sample, of files that take no opening of members. As many as one likes, on every page and with
every command: `attack` of `tests.hostile.trial`.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hostile.trial import attack, prepared

SAMPLE, SEED = 12, 20


def small(path: str) -> bool:
    """Whether a file says something in words: of a run, a regression, a measured speed, a dataset."""
    return not path.endswith(".npz") and "checkpoints" not in path


def test_corrupted_files_are_said_in_a_sentence_and_upset_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, draws: Callable[[int], int]
) -> None:
    count = min(SAMPLE, draws(60))  # half of them without --all
    tried = prepared(tmp_path, monkeypatch, pages=["runs", "train", "parallel"], asking=False)
    found = list(attack(tried, count, SEED, small))
    assert len({one.path for one, _ in found}) == count
    assert [str(failure) for _, failures in found for failure in failures] == []
