"""A sweep and a dataset of one's own from Python, and what help says of the settings."""

import numpy as np
import pytest

import ensemble
from ensemble import datasets
from ensemble.errors import ConfigError, DataError
from ensemble.settings import list_setting_fields

BLOCKS = np.random.default_rng(0).integers(0, 256, (60, 9, 7), np.uint8)


def test_a_sweep_searches_and_its_best_run_is_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    config = ensemble.Config(network="logistic", members=1, epochs=1, validation=0.1)
    sweep = ensemble.sweep({"learning_rate": [0.0001, 0.1]}, config, sampler="grid")
    assert sweep.state == "finished"
    assert "2 of 2 trials" in capsys.readouterr().out
    table = sweep.to_frame()
    assert table["learning_rate"].tolist() == [0.0001, 0.1]
    assert table["state"].tolist() == ["complete", "complete"]
    best = sweep.best
    assert best is not None
    assert best.id == table["run"][table["nll"].idxmin()]
    assert best.config.learning_rate == 0.1
    assert repr(sweep).startswith(f"<Sweep {sweep.id}: finished, 2 of 2 trials")


def test_what_cannot_be_searched_is_said_before_anything_is_made() -> None:
    with pytest.raises(ConfigError, match="validation is 0"):
        ensemble.sweep("momentum=0.8,0.9", ensemble.Config(members=1))
    with pytest.raises(ConfigError, match=r"no such settings: .*trails"):
        ensemble.sweep({"flip": [True, False]}, trails=3)
    assert ensemble.list_runs() == []


def test_arrays_become_a_dataset_that_runs_learn_from() -> None:
    labels = np.array(["oak", "elm", "ash"] * 20)
    with pytest.warns(UserWarning, match="test images"):
        info = ensemble.add_dataset("blocks", BLOCKS, labels, noun="leaf", test_share=0.25, seed=3)
    assert (info.class_names, info.noun) == (("ash", "elm", "oak"), "leaf")
    assert info.image_shape == (9, 7, 1)
    assert (info.train_size, info.test_size) == (45, 15)
    assert "Python" in info.source
    there = datasets.load_dataset("blocks")
    found = {
        (image.tobytes(), info.class_names[label])
        for images, split in ((there.train_images, there.train_labels), (there.test_images, there.test_labels))
        for image, label in zip(images, split, strict=True)
    }
    assert found == {(one.tobytes(), str(name)) for one, name in zip(BLOCKS, labels, strict=True)}
    assert ensemble.Config(dataset="blocks").dataset == "blocks"
    with pytest.raises(DataError, match="blocks"):
        ensemble.add_dataset("blocks", BLOCKS, labels)


def test_test_images_of_one_s_own_stay_test_images() -> None:
    labels = np.arange(60) % 3
    with pytest.warns(UserWarning, match="0 is taken as black and 1 as white"):
        info = ensemble.add_dataset(
            "given",
            BLOCKS[:40] / 255.0,
            labels[:40],
            test_images=BLOCKS[40:] / 255.0,
            test_labels=labels[40:],
            class_names=["ash", "elm", "oak"],
            groups=labels[:40] + 10 * (np.arange(40) // 20),
        )
    assert (info.train_size, info.test_size) == (40, 20)
    np.testing.assert_array_equal(datasets.load_dataset("given").test_images[..., 0], BLOCKS[40:])
    assert datasets.load_dataset("given").train_groups is not None


def test_arrays_that_are_none_are_refused_in_a_sentence() -> None:
    labels = np.arange(60) % 3
    with pytest.raises(DataError, match="belong together"):
        ensemble.add_dataset("refused", BLOCKS, labels, test_images=BLOCKS)
    with pytest.raises(DataError, match="60 train images and 59 labels"):
        ensemble.add_dataset("refused", BLOCKS, labels[1:])
    with pytest.raises(DataError, match="Python objects"):
        ensemble.add_dataset("refused", np.array([{}] * 60), labels)
    with pytest.raises(ConfigError, match="not a valid name"):
        ensemble.add_dataset("No name", BLOCKS, labels)
    with pytest.raises(ConfigError, match="No such setting: sise"):
        ensemble.add_dataset("refused", BLOCKS, labels, sise=3)


def test_help_lists_every_setting_with_its_range_and_default() -> None:
    said = ensemble.Config.__doc__
    for field in list_setting_fields(ensemble.Config):
        (line,) = [one for one in said.splitlines() if one.strip().startswith(f"{field.name}: ")]
        assert f"by default {field.default!r})" in line
        if field.metadata["high"] is not None:
            assert f"{field.metadata['high']:,}" in line
