"""Members that the devices do not divide: two devices take turns at one, and no bit changes."""

import jax
import numpy as np
import pytest

from ensemble.engine import Trainer
from ensemble.engine.forms.looped_execution import LoopedExecution
from ensemble.engine.forms.split_member_layout import SplitMemberLayout
from ensemble.engine.forms.split_member_schedule import SplitMemberSchedule, build_schedule_segments
from ensemble.engine.layout import Layout
from tests.conftest import variant
from tests.engine.conftest import devices, small_config

SIZES = [(3, 2), (5, 2), (7, 2), (5, 3), (7, 3), (5, 4), (9, 8), (10, 8), (13, 8), (27, 8)]


def shared(members: int, count: int) -> SplitMemberLayout:
    layout = SplitMemberLayout.from_layout(Layout.over_devices(members, devices(count)))
    assert isinstance(layout, SplitMemberLayout)
    return layout


def turns_of(layout: SplitMemberLayout, steps: int) -> list[list[tuple[int, int, int, int]]]:
    """(member, device, first step, steps) of each part."""
    found = []
    for part in build_schedule_segments(layout, steps):
        lanes = np.argwhere(part.counts).tolist()
        found.append(
            [(int(layout.lane_members[d, k]), d, int(part.starts[d, k]), int(part.counts[d, k])) for d, k in lanes]
        )
    return found


@pytest.mark.parametrize(("members", "count"), SIZES)
@pytest.mark.parametrize("steps", [1, 2, 3, 7, 24])
def test_each_step_of_each_member_is_done_once_and_in_order(members, count, steps):
    done = [0] * members
    for part in turns_of(shared(members, count), steps):
        assert len({member for member, *_ in part}) == len(part), "a member in two places"
        for member, _, first, number in part:
            assert first == done[member]
            done[member] += number
    assert done == [steps] * members


@pytest.mark.parametrize(("members", "count"), SIZES)
def test_all_devices_have_the_same_to_do_between_two_waits(members, count):
    """M / D of one member's steps for each device, and one more for each cut."""
    steps = 24
    cut = turns_of(shared(members, count), steps)
    longest = 0
    for part in cut:
        each = np.zeros(count, int)
        for _, device, _, number in part:
            each[device] += number
        longest += each.max()
    assert longest <= steps * members / count + len(cut)
    assert longest < steps * -(-members // count), "no less than unshared"
    if count == 2:
        assert len(cut) == 2
    if count == 2:
        assert len(cut) == 2


@pytest.mark.parametrize(("members", "count"), SIZES)
def test_shared_members_come_back_as_they_were_laid_out(members, count):
    layout = shared(members, count)
    assert layout.occupied_lanes.sum() == members
    assert layout.occupied_lanes.any(axis=1).all(), "a device without a member"
    tree = np.arange(members * 6, dtype=np.float32).reshape(members, 2, 3)
    there = layout.spread(tree)
    np.testing.assert_array_equal(layout.gather(there), tree)
    for device, guest in enumerate(layout.continued_members):
        if guest >= 0:
            assert layout.first_devices[guest] == device - 1
            assert not layout.occupied_lanes[device, -1]
            np.testing.assert_array_equal(np.asarray(there)[device, -1], tree[guest])


def test_what_a_guest_has_learnt_is_at_its_home_too():
    layout = shared(5, 3)
    sharing = SplitMemberSchedule(layout)
    state = np.asarray(layout.spread(np.zeros((5, 2), np.float32))).copy()
    for device, guest in enumerate(layout.continued_members):
        if guest >= 0:
            state[device, -1] = guest
    home = layout.gather(sharing.return_to_first_devices(layout.put_shards(state)))
    np.testing.assert_array_equal(home[layout.continued_members[layout.continued_members >= 0]], [[1, 1], [3, 3]])
    np.testing.assert_array_equal(home[[0, 2, 4]], 0)


@pytest.mark.parametrize(("members", "count"), [(4, 2), (2, 2), (1, 2), (2, 8), (3, 1)])
def test_members_that_divide_or_are_fewer_than_devices_are_not_shared(members, count):
    plain = Layout.over_devices(members, devices(count))
    assert SplitMemberLayout.from_layout(plain) is plain


@pytest.mark.parametrize(
    ("network", "members", "count", "own"),
    [("logistic", 3, 2, True), variant("cnn", 3, 2, False), variant("logistic", 5, 3, False)],
)
def test_sharing_changes_no_bit_of_members_figures_or_predictions(few, network, members, count, own):
    config = small_config(members=members, network=network, shuffle_per_member=own)
    trainer = Trainer(config, few, devices(count))
    with_turns = everything(trainer)
    form = trainer._execution
    assert isinstance(form, LoopedExecution)
    assert isinstance(form._layout, SplitMemberLayout)
    trainer._execution = LoopedExecution(form._work, share=False)
    trainer._test = trainer._execution.load_evaluation_data(few.test_images, few.test_labels)
    trainer._epoch.cache_clear()
    without = everything(trainer)
    for name, found in with_turns.items():
        np.testing.assert_array_equal(found, without[name], err_msg=name)


def everything(trainer: Trainer) -> dict[str, object]:
    """All that a run reports, of an epoch in calls of 1, 2 and 3 steps, put back between two."""
    found: dict[str, object] = {}
    state = trainer.start()
    for start, count in ((0, 1), (1, 2), (3, 3)):
        state, figures = trainer.train(state, 1, start, count)
        found |= {f"{name} from {start}": value for name, value in vars(figures).items()}
        state = trainer.put(trainer.get(state)) if start == 1 else state
    leaves = jax.tree.leaves(trainer.get(state))
    assert all(np.isfinite(leaf).all() for leaf in leaves)
    return found | vars(trainer.evaluate(state)) | {f"leaf {n}": x for n, x in enumerate(leaves)}
