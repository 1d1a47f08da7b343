"""A small table whose noise is known, and runs that learn from it."""

from typing import Any

import numpy as np
import pytest

from ensemble.config import RegressionConfig
from ensemble.runs.numeric.numeric_launch import create_numeric_run, prepare_numeric_table
from ensemble.runs.store import Run
from ensemble.tables.prepared_table import PreparedTable
from ensemble.tables.raw_table import NUMBER, TEXT, RawColumn, RawTable


def build_table(rows: int = 120, seed: int = 2) -> RawTable:
    """Prices by area and city, with noise that grows with the area; one price is missing."""
    rng = np.random.default_rng(seed)
    area = rng.uniform(0, 1, rows)
    city = rng.integers(0, 2, rows)
    price = 200 + 50 * np.sin(3 * area) + 20 * city + (2 + 10 * area) * rng.normal(size=rows)
    price[5] = np.nan
    columns = (
        RawColumn("area", NUMBER, area),
        RawColumn("city", TEXT, np.array(["Ulm", "Bern"], object)[city]),
        RawColumn("price", NUMBER, price),
    )
    return RawTable("houses.csv", rows, columns)


def build_config(**settings: Any) -> RegressionConfig:
    """Settings of a run that takes a moment."""
    small: dict[str, Any] = {"members": 3, "epochs": 4, "batch_size": 16, "width": 8, "devices": 2, "seed": 1}
    small |= {"validation": 0.0, "learning_rate": 0.003}
    return RegressionConfig(**{**small, **settings})


def prepare(config: RegressionConfig) -> PreparedTable:
    """The table as such a run learns from it."""
    return prepare_numeric_table(config, build_table(), "price")


def create_run(**settings: Any) -> Run:
    """A queued run."""
    config = build_config(**settings)
    return create_numeric_run(config, prepare(config))


@pytest.fixture
def queued(runs_of_one_test: Any) -> Run:
    return create_run(validation=0.1)
