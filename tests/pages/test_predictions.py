import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from ensemble import data, runs
from ensemble.analysis.predictions import judge
from ensemble.runs import Run
from ensemble.ui import digits_grid, loaders
from tests.pages.ensembles import probabilities, trained

APP = Path(__file__).parents[2] / "app.py"
Open = Callable[..., AppTest]


@pytest.fixture(autouse=True)
def no_list_of_an_earlier_test() -> None:
    loaders.forget_runs()


@pytest.fixture
def page() -> Open:
    """Opens the screen with these words in the address."""

    def opened(run: Run | str = "", **address: object) -> AppTest:
        at = AppTest.from_file(str(APP), default_timeout=60)
        if run:
            at.query_params["run"] = run if isinstance(run, str) else run.id
        for name, value in address.items():
            at.query_params[name.rstrip("_")] = str(value)
        at.switch_page("pages/predictions.py").run()
        assert not at.exception
        return at

    return opened


def tiles(at: AppTest) -> list[dict[str, Any]]:
    """What the grid was given to draw."""
    sent = json.loads(at.get("bidi_component")[0].proto.json)
    assert sent["strip"].startswith("data:image/png;base64,")
    return sent["tiles"]


def numbers(at: AppTest) -> list[int]:
    return [tile["number"] for tile in tiles(at)]


def widget(at: AppTest, kind: str, key: str) -> Any:
    """The widget whose key begins with `key`."""
    return next(one for one in at.get(kind) if one.key and one.key.startswith(key))


def answer(at: AppTest) -> str:
    return next(one.value for one in at.markdown if one.value.startswith("#### "))


def value(at: AppTest, name: str) -> str | None:
    """A word of the address; the tester gives a list where it put it there itself."""
    found = at.query_params.get(name)
    return found[0] if isinstance(found, list) else found


def test_no_runs_lead_to_training(page: Open) -> None:
    at = page()
    assert "where the members of an ensemble agree" in at.subheader[0].value
    assert at.get("page_link")[0].proto.page == "train"


def test_the_answer_counts_what_a_loop_counts(page: Open) -> None:
    run = trained()
    labels = data.load("digits").test_labels
    made = probabilities("digits", 3, 2, 4.0)
    right = split = warned = 0
    for n, label in enumerate(labels):
        votes = {int(member[n].argmax()) for member in made}
        good = int(sum(member[n].astype(float) for member in made).argmax()) == label
        right, split = right + good, split + (len(votes) > 1)
        warned += len(votes) > 1 and not good
    assert 0 < warned < 500 - right
    assert answer(page(run)) == (
        f"#### The ensemble gets {right} of 500 digits right; its members disagree about {split} "
        f"digits; {warned} of the {500 - right} it gets wrong are among them."
    )


def test_only_one_page_is_drawn_least_sure_first(page: Open) -> None:
    made = judge(probabilities("digits", 3, 2, 4.0), data.load("digits").test_labels)
    at = page(trained())
    assert numbers(at) == np.argsort(made.confidence, kind="stable")[:60].tolist()
    first = tiles(at)[0]
    said, label = int(made.said[first["number"]]), int(made.labels[first["number"]])
    assert first["verdict"] == (f"✓ {said}" if said == label else f"✗ {said}, is {label}")
    assert [text for text, _ in first["votes"]] == [
        str(member[first["number"]].argmax()) for member in made.probabilities
    ]
    assert [against for _, against in first["votes"]] == [
        int(text) != said for text, _ in first["votes"]
    ]


def test_pages_meet_and_cover_all(page: Open) -> None:
    at = page(trained(), order="number")
    seen = numbers(at)
    while not widget(at, "button", "next_page").disabled:
        widget(at, "button", "next_page").click().run()
        seen += numbers(at)
    assert seen == list(range(500))
    assert value(at, "first") == "480"
    widget(at, "selectbox", "digits_page").select(0).run()
    assert numbers(at)[0] == 0


def test_filters_and_orders_write_the_address_and_start_at_the_first_page(page: Open) -> None:
    at = page(trained(sure=2.0), first=60, digit=3)
    widget(at, "button_group", "digits_show").set_value("wrong").run()
    assert all(not tile["right"] for tile in tiles(at))
    assert (value(at, "show"), value(at, "first"), value(at, "digit")) == ("wrong", None, None)
    widget(at, "selectbox", "digits_class").select(3).run()
    labels = data.load("digits").test_labels
    assert {int(labels[number]) for number in numbers(at)} == {3}
    widget(at, "selectbox", "digits_order").select("sure").run()
    assert [value(at, name) for name in ("show", "class", "order")] == ["wrong", "3", "sure"]


def test_a_link_shows_the_same(page: Open) -> None:
    run = trained(sure=2.0)
    address: dict[str, object] = {"show": "split", "class_": 4, "order": "split", "epoch": 1}
    at = page(run, **address)
    made = judge(probabilities("digits", 3, 1, 2.0), data.load("digits").test_labels)
    votes = [sorted(text for text, _ in tile["votes"]) for tile in tiles(at)]
    apart = [len(set(one)) for one in votes]
    assert min(apart) == 2
    assert apart == sorted(apart, reverse=True)
    assert numbers(at)[0] in np.flatnonzero(made.labels == 4)
    assert widget(at, "select_slider", "digits_epoch").value == 1


def test_an_open_image_is_told_in_a_sentence_and_a_chart(page: Open) -> None:
    made = judge(probabilities("digits", 3, 2, 4.0), data.load("digits").test_labels)
    number = int(np.flatnonzero(made.split)[0])
    at = page(trained(), digit=number)
    votes = " ".join(str(vote) for vote in made.votes[:, number])
    said = next(one.value for one in at.markdown if "the members split" in one.value)
    assert f"the members split {votes}; it is a" in said
    figure = json.loads(at.get("plotly_chart")[0].proto.spec)
    assert [trace["type"] for trace in figure["data"]] == ["bar", "scatter", "scatter", "scatter"]
    assert at.get("image")[0].proto.imgs[0].alt.startswith(f"Test digit {number}, a")


def test_the_next_image_follows_in_the_order_of_the_page(page: Open) -> None:
    at = page(trained())
    shown = numbers(at)
    at.query_params["digit"] = str(shown[4])
    at.run()
    widget(at, "button", "digit_next").click().run()
    assert value(at, "digit") == str(shown[5])
    widget(at, "button", "digit_previous").click().run()
    assert value(at, "digit") == str(shown[4])


def test_a_number_opens_any_image(page: Open) -> None:
    at = page(trained(), show="wrong")
    widget(at, "number_input", "digits_number").set_value(499).run()
    assert value(at, "digit") == "499"
    assert any("#499" in one.value for one in at.subheader)


@pytest.mark.parametrize(
    "address",
    [
        {"epoch": "99", "digit": "99999"},
        {"epoch": "-1", "show": "nothing", "class_": "77", "order": "x", "first": "1e9"},
        {"first": "99999999", "digit": "../../etc"},
        {"class_": "٣", "epoch": "1" * 400},
    ],
)
def test_an_address_that_makes_no_sense_is_left_out(page: Open, address: dict[str, str]) -> None:
    at = page(trained(), **address)
    assert tiles(at)
    assert not at.error
    assert not at.get("dialog")


def test_an_epoch_that_there_is_not_is_named(page: Open) -> None:
    at = page(trained(), epoch=9)
    assert any("no predictions of epoch 9; these are epoch 2" in one.value for one in at.caption)


def test_a_run_that_there_is_not_gives_a_sentence_and_the_way_on(page: Open) -> None:
    run = trained()
    at = page("nonsense")
    assert "There is no run “nonsense”" in at.warning[0].value
    at.button[0].click().run()
    assert value(at, "run") == run.id
    assert tiles(at)


def test_another_run_shows_its_last_epoch_from_the_top(page: Open) -> None:
    other = trained(name="another")
    at = page(trained(), epoch=1, first=60, digit=3, show="wrong")
    widget(at, "selectbox", "run_picker").select(other.id).run()
    assert [value(at, name) for name in ("run", "epoch", "first", "digit", "show")] == [
        other.id, None, None, None, "wrong",
    ]  # fmt: skip
    assert widget(at, "select_slider", "digits_epoch").value == 2


def test_one_member_is_not_said_to_disagree(page: Open) -> None:
    at = page(trained(members=1), show="split", order="split")
    assert "nobody to disagree" in answer(at)
    assert all(tile["votes"] == [] for tile in tiles(at))
    assert len(widget(at, "button_group", "digits_show").options) == 2


def test_many_votes_are_counted(page: Open) -> None:
    made = judge(probabilities("digits", 32, 1, 1.0), data.load("digits").test_labels)
    for tile in tiles(page(trained(members=32, epochs=1, sure=1.0))):
        lines = [text for text, _ in tile["votes"]]
        counts = [int(line.split()[0]) for line in lines]
        assert sum(counts) == 32
        assert len(lines) <= 3
        assert counts[0] == made.tallies[tile["number"]].max()


def test_none_wrong_is_said_with_a_way_back(page: Open) -> None:
    at = page(trained(sure=60.0), show="wrong")
    assert at.info[0].value == "The ensemble gets no digit wrong."
    widget(at, "button", "show_all").click().run()
    assert len(tiles(at)) == 60


@pytest.mark.parametrize("state", ["stopped", "failed", "diverged"])
def test_a_run_without_an_epoch_says_so(page: Open, state: str) -> None:
    at = page(trained(done=0, state=state))
    assert f"is {state} and has no predictions" in at.info[0].value
    assert at.get("page_link")


def test_a_run_that_is_at_it_will_show_them_by_itself(page: Open) -> None:
    at = page(trained(done=0, state="queued", updated=time.time()))
    assert "after the first epoch" in at.info[0].value


def test_a_new_epoch_is_offered_and_not_forced_on_what_is_looked_at(page: Open) -> None:
    run = trained(epochs=3, done=1, state="queued", updated=time.time() + 600)
    at = page(run)
    assert "2 epochs to come" in widget(at, "button", "newer").label
    assert widget(at, "button", "newer").disabled
    runs.history.write_predictions(run.path, 2, probabilities("digits", 3, 2, 4.0))
    before = numbers(at)
    at.run()
    assert numbers(at) == before
    widget(at, "button", "newer").click().run()
    assert numbers(at) != before
    assert widget(at, "select_slider", "digits_epoch").value == 2


def test_the_screen_opened_anew_shows_the_last_epoch(page: Open) -> None:
    run = trained(epochs=3, done=1, state="queued", updated=time.time() + 600)
    at = page(run)
    runs.history.write_predictions(run.path, 2, probabilities("digits", 3, 2, 4.0))
    at.switch_page("pages/runs.py").run()
    at.switch_page("pages/predictions.py").run()
    assert widget(at, "select_slider", "digits_epoch").value == 2


def test_a_dataset_that_is_gone_can_be_fetched(page: Open) -> None:
    run = trained(epochs=1)
    config = json.loads((run.path / "config.json").read_text())
    config["settings"]["dataset"] = "kmnist"
    (run.path / "config.json").write_text(json.dumps(config))
    at = page(runs.find(run.id))
    assert "not on this machine any more" in at.warning[0].value
    assert widget(at, "button", "fetch_kmnist")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 torn", b"no archive", None])
def test_a_damaged_file_gives_a_sentence_and_the_other_epochs(
    page: Open, content: bytes | None
) -> None:
    run = trained()
    path = run.path / "predictions" / "epoch-0002.npz"
    path.write_bytes(path.read_bytes()[:-2000] if content is None else content)
    at = page(run)
    assert "cannot be read" in at.error[0].value
    widget(at, "select_slider", "digits_epoch").set_value(1).run()
    assert tiles(at)
    assert not at.error


def test_predictions_of_another_size_are_refused(page: Open) -> None:
    run = trained(epochs=1)
    runs.history.write_predictions(run.path, 1, np.full((2, 499, 10), 0.1))
    assert "made with another Digits" in page(run).error[0].value


def test_a_file_that_changes_is_read_anew(page: Open) -> None:
    run = trained(epochs=1)
    before = answer(page(run))
    runs.history.write_predictions(run.path, 1, probabilities("digits", 3, 1, 60.0))
    assert answer(page(run)) != before
    assert "500 of 500" in answer(page(run))


def test_what_a_person_named_a_run_stays_text(page: Open) -> None:
    at = page(trained(name="<img src=x> **bold** $x$"), digit=1)
    assert "\\<img" in at.subheader[0].value


def test_fewer_columns_make_shorter_pages_of_whole_rows() -> None:
    for columns in range(1, 40):
        size = digits_grid.size(columns)
        assert size % columns == 0
        assert columns > 24 or 24 <= size <= 60
