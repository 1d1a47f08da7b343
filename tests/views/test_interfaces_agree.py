"""No two interfaces contradict each other on runs of different kinds: the same numbers, the same directions."""

import json
import re
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from click.testing import CliRunner

import ensemble
from ensemble import runs
from ensemble.cli.program import main
from ensemble.report import render_report
from ensemble.runs import Run
from ensemble.views.evaluated_epoch import evaluate_epoch
from tests.comparison.drawn import finished
from tests.comparison.drawn import imported as import_drawn_predictions
from tests.conftest import variant
from tests.pages.ensembles import trained
from tests.pages.predictions_screen import opened
from tests.report.pages import Page
from tests.views.test_faces import normalize, texts

# A claim in any interface, and how its direction or number is read.
CLAIMS = {
    "gain": re.compile(r"ensemble gets ([\d,.]+ (?:more|fewer)) \w+ right"),
    "members": re.compile(r"(Keep both members|Keep all \d+ members|\d+ of \d+ members (?:is|are) enough)"),
    "calibration": re.compile(
        r"(Less sure than it could be|Surer than it should be|No difference on average|no difference"
        r" between confidence and accuracy)"
    ),
    "temperature": re.compile(r"(Making it less sure|Making it surer|Leave it at 1|leave it at 1)"),
    "errors": re.compile(r"(Answering only where it is at least [\d.]+ % sure|Answering every \w+)"),
}


def import_flowers(classes: int, examples: int, members: int, sharp: float, seed: int) -> Run:
    draws = np.random.default_rng(seed)
    labels = np.arange(examples) % classes
    logits = sharp * np.eye(classes)[labels] + draws.normal(size=(members, examples, classes))
    probabilities = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    groups = np.arange(examples) // 4 if seed % 2 else None
    return runs.find_run(ensemble.import_predictions(probabilities, labels, groups=groups, name=f"f{seed}").id)


MAKERS: list[Callable[[], Run]] = [
    lambda: trained(members=3),
    lambda: trained(members=4, validation=0.1, sure=7.0),
    lambda: trained(members=1),
    lambda: trained(members=4, folds=2, validation=0.1, seed=2),
    lambda: import_flowers(5, 240, 3, 2.0, 1),
    lambda: finished({"members": 3, "validation": 0.1}, epochs=3, skill=4.0),
    lambda: trained(members=2, sure=[1.0, 9.0]),
    lambda: import_flowers(2, 70, 4, 0.3, 2),
    *(lambda seed=seed: trained(members=2 + seed % 5, seed=seed, sure=1.0 + seed) for seed in range(3, 9)),
    *(lambda seed=seed: finished({"members": 2 + seed}, skill=0.5 * seed, draw=seed) for seed in range(1, 7)),
    *(lambda seed=seed: import_flowers(2 + seed, 60 * seed, 1 + seed, 0.7 * seed, seed) for seed in range(3, 9)),
    lambda: trained(members=3, epochs=5, done=2, state="stopped"),
    lambda: trained(members=13, epochs=1),
    lambda: trained(members=5, network="mlp", width=32, sure=6.0),
    lambda: trained(members=3, validation=0.2, epochs=4, sure=2.0),
]
USUAL = 2  # runs of the usual tests; the others with --all


def read_claims(text: str) -> dict[str, set[str]]:
    """Return what a text claims: each claim's readings, one if it does not contradict itself."""
    return {name: set(pattern.findall(text)) for name, pattern in CLAIMS.items() if pattern.search(text)}


def collect_texts(run: Run) -> Iterator[tuple[str, str]]:
    """Yield each interface with all that it says of a run."""
    command = CliRunner()
    names = [view["view"] for view in json.loads(command.invoke(main, ["inspect", run.id, "--json"]).stdout)["views"]]
    yield "command", normalize("\n".join(command.invoke(main, ["inspect", run.id, name]).output for name in names))
    notebook = ensemble.open_run(run.id)
    yield "notebook", normalize("\n".join(repr(notebook.view(name)) for name in names))
    objects = [command.invoke(main, ["inspect", run.id, name, "--json"]).stdout for name in names]
    yield "JSON", normalize("\n".join(json.dumps(json.loads(each), ensure_ascii=False) for each in objects))
    yield "report", normalize(Page(render_report([run])).said)
    for view in ("members", "calibration", "selective"):
        at = opened(run, "inspect", view=view)
        assert not at.exception
        yield f"page {view}", texts(at)


@pytest.mark.parametrize("number", [*range(USUAL), *map(variant, range(USUAL, len(MAKERS)))])
def test_interfaces_agree_on_a_run(number: int) -> None:
    run = MAKERS[number]()
    texts_of = dict(collect_texts(run))
    seen = {name: read_claims(text) for name, text in texts_of.items()}
    for name in CLAIMS:
        readings = {interface: claims[name] for interface, claims in seen.items() if name in claims}
        assert len(set().union(*readings.values())) <= 1, readings
        if name in seen["JSON"]:
            assert {"command", "notebook", "JSON", "report"} <= readings.keys(), name
    underconfident = seen["JSON"].get("calibration") == {"Less sure than it could be"}
    if underconfident and re.search(r"Making it less sure \(temperature [\d.]+\) lowers", texts_of["JSON"]):
        assert "goes against the mean confidence" in texts_of["JSON"]
    gained = evaluate_epoch(run).predictions
    if claimed := seen["JSON"].get("gain"):
        mean = np.mean(gained.votes == gained.labels)
        (claim,) = claimed
        difference = gained.right.sum() - mean * len(gained.labels)
        assert claim.split()[1] == ("more" if difference > 0 else "fewer")
        assert float(claim.split()[0].replace(",", "")) == pytest.approx(abs(difference), abs=0.51)


def train_seeds(settings: list[dict[str, object]], skills: list[float], seeds: int = 2, **shared: object) -> list[Run]:
    return [
        finished({**shared, **own, "seed": seed}, skill=skill, draw=10 * place + seed)
        for place, (own, skill) in enumerate(zip(settings, skills, strict=True))
        for seed in range(seeds)
    ]


RATES = [{"learning_rate": rate} for rate in (0.03, 0.1, 0.3)]
COMPARISONS: list[Callable[[], list[Run]]] = [
    lambda: train_seeds(RATES, [2.0, 2.02, 0.3], seeds=3),
    lambda: train_seeds(RATES, [0.5, 3.0, 1.0], seeds=1),
    lambda: [*train_seeds(RATES[:2], [2.0, 2.0]), import_drawn_predictions()],
    lambda: train_seeds([{"members": 2}, {"members": 5}], [2.0, 2.0]),
    lambda: train_seeds([{"epochs": 2}, {"epochs": 4}], [1.0, 3.0], validation=0.1),
    lambda: train_seeds([{"batch_size": size} for size in (32, 64, 128, 256)], [2.0, 2.1, 2.2, 2.3], seeds=3),
    lambda: train_seeds([{"network": "mlp"}, {"network": "logistic"}], [3.0, 1.0], seeds=3),
    lambda: [*train_seeds(RATES[:1], [2.0], seeds=3), *train_seeds(RATES[1:2], [2.5], seeds=1)],
    lambda: [*train_seeds(RATES[:2], [2.0, 3.0]), import_flowers(3, 90, 3, 2.0, 4)],
    lambda: train_seeds([{"momentum": 0.0}, {"momentum": 0.9}], [2.0, 2.0], seeds=4),
]


@pytest.mark.parametrize("number", [0, *map(variant, range(1, len(COMPARISONS)))])
def test_interfaces_agree_on_a_comparison(number: int) -> None:
    every = COMPARISONS[number]()
    ids = [run.id for run in every]
    sent = json.loads(CliRunner().invoke(main, ["compare", *ids, "--json"], catch_exceptions=False).stdout)
    answers = {metric: verdict["answer"] for metric, verdict in sent["verdict"].items()}
    text = CliRunner().invoke(main, ["compare", *ids], catch_exceptions=False).stdout
    report = normalize(Page(render_report(every)).said)
    assert answers["nll"] in normalize(text)
    assert answers["nll"] in report
    for view, figure, metric in (("curves", "loss", "nll"), ("curves", "accuracy", "accuracy"), ("table", "", "nll")):
        at = opened(page="compare", runs=",".join(ids), view=view, figure=figure)
        assert not at.exception
        page = texts(at).replace("\\", "")
        assert answers[metric] in page, view
    groups = {group["key"]: group for group in sent["groups"]}
    for metric, verdict in sent["verdict"].items():
        means = {key: groups[key]["figures"][metric]["value"] for key in verdict["remaining"]}
        best = min(means, key=lambda key: means[key]) if metric == "nll" else max(means, key=lambda key: means[key])
        assert means[verdict["best"]] == means[best]
        for key in verdict["remaining"]:
            difference = groups[key]["difference"]
            if verdict["about"] == "settings" and difference and sent["baseline"] in verdict["remaining"]:
                assert difference[f"settings_{'nll_' if metric == 'nll' else ''}p_adjusted"] >= 0.05
