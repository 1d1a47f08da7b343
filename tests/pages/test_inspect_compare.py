"""Inspect's view Compare: this run against others on the same images."""

from urllib.parse import parse_qs

import numpy as np

from ensemble.analysis.members.gain import mcnemar_p_value
from tests.pages.ensembles import evaluated, trained
from tests.pages.predictions_screen import opened, tiles, value, view_answer, widget
from tests.pages.stressed import said


def test_two_runs_are_compared_digit_by_digit() -> None:
    other = trained(members=2, epochs=1, sure=7.0, name="the other")
    run = trained(sure=10.0)
    at = opened(run, "inspect", view="compare")
    ours, theirs = evaluated(3, sure=10.0), evaluated(2, epoch=1, sure=7.0)
    won = np.flatnonzero(ours.right & ~theirs.right)
    lost = np.flatnonzero(theirs.right & ~ours.right)
    assert mcnemar_p_value(len(won), len(lost)) < 0.001
    more = len(won) - len(lost)
    assert view_answer(at) == f"Of these two, this run gets {more} more digits right than the other."
    assert (f"{len(won)} right only in this run, {len(lost)} only in the other, p\xa0<\xa00.001") in said(at)
    assert value(at, "with") == other.id
    [link] = [one.proto for one in at.get("page_link") if one.proto.page == "compare"]
    assert parse_qs(link.query_string) == {"runs": [f"{run.id},{other.id}"]}
    surest = sorted(won, key=lambda n: -ours.confidence[n])
    assert [tile["number"] for tile in tiles(at)] == surest[:36]
    assert len(at.get("plotly_chart")) == 1
    assert any("CSV" in one.label for one in at.get("download_button"))
    widget(at, "button_group", "address_side").set_value("lost").run()
    shown = {tile["number"]: tile["votes"][0][0] for tile in tiles(at)}
    assert list(shown) == sorted(lost, key=lambda n: -ours.confidence[n])[:36]
    assert all(said == f"other {theirs.labels[number]}" for number, said in shown.items())
    widget(at, "button_group", "address_side").set_value("settings").run()
    frame = next(one.value for one in at.dataframe if "setting" in one.value)
    assert frame.to_dict("records") == [
        {"setting": "Members", "this run": "3", "the other": "2"},
        {"setting": "Epochs", "this run": "2", "the other": "1"},
    ]


def test_the_other_runs_epoch_is_chosen_in_the_address() -> None:
    other = trained(members=2, epochs=3, sure=3.0)
    at = opened(trained(sure=3.0), "inspect", view="compare", with_epoch=1, **{"with": other.id})

    def stands(epoch: int) -> None:
        ours, theirs = evaluated(3, sure=3.0), evaluated(2, epoch=epoch, sure=3.0)
        assert f"{int((ours.right & ~theirs.right).sum())} right only in this run" in said(at)
        assert value(at, "with_epoch") == str(epoch)

    stands(1)
    widget(at, "select_slider", "compare_epoch").set_value(2).run()
    stands(2)


def test_all_runs_are_compared_at_once_when_asked_for() -> None:
    trained(members=2, epochs=1, sure=7.0, name="the worse")
    broken = trained(epochs=1, sure=3.0)
    (broken.path / "predictions" / "epoch-0001.npz").write_bytes(b"PK\x03\x04 no archive")
    again = trained(sure=10.0, name="the twin")
    at = opened(trained(sure=10.0), "inspect", view="compare", side="all", **{"with": again.id})
    frame = next(one.value for one in at.dataframe if "against" in one.value)
    assert frame["against"].tolist() == ["the twin", "the worse"]
    assert frame["this run"].tolist() == ["not shown", "better: more right"]
    assert "adjusted for all 4 tests" in said(at)
    assert "predictions of 1 run cannot be read" in said(at)
    assert "With 3 runs to compare with" in said(at)


def test_a_link_to_the_run_itself_gives_way_to_another() -> None:
    other = trained(epochs=1, members=2, sure=60.0)
    run = trained(epochs=1, members=1, sure=60.0)
    at = opened(run, "inspect", view="compare", **{"with": run.id})
    assert "That is this same run" in said(at)
    assert value(at, "with") == other.id
    assert view_answer(at) == "Both get the same digits right."
    assert not at.error


def test_with_nothing_to_compare_with_one_sentence_says_so() -> None:
    run = trained()
    trained(done=0, epochs=1, state="stopped")  # has no predictions
    at = opened(run, "inspect", view="compare", **{"with": run.id})
    assert "There is no other run on Digits with predictions" in said(at)
    assert not at.get("plotly_chart")


def test_another_run_whose_predictions_are_damaged_is_said_in_a_sentence() -> None:
    other = trained(epochs=1)
    (other.path / "predictions" / "epoch-0001.npz").write_bytes(b"PK\x03\x04 no archive")
    at = opened(trained(), "inspect", view="compare")
    assert "are damaged" in at.error[0].value
    assert widget(at, "selectbox", "compare_with").value == other.id
