from dataclasses import replace
from typing import Any

import pytest

from ensemble.config import EnsembleConfig
from ensemble.config.batch_sharing import count_devices_per_member
from ensemble.machine.network_cost import NetworkCost
from ensemble.machine.network_cost import compute_network_cost as cost_of
from ensemble.machine.run_estimate import (
    HOWTO_FLOPS,
    STARTUP_SECONDS,
    PastRun,
    describe_members_per_device,
    estimate_memory_bytes,
    estimate_training_time,
)

CONFIG = EnsembleConfig(members=4, epochs=10, batch_size=100)
HERE = {"platform": "cpu", "devices": 2, "cores": 2, "host": "here"}


def guess(past: list[PastRun], config: EnsembleConfig = CONFIG, bench: PastRun | None = None) -> tuple[float, str]:
    found = estimate_training_time(config, 1050, past=past, bench=bench, **HERE)  # type: ignore[arg-type]
    return found.seconds - STARTUP_SECONDS, found.source


def test_goes_by_the_median_of_the_last_three_runs_on_as_many_devices_of_this_machine() -> None:
    past = [PastRun(2, 1000.0, "here"), PastRun(2, 4000.0, "here"), PastRun(2, 2000.0, "here")]
    older = [PastRun(2, 1.0, "here"), PastRun(1, 5.0, "here"), PastRun(2, 5.0, "elsewhere")]
    # 10 epochs of 10 whole batches of 100 images, for 4 members.
    assert guess(older[1:] + past + older) == (pytest.approx(40_000 / 2000), "runs")


def test_says_when_it_is_a_rough_guess() -> None:
    seconds, told_by = guess([PastRun(1, 5.0, "here")])
    assert told_by == "guess"
    assert 0 < seconds < 60


def test_a_batch_larger_than_the_data_is_still_a_step() -> None:
    big = EnsembleConfig(members=1, epochs=1, batch_size=2000)
    assert guess([PastRun(2, 1000.0, "here")], big)[0] == pytest.approx(2.0)


def test_a_bench_counts_if_no_run_of_that_precision_does() -> None:
    half = EnsembleConfig(members=4, epochs=10, batch_size=100, precision="bfloat16")
    other = [PastRun(2, 1000.0, "here")]
    bench = PastRun(2, 8000.0, "here", "bfloat16")
    assert guess(other, half, bench) == (pytest.approx(40_000 / 8000), "bench")
    own = [*other, PastRun(2, 5000.0, "here", "bfloat16")]
    assert guess(own, half, bench) == (pytest.approx(40_000 / 5000), "runs")


@pytest.mark.parametrize(
    "changes", [{"devices": 1}, {"host": "elsewhere"}, {"precision": "bfloat16"}, {"network": ("mlp", 0)}]
)
def test_a_bench_of_something_else_does_not_count(changes: dict[str, Any]) -> None:
    assert guess([], bench=replace(PastRun(2, 8000.0, "here"), **changes))[1] == "guess"


def test_a_bench_on_larger_images_counts_by_its_operations() -> None:
    assert guess([], bench=PastRun(2, 2000.0, "here", work=4 * HOWTO_FLOPS)) == (pytest.approx(40_000 / 8000), "bench")


@pytest.mark.parametrize(
    ("members", "devices", "said"),
    [
        (1, 1, "alone"),
        (4, 1, "one after another"),
        (4, 4, "1 member each"),
        (4, 2, "2 members each"),
        (5, 2, "up to 3 members each"),
    ],
)
def test_how_members_are_spread(members: int, devices: int, said: str) -> None:
    assert describe_members_per_device(members, devices) == said


def test_larger_images_take_as_much_longer_as_they_have_more_pixels() -> None:
    small, large = PastRun(2, 8000.0, "here"), PastRun(2, 100.0, "here", work=4 * HOWTO_FLOPS)

    def seconds(past: list[PastRun], work: float) -> float:
        found = estimate_training_time(CONFIG, 1050, past=past, work=work, **HERE)  # type: ignore[arg-type]
        return found.seconds - STARTUP_SECONDS

    assert seconds([small], 4 * HOWTO_FLOPS) == pytest.approx(40_000 / 2000)
    assert seconds([small, large], 4 * HOWTO_FLOPS) == pytest.approx(40_000 / 100), "one like it counts"
    other = PastRun(2, 8000.0, "here", network=("resnet", 0))
    assert seconds([other], HOWTO_FLOPS) == seconds([], HOWTO_FLOPS), "another network tells nothing of this one"
    assert seconds([], 4 * HOWTO_FLOPS) == pytest.approx(4 * seconds([], HOWTO_FLOPS))


def test_with_nothing_to_go_by_a_network_takes_as_long_as_its_operations() -> None:
    """Each within a factor of three of what was measured once, images a second of one core."""
    measured = {"cnn": 2_600, "mlp": 46_000, "logistic": 270_000, "lenet5": 4_600, "resnet": 163}
    for network, rate in measured.items():
        cost = cost_of(network, (28, 28, 1), 10)
        assert cost is not None
        config = EnsembleConfig(network=network, members=4, epochs=10, batch_size=100)
        found = estimate_training_time(config, 1050, past=[], work=cost.flops, **HERE)  # type: ignore[arg-type]
        seconds = found.seconds - STARTUP_SECONDS
        assert 40_000 / (2 * rate) / 3 < seconds < 40_000 / (2 * rate) * 3, network


@pytest.mark.parametrize(
    ("chosen", "measured"),
    [
        ({"members": 1}, 439e6),
        ({"members": 16}, 864e6),
        ({"members": 2, "batch_size": 1024}, 611e6),
        ({"members": 2, "width": 128}, 1262e6),
        ({"members": 8, "network": "mlp", "width": 1024}, 1375e6),
        ({"members": 32, "network": "mlp", "width": 1024}, 4135e6),
        ({"members": 2, "network": "lenet5", "width": 48, "batch_size": 1024}, 2276e6),
        ({"members": 1, "network": "resnet"}, 776e6),
        ({"members": 2, "network": "resnet", "batch_size": 512}, 2610e6),
    ],
)
def test_memory_is_within_a_quarter_of_what_was_measured(chosen: dict[str, Any], measured: float) -> None:
    config = EnsembleConfig(**chosen)
    cost = cost_of(config.network, (28, 28, 1), 10, config.width)
    assert cost is not None
    assert estimate_memory_bytes(config, cost, 1_797 * 785, 2) == pytest.approx(measured, rel=0.25)


@pytest.mark.parametrize(
    ("members", "devices", "parts", "wanted"),
    [(1, 2, 2, 2), (1, 2, 1, 1), (3, 8, 4, 2), (2, 8, 3, 3), (4, 2, 16, 1), (1, 8, 6, 6)],
)
def test_devices_share_a_member_where_they_would_be_idle(members, devices, parts, wanted):
    assert count_devices_per_member(members, devices, parts) == wanted
    said = describe_members_per_device(members, devices, parts)
    assert (f"shared by {wanted} devices" in said) == (wanted > 1)


def test_each_device_that_shares_a_member_holds_its_own_copy_of_the_state() -> None:
    cost = NetworkCost(parameters=0, flops=0, running_statistics=1000, outputs=0)
    alone, shared = (
        estimate_memory_bytes(EnsembleConfig(members=1, batch_parts=4), cost, 0, devices) for devices in (1, 4)
    )
    assert shared - alone == pytest.approx(3 * 4 * 1000)
