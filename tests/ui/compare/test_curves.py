"""The headline of Compare's curves, by ends counted by hand."""

from ensemble.comparison.group_curves import compute_group_curves
from ensemble.comparison.run_groups import group_runs
from ensemble.figures.comparison.curves import describe_best_group
from tests.comparison.drawn import finished
from tests.pages.ensembles import trained


def test_the_headline_names_who_ends_best_and_says_so_far_while_runs_go_on() -> None:
    weak = finished({"learning_rate": 0.01}, skill=1.0, draw=1)
    strong = finished({"learning_rate": 0.1}, skill=3.0, draw=2)
    each = compute_group_curves(group_runs([weak, strong]))
    low, high = sorted(one.mean[-1] for one in each)
    said = f"test loss, {low:.3f}; next rate 0.01, {high:#.3g}."
    assert describe_best_group(each, "loss", "test") == (f"Rate 0.1 ends at the lowest {said}", "")
    assert describe_best_group(each, "loss", "test", going=True) == (f"So far rate 0.1 has the lowest {said}", "")
    far = describe_best_group(each, "loss", "validation" * 9, going=True)
    assert far[0].startswith("So far the lowest")
    assert far[1] == "Lowest: rate 0.1. Next: rate 0.01."


def test_a_headline_is_there_before_the_second_group_has_its_first_epoch() -> None:
    ended = finished({"learning_rate": 0.01})
    begun = trained(done=0, state="training", working=True)
    each = compute_group_curves(group_runs([ended, begun]))
    assert describe_best_group(each, "loss", "test", going=True)[0] == "So far one of 2 groups has a test loss."
    assert describe_best_group(each, "loss", "test") == ("", "")
