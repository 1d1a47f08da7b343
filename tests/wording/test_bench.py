"""Sentences about measured training speeds, case by case."""

from dataclasses import replace

import pytest

from ensemble.machine.bench_result import BenchResult
from ensemble.wording import bench as bench_words
from tests.machine.test_bench_result import BENCH


def with_gain(gain: float) -> BenchResult:
    return replace(BENCH, rates={"float32": 1000.0, "bfloat16": 1000.0 * gain})


def test_the_speeds_in_one_sentence() -> None:
    said = bench_words.describe_bench_result(BENCH)
    assert said.startswith("2,000 img·member/s in float32 and 4,000 img·member/s in bfloat16 (4 members on 2 devices, ")
    assert "batches of 128" in said


@pytest.mark.parametrize(
    ("bench", "said"),
    [
        (with_gain(2.0), "Measured: bfloat16 is 2.0 times as fast as float32 here."),
        (
            with_gain(0.5),
            "Measured: bfloat16 is slower here and takes 2.0 times as long as float32: "
            "the processor has no bfloat16 units.",
        ),
        (
            replace(with_gain(0.5), fast_bfloat16=True),
            "Measured: bfloat16 is slower here and takes 2.0 times as long as float32.",
        ),
        (with_gain(1.0), "Measured: bfloat16 is about as fast as float32 here."),
    ],
    ids=["faster", "emulated", "slower all the same", "alike"],
)
def test_what_a_bench_says_of_bfloat16(bench: BenchResult, said: str) -> None:
    assert bench_words.describe_bfloat16_support(bench, "cpu", fast=True) == said


def test_what_is_said_of_bfloat16_without_a_bench() -> None:
    assert "no bfloat16 units" in bench_words.describe_bfloat16_support(None, "cpu", fast=False)
    assert bench_words.describe_bfloat16_support(None, "cpu", fast=True) == ""
    assert bench_words.describe_bfloat16_support(None, "gpu", fast=False) == ""


def test_the_control_names_a_gain_only_if_there_is_one() -> None:
    assert bench_words.label_bfloat16_choice(with_gain(2.0), "cpu", fast=True) == "bfloat16, half the bits"
    assert bench_words.label_bfloat16_choice(with_gain(0.9), "cpu", fast=True) == "bfloat16, no faster here"
