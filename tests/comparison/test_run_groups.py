"""Which runs repeat each other, and what tells the others apart."""

import pytest

from ensemble import runs
from ensemble.comparison.run_groups import group_runs
from ensemble.config import EnsembleConfig
from ensemble.errors import ConfigError
from tests.comparison.drawn import imported


def run(**settings):
    return runs.create_run(EnsembleConfig(**{"members": 2, "epochs": 1, **settings}))


def ids(groups):
    return [[one.id for one in group.runs] for group in groups]


def test_runs_that_differ_in_the_seed_alone_are_one_and_the_title_says_what_parts_the_others():
    low = [run(learning_rate=0.01, seed=seed) for seed in (0, 1)]
    high, many = run(learning_rate=0.1), run(learning_rate=0.1, members=4)
    groups = group_runs([many, high, *low])
    assert ids(groups) == [[one.id for one in low], [high.id], [many.id]]
    assert [group.title for group in groups] == [
        "rate 0.01 · 2 members",
        "rate 0.1 · 2 members",
        "rate 0.1 · 4 members",
    ]


def test_where_a_run_was_trained_parts_nothing_but_the_precision_does():
    here, there = run(members=4), run(members=4, devices=2, groups=2, seed=1)
    half = run(members=4, precision="bfloat16")
    assert ids(group_runs([here, there, half])) == [[half.id], [here.id, there.id]]
    assert len(group_runs([here, there, half], ["devices"])) == 2


def test_groups_by_a_setting_hold_runs_that_differ_in_all_others_but_the_dataset():
    made = [run(members=m, momentum=k) for m in (2, 3) for k in (0.5, 0.9)]
    groups = group_runs(made, ["momentum"])
    assert [group.title for group in groups] == ["momentum 0.5", "momentum 0.9"]
    assert ids(groups) == [[made[0].id, made[2].id], [made[1].id, made[3].id]]


def test_a_setting_of_each_member_is_told_by_its_values_however_it_was_written():
    text = run(vary="learning_rate=0.01..1:log", members=3)
    same = run(vary="learning_rate=0.01,0.1,1.0", members=3, seed=4)
    single, fixed = run(vary="learning_rate=0.1", members=3), run(learning_rate=0.1, members=3)
    groups = group_runs([text, same, single, fixed])
    assert sorted(map(len, ids(groups))) == [2, 2]
    assert {group.title for group in groups} == {"rate 0.01, 0.1, 1", "rate 0.1"}


def test_titles_of_values_that_are_close_still_differ():
    made = [run(learning_rate=rate) for rate in (0.10001, 0.10002)]
    assert [group.title for group in group_runs(made)] == ["rate 0.10001", "rate 0.10002"]


def test_what_was_imported_is_a_group_of_its_own_at_the_end_with_its_name():
    first, second, here = imported(name="theirs"), imported(name="theirs"), run()
    groups = group_runs([first, second, here])
    assert ids(groups) == [[here.id], [first.id], [second.id]]
    assert [group.title for group in groups] == ["Digits · rate 0.1 · 2 members", "theirs", "theirs (2)"]
    assert len(group_runs([first, second], ["members"])) == 2


def test_a_seed_that_was_run_twice_counts_once_and_a_run_given_twice_is_there_once():
    one, again, other = run(seed=0), run(seed=0), run(seed=1)
    (group,) = group_runs([one, again, other, one])
    assert [made.id for made in group.runs] == [one.id, again.id, other.id]
    assert [made.id for made in group.distinct_runs] == [one.id, other.id]


def test_a_key_stays_the_same_when_other_runs_come():
    one, other = run(), run(members=3)
    assert group_runs([one])[0].key == group_runs([other, one])[0].key


def test_a_setting_that_there_is_none_of_is_refused_with_those_there_are():
    with pytest.raises(ConfigError, match=r"no setting 'rate' to group by: .*learning_rate"):
        group_runs([run()], ["rate"])


def test_no_runs_are_no_groups():
    assert group_runs([]) == []
