"""Why do they disagree: five steps on one image, each with the figures of this very run."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from ensemble import datasets, exchange, runs
from ensemble.exchange.array_input import convert_arrays_to_outputs
from ensemble.wording import disagreement_steps
from tests.pages.ensembles import probabilities, trained
from tests.pages.predictions_screen import opened, value
from tests.runs.test_imported_run import imported

SURE = 4.0


@pytest.fixture(autouse=True)
def nothing_is_remembered() -> Iterator[None]:
    """Runs of two tests may be made in one second, and then have one id."""
    yield
    st.cache_data.clear()
    st.cache_resource.clear()


def sentence(at: AppTest) -> str:
    said = [one.value for one in at.markdown if one.value.startswith("#### ")]
    assert len(said) == 1, said
    assert len(said[0]) <= disagreement_steps.MAX_SENTENCE_LETTERS + 5
    return said[0].removeprefix("#### ")


def said(at: AppTest) -> str:
    words: Any = (*at.markdown, *at.caption, *at.info)
    return " ".join(str(one.value) for one in words)


def press(at: AppTest, key: str) -> AppTest:
    next(one for one in at.button if one.key == key).click().run()
    assert not at.exception
    return at


def test_the_most_disputed_image_is_guessed_before_its_votes_are_shown() -> None:
    # An image that there is not is the most disputed one.
    at = opened(trained(members=3, sure=SURE), page="why", image=99_999)
    made = probabilities("digits", 3, 2, SURE)
    voted = made.argmax(axis=-1)
    split = [(len(set(voted[:, n])), n) for n in range(voted.shape[1])]
    assert sentence(at).startswith("What is this digit?")
    pills = at.get("button_group")[0]
    number = int(pills.key.removeprefix("why_guess_"))
    assert len(set(voted[:, number])) == max(split)[0], "as divided as any"
    pills.set_value(int(voted[0, number])).run()
    assert not at.exception
    count = int((voted[:, number] == voted[0, number]).sum())
    assert f"You said {voted[0, number]}, as {count} member" in said(at)
    label = datasets.load_dataset("digits").test_labels[number]
    assert f"It is a{'n' if label == 8 else ''} {label}." in said(at)
    badges = [one.value for one in at.markdown if "-badge[" in one.value and "member" in one.value]
    right = ["✓" in one and ":blue-badge" in one for one in badges]
    assert right == (voted[:, number] == label).tolist(), "blue and a tick are what is right"


def test_five_steps_are_walked_forth_and_back_with_this_runs_figures() -> None:
    run = trained(members=3, sure=SURE)
    at = opened(run, page="why", image=7)
    made = probabilities("digits", 3, 2, SURE).astype(float)
    whole = made.mean(axis=0)[7]
    press(at, "why_next")
    assert f"{whole.max():.1%}".replace("%", " %") in sentence(at)
    assert len(at.get("plotly_chart")) == 1
    press(at, "why_next")

    def entropy(p: Any) -> Any:
        return -(p * np.log(p)).sum(axis=-1)

    information = entropy(made.mean(axis=0)) - entropy(made).mean(axis=0)
    share = float((information < information[7]).mean())
    assert share <= 0.99, "else it is said in other words"
    assert f"more than on {100 * share:.0f} % of all digits" in sentence(at)
    press(at, "why_next")
    answers = [probabilities("digits", 3, e, SURE).mean(axis=0)[7].argmax() for e in (1, 2)]
    turned = "changed once" if answers[0] != answers[1] else "never changed"
    assert f"Over 2 epochs the answer {turned}" in sentence(at)
    assert "95 % interval" in said(at)
    press(at, "why_next")
    assert "it passes this digit on" in sentence(at) or "it answers this digit" in sentence(at)
    assert value(at, "step") == "5"
    last = sentence(at)
    at.query_params["step"] = "9"
    assert sentence(at.run()) == last
    press(press(at, "why_back"), "why_other")
    assert value(at, "step") is None
    assert value(at, "image") != "7"


def test_every_disputed_image_is_seen_before_the_first_comes_again() -> None:
    votes = np.array([[0, 1, 0, 1, 0], [1, 1, 1, 1, 1]])  # of which 0, 2 and 4 are disputed
    probabilities = np.where(np.arange(2) == votes[..., None], 0.9, 0.1)
    run = exchange.import_run(convert_arrays_to_outputs(probabilities, votes[1]), "three disputed")
    at, seen = opened(run, page="why"), []
    for _ in range(4):
        press(at, "why_other")
        seen.append(value(at, "image"))
    assert set(seen[:3]) == {"0", "2", "4"}
    assert seen[3] == seen[0]


def test_as_members_join_the_average_is_that_of_the_first_ones() -> None:
    at = opened(trained(members=3, sure=SURE), page="why", image=7, step=4, over="members")
    made = probabilities("digits", 3, 2, SURE)[:, 7]
    answers = [int(made[: k + 1].mean(axis=0).argmax()) for k in range(3)]
    other = [k for k in range(3) if answers[k] != answers[-1]]
    expected = f"From {other[-1] + 2} members on" if other else "From 1 to 3 members, the average"
    assert sentence(at).startswith(expected)


def test_one_member_is_told_what_is_missing() -> None:
    at = opened(trained(members=1, epochs=1, sure=SURE), page="why")
    press(at, "why_votes")
    assert "ne member" in sentence(at)
    for step in range(2, 6):
        press(at, "why_next")
        assert value(at, "step") == str(step)
        assert "ne member" in sentence(at) or step in (4, 5)


@pytest.mark.parametrize("images", [True, False])
def test_a_run_from_elsewhere_is_walked_through_with_its_images_or_without(images: bool) -> None:
    at = opened(imported(images=images), page="why", step=1)
    for step in range(1, 6):
        assert sentence(at)
        assert ("a blank tile stands for" in said(at)) is not images
        assert not [link for link in at.get("page_link") if "classify" in link.page]
        if step == 1:
            press(at, "why_votes")
        if step < 5:
            press(at, "why_next")


def test_a_run_without_an_epoch_says_when_there_is_something() -> None:
    at = opened(trained(members=2, epochs=2, done=0, state="queued", working=True), page="why")
    assert "after the first epoch" in " ".join(one.value for one in at.info)


def test_the_recorded_run_is_walked_through_before_there_is_one() -> None:
    at = opened(page="why", step=4)
    assert sentence(at).startswith("Over 10 epochs")
    assert "Recorded example, not one of your runs" in said(at)
    assert value(at, "run") is None
    assert runs.list_runs() == []
