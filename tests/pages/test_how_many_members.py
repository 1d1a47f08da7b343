"""Inspect's view How many members?: its choices are in the address, and the answer follows them."""

from typing import Any

from ensemble import datasets
from ensemble.analysis.members.committees import evaluate_committees
from ensemble.analysis.members.sufficient_size import find_sufficient_size
from ensemble.runs.epoch_files import locate_epoch_file
from ensemble.views import how_many_members as words
from tests.pages.ensembles import probabilities, trained
from tests.pages.predictions_screen import opened, value, view_answer, widget
from tests.pages.stressed import figure, said


def test_figure_margin_and_share_are_chosen_in_the_address_and_answered_on_top_too() -> None:
    at = opened(trained(members=4, sure=7.0), "inspect", view="members")
    labels = datasets.load_dataset("digits").test_labels
    judged = evaluate_committees(probabilities("digits", 4, 2, 7.0), labels)

    def stands(name: str, margin: float | None = None, share: float = 0.95) -> None:
        found = find_sufficient_size(judged, name, margin, share)
        assert view_answer(at) == words.describe_enough_members(found, "digit")
        assert words.describe_enough_evidence(found, "digit") in said(at)
        assert any("enough" in one["text"] for one in notes(at)) == (found.size < 4)
        on_top = words.describe_enough_members(find_sufficient_size(judged, "accuracy", *of_accuracy), "digit")
        assert on_top in [one.value for one in at.markdown]

    of_accuracy: tuple[float | None, float] = (None, 0.95)
    stands("accuracy")
    widget(at, "select_slider", "committee_margin_accuracy").set_value("5").run()
    widget(at, "select_slider", "committee_share").set_value("50").run()
    assert (value(at, "margin"), value(at, "keep")) == ("5", "50")
    of_accuracy = (0.05, 0.5)
    assert find_sufficient_size(judged, "accuracy", *of_accuracy).size < 4
    stands("accuracy", *of_accuracy)
    assert figure(at, "committee")["layout"]["yaxis"]["title"]["text"] == "accuracy"
    widget(at, "button_group", "address_figure").set_value("nll").run()
    assert value(at, "figure") == "nll"
    assert figure(at, "committee")["layout"]["yaxis"]["title"]["text"] == "NLL (nats)"
    stands("nll", None, 0.5)
    assert value(at, "margin") == "5", "each figure has its own"
    widget(at, "button_group", "address_figure").set_value("ece").run()
    assert "not judged by ECE" in view_answer(at)
    assert "no margin of it can be tested" in said(at)
    assert not any("enough" in one["text"] for one in notes(at))
    assert not at.exception


def notes(at: Any) -> list[dict[str, Any]]:
    return figure(at, "committee")["layout"].get("annotations", [])


def test_addresses_before_1_1_open_the_view() -> None:
    run = trained(members=3)
    expected = view_answer(opened(run, "inspect", view="members"))
    assert view_answer(opened(run, "inspect", view="committee")) == expected
    assert view_answer(opened(run, "compare", runs=run.id, view="plan")) == expected


def test_every_alternative_is_shown_when_it_is_chosen() -> None:
    at = opened(trained(members=3), "inspect", view="members")
    for word, sentence in (
        ("wider", "No single network of the same cost"),
        ("cheaper", "Each costs the training of one member"),
        ("members", "What each member is worth"),
        ("epochs", "Best on the test images"),
    ):
        widget(at, "button_group", "address_alternative").set_value(word).run()
        assert not at.exception
        assert sentence in said(at) + " ".join(one.value for one in at.markdown), word


def test_a_run_without_its_first_epochs_offers_only_costs_that_pay_for_a_plan() -> None:
    run = trained(members=2, epochs=6)
    for epoch in (1, 2, 3, 4):
        locate_epoch_file(run.path, "predictions", epoch).unlink()
    at = opened(run, "inspect", view="members")
    assert not at.exception
    assert widget(at, "button_group", "address_budget").options == ["50 %", "75 %", "100 %"]
