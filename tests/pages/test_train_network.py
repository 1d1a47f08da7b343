"""Train's network: what it is, what it takes, and why it cannot be trained, beside Launch."""

import dataclasses
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from ensemble import runs
from ensemble.architectures import BUILTIN_NETWORK_NAMES
from ensemble.config import EnsembleConfig
from ensemble.machine.machine_info import read_machine_info
from ensemble.ui.shared import loaders, settings
from ensemble.ui.train import launch
from tests.pages import own_images

Open = Callable[..., AppTest]
LEAVES = """
from flax import linen as nn

print("imported, and loud about it")


class Leaves(nn.Module):
    classes: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.classes)(x.reshape(len(x), -1))
"""


@pytest.fixture(autouse=True)
def nothing_of_an_earlier_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path / "data"))
    loaders.forget_runs()


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A network of one's own, named in the working folder's file."""
    monkeypatch.chdir(tmp_path)
    Path("my_leaves.py").write_text(LEAVES)
    Path("ensemble.toml").write_text('networks = ["my_leaves:Leaves"]')
    return "my_leaves:Leaves"


def chosen(at: AppTest, **values: Any) -> AppTest:
    for name, value in values.items():
        at.session_state[settings.format_setting_key(name)] = value
    at.run()
    assert not at.exception, at.exception
    return at


def unfolded(at: AppTest) -> AppTest:
    """The page with all settings in sight."""
    at.session_state["more"] = True
    at.run()
    assert not at.exception, at.exception
    return at


def plain(words: Iterable[str]) -> str:
    """Without the joiners that keep a name with colons from being read as a symbol."""
    return " ".join(words).replace("\u2060", "")


def said(at: AppTest) -> str:
    return plain(one.value for one in at.sidebar.caption)


def launchable(at: AppTest) -> bool:
    return not next(one for one in at.button if one.key == "launch").disabled


def names(at: AppTest) -> list[str]:
    return list(at.selectbox(settings.format_setting_key("network")).options)


def test_a_network_says_where_it_is_from_what_it_takes_and_has_a_width_of_its_own(train: Open) -> None:
    at = unfolded(train())
    assert names(at)[0] == "HOWTO's CNN"
    assert len(names(at)) == len(BUILTIN_NETWORK_NAMES)
    assert "824,458 parameters · 9.3 MFLOPs an image" in said(at)  # by hand: test_registry.py
    key = settings.format_setting_key("width")
    at.number_input(key).set_value(64).run()
    assert "3,291,402 parameters" in said(at)
    at.selectbox(settings.format_setting_key("network")).set_value("mlp").run()
    assert at.number_input(key).value == 0, "64 channels are not 64 units"
    at.selectbox(settings.format_setting_key("network")).set_value("logistic").run()
    assert not [one for one in at.number_input if one.key == key]
    assert "(Cox 1958). 7,850 parameters · 16 kFLOPs an image." in said(at)
    assert " of memory ·" in said(at)
    assert launchable(at)


def test_images_too_small_for_a_network_are_said_beside_launch(train: Open) -> None:
    own_images.add("stamps", (8, 8, 3), "stamp")
    at = chosen(train(), dataset="stamps", network="lenet5")
    assert not launchable(at)
    assert "LeNet-5 needs images of at least 12×12 pixels, but these have 8×8" in said(at)
    assert launchable(chosen(at, network="cnn"))


def test_more_memory_than_the_machine_has_is_said_beside_launch(train: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    small = dataclasses.replace(read_machine_info(), memory_bytes=2 * 10**9)
    monkeypatch.setattr(launch, "read_machine_info", lambda: small)
    at = chosen(train(), network="mlp", width=1024, members=64)
    assert not launchable(at)
    assert "more than the 2.0 GB here: choose fewer members" in said(at)
    assert launchable(chosen(at, width=0, members=4))


def test_what_suits_the_images_is_said_and_nothing_switched(train: Open) -> None:
    own_images.add()
    at = chosen(train(), dataset="leaves")
    assert "My leaves is in colour: ResNet-20 is made for small colour photographs." in said(at)
    assert at.session_state[settings.format_setting_key("network")] == "cnn"
    too_high = "3 of 4 members learnt nothing at 0.1; at 0.05 all learnt"  # benchmarks: rates
    assert too_high in said(at)
    assert too_high not in said(chosen(at, learning_rate=0.05))
    assert too_high not in said(chosen(at, learning_rate=0.1, network="lenet5"))
    chosen(at, network="cnn")
    assert "where a mirrored leaf is still of its class" in said(unfolded(at))
    at = chosen(at, dataset="digits")
    assert "Leave Flip off here: a mirrored digit is another, or none." in said(at)
    assert "in colour" not in said(at)


def answered(at: AppTest) -> AppTest:
    """The page once the network has said what it is."""
    end = time.monotonic() + 240
    while "Inspecting" in said(at) and time.monotonic() < end:
        offered = launchable(at)
        time.sleep(0.2)
        at.run()
        # Where the answer came while the page was drawn, what stands lower down has it already.
        assert not offered or "Inspecting" not in said(at)
    return at.run()  # What stands higher up than the first that had the answer has it now.


@pytest.mark.long
def test_a_network_of_ones_own_is_asked_elsewhere_and_says_what_it_takes(train: Open, own: str) -> None:
    at = unfolded(train())
    assert names(at)[-1] == "Leaves"
    at = answered(chosen(at, network=own))
    assert "7,850 parameters · 16 kFLOPs an image" in said(at)
    assert launchable(at)
    assert "my_leaves" not in sys.modules, "the process that serves pages has not imported it"
    assert not launchable(chosen(at, precision="bfloat16"))
    assert "has no field dtype, which bfloat16 needs" in said(at)


@pytest.mark.long
def test_what_harms_a_network_is_said_under_the_control_and_it_may_be_launched(train: Open, own: str) -> None:
    ending = "nn.softmax(nn.Dense(self.classes)(x.reshape(len(x), -1)))"
    code = LEAVES.replace("nn.Dense(self.classes)(x.reshape(len(x), -1))", ending)
    Path("my_leaves.py").write_text(code)
    at = answered(chosen(train(), network=own))
    assert "It gives probabilities, which sum to 1" in said(at)
    assert launchable(at)


def test_a_network_that_is_named_no_longer_is_left_with_a_word(train: Open, own: str) -> None:
    at = chosen(train())
    Path("ensemble.toml").unlink()
    at = chosen(at, network=own, width=0)
    assert f"The network {own} is not in ensemble.toml here" in plain([at.warning[0].value])
    assert at.session_state[settings.format_setting_key("network")] == "cnn"
    Path("ensemble.toml").write_text("networks = 3")
    at = chosen(at)
    assert "In ensemble.toml, networks has to be a list of names" in said(at)
    assert "Leaves" not in names(at)
    assert launchable(at)


def test_a_run_is_called_by_its_network_too(train: Open, own: str) -> None:
    run = runs.create_run(EnsembleConfig(network="resnet", members=2, flip=True))
    at = train(run.id)
    assert at.subheader[0].value == "2 members · ResNet-20 · rate 0.1 · digits"
    assert "seed 0 · flip" in plain(one.help for one in at.main.caption)
    run = runs.create_run(EnsembleConfig(network=own, members=2))
    at = train(run.id)
    assert at.subheader[0].value == "2 members · Leaves · rate 0.1 · digits"
    assert f"seed 0 · {own}" in plain(one.help for one in at.main.caption)
