"""A run whose dataset a person has removed, or added again with other images."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.datasets.own import dataset_builder, source_lookup, staging
from ensemble.datasets.own.request import DatasetNaming, PreparationSettings
from ensemble.errors import ConfigError, NotPreparedError
from ensemble.runs.test_set import IMAGES_FILE
from ensemble.ui.shared import loaders
from ensemble.wording.run_names import format_run_name
from tests.exchange.capsule.pages import there_and_back
from tests.pages.ensembles import trained

APP = Path(__file__).parents[2] / "app.py"
Add = Callable[[int], None]


@pytest.fixture
def add(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Add:
    """Adds `leaves`, drawn by a seed: 60 images of three classes."""
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path / "data"))
    loaders.forget_runs()

    def added(seed: int) -> None:
        images = np.random.default_rng(seed).integers(0, 256, (60, 12, 10, 3), np.uint8)
        np.savez(tmp_path / "leaves.npz", x=images, y=np.repeat(["ash", "elm", "oak"], 20))
        source = source_lookup.open_picture_source(str(tmp_path / "leaves.npz"))
        dataset_builder.add_custom_dataset(
            source, PreparationSettings(), DatasetNaming("leaves", "Leaves & co", "leaf")
        )

    return added


def shown(run: runs.Run, screen: str) -> tuple[AppTest, str]:
    at = AppTest.from_file(str(APP), default_timeout=240)
    at.query_params["run"] = run.id
    at.session_state["set_dataset"] = "leaves"  # as a tab has it that has been open since
    at.switch_page(f"pages/{screen}.py").run()
    assert not at.exception, at.exception
    return at, " ".join(str(one.value) for one in (*at.warning, *at.info, *at.error))


@pytest.mark.parametrize("screen", ["runs", "train", "predictions", "inspect"])
def test_a_run_whose_dataset_is_gone_opens_and_says_so_where_its_images_are_needed(add: Add, screen: str) -> None:
    add(0)
    run = trained(dataset="leaves", members=2, validation=0.1)
    staging.remove_custom_dataset("leaves")
    at, said = shown(run, screen)
    if screen == "runs":
        assert at.dataframe[0].value["data"].tolist() == ["Leaves & co"]
    if screen == "train":
        assert "The dataset leaves is no longer there: another is chosen." in said
    if screen in ("predictions", "inspect"):
        assert "Leaves \\& co is not on this machine any more" in said


def test_one_added_again_with_other_images_is_not_taken_for_it(add: Add) -> None:
    add(0)
    run = trained(dataset="leaves", members=2)
    assert format_run_name(run) == "2 members · rate 0.1 · Leaves & co"
    assert runs.load_test_set(run).noun == "leaf"
    staging.remove_custom_dataset("leaves")
    with pytest.raises(NotPreparedError, match="no longer exists"):
        runs.load_test_set(run)
    add(1)
    with pytest.raises(NotPreparedError, match="no longer the one that this run was trained on"):
        runs.load_test_set(run)
    staging.remove_custom_dataset("leaves")
    add(0)
    assert runs.load_test_set(run).class_names == ("ash", "elm", "oak")


def test_images_of_a_run_from_a_report_are_there_as_soon_as_its_dataset_is(add: Add, tmp_path: Path) -> None:
    add(0)
    again = there_and_back(tmp_path, trained(dataset="leaves", members=2, epochs=1))
    (again.path / IMAGES_FILE).unlink()  # A report has none of a dataset that everybody can fetch.
    staging.remove_custom_dataset("leaves")
    assert loaders.load_run_test_set(again).images is None
    add(0)
    assert loaders.load_run_test_set(again).images is not None


def test_a_run_of_it_is_listed_and_no_new_one_is_made(add: Add) -> None:
    add(0)
    config = EnsembleConfig(dataset="leaves", members=2, epochs=2, validation=0.1)
    run = trained(dataset="leaves", members=2, validation=0.1)
    staging.remove_custom_dataset("leaves")
    loaders.forget_runs()
    (found,) = runs.list_runs()
    assert found.config == config
    assert (found.data.title, found.data.test_size) == ("Leaves & co", 12)
    with pytest.raises(ConfigError, match="dataset is 'leaves': it has to be one of digits, mn"):
        EnsembleConfig(dataset="leaves")
    with pytest.raises(ConfigError, match="No such dataset: 'leaves'"):
        runs.create_run(found.config)
    assert len(runs.list_runs()) == 1
    assert run.id == found.id
