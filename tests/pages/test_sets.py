"""Conformal sets on the screens: what is promised, what came of it, and each image's own."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from streamlit.testing.v1 import AppTest

from ensemble import datasets
from ensemble.analysis.predictions import EnsemblePredictions, evaluate_predictions
from ensemble.analysis.quality.coverage import cross_conformal_sets, evaluate_conformal_sets
from ensemble.runs import Run
from ensemble.ui.shared import loaders
from tests.pages.ensembles import probabilities, trained
from tests.pages.predictions_screen import value, widget

APP = Path(__file__).parents[2] / "app.py"


def opened(run: Run, page: str, **address: object) -> AppTest:
    loaders.forget_runs()  # those of an earlier test
    at = AppTest.from_file(str(APP), default_timeout=240)
    for name, word in {"run": run.id, **address}.items():
        at.query_params[name] = str(word)
    at.switch_page(f"pages/{page}.py").run()
    assert not at.exception
    return at


def said(at: AppTest) -> str:
    return " ".join(str(one.value) for one in (*at.markdown, *at.caption, *at.info))


def made(sure: float, members: int = 3) -> EnsemblePredictions:
    labels = datasets.load_dataset("digits").test_labels
    return evaluate_predictions(probabilities("digits", members, 2, sure), labels)


def frame(at: AppTest, column: str) -> Any:
    return next(one.value for one in at.dataframe if column in one.value)


def test_inspect_says_what_share_of_sets_holds_the_digit_at_the_rate_asked_for() -> None:
    whole = made(7.0)
    at = opened(trained(sure=7.0), "inspect", view="selective", mode="sets", miss="10")
    calibrated, found = evaluate_conformal_sets(whole.averaged, whole.labels, 0.1, "aps")
    assert f"hold the right digit {100 * found.covered / 250:.1f} % of the time" in said(at)
    assert f"{calibrated.n} calibration digits most give" in said(at)
    assert "no promise for each class or each image, nor for images from elsewhere" in said(at)
    assert len(at.get("plotly_chart")) == 1
    rows = frame(at, "none")
    assert rows["sets"].tolist()[0] == "Adaptive (APS)"
    assert len(rows) == 3
    assert rows["hold it"][0].startswith(f"{100 * found.covered / 250:.1f} % (")
    assert frame(at, "class")["images"].astype(int).sum() == 250
    widget(at, "select_slider", "inspect_sets_miss").set_value("0.1").run()
    assert value(at, "miss") == "0.1"
    assert "too few for lists that are right 99.9 % of the time: it takes 999." in said(at)
    widget(at, "button_group", "address_sets").set_value("lac").run()
    assert value(at, "sets") == "lac"
    assert not at.exception


def test_an_opened_digit_has_its_set_and_the_screen_a_line_on_all() -> None:
    whole = made(4.0)
    sets = cross_conformal_sets(whole.averaged, whole.labels, 0.05, "aps")
    several = int((sets.sum(axis=1) > 1).sum())
    number = int(np.flatnonzero(sets.sum(axis=1) == 3)[0])
    at = opened(trained(sure=4.0), "predictions", digit=number)
    hit = sets[np.arange(500), whole.labels].sum()
    assert (f"of the time: {hit / 5:.1f} % do; {several} of 500 name two or more.") in said(at)
    names = ", ".join(str(c) for c in np.flatnonzero(sets[number]))
    assert f"The set: {{{names}}} at 95 %." in said(at).replace("\\", "")  # not as Markdown


def test_the_largest_sets_come_first_when_asked_for() -> None:
    whole = made(4.0)
    sizes = cross_conformal_sets(whole.averaged, whole.labels, 0.2, "lac").sum(axis=1)
    at = opened(trained(sure=4.0), "predictions", order="sets", miss="20", sets="lac")
    tiles = json.loads(at.get("bidi_component")[0].proto.json)["tiles"]
    shown = [tile["number"] for tile in tiles]
    assert shown == sorted(range(500), key=lambda n: (-sizes[n], whole.confidence[n]))[: len(shown)]
