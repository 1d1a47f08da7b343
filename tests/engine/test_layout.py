"""Any number of members on any number of devices, and back."""

import jax
import numpy as np
import pytest

from ensemble.engine import Trainer
from ensemble.engine.layout import MAPPING_VARIABLE, Layout, choose_devices
from ensemble.errors import ConfigError
from tests.engine.conftest import devices, small_config, train_epochs


@pytest.mark.parametrize("members", [1, 2, 3, 5, 8, 13, 64])
@pytest.mark.parametrize("device_count", [1, 2, 3, 8])
def test_members_come_back_as_they_were_laid_out(members, device_count):
    layout = Layout.over_devices(members, jax.devices()[:device_count])
    assert layout.occupied_lanes.sum() == members
    assert layout.occupied_lanes.any(axis=1).all(), "a device without a member"
    tree = {"a": np.arange(members * 6, dtype=np.float32).reshape(members, 2, 3)}
    spread = layout.spread(tree)
    assert spread["a"].shape == (len(layout.devices), layout.lanes, 2, 3)
    assert {shard.device for shard in spread["a"].addressable_shards} == set(layout.devices)
    np.testing.assert_array_equal(layout.gather(spread)["a"], tree["a"])


def test_replicas_are_on_every_device():
    layout = Layout.over_devices(4, jax.devices()[:4])
    copies = layout.replicate(np.arange(3))
    assert copies.shape == (4, 3)
    assert (np.asarray(copies) == np.arange(3)).all()


def test_shard_map_in_pmaps_place_trains_and_predicts_to_the_same_bits(few, monkeypatch):
    found = {}
    for mapping in ("pmap", "shard_map"):
        monkeypatch.setenv(MAPPING_VARIABLE, mapping)
        trainer = Trainer(small_config(network="logistic"), few, devices(2))
        losses, state = train_epochs(trainer, 2)
        evaluation = trainer.evaluate(state)
        assert evaluation is not None
        found[mapping] = losses, trainer.get(state), evaluation.probabilities
    assert jax.tree.all(jax.tree.map(np.array_equal, found["pmap"], found["shard_map"]))


def test_what_maps_programs_is_a_word_that_is_known(monkeypatch):
    monkeypatch.setenv(MAPPING_VARIABLE, "xmap")
    with pytest.raises(ConfigError, match="'xmap': set it to pmap or shard_map, or unset it"):
        Layout.over_devices(2, jax.devices()[:2]).pmap(lambda x: x)
    monkeypatch.setenv(MAPPING_VARIABLE, " shard_map ")
    doubled = Layout.over_devices(2, jax.devices()[:2]).pmap(lambda x: 2 * x)
    np.testing.assert_array_equal(doubled(np.arange(2)), [0, 2])


def test_more_devices_than_there_are_is_said():
    with pytest.raises(ConfigError, match=r"devices is 99.*has 8"):
        choose_devices(99)
    assert len(choose_devices(0)) == 8
    assert len(choose_devices(3)) == 3
    assert len(choose_devices(8)) == 8
    with pytest.raises(ConfigError, match="has 8"):
        choose_devices(9)
