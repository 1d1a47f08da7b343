"""The command that trains one network in an ensemble's place, and says what it loses."""

from collections.abc import Callable
from typing import Any

import click

from ensemble import architectures, runs
from ensemble.analysis.members.non_inferiority import NonInferiority
from ensemble.cli.options import build_setting_option
from ensemble.cli.output import exit_with_result, print_line
from ensemble.cli.train import create_checked_run, execute_run_here, summarize_run
from ensemble.config import EnsembleConfig
from ensemble.errors import EnsembleError
from ensemble.planning.distillation import JudgedRun, TeacherComparison, compare_with_teacher, judge_losses
from ensemble.runs.teacher import build_student_config
from ensemble.settings import list_setting_fields
from ensemble.views.evaluated_epoch import evaluate_epoch
from ensemble.views.members import distillation as words

# The teacher says which images, and who it is; two others have shorter names here.
_EXCLUDED_FIELDS = ("dataset", "teacher", "distil_temperature", "distil_alpha")

Command = Callable[..., Any]


def _add_student_options(command: Command) -> Command:
    for field in reversed(list_setting_fields(EnsembleConfig)):
        if field.name not in _EXCLUDED_FIELDS:
            command = build_setting_option(field)(command)
    return command


@click.command(name="distil")
@click.argument("run_id", metavar="RUN")
@click.option(
    "--temperature",
    "distil_temperature",
    type=click.FloatRange(1, 100),
    help="What logits are divided by where the two are compared; 4 by default.",
)
@click.option(
    "--alpha",
    "distil_alpha",
    type=click.FloatRange(0, 1),
    help="Weight of the labels in the loss; RUN has the rest. 0.1 by default.",
)
@click.option(
    "--tag", "tags", metavar="TAG", multiple=True, help="Tag to find and compare the student by; can be repeated."
)
@click.option("--json", is_flag=True, expose_value=False, help="The default; accepted for clarity.")
@_add_student_options
def run_distil_command(run_id: str, tags: tuple[str, ...], **chosen: Any) -> None:
    """Train one network that learns from what the ensemble RUN says of the training images.

    It takes the settings of RUN, with one member, but for those that are given. The last line on
    stdout is one JSON object: what it came to, and what it loses against RUN on the test images.
    """
    changes = {name: value for name, value in chosen.items() if value is not None}
    if architectures.is_custom_network(own := changes.get("network", "")):
        architectures.allow_network(own)  # Whoever types a name here wants its code to run.
    config = build_student_config(runs.find_run(run_id), **changes)
    run = execute_run_here(create_checked_run(config.as_dict(), None, tags))
    result: dict[str, Any] = {**summarize_run(run), "teacher": run_id, "against_teacher": None}
    if run.state == "finished":
        try:
            comparison = _compare_student(run)
        except EnsembleError as error:
            print_line(f"Note: {error}", err=True)
        else:
            for line in _list_comparison_lines(comparison, run.data.noun):
                print_line(line, err=True)
            result["against_teacher"] = serialize_teacher_comparison(comparison)
    exit_with_result(run.state, run.message, result)


def _compare_student(run: runs.Run) -> TeacherComparison:
    """A student beside its teacher, after the epoch that it is shown by.

    Raises:
      EnsembleError: it has no predictions, or cannot be held against its teacher.
    """
    epoch = evaluate_epoch(run)
    return compare_with_teacher(run, epoch.epoch, epoch.measure)


def _list_comparison_lines(comparison: TeacherComparison, noun: str) -> list[str]:
    accuracy, nll = judge_losses(comparison)
    lines = [
        words.describe_teacher_verdict(accuracy, nll),
        words.describe_loss_evidence(accuracy, noun),
        words.describe_loss_evidence(nll, noun),
        words.describe_ece_change(comparison),
        words.describe_ood_change(comparison),
        words.describe_missing_disagreement(comparison, noun),
        words.describe_saving(comparison),
        words.describe_verdict_basis(comparison, noun),
        words.describe_shared_validation(comparison),
    ]
    return [line for line in lines if line]


def serialize_teacher_comparison(comparison: TeacherComparison) -> dict[str, Any]:
    """A student beside its teacher, ready for JSON; docs/take_it_away.md says what each name is."""
    accuracy, nll = judge_losses(comparison)
    return {
        "verdict": words.describe_teacher_verdict(accuracy, nll),
        "images": comparison.gain.n,
        "student": _serialize_judged_run(comparison.student),
        "teacher": _serialize_judged_run(comparison.teacher),
        "losses": {loss.metric: _serialize_loss(loss) for loss in (accuracy, nll)},
        "ece": {
            "student": comparison.ece.ensemble,
            "teacher": comparison.ece.members,
            "low": comparison.ece.low,
            "high": comparison.ece.high,
        },
        "auroc": [{"title": each.title, "student": each.student, "teacher": each.teacher} for each in comparison.ood],
        "disputed": comparison.disputed,
        "same_validation": comparison.same_validation,
    }


def _serialize_judged_run(judged: JudgedRun) -> dict[str, Any]:
    return {
        "run_id": judged.run.id,
        "epoch": judged.epoch,
        "chosen_on": "validation" if judged.on_validation else "last",
        "members": judged.members,
        "accuracy": judged.accuracy,
        "nll": judged.nll,
        "parameters": judged.parameters,
        "flops": judged.flops,
    }


def _serialize_loss(loss: NonInferiority) -> dict[str, Any]:
    return {
        "loss": loss.loss,
        "low": loss.low,
        "high": loss.high,
        "margin": loss.margin,
        "outcome": loss.outcome,
        "examples": loss.examples,
    }
