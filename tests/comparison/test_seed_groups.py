"""Two runs as draws of their settings: which other seeds there are, and what they show."""

import re
from dataclasses import replace

import pytest

from ensemble import runs
from ensemble.comparison.differences import compute_group_difference
from ensemble.comparison.run_measures import measure_run
from ensemble.comparison.seed_groups import compare_seed_groups, estimate_seed_variance, find_seed_runs
from ensemble.jobs.status import write_status
from ensemble.views import run_comparison
from tests.comparison.drawn import finished, imported


def trained(seed: int, momentum: float, skill: float, **settings: object) -> runs.Run:
    return finished({"seed": seed, "momentum": momentum, **settings}, skill=skill, draw=int(100 * momentum + seed))


def claims(ours: runs.Run, other: runs.Run) -> tuple[str, str]:
    """The headline and what it says of seeds."""
    from ensemble.analysis.members.gain import paired_gain

    first, second = measure_run(ours), measure_run(other)
    gain = paired_gain(first.right, second.right, second.nll - first.nll)
    seeds = compare_seed_groups(ours, other, runs.list_runs())
    return (
        run_comparison.describe_run_comparison(gain, "it", "digit", seeds),
        run_comparison.describe_seed_evidence(seeds, "digit").replace("\N{NO-BREAK SPACE}", " "),
    )


def test_other_seeds_are_finished_runs_of_the_same_settings_one_a_seed() -> None:
    run = trained(0, 0.5, 2.0)
    same = [trained(seed, 0.5, 2.0) for seed in (1, 2)]
    trained(1, 0.5, 2.0)  # again
    trained(3, 0.6, 2.0)
    trained(4, 0.5, 2.0, members=3)
    stopped = trained(5, 0.5, 2.0)
    write_status(stopped.path, replace(stopped.status, state="stopped"))
    found = find_seed_runs(run, runs.list_runs())
    assert found[0] == run
    assert sorted(one.config.seed for one in found) == [0, 1, 2]
    assert {one.config.seed for one in found} == {0, *(one.config.seed for one in same)}
    alone = imported()
    assert find_seed_runs(alone, runs.list_runs()) == [alone]


def test_of_one_run_each_it_is_said_that_seeds_may_order_them_differently() -> None:
    said, evidence = claims(trained(0, 0.5, 4.0), trained(0, 0.6, 2.0))
    assert said.startswith("Of these two, this run gets ")
    assert evidence == (
        "This is about these two trained runs: other seeds of the same settings may order them differently."
    )


def test_with_one_run_each_the_effect_of_other_seeds_is_estimated_from_members() -> None:
    ours, theirs = (
        trained(0, momentum, skill, members=4, shuffle_per_member=True) for momentum, skill in ((0.5, 4.0), (0.6, 2.0))
    )
    evidence = claims(ours, theirs)[1]
    assert evidence.startswith("Other seeds, told from how members differ: accuracy p ")
    assert evidence.endswith(" (jackknife over members).")


def test_runs_that_differ_in_the_seed_alone_are_said_to() -> None:
    said, evidence = claims(trained(0, 0.5, 4.0), trained(1, 0.5, 2.0))
    assert said.startswith("Same settings, another seed: this run gets ")
    assert evidence == ("Only the seed differs, so neither setting is better: one start happened to do better.")


def test_several_seeds_of_each_speak_of_the_settings() -> None:
    ours = [trained(seed, 0.5, 4.0) for seed in range(3)]
    theirs = [trained(seed, 0.6, 2.0) for seed in range(3)]
    said, evidence = claims(ours[0], theirs[0])
    assert said.startswith("These settings get ")
    assert said.endswith(" more digits right than those of it.")
    assert evidence.startswith("Over 3 and 3 seeds: +")
    seeds = compare_seed_groups(ours[0], theirs[0], runs.list_runs())
    expected = compute_group_difference(
        *(tuple(measure_run(run) for run in seeds_of) for seeds_of in (seeds.runs, seeds.other_runs))
    )
    assert seeds.difference is not None
    assert seeds.difference.p == expected.p
    assert seeds.is_nll_variance_from_runs


def test_the_intervals_over_seeds_have_the_signs_and_the_order_of_their_values() -> None:
    """Fewer digits and a higher NLL than the other settings: NLL saved is told as NLL added."""
    ours = [trained(seed, 0.5, 2.0) for seed in range(3)]
    theirs = [trained(seed, 0.6, 2.6) for seed in range(4)]
    for first, second, worse in ((ours, theirs, True), (theirs, ours, False)):
        seeds = compare_seed_groups(first[0], second[0], runs.list_runs())
        text = run_comparison.describe_seed_evidence(seeds, "digit")
        text = text.replace("\N{NO-BREAK SPACE}", " ").replace(",", "").replace("\N{MINUS SIGN}", "-")
        counts = re.match(r"Over (\d) and (\d) seeds: (\S+) digits? \((\S+) to (\S+)\)", text)
        nlls = re.search(r"NLL (\S+) \((\S+) to (\S+)\)", text)
        assert counts
        assert nlls
        found = seeds.difference
        assert found is not None
        assert [int(number) for number in counts.groups()[:2]] == [len(first), len(second)]
        digits, low, high = map(float, counts.groups()[2:])
        assert [digits, low, high] == pytest.approx([found.digits, found.digits_low, found.digits_high], abs=0.51)
        assert (digits < 0) is worse
        added, low, high = map(float, nlls.groups())
        assert [added, low, high] == pytest.approx([-found.nll, -found.nll_high, -found.nll_low], abs=0.0051)
        assert low < added < high
        assert (added > 0) is worse


def test_seeds_that_show_no_difference_leave_the_claim_to_the_two_runs() -> None:
    ours = [trained(seed, 0.5, skill) for seed, skill in enumerate((4.0, 2.0, 3.0))]
    theirs = [trained(seed, 0.6, skill) for seed, skill in enumerate((2.0, 3.0, 4.0))]
    said, evidence = claims(ours[0], theirs[0])
    assert said.startswith("Of these two, this run gets ")
    assert evidence.startswith("Over 3 and 3 seeds: ")


@pytest.mark.parametrize(("own_order", "about"), [(True, "about"), (False, "at most about")])
def test_the_chance_of_more_seeds_is_told_from_members(own_order: bool, about: str) -> None:
    ours, theirs = (
        trained(0, momentum, skill, members=4, shuffle_per_member=own_order)
        for momentum, skill in ((0.5, 1.1), (0.6, 1.0))
    )
    seeds = compare_seed_groups(ours, theirs, runs.list_runs())
    assert not seeds.is_nll_variance_from_runs
    chances = [seeds.compute_power(count) for count in (2, 3, 5)]
    assert [chance for chance in chances if chance is not None] == sorted(chance or -1.0 for chance in chances)
    said = run_comparison.describe_seed_power(seeds, (3, 5))
    assert said.startswith(f"If their NLLs differ as much as here, 3 seeds of each would show it in {about} ")
    assert said.endswith(" % of cases.")


def test_the_chance_is_at_most_that_when_the_members_of_one_run_share_their_order() -> None:
    ours, theirs = trained(0, 0.5, 1.1, members=4, shuffle_per_member=True), trained(0, 0.6, 1.0, members=4)
    said = run_comparison.describe_seed_power(compare_seed_groups(ours, theirs, runs.list_runs()), (3, 5))
    assert "3 seeds of each would show it in at most about " in said


def test_seeds_vary_by_nothing_known_when_the_epoch_of_one_was_chosen_on_validation() -> None:
    first, *others = (trained(seed, 0.5, 2.0, validation=0.1) for seed in range(3))
    assert estimate_seed_variance(first, runs.list_runs()) is not None
    for run in others[:1]:
        write_status(run.path, replace(run.status, best_on="validation", best_epoch=1))
    assert estimate_seed_variance(first, runs.list_runs()) is None


def test_of_single_members_no_chance_is_made_up() -> None:
    ours, theirs = (trained(0, momentum, 2.0, members=1) for momentum in (0.5, 0.6))
    seeds = compare_seed_groups(ours, theirs, runs.list_runs())
    assert run_comparison.describe_seed_power(seeds, (3, 5)) == ""
