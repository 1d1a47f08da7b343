"""What an ensemble of small digits says of itself on Classify; how a phone is told."""

from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.jobs.status import write_status
from ensemble.ui.classify.input import input_methods, training_source
from ensemble.ui.shared import loaders

PHONE = "Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 Chrome/130 Mobile Safari/537.36"


def ended(dataset: str, accuracy: float) -> runs.Run:
    run = runs.create_run(EnsembleConfig(dataset=dataset))
    status = replace(run.status, state="finished", epoch=1, ensemble_test_accuracy=accuracy)
    write_status(run.path, status)
    return runs.find_run(run.id)


def test_the_newest_run_on_mnist_that_does_not_only_guess_is_offered() -> None:
    older, newest = ended("mnist", 0.99), ended("mnist", 0.97)
    guessing, small = ended("mnist", 0.1), ended("digits", 0.9)
    active = runs.create_run(EnsembleConfig(dataset="mnist"))
    every = [active, small, guessing, newest, older]
    assert training_source.find_newest_reader(every) == newest
    assert training_source.find_newest_reader([active, small, guessing]) is None


def show_source_of(run_id: str) -> None:
    """What stands on Classify of a run."""
    from ensemble import runs
    from ensemble.ui.classify.input import training_source

    training_source.show_training_source(runs.find_run(run_id))


@pytest.mark.parametrize("dataset", ["digits", "mnist"])
def test_only_an_ensemble_of_small_digits_says_so_and_who_learnt_from_more(
    dataset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A link needs the app around it, of which this part does without.
    links: list[dict[str, Any]] = []
    monkeypatch.setattr(training_source.st, "page_link", lambda page, **more: links.append({"page": page, **more}))
    large, asked = ended("mnist", 0.98), ended(dataset, 0.9)
    loaders.forget_runs()
    at = AppTest.from_function(show_source_of, args=(asked.id,)).run()
    assert not at.exception
    said = " ".join(one.value for one in at.caption)
    if dataset == "mnist":
        assert (said, links) == ("", [])
        return
    assert "Learnt from 1,297 small digits" in said
    [link] = links
    assert "which learnt from 60,000" in link["label"]
    assert (link["page"], link["query_params"]) == ("pages/classify.py", {"run": large.id})


@pytest.mark.parametrize(("agent", "phone"), [(PHONE, True), ("Mozilla/5.0 (X11)", False), ("", False)])
def test_a_phone_is_told_by_what_its_browser_says(agent: str, phone: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    class Context:
        headers = {"User-Agent": agent} if agent else {}

    monkeypatch.setattr(input_methods.st, "context", Context)
    assert input_methods.is_phone() is phone
