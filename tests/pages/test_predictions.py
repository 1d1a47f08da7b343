import json

import numpy as np

from ensemble import datasets
from ensemble.analysis.predictions import evaluate_predictions
from ensemble.ui.predictions import image_grid
from ensemble.wording import images
from tests.pages.ensembles import probabilities, trained
from tests.pages.predictions_screen import answer, numbers, opened, tiles, value, widget

MADE = evaluate_predictions(probabilities("digits", 3, 2, 4.0), datasets.load_dataset("digits").test_labels)


def test_the_answer_counts_what_a_loop_counts() -> None:
    labels = datasets.load_dataset("digits").test_labels
    probs = probabilities("digits", 3, 2, 4.0)
    right = split = warned = 0
    for n, label in enumerate(labels):
        votes = {int(member[n].argmax()) for member in probs}
        good = int(sum(member[n].astype(float) for member in probs).argmax()) == label
        right, split = right + good, split + (len(votes) > 1)
        warned += len(votes) > 1 and not good
    assert 0 < warned < 500 - right
    assert images.split_disagreement_warning(MADE, "digit") == (
        f"The ensemble gets {right} of 500 digits right.",
        f"Its members disagree about {split} digits; {warned} of its {500 - right} mistakes "
        f"are among them; about the other {500 - right - warned} all agree.",
    )


def test_only_one_page_is_drawn_least_sure_first_and_the_next_image_follows_in_its_order() -> None:
    at = opened(trained())
    sentence, warned = images.split_disagreement_warning(MADE, "digit")
    assert answer(at) == f"#### {sentence}"
    assert warned in [one.value for one in at.markdown]
    shown = numbers(at)
    assert shown == np.argsort(MADE.confidence, kind="stable")[:60].tolist()
    first = tiles(at)[0]
    said, label = int(MADE.said[first["number"]]), int(MADE.labels[first["number"]])
    assert first["verdict"] == (f"✓ {said}" if said == label else f"✗ {said}, is {label}")
    assert [text for text, _ in first["votes"]] == [
        str(member[first["number"]].argmax()) for member in MADE.probabilities
    ]
    assert [against for _, against in first["votes"]] == [int(text) != said for text, _ in first["votes"]]
    at.query_params["digit"] = str(shown[4])
    at.run()
    widget(at, "button", "digit_next").click().run()
    assert value(at, "digit") == str(shown[5])
    widget(at, "button", "digit_previous").click().run()
    assert value(at, "digit") == str(shown[4])


def test_pages_meet_cover_all_and_are_counted() -> None:
    at = opened(trained(), order="number")
    seen = numbers(at)
    assert "1–60 of 500" in [one.value for one in at.caption]
    assert widget(at, "button", "previous_page").disabled
    while not widget(at, "button", "next_page").disabled:
        widget(at, "button", "next_page").click().run()
        seen += numbers(at)
    assert seen == list(range(500))
    assert value(at, "first") == "480"
    assert "481–500 of 500" in [one.value for one in at.caption]
    widget(at, "button", "previous_page").click().run()
    assert value(at, "first") == "420"
    widget(at, "selectbox", "digits_page").select(0).run()
    assert numbers(at)[0] == 0
    assert value(at, "first") is None


def test_filters_and_orders_write_the_address_and_start_at_the_first_page() -> None:
    at = opened(trained(sure=2.0), first=60, digit=3)
    widget(at, "button_group", "digits_show").set_value("wrong").run()
    assert all(not tile["right"] for tile in tiles(at))
    assert (value(at, "show"), value(at, "first"), value(at, "digit")) == ("wrong", None, None)
    widget(at, "selectbox", "digits_class").select(3).run()
    labels = datasets.load_dataset("digits").test_labels
    assert {int(labels[number]) for number in numbers(at)} == {3}
    widget(at, "selectbox", "digits_order").select("sure").run()
    assert [value(at, name) for name in ("show", "class", "order")] == ["wrong", "3", "sure"]


def test_a_link_shows_the_same() -> None:
    run = trained(sure=2.0)
    address: dict[str, object] = {"show": "split", "class_": 4, "order": "split", "epoch": 1}
    at = opened(run, **address)
    made = evaluate_predictions(probabilities("digits", 3, 1, 2.0), datasets.load_dataset("digits").test_labels)
    votes = [sorted(text for text, _ in tile["votes"]) for tile in tiles(at)]
    apart = [len(set(one)) for one in votes]
    assert min(apart) == 2
    assert apart == sorted(apart, reverse=True)
    assert numbers(at)[0] in np.flatnonzero(made.labels == 4)
    assert widget(at, "select_slider", "digits_epoch").value == 1


def test_an_open_image_has_a_sentence_and_a_chart_and_is_marked_right_or_wrong() -> None:
    number = int(np.flatnonzero(MADE.split & ~MADE.right)[0])
    at = opened(trained(), show="wrong", digit=number)
    votes = " ".join(str(vote) for vote in MADE.votes[:, number])
    said = next(one.value for one in at.markdown if "the members split" in one.value)
    assert f"the members split {votes}; it is a" in said
    figure = json.loads(at.get("plotly_chart")[0].proto.spec)
    assert [trace["type"] for trace in figure["data"]] == ["bar", "scatter", "scatter", "scatter"]
    assert at.get("image")[0].proto.imgs[0].alt.startswith(f"Test digit {number}, a")
    assert any("Dots: each member's own." in one.value for one in at.caption)
    assert f"✗ Wrong · #{number}" in [one.value for one in at.subheader]
    right = int(np.flatnonzero(MADE.right)[0])
    widget(at, "number_input", "digits_number").set_value(right).run()
    assert value(at, "digit") == str(right), "a number opens any image"
    assert f"✓ Right · #{right}" in [one.value for one in at.subheader]


def test_another_run_shows_its_last_epoch_from_the_top() -> None:
    other = trained(name="another")
    at = opened(trained(), epoch=1, first=60, digit=3, show="wrong")
    widget(at, "selectbox", "run_picker").select(other.id).run()
    assert [value(at, name) for name in ("run", "epoch", "first", "digit", "show")] == [
        other.id,
        None,
        None,
        None,
        "wrong",
    ]
    assert widget(at, "select_slider", "digits_epoch").value == 2


def test_one_member_has_no_disagreement_and_its_name_is_shown_as_text() -> None:
    at = opened(trained(members=1, name="<img src=x> **bold** $x$"), show="split", order="split", digit=1)
    assert "\\<img" in at.subheader[0].value
    assert any("nobody to disagree" in one.value for one in at.markdown)
    assert all(tile["votes"] == [] for tile in tiles(at))
    assert len(widget(at, "button_group", "digits_show").options) == 2
    assert not any("Dots: each member's own." in one.value for one in at.caption)


def test_many_votes_are_counted() -> None:
    made = evaluate_predictions(probabilities("digits", 32, 1, 1.0), datasets.load_dataset("digits").test_labels)
    for tile in tiles(opened(trained(members=32, epochs=1, sure=1.0))):
        lines = [text for text, _ in tile["votes"]]
        counts = [int(line.split()[0]) for line in lines]
        assert sum(counts) == 32
        assert len(lines) <= 3
        assert counts[0] == made.tallies[tile["number"]].max()


def test_none_wrong_is_said_with_a_way_back() -> None:
    at = opened(trained(sure=60.0), show="wrong", class_=7)
    assert at.info[0].value == "The ensemble gets no digit that is 7 wrong."
    del at.query_params["class"]
    at.run()
    assert at.info[0].value == "The ensemble gets no digit wrong."
    widget(at, "button", "show_all").click().run()
    assert len(tiles(at)) == 60


def test_fewer_columns_make_shorter_pages_of_whole_rows() -> None:
    for columns in range(1, 40):
        size = image_grid.compute_page_size(columns)
        assert size % columns == 0
        assert columns > 24 or 24 <= size <= 60
