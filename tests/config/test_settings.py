"""Settings are checked where they are made."""

import dataclasses
import json
import math

import pytest

from ensemble.config import EnsembleConfig
from ensemble.errors import ConfigError
from ensemble.regression.regression_job import LbfgsConfig
from ensemble.settings import Settings, declare_setting
from ensemble.storage.folders import data_folder, runs_folder


def test_defaults_are_the_howto_numbers():
    config = EnsembleConfig()
    assert (config.learning_rate, config.momentum, config.batch_size) == (0.1, 0.9, 128)
    assert (config.schedule, config.shuffle_per_member, config.bootstrap) == ("constant", False, False)
    assert (config.shift_pixels, config.rotation_degrees) == (0, 0.0)
    assert (config.slant_degrees, config.elastic_pixels, config.photo_effects) == (0.0, 0.0, 0.0)
    assert not config.has_augmentation


@pytest.mark.parametrize(
    ("kind", "field"),
    [(kind, field) for kind in (EnsembleConfig, LbfgsConfig) for field in dataclasses.fields(kind)],
    ids=lambda one: one.name if isinstance(one, dataclasses.Field) else one.__name__,
)
def test_both_ends_of_every_range_are_allowed_and_no_more(kind, field):
    low, high = field.metadata["low"], field.metadata["high"]
    if low is None:
        return
    most = {"epochs": 1000, "validation": 0.5, "members": 64} if kind is EnsembleConfig else {}
    for value in (low, high):
        kind(**{**most, field.name: type(field.default)(value)})
    for value in (low - 1, high + 1, math.nan, math.inf, None, "7", True):
        with pytest.raises(ConfigError, match=field.name):
            kind(**{field.name: value})


@pytest.mark.parametrize("dataset", ["synthetic", "digits", "mnist"])
def test_a_million_samples_of_any_kind_can_be_asked_for(dataset):
    config = LbfgsConfig(dataset=dataset, samples=1_000_000, features=10_000)
    assert (config.dataset, config.samples, config.features) == (dataset, 1_000_000, 10_000)


def test_numbers_come_out_as_what_they_are():
    # What a slider or a JSON file hands in; a run and its copy must not differ by "1" and "1.0".
    config = EnsembleConfig(members=3.0, learning_rate=1, momentum=0)
    assert [type(one) for one in (config.members, config.learning_rate, config.momentum)] == [int, float, float]
    assert '"members": 3,' in json.dumps(config.as_dict())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("members", 2.5),
        ("dataset", "cifar"),
        ("bootstrap", 1),
        ("schedule", None),
        ("members", 10**400),
        ("learning_rate", -(10**400)),
        ("learning_rate", float("nan")),
        ("members", float("inf")),
        ("momentum", True),
        ("seed", []),
        ("dataset", {}),
        ("precision", "x" * 10**6),
    ],
)
def test_a_value_of_the_wrong_kind_is_named_with_what_it_has_to_be(name, value):
    with pytest.raises(ConfigError, match=rf"{name} is .*: it has to be ") as error:
        EnsembleConfig(**{name: value})
    assert len(str(error.value)) < 300


def test_a_warm_up_longer_than_the_run_is_refused():
    with pytest.raises(ConfigError, match="shorter warm-up"):
        EnsembleConfig(epochs=2, warmup_epochs=3)


def test_settings_survive_json_form():
    config = EnsembleConfig(members=3, momentum=0.5, bootstrap=True)
    assert EnsembleConfig.from_dict(config.as_dict()) == config
    with pytest.raises(ConfigError, match="No such setting: colour"):
        EnsembleConfig.from_dict({"colour": 1})


def test_folders_come_from_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("ENSEMBLE_RUNS", "here")
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert runs_folder() == tmp_path / "here"
    assert data_folder() == tmp_path
    monkeypatch.delenv("ENSEMBLE_RUNS")
    monkeypatch.delenv("ENSEMBLE_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert runs_folder() == tmp_path / "runs"
    assert data_folder() == tmp_path / "cache" / "ensemble"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert data_folder() == tmp_path / "home" / ".cache" / "ensemble"
    monkeypatch.setenv("ENSEMBLE_DATA", "there")
    assert data_folder() == tmp_path / "there"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"patience": 5},
            "patience is 5, but no validation images are held out: set validation to a share "
            "such as 0.1, or patience to 0.",
        ),
        (
            {"validation": 1e-4},
            "validation is 0.0001, less than one of the 1,297 training images: choose 0.0008 or more, or 0 for none.",
        ),
        ({"validation": 0.6}, "validation is 0.6: it has to be a number from 0.0 to 0.5."),
        ({"photo_effects": 1.5}, "photo_effects is 1.5: it has to be a number from 0.0 to 1.0."),
    ],
    ids=["patience alone", "no image", "too much", "more than all"],
)
def test_what_cannot_be_is_said(given, said):
    with pytest.raises(ConfigError) as refused:
        EnsembleConfig(**given)
    assert str(refused.value) == said


def test_an_error_lists_at_most_twelve_choices() -> None:
    @dataclasses.dataclass(frozen=True)
    class Config(Settings):
        letter: str = declare_setting("a", "A letter.", choices=tuple("abcdefghijklmn"))

    with pytest.raises(ConfigError, match=r"one of a, b, c, d, e, f, g, h, i, j, k, l and 2 more\.$"):
        Config("z").check()
