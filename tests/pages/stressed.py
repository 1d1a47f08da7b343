"""Runs as the views find them that need the model: with checkpoints, and measured under shift."""

import base64
import functools
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from ensemble import datasets, runs, shift
from ensemble.analysis.example_measures import EXAMPLE_MEASURES, MemberOutputs, compute_measures
from ensemble.analysis.members.disagreement import entropy
from ensemble.analysis.quality import ood
from ensemble.engine.networks.registry import bind_network
from ensemble.engine.step import create_members
from ensemble.jobs.status import write_status
from ensemble.runs import Run
from ensemble.runs.checkpoints.manager import Checkpoints
from ensemble.runs.training.progress import Progress
from ensemble.shift import StressResults, StressStatus, shift_metrics
from ensemble.shift import results as shift_results
from ensemble.shift.accuracy_reference import AccuracyReference
from ensemble.shift.corruptions import CORRUPTION_KINDS
from ensemble.shift.results import stress_folder
from ensemble.ui.shared import loaders
from tests.pages.ensembles import probabilities

APP = Path(__file__).parents[2] / "app.py"
OOD = {"noise": "Smooth noise", "scrambled": "Scrambled Digits"}
STEPS = 10  # of an epoch, as `ensembles.trained` has it


def opened(run: Run, view: str, *, errors: int = 0, **address: object) -> AppTest:
    """Opens a view of Inspect with these words in the address; so many errors are expected."""
    loaders.forget_runs()  # those of an earlier test
    at = AppTest.from_file(str(APP), default_timeout=240)
    for name, word in {"run": run.id, "view": view, **address}.items():
        at.query_params[name] = str(word)
    at.switch_page("pages/inspect.py").run()
    assert not at.exception
    assert len(at.error) == errors
    return at


def figure(at: AppTest, key: str) -> dict[str, Any]:
    """The picture whose key begins so, as Plotly gets it."""
    return json.loads(next(one for one in at.get("plotly_chart") if key in one.proto.id).proto.spec)


def values(drawn: Any) -> np.ndarray:
    """The numbers of a trace, which Plotly packs when they come from NumPy."""
    if isinstance(drawn, dict):
        return np.frombuffer(base64.b64decode(drawn["bdata"]), drawn["dtype"])
    return np.asarray(drawn)


def said(at: AppTest) -> str:
    """All that stands on the screen."""
    return " ".join(str(one.value) for one in (*at.markdown, *at.caption, *at.info))


def checkpointed(run: Run, epoch: int = 2, more: int = 0) -> Run:
    """The run with a checkpoint of untrained members, `more` steps after an epoch."""
    members = run.config.members
    progress = Progress.blank(_members(run.config.network, members), members, STEPS)
    progress.evaluated, progress.step = epoch, epoch * STEPS + more
    with Checkpoints(run.path) as checkpoints:
        checkpoints.save(progress)
    return run


def _members(network: str, members: int) -> Any:
    return jax.tree.map(lambda leaf: leaf[:members], _many(network))


@functools.cache
def _many(network: str) -> Any:
    """More members than a test asks for, of whom any number are the first: drawn once."""
    return jax.tree.map(np.asarray, create_members(bind_network(network, (28, 28, 1), 10), 1, 13))


def measured(run: Run, epoch: int = 2, kinds: int = 5, **changes: Any) -> StressResults:
    """The run as a job leaves it that has done so many kinds of corruption, on known answers."""
    labels, members = datasets.load_dataset("digits").test_labels, run.config.members

    def answers(seed: int, sure: float) -> np.ndarray:
        return probabilities("digits", members, seed, sure)

    tick = epoch * (STEPS + 1)
    results = StressResults(tick, epoch, 0, "digits", 500, members)
    reference = AccuracyReference(run, labels, None)
    clean = {
        **shift_metrics.compute_shift_metrics(answers(3, 5.0), labels),
        "accuracy_fit": reference.fit_images(answers(3, 5.0), results),
        "accuracy_estimate": reference.estimate_images(answers(3, 5.0)),
    }
    steps = [
        {
            "kind": kind.name,
            "amount": amount,
            **shift_metrics.compute_shift_metrics(answers(3, 5.0 - place), labels),
            "accuracy_estimate": reference.estimate_images(answers(3, 5.0 - place)),
        }
        for kind in list(CORRUPTION_KINDS.values())[:kinds]
        for place, amount in enumerate(kind.amounts)
        if place
    ]
    stress_folder(run.path).mkdir(exist_ok=True)
    known = _keep(run, "known", tick, answers(3, 5.0))
    out = []
    for place, (key, title) in enumerate(OOD.items() if kinds == 5 else ()):
        found = _keep(run, key, tick, answers(4 + place, 0.0))
        apart = {name: vars(ood.ood_separation(known[name], found[name])) for name in known}
        out.append(
            {
                "key": key,
                "title": title,
                "images": 500,
                "measures": {name: apart[name] for name in EXAMPLE_MEASURES},
                "members": [apart[name] for name in known if name not in EXAMPLE_MEASURES],
            }
        )
    results = replace(results, clean=clean, steps=steps, ood=out)
    shift_results.write_stress_results(run.path, results)
    total = 1 + 30 + len(OOD)
    now = time.time()
    status = {
        "state": "finished",
        "queued": now,
        "updated": now,
        "progress": 1.0,
        "steps": 1 + len(steps) + len(out),
        "total": total,
        **changes,
    }
    write_status(stress_folder(run.path), StressStatus(**status))
    return results


def _keep(run: Run, key: str, tick: int, found: np.ndarray) -> dict[str, np.ndarray]:
    """Write the scores of some answers; return each measure, high if unsure, and the members' entropies."""
    outputs = MemberOutputs(found)
    members = np.stack([entropy(one.astype(np.float64)) for one in found])
    shift_results.write_ood_scores(run.path, key, tick, {**compute_measures(outputs), "member_entropy": members})
    scores = {name: measure.score_uncertainty(outputs) for name, measure in EXAMPLE_MEASURES.items()}
    return {**scores, **{f"member {number}": values for number, values in enumerate(members)}}


@pytest.fixture
def no_job_left() -> Iterator[None]:
    """Ends the measuring that a test has started."""
    yield
    for run in runs.list_runs():
        if shift.read_stress(run.id).active:
            shift.stop_stress(run.id)
        while shift.read_stress(run.id).active:
            time.sleep(0.05)
