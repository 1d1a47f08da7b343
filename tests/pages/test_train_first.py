"""Train's first screen, its presets, and whether the settings are those of the run shown."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from ensemble import datasets, runs
from ensemble.analysis.members import disagreement
from ensemble.config import EnsembleConfig
from ensemble.figures.palette import MEMBER_HUES
from ensemble.jobs.warm_worker import WarmWorker
from ensemble.runs.store import RUN_STORE
from ensemble.ui.shared import loaders, settings
from ensemble.ui.train import presets
from ensemble.ui.train.example import recording
from tests.pages.ensembles import trained

Open = Callable[..., AppTest]


class Told(WarmWorker):
    """Starts no process, and remembers what it was asked to compile for."""

    def __init__(self) -> None:
        super().__init__()
        self.likely: list[EnsembleConfig | None] = []

    def keep_ready(self, environment: Mapping[str, str], likely: EnsembleConfig | None = None) -> None:
        self.likely.append(likely)
        super().keep_ready(environment, likely)  # Switched off by the environment of all tests.


@pytest.fixture(autouse=True)
def no_list_of_an_earlier_test() -> None:
    loaders.forget_runs()


def button(at: AppTest, key: str) -> Any:
    return next((one for one in at.button if one.key == key), None)


def marked(at: AppTest) -> list[str]:
    """The presets that are marked as what the settings are."""
    labels = {name: button(at, presets.format_preset_key(name)).label for name in presets.PRESETS}
    return [name for name, label in labels.items() if label != name]


def captions(at: AppTest) -> list[str]:
    return [one.value for one in at.sidebar.caption]


def test_the_first_screen_shows_a_recorded_run_beside_launch(train: Open) -> None:
    at = train()
    assert "let them vote" in at.subheader[0].value
    assert button(at, "first_launch").label.startswith("Launch 4 members")
    last = recording.load_recorded_history()[-1]
    assert at.metric[0].value.startswith(f"{100 * last['ensemble_test_accuracy']:.1f} % ")
    assert any("Recorded example" in one.value for one in at.markdown)
    assert not button(at, "first_launch").disabled
    assert at.selectbox(settings.format_setting_key("dataset")).value == "digits"
    assert marked(at) == ["Quick look"]
    drawn = [json.loads(one.proto.json) for one in at.get("bidi_component") if one.proto.json]
    assert any("strip" in one for one in drawn)


def test_what_is_compiled_before_the_page_is_drawn_is_what_launch_will_run(
    train: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Told()
    monkeypatch.setattr(RUN_STORE, "warm_worker", told)
    at = train()
    assert told.likely == [None, EnsembleConfig(), EnsembleConfig()]
    button(at, presets.format_preset_key(name := presets.CLASS_PRESET)).click().run()
    assert told.likely[3:] == [None, *[presets.PRESETS[name]] * 2]
    del told.likely[:]
    trained(members=2)
    loaders.forget_runs()
    at.run()
    assert told.likely[0] is None
    assert len(told.likely) == 2, "beside a run only once its settings are on the page"


def test_the_example_is_the_run_that_the_first_launch_makes() -> None:
    kept, labels = recording.load_recorded_run(), datasets.load_dataset("digits").test_labels
    assert kept.config == EnsembleConfig() == presets.PRESETS["Quick look"]
    rows = [row for row in recording.load_recorded_history() if row["kind"] == "epoch"]
    assert [row["epoch"] for row in rows] == recording.list_recorded_epochs()
    for row in rows:
        made = recording.load_recorded_predictions(row["epoch"])
        share = float((made.averaged.argmax(axis=-1) == labels).mean())
        assert share == pytest.approx(row["ensemble_test_accuracy"])
        differ = disagreement.measure_disagreement(made.probabilities)
        assert row["disagreement"] == pytest.approx(differ.pairwise, rel=1e-4)
        losses = -np.log(made.probabilities[:, np.arange(len(labels)), labels]).mean(axis=1)
        assert losses == pytest.approx(row["test_loss"], rel=1e-3), "also of who is sure and wrong"
    assert made.split[recording.find_recorded_disputed_images()].all()
    assert 6 <= len(recording.find_recorded_disputed_images()) <= 8


def test_what_the_package_carries_of_the_example_is_small() -> None:
    assert sum(file.stat().st_size for file in recording.FOLDER.iterdir()) <= 1_000_000


def test_the_example_says_nothing_of_the_machine_that_recorded_it() -> None:
    status = recording.load_recorded_run().status
    assert (status.host, status.pid, status.created) == ("", None, 0.0)


def test_the_first_launch_is_the_quick_one_also_where_mnist_is_there(
    train: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(datasets, "is_dataset_prepared", lambda name: True)
    at = train()
    assert at.selectbox(settings.format_setting_key("dataset")).value == "digits"
    assert marked(at) == ["Quick look"]


def test_a_preset_fills_every_setting(train: Open) -> None:
    at = train()
    for name, config in presets.PRESETS.items():
        at.session_state[settings.format_setting_key("momentum")] = 0.5
        at.run()
        assert not marked(at), "changed by hand, the settings are no preset's"
        button(at, presets.format_preset_key(name)).click().run()
        assert not at.exception
        assert marked(at) == [name]
        held = {one: at.session_state[settings.format_setting_key(one)] for one in config.as_dict()}
        assert held == config.as_dict()


def test_best_accuracy_is_the_recipe_that_it_says() -> None:
    best = presets.PRESETS["Best accuracy"]
    assert (best.dataset, best.members, best.epochs, best.schedule) == ("mnist", 5, 10, "cosine")
    assert (best.optimizer, best.learning_rate, best.warmup_epochs) == ("adamw", 0.003, 0.1)
    assert (best.shift_pixels, best.rotation_degrees) == (2, 10.0)
    assert (best.slant_degrees, best.elastic_pixels) == (10.0, 1.0)


def test_the_preset_for_a_class_has_as_many_members_as_have_a_colour_of_their_own() -> None:
    preset = presets.PRESETS[presets.CLASS_PRESET]
    assert preset.members == len(MEMBER_HUES)
    assert preset.dataset == "digits", "which needs no network"


def test_the_settings_say_whether_they_are_those_of_the_run_shown(train: Open) -> None:
    at = train(trained(members=3).id)
    assert "Differs from the run shown: members, epochs." in captions(at)
    button(at, "reuse").click().run()
    assert "Same settings as the run shown." in captions(at)
    assert button(at, "reuse") is None, "there is nothing left to copy"
    for name, value in (("learning_rate", 0.5), ("seed", 3), ("momentum", 0.0), ("epochs", 7)):
        at.session_state[settings.format_setting_key(name)] = value
    at.run()
    assert "Differs from the run shown: rate, momentum, epochs and 1 more." in captions(at)
    at.query_params["run"] = runs.create_run(EnsembleConfig()).id
    loaders.forget_runs()
    at.run()
    button(at, presets.format_preset_key("Quick look")).click().run()
    assert "Same settings as the run shown." in captions(at), "a run of a preset"
