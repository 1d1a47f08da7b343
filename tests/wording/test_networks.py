"""What is said of networks: figures as measured, sizes as people read them."""

import json

import pytest

from ensemble.machine.network_cost import NetworkCost
from ensemble.wording.runs import networks
from tests.conftest import REPO


def test_members_said_to_have_learnt_nothing_are_those_that_were_measured() -> None:
    kept = json.loads((REPO / "benchmarks" / "results" / "rates.json").read_text())["runs"]
    measured = {(one["network"], one["on"], one["rate"]): one for one in kept}
    lost = {}
    for (network, on, rate), one in measured.items():
        if on == "colour" and rate == networks.USUAL_RATE and one["guess"]:
            lost[network] = (one["guess"], one["members"])
            half = measured[network, on, networks.HALF_RATE]
            assert (half["guess"], half["diverged"]) == (0, 0), network
    assert lost == networks.GUESSING_MEMBERS
    usual = [one for one in kept if one["on"] == "digits" and one["rate"] == networks.USUAL_RATE]
    assert {one["guess"] for one in usual} == {0}, "on digits the usual rate will do"


@pytest.mark.parametrize(
    ("flops", "said"), [(12, "12 FLOPs"), (15_680, "16 kFLOPs"), (9_287_680, "9.3 MFLOPs"), (1.23e9, "1.2 GFLOPs")]
)
def test_operations_are_written_to_two_figures(flops: float, said: str) -> None:
    assert networks.format_flops(flops) == said


def test_what_a_member_takes_and_what_a_run_holds_are_short() -> None:
    assert networks.format_network_cost(NetworkCost(1, 2, 0, 1)) == "1 parameter · 2 FLOPs an image"
    assert networks.format_memory(526e6) == "530 MB"
    assert networks.format_memory(999.6e6) == "1.0 GB"
    assert networks.format_memory(12.34e9) == "12 GB"


def test_ones_own_are_told_apart_where_their_ends_are_alike() -> None:
    listed = ("cnn", "a.b:Net", "c:Net", "d:Other")
    said = [networks.format_unique_network_name(one, listed) for one in listed]
    assert said == ["HOWTO's CNN", "a.b:Net", "c:Net", "Other"]


@pytest.mark.parametrize(
    ("name", "width", "said"),
    [
        ("cnn", 0, "Width 32: 1 × the HOWTO's."),
        ("cnn", 80, "Width 80: 2.5 × the HOWTO's."),
        ("lenet5", 12, "Width 12: 2 × that of LeNet-5."),
        ("logistic", 0, ""),
        ("my.module:Net", 0, ""),
    ],
)
def test_a_width_is_said_by_the_networks_own(name: str, width: int, said: str) -> None:
    assert networks.describe_network_width(name, width) == said
