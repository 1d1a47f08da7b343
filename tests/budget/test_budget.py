"""An ensemble against one wider network of the same cost: trained, gone on with, judged."""

import json
import re
import zlib
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner, Result

from ensemble import runs
from ensemble.analysis.inference.crossed_means import estimate_crossed_mean
from ensemble.analysis.quality.averaging import average_probabilities
from ensemble.analysis.quality.proper_scores import log_loss
from ensemble.budget.budget import Budget
from ensemble.budget.budget_worker import BudgetWorker, Competitor, RunStoppedError
from ensemble.budget.competitor_results import evaluate_competitors
from ensemble.cli.program import main
from ensemble.config import EnsembleConfig
from ensemble.errors import ConfigError, RunError
from ensemble.jobs.status import write_status
from ensemble.runs import Run
from ensemble.runs.annotations.tags import write_tags
from ensemble.wording.verdicts import budget as words
from tests.comparison.drawn import finished, labels

CONFIG = EnsembleConfig(network="mlp", members=2, epochs=1, batch_size=512, validation=0.1, devices=1)
WIDTH = 329  # of an MLP of as many operations as two of width 200


def call(*said: str) -> Result:
    return CliRunner().invoke(main, ["budget", *said], catch_exceptions=False)


def drawn(budget: Budget, name: str, width: int, factor: float, seed: int, skill: float) -> Run:
    """A finished run of the budget, of drawn numbers: the greater the skill, the better."""
    config = budget.trial_config(name, width, factor, seed)  # type: ignore[arg-type]
    run = finished(config.as_dict(), 1, skill, draw=zlib.crc32(repr((name, width, factor, seed)).encode()) % 10_000)
    write_tags(run.id, [budget.id, name])
    nll = None if skill == 0 else 1 / skill
    state = "diverged" if skill == 0 else "finished"
    write_status(run.path, replace(run.status, state=state, best_ensemble_validation_nll=nll))
    return runs.find_run(run.id)


def all_drawn(budget: Budget, wide_skill: float = 2.0) -> None:
    for seed in range(budget.seeds):
        drawn(budget, "ensemble", 0, 1.0, seed, 2.0)
        drawn(budget, "flops", WIDTH, 0.3, seed, wide_skill)
        drawn(budget, "seconds", 250, 0.3, seed, wide_skill)
    drawn(budget, "ensemble", 0, 0.3, 0, 1.0)
    for name, width in (("flops", WIDTH), ("seconds", 250)):
        drawn(budget, name, width, 1.0, 0, 0.0)


@pytest.mark.long
def test_what_is_trained_are_ordinary_runs_with_a_tag() -> None:
    budget = Budget(CONFIG, seeds=1, factors=(0.5,))
    found = BudgetWorker(
        budget, lambda run: runs.execute_run(run.id), lambda line: None, lambda *both: 1.0
    ).train_competitors()
    assert [one.names for one in found] == [("ensemble",), ("flops", "seconds")]
    for one, members, width in zip(found, (2, 1), (0, WIDTH), strict=True):
        (run,) = one.runs
        assert (run.state, run.config.learning_rate) == ("finished", 0.05)
        assert (run.config.members, run.config.width) == (members, width)
        assert {budget.id, *one.names} <= set(run.tags)
        assert one.rate_trials[0].validation_nll == run.status.best_ensemble_validation_nll > 0


def test_the_same_again_goes_on_with_what_there_is() -> None:
    budget, trained = Budget(CONFIG, seeds=1, factors=(0.5, 1.0)), list[str]()

    def train(run: Run) -> Run:
        if len(trained) == 1 and not allowed:
            raise RunStoppedError(run.id)
        trained.append(run.id)
        nll = 1 / run.config.learning_rate  # type: ignore[union-attr]
        write_status(run.path, replace(run.status, state="finished", best_ensemble_validation_nll=nll))
        return runs.find_run(run.id)

    allowed = False
    with pytest.raises(RunStoppedError):
        BudgetWorker(budget, train, lambda line: None, lambda *both: 1.0).train_competitors()
    allowed = True
    found = BudgetWorker(budget, train, lambda line: None, lambda *both: 1.0).train_competitors()
    assert len(trained) == len(set(trained)) == 4, "what was there is not trained again"
    assert [one.runs[0].config.learning_rate for one in found] == [0.1, 0.1]
    more = BudgetWorker(replace(budget, seeds=2), train, lambda line: None, fail).train_competitors()
    assert len(trained) == 6, "another seed is one more run of each; nothing is measured again"
    assert [[run.config.seed for run in one.runs] for one in more] == [[0, 1], [0, 1]]


def test_the_difference_is_crossed_over_seeds_and_images_and_adjusted_for_all() -> None:
    budget = Budget(CONFIG, seeds=3, factors=(0.3, 1.0))
    all_drawn(budget, wide_skill=1.2)
    found = evaluate_competitors(BudgetWorker(budget, fail, lambda line: None, fail).train_competitors())
    assert [one.competitor.rate for one in found] == [0.1, 0.03, 0.03]

    def nll(one: Competitor) -> np.ndarray:
        return np.array(
            [log_loss(average_probabilities(runs.read_run_predictions(run.id, 1)), labels()) for run in one.runs]
        )

    ours, theirs = (nll(found[number].competitor) for number in (0, 1))
    wanted = estimate_crossed_mean(theirs, ours, bound=0.0)
    ahead = found[1].advantage
    assert ahead is not None
    assert (ahead.nll, ahead.over) == (pytest.approx(wanted.mean), "seeds and images")
    every = [one.advantage for one in found if one.advantage]
    ps = [(p, q) for one in every for p, q in ((one.p, one.adjusted_p), (one.nll_p, one.adjusted_nll_p))]
    smallest = min(ps)
    assert smallest[1] == pytest.approx(4 * smallest[0]), "four tests, by Holm's method"
    said = "\n".join(words.format_budget_lines(found))
    assert "the ensemble wins by accuracy and by NLL." in said
    pattern = r"has (\S+) digits right .*?: (\S+) to (\S+); .*?NLL (\S+) \(95 %: (\S+) to (\S+); "
    leads = re.findall(pattern, said.replace("\N{MINUS SIGN}", "-"))
    assert len(leads) == len(every)
    for lead, one in zip(leads, every, strict=True):
        ends = one.digits, one.digits_low, one.digits_high, -one.nll, -one.nll_high, -one.nll_low
        assert [float(number) for number in lead] == pytest.approx(ends, rel=0.06, abs=0.06)
    assert "Of one network of the same FLOPs, 1.6 × as wide the lowest rate" in said
    assert "for other seeds and new images" in said


def fail(*asked: object) -> float:
    raise AssertionError("all of it is there")


def test_the_command_says_who_wins_and_never_that_they_are_the_same() -> None:
    budget = Budget(CONFIG, seeds=2, factors=(0.3, 1.0))
    all_drawn(budget, wide_skill=1.6)
    done = call(
        "--network",
        "mlp",
        "--members",
        "2",
        "--epochs",
        "1",
        "--batch-size",
        "512",
        "--devices",
        "1",
        "--seeds",
        "2",
        "--rates",
        "0.3,1",
    )
    assert done.exit_code == 0
    found = json.loads(done.stdout.splitlines()[-1])
    assert (found["budget"], found["state"]) == (budget.id, "finished")
    ensemble, flops, seconds = found["competitors"]
    assert (ensemble["width"], flops["width"], seconds["width"]) == (0, WIDTH, 250)
    assert flops["flops"] == pytest.approx(ensemble["flops"], rel=0.01)
    assert ensemble["ensemble_ahead"] is None
    assert flops["tried"][1]["validation_nll"] is None, "it diverged at the higher rate"
    assert flops["ensemble_ahead"]["over"] == "seeds and images"
    assert "the ensemble wins by accuracy; no difference is shown in the other" in done.stderr
    assert "That no difference is shown does not mean that they are the same." in done.stderr
    assert "on the validation images with the first seed" in done.stderr


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (["--members", "1"], "there is no ensemble to compare"),
        (["--network", "logistic"], "Logistic regression cannot be made wider"),
        (["--rates", "0.3,x"], "give factors of the learning rate, such as 0.3,1,2"),
        (["--rates", "0"], "each above 0"),
        (["--rates", "1000"], "learning_rate is 100: it has to be a number from"),
        (["--validation", "0"], "rates and epochs are chosen on images held out"),
        (["--seeds", "0"], "seeds is 0: it has to be from 1 to 50"),
    ],
)
def test_what_cannot_be_compared_is_said_in_a_sentence(said: list[str], sentence: str) -> None:
    done = call(*said)
    assert done.exit_code == 2
    assert sentence in done.stderr


def test_settings_of_its_own_and_rates_that_all_diverge_are_said() -> None:
    with pytest.raises(ConfigError, match="width is set by the comparison itself"):
        Budget(replace(CONFIG, width=20))
    budget = Budget(CONFIG, seeds=1, factors=(1.0,))
    drawn(budget, "seconds", 250, 1.0, 0, 2.0)
    drawn(budget, "ensemble", 0, 1.0, 0, 0.0)
    with pytest.raises(RunError, match="diverged at every rate: try lower ones"):
        BudgetWorker(budget, fail, lambda line: None, fail).train_competitors()  # type: ignore[arg-type]
