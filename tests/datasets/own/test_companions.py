"""Masks, thumbnails and segmentation images next to pictures: the user is asked, and the choice is followed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from ensemble.errors import DataError


def save(root: Path, names: list[str]) -> None:
    rng = np.random.default_rng(0)
    for name in names:
        path = root / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 256, (8, 8), np.uint8)).save(path)


def name_both(picture: str, other: str) -> list[str]:
    return [each.format(kind, n) for kind in ("cat", "dog") for n in range(5) for each in (picture, other)]


@pytest.mark.parametrize(
    ("picture", "other"),
    [
        ("{0}/{0} ({1})", "{0}/{0} ({1})_mask"),  # as of the ultrasound images of breasts
        ("{0}/{1}", "{0}/{1}_segmentation"),
        ("{0}/{1}", "{0}/{1}-seg"),
        ("{0}/{1}", "{0}/mask_{1}"),
        ("{0}/IMG_{1}", "{0}/IMG_{1}_thumb"),
        ("{0}/IMG_{1}", "{0}/IMG_{1}_mask_1"),
        ("{0}/{1}", "{0}/{1}_GT"),
        ("{0}/{1}", "{0}/masks/{1}"),
        ("{0}/images/{1}", "{0}/masks/{1}"),
        ("{0}/images/{1}", "{0}/masks/{1}_mask"),
        ("{0}/{1}", "{0}/thumbnails/{1}"),
        ("images/{0}/{1}", "masks/{0}/{1}"),
    ],
)
def test_a_mask_next_to_its_picture_is_asked_about(
    tmp_path: Path, add: Callable[..., Any], picture: str, other: str
) -> None:
    save(tmp_path / "pets", name_both(picture, other))
    with pytest.raises(
        DataError, match=r"10 pictures look like a mask, .*Choose with --masks what to do with them: keep or leave-out"
    ):
        add(tmp_path / "pets")
    left = add(tmp_path / "pets", "left", masks="leave-out").note
    assert left.train_size + left.test_size == 10
    assert "and left out." in " ".join(left.said)
    kept = add(tmp_path / "pets", "kept", masks="keep").note
    assert kept.train_size + kept.test_size == 20
    assert "and kept." in " ".join(kept.said)


@pytest.mark.parametrize(
    ("picture", "other"),
    [
        ("{0}/a{1}", "{0}/b{1}"),
        ("{0}/a{1}", "{0}/b{1}_mask"),  # of no picture that is there
        ("with_{0}/{1}", "without_{0}/{1}"),
        ("{0}/unmasked_{1}", "{0}/masked_{1}"),
        ("with_mask/{0}{1}", "without_mask/{0}{1}"),
    ],
)
def test_what_only_looks_alike_is_not(tmp_path: Path, add: Callable[..., Any], picture: str, other: str) -> None:
    save(tmp_path / "pets", name_both(picture, other))
    note = add(tmp_path / "pets").note
    assert note.train_size + note.test_size == 20
