import pytest

from ensemble.config import EnsembleConfig
from ensemble.machine.estimate import (
    STARTUP_SECONDS,
    Estimate,
    Past,
    estimate,
    members_per_device,
    network_key,
)

CONFIG = EnsembleConfig(members=4, epochs=10, batch_size=100)
HERE = {"platform": "cpu", "devices": 2, "cores": 2, "host": "here"}


def guess(
    past: list[Past], config: EnsembleConfig = CONFIG, raced: float | None = None
) -> tuple[float, str]:
    found = estimate(config, 1050, past=past, raced=raced, **HERE)  # type: ignore[arg-type]
    return found.seconds - STARTUP_SECONDS, found.told_by


def test_goes_by_the_median_of_the_last_three_runs_on_as_many_devices_of_this_machine() -> None:
    past = [Past(2, 1000.0, "here"), Past(2, 4000.0, "here"), Past(2, 2000.0, "here")]
    older = [Past(2, 1.0, "here"), Past(1, 5.0, "here"), Past(2, 5.0, "elsewhere")]
    # 10 epochs of 10 whole batches of 100 images, for 4 members.
    assert guess(older[1:] + past + older) == (pytest.approx(40_000 / 2000), "runs")


def test_says_when_it_is_a_rough_guess() -> None:
    seconds, told_by = guess([Past(1, 5.0, "here")])
    assert told_by == "guess"
    assert 0 < seconds < 60


def test_a_batch_larger_than_the_data_is_still_a_step() -> None:
    big = EnsembleConfig(members=1, epochs=1, batch_size=2000)
    assert guess([Past(2, 1000.0, "here")], big)[0] == pytest.approx(2.0)


def test_a_race_tells_where_no_run_of_that_precision_does() -> None:
    half = EnsembleConfig(members=4, epochs=10, batch_size=100, precision="bfloat16")
    other = [Past(2, 1000.0, "here")]
    assert guess(other, half, 8000.0) == (pytest.approx(40_000 / 8000), "race")
    own = [*other, Past(2, 5000.0, "here", "bfloat16")]
    assert guess(own, half, 8000.0) == (pytest.approx(40_000 / 5000), "runs")


def test_another_network_is_another_speed_and_a_guess_goes_by_its_operations() -> None:
    wide = EnsembleConfig(members=4, epochs=10, batch_size=100, network="mlp", width=30)
    key = network_key(wide, (8, 8, 3))
    assert (key, network_key(CONFIG, (28, 28, 1))) == ("mlp 30 8×8×3", "cnn 28×28×1")
    past = [Past(2, 1000.0, "here"), Past(2, 500.0, "here", network=key)]

    def found(past: list[Past], flops: int) -> Estimate:
        return estimate(wide, 1050, past=past, raced=9.0, network=key, flops=flops, **HERE)  # type: ignore[arg-type]

    assert found(past, 1).seconds - STARTUP_SECONDS == pytest.approx(40_000 / 500)
    slow, fast = found(past[:1], 18_575_360), found(past[:1], 9_287_680)
    assert (slow.told_by, fast.told_by) == ("guess", "guess")
    assert slow.seconds - STARTUP_SECONDS == pytest.approx(2 * (fast.seconds - STARTUP_SECONDS))


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
    assert members_per_device(members, devices) == said
