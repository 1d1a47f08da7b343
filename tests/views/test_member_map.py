"""The map of the members as people meet it: planted truth is said on every face."""

import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

import ensemble
from ensemble import runs
from ensemble.analysis.positions.member_groups import RatioEstimate
from ensemble.analysis.positions.member_map import locate_members
from ensemble.cli.program import main
from ensemble.config import EnsembleConfig
from ensemble.figures.palette import DARK
from ensemble.jobs.status import write_status
from ensemble.runs.history import write_predictions
from ensemble.views.evaluated_epoch import evaluate_epoch
from ensemble.views.registry import VIEWS
from ensemble.views.summary import ViewSummary, summarize_view
from ensemble.wording import member_map as member_map_words
from tests.analysis.positions.drawn_members import change_answers
from tests.comparison.drawn import labels
from tests.pages.predictions_screen import opened


def probabilities(answers: NDArray[np.int64]) -> NDArray[np.float32]:
    """(..., C): 0.91 for the answer and 0.01 for each other class."""
    return np.where(np.arange(10) == answers[..., None], 0.91, 0.01).astype(np.float32)


def say(run: runs.Run, **words: str) -> ViewSummary:
    return summarize_view(VIEWS["member_map"], evaluate_epoch(run), words)


def cyclic(own: float, away: float, snapshots: int = 3) -> runs.Run:
    """A run of snapshots: each member changes some of its answers from cycle to cycle."""
    config = EnsembleConfig(members=3, epochs=snapshots, schedule="cyclic", cycles=snapshots)
    run = runs.create_run(config)
    starts = [change_answers(labels(), away, seed) for seed in range(3)]
    for epoch in range(1, snapshots + 1):
        drawn = [change_answers(one, own, 10 * epoch + m) for m, one in enumerate(starts)]
        write_predictions(run.path, epoch, probabilities(np.stack(drawn)))
    write_status(run.path, replace(run.status, state="finished", epoch=snapshots))
    return runs.find_run(run.id)


def test_two_planted_groups_are_named() -> None:
    truth = np.random.default_rng(0).integers(10, size=1000)
    centres = [change_answers(truth, 0.2, seed) for seed in (1, 2)]
    votes = np.stack([change_answers(centres[m // 2], 0.03, 10 + m) for m in range(4)])
    run = runs.find_run(ensemble.import_predictions(probabilities(votes), truth).id)
    found = say(run)
    assert found.answer == "The members stand in 2 groups: 1 and 2; 3 and 4."
    assert list(found.choices["figure"].values) == ["ends", "plane"]
    assert "shown on the other" in " ".join(found.evidence)
    assert "The picture misleads" not in " ".join(found.evidence)
    assert ensemble.open_run(run.id).view("member_map").answer == found.answer
    [figure] = found.figures
    data = figure.table()
    points = data[["x", "y"]].to_numpy()
    near, far = np.linalg.norm(points[0] - points[1]), np.linalg.norm(points[0] - points[2])
    assert far > 2 * near
    assert list(found.tables[0].frame["group"]) == ["1", "1", "2", "2"]
    many = np.stack([change_answers(centres[m % 2], 0.03, 10 + m) for m in range(20)])
    crowd = say(runs.find_run(ensemble.import_predictions(probabilities(many), truth).id))
    assert crowd.answer == "The members stand in 2 groups, of 10 and 10."
    loner = np.stack([*votes[:2], change_answers(truth, 0.6, 5)])
    alone = say(runs.find_run(ensemble.import_predictions(probabilities(loner), truth).id))
    assert alone.answer == "Member 3 stands apart from the other 2."


def test_a_pair_shows_the_images_on_which_it_differs() -> None:
    run = cyclic(0.02, 0.2)
    epoch = evaluate_epoch(run)
    votes = epoch.predictions.votes
    done = CliRunner().invoke(main, ["inspect", run.id, "member_map", "--choose", "pair=3-1", "--json"])
    assert done.exit_code == 0, done.output
    [images] = json.loads(done.stdout)["images"]
    assert sorted(images["numbers"]) == np.flatnonzero(votes[2] != votes[0]).tolist()
    right = [int(((votes[0] != votes[2]) & (votes[m] == labels())).sum()) for m in (0, 2)]
    count = len(images["numbers"])
    assert images["caption"] == (
        f"Members 1 and 3 answer {count} digits differently: {right[0]} member 1 has right, "
        f"{right[1]} member 3, {count - sum(right)} neither."
    )
    # A member that is pressed takes the place of the one chosen first.
    [figure] = say(run, pair="1-3").figures
    assert figure.format_point_word
    assert [figure.format_point_word([m]) for m in range(3)] == ["3-1", "3-2", "1-3"]
    line = figure.draw(DARK).data[0]
    for first, middle, second in (line.x, line.y):
        assert middle == pytest.approx((first + second) / 2)
    # What names no pair is refused by the command, and left by a page.
    for word in ("1-1", "0-2", "1-4", "1", "a-b"):
        done = CliRunner().invoke(main, ["inspect", run.id, "member_map", "--choose", f"pair={word}"])
        assert done.exit_code != 0
        assert "pair" in done.output
    assert not opened(run, "inspect", view="member_map", pair="1-1").exception


def test_snapshots_are_said_to_lie_together_where_they_do() -> None:
    found = say(cyclic(0.02, 0.2))
    assert found.answer.startswith("Snapshots of one member differ on ")
    assert "Snapshots of epochs 1, 2 and 3: " in " ".join(found.evidence)
    assert "Diamonds are snapshots" in found.figures[0].explanation
    # Members that share most of what they say: from cycle to cycle they move as far as they part.
    apart = say(cyclic(0.1, 0.0))
    assert apart.answer.startswith("Two members differ on ")
    assert "since epoch 1 each has changed" in apart.answer


def test_a_plane_that_cannot_hold_the_distances_is_said_to_mislead() -> None:
    found = say(cyclic(0.1, 0.1))
    assert "The picture misleads" in " ".join(found.evidence)
    three = say(cyclic(0.1, 0.1), figure="ends")  # three points lie in a plane
    assert "it is excellent (stress 0)" in " ".join(three.evidence)
    plane = say(cyclic(0.1, 0.1), figure="plane")
    assert "stress" not in " ".join(plane.evidence)


def test_every_picture_is_drawn_of_odd_members_too() -> None:
    truth = np.random.default_rng(0).integers(10, size=60)
    perfect = np.stack([truth, truth])
    several = np.stack([change_answers(truth, 0.3, m) for m in range(12)])
    for votes, answer in (
        (perfect, "The 2 members answer every example alike: they are one point."),
        (several, "Two members differ on "),
    ):
        run = runs.find_run(ensemble.import_predictions(probabilities(votes), truth).id)
        for figure in ("ends", "plane"):
            found = say(run, figure=figure)
            assert found.answer.startswith(answer)
            drawn = found.figures[0].draw(DARK)
            named = [trace.name for trace in drawn.data if str(trace.name).startswith("member")]
            assert len(named) == len(votes)
    one = runs.find_run(ensemble.import_predictions(probabilities(perfect[:1]), truth).id)
    assert not say(one).available


def test_a_member_that_diverged_is_left_out_of_the_whole_way() -> None:
    run = runs.create_run(EnsembleConfig(members=3, epochs=2))
    votes = np.stack([change_answers(labels(), 0.1, m) for m in range(3)])
    later = probabilities(np.stack([change_answers(one, 0.05, 9) for one in votes]))
    later[0] = np.nan
    write_predictions(run.path, 1, probabilities(votes))
    write_predictions(run.path, 2, later)
    aside = {0: 15}
    write_status(run.path, replace(run.status, state="finished", epoch=2, epochs=2, steps=20, set_aside=aside))
    found = evaluate_epoch(runs.find_run(run.id)).locate_members()
    assert found.epochs == (1, 2)
    assert found.members == 2
    np.testing.assert_array_equal(found.accuracy[0], (votes[1:] == labels()).mean(axis=1))


def test_an_epoch_that_is_damaged_is_left_out() -> None:
    run = cyclic(0.02, 0.2)
    path = run.path / "predictions" / "epoch-0002.npz"
    path.write_bytes(path.read_bytes()[:100])
    assert evaluate_epoch(run).locate_members().epochs == (1, 3)


def test_a_ratio_is_reported_with_its_lower_end_first() -> None:
    assert member_map_words.format_ratio(RatioEstimate(1.7, 1.2, 3.1)) == "1.7 times as many (1.2 to 3.1)"


@pytest.mark.parametrize(("members", "shortened"), [(7, False), (8, True)])
def test_hovering_lists_all_of_six_other_members_and_the_nearest_and_farthest_of_more(
    members: int, shortened: bool
) -> None:
    votes = np.stack([change_answers(labels(), 0.1, m) for m in range(members)])
    found = locate_members(votes[None], labels(), (1,))
    lines = member_map_words.describe_point(found, 0, 0, len(labels()), "digit")
    assert len([line for line in lines if "differs from member" in line]) == 6
    assert ("the nearest and farthest of 7 others" in lines) == shortened
    assert len(lines) == 7 + shortened
