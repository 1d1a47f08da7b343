"""In how many groups a machine trains members fastest."""

import pytest

from ensemble.config import EnsembleConfig
from ensemble.machine.group_count import choose_group_count, compute_best_group_count


@pytest.mark.parametrize(
    ("members", "cores", "seconds", "groups"),
    [
        (8, 2, 3600, 2),
        (64, 16, 3600, 16),
        (4, 2, 3600, 1),  # Two groups of two are no faster than one process.
        (64, 32, 3600, 1),
        (8, 2, 20, 1),  # Two starts cost more than two groups gain.
        (9, 2, 3600, 1),  # Five members and four: a core would wait for the other.
        (18, 4, 3600, 1),
        (4, 1, 3600, 1),
        (128, 64, 3600, 1),  # More than a run may have.
    ],
)
def test_groups_are_one_a_core_where_each_has_as_much_to_do_and_it_pays(members, cores, seconds, groups):
    assert compute_best_group_count(members, cores, seconds) == groups


def test_a_run_gets_as_many_groups_as_are_allowed_to_it(monkeypatch):
    long = EnsembleConfig(members=64, epochs=1000)
    groups = choose_group_count(long, 60_000)
    assert groups in (1, *range(2, 33))
    assert long.members >= 2 * groups
    assert choose_group_count(EnsembleConfig(members=64, epochs=1), 100) == 1
    assert choose_group_count(EnsembleConfig(members=64, epochs=1000, devices=1), 60_000) == 1
    monkeypatch.setenv("JAX_PLATFORMS", "cuda,cpu")
    assert choose_group_count(long, 60_000) == 1
