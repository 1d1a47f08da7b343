"""The recipes that are measured are those that a person launches, and are told as measured."""

import json
import re
from pathlib import Path
from typing import Any

import click
import pytest

from benchmarks.training import recipes
from ensemble.__main__ import main
from ensemble.config import EnsembleConfig
from ensemble.ui.train import presets

REPO = Path(__file__).resolve().parent.parent
FIGURES = json.loads((REPO / "benchmarks" / "results" / "recipes.json").read_text("utf-8"))
ALL = EnsembleConfig(
    dataset="mnist",
    members=5,
    optimizer="adamw",
    schedule="cyclic",
    cycles=2,
    momentum=0.8,
    bootstrap=True,
    flip=True,
    rotation_degrees=7.5,
    validation=0.25,
    vary="momentum=0.8,0.9",
)


def launched(words: list[str]) -> EnsembleConfig:
    """The settings that the command line makes of words."""
    command: Any = main.get_command(click.Context(main), "train")
    given = command.make_context("train", words).params
    names = EnsembleConfig().as_dict()
    return EnsembleConfig(**{k: v for k, v in given.items() if k in names and v is not None})


@pytest.mark.parametrize("config", [ALL, *recipes.RECIPES.values()])
def test_a_recipe_is_launched_with_the_settings_that_it_has(config: EnsembleConfig) -> None:
    assert launched(["--dataset", "mnist", *recipes.words_of(config)]) == config


def test_the_best_recipe_is_the_one_that_its_preset_launches() -> None:
    assert recipes.RECIPES["best"] == presets.PRESETS["Best accuracy"]


@pytest.mark.parametrize("name", sorted(FIGURES.keys() - {"machine"}))
def test_what_was_measured_is_the_recipe_as_it_stands(name: str) -> None:
    found = FIGURES[name]
    assert found["options"].split() == recipes.words_of(recipes.RECIPES[name])
    assert found["mean_ensemble"] == pytest.approx(
        sum(one["ensemble"] for one in found["runs"]) / len(found["runs"]), abs=1e-5
    )


def test_the_preset_promises_no_accuracy_but_the_one_that_was_measured() -> None:
    promised = re.findall(r"(\d+\.\d+) %", presets.describe_preset("Best accuracy"))
    measured = FIGURES["best"]["mean_ensemble"] if "best" in FIGURES else None
    assert promised == ([] if measured is None else [f"{100 * measured:.2f}"])
