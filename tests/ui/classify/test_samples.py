"""Which test images are tried one after another."""

from typing import Any

from ensemble import datasets
from ensemble.ui.classify.input import samples


def test_each_test_image_is_tried_once_before_the_first_comes_again(state: dict[str, Any]) -> None:
    digits = datasets.load_dataset("digits")  # of which 500 are for testing
    first = samples._select_next_samples(digits, 1)
    assert first == [419]  # 7,919 of them on, which is 15 times around
    others = samples._select_next_samples(digits, 499)
    assert sorted(first + others) == list(range(500))
    assert samples._select_next_samples(digits, 4) == [419, 338, 257, 176]
