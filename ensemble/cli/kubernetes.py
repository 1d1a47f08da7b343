"""The commands for places that start tasks themselves: one prints what they take, one is a task."""

import dataclasses
import os
import re
import secrets
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import click

from ensemble import architectures
from ensemble.cli.options import Command, add_settings_options, build_setting_option
from ensemble.cluster.array_script import ArrayConfig, render_array_script
from ensemble.cluster.kubernetes import KubernetesConfig, TrainingSpec, render_manifest
from ensemble.cluster.kubernetes.training import SUBMISSION_VARIABLE
from ensemble.cluster.schedulers import ARRAY, EXTERNAL_TARGETS, KUBERNETES
from ensemble.config import CLASSIFICATION, EnsembleConfig
from ensemble.errors import ConfigError
from ensemble.jobs.folders import RUN_ID, RUN_ID_LENGTH
from ensemble.machine.python_command import build_python_command
from ensemble.storage.folders import data_folder, runs_folder

_COMPLETION_INDEX_VARIABLE = "JOB_COMPLETION_INDEX"  # which Kubernetes sets, from 0
_REQUIRED_FIELD_METAVARS = {"name": "NAME", "image": "IMAGE", "runs_claim": "CLAIM", "data_claim": "CLAIM"}
_FIELD_METAVARS = {
    **_REQUIRED_FIELD_METAVARS,
    "pull_secret": "SECRET",
    "node_selector": "KEY=VALUE",
    "toleration": "TAINT",
    "label": "KEY=VALUE",
    "annotation": "KEY=VALUE",
    "priority_class": "CLASS",
    "storage_class": "CLASS",
    "gpu_resource": "RESOURCE",
}


# What can be asked of any of the places, a field an option.
_PLACEMENT_FIELDS = tuple(
    dict.fromkeys(field.name for kind in (KubernetesConfig, ArrayConfig) for field in dataclasses.fields(kind))
)


def _add_array_options(command: Command) -> Command:
    """Gives a command one option for every field of `ArrayConfig` that Kubernetes has not."""
    own = {field.name for field in dataclasses.fields(KubernetesConfig)}
    for field in reversed(dataclasses.fields(ArrayConfig)):
        command = command if field.name in own else build_setting_option(field)(command)
    return command


def _add_kubernetes_options(command: Command) -> Command:
    """Gives a command one option for every field of `KubernetesConfig`."""
    for field in reversed(dataclasses.fields(KubernetesConfig)):
        command = (_build_kubernetes_option(field) if field.name in _FIELD_METAVARS else build_setting_option(field))(
            command
        )
    return command


def _build_kubernetes_option(field: "dataclasses.Field[Any]") -> Callable[[Command], Command]:
    return click.option(
        "--" + field.name.replace("_", "-"),
        default=None,
        multiple=isinstance(field.default, tuple),
        metavar=_FIELD_METAVARS[field.name],
        help=field.metadata["help"],
    )


def _refuse_regressions(command: Command) -> Command:
    """Give a command the options of `train` that choose a regression, hidden, to refuse them with the remedy."""

    def refuse(context: click.Context, option: click.Parameter, value: str | None) -> None:
        if value not in (None, CLASSIFICATION):
            raise click.UsageError(
                "Regressions from tables run on this machine or on Slurm, not on Kubernetes or as an array: use "
                "`ensemble train --task regression --on slurm`, or `--groups` for several processes here."
            )

    for name in ("--task", "--table", "--target"):
        command = click.option(name, hidden=True, expose_value=False, is_eager=True, callback=refuse)(command)
    return command


@click.command(name="manifest")
@click.option(
    "--for",
    "place",
    type=click.Choice([KUBERNETES.name, ARRAY.name]),
    default=KUBERNETES.name,
    help="What starts the tasks: Kubernetes, or any scheduler as an array.",
)
@add_settings_options(EnsembleConfig)
@_add_kubernetes_options
@_add_array_options
@click.option("--run-id", metavar="RUN", help="Id of the run; a new one by default.")
@_refuse_regressions
def run_manifest_command(place: str, run_id: str | None, **chosen: Any) -> None:
    """Print what trains an ensemble on Kubernetes, and its dashboard, for kubectl apply -f -.

    Each group of members is a pod, which continues from its checkpoint if its node is lost. Nothing
    is started here, and no cluster is asked. With --for array it prints a Bash script with one task
    per group, for PBS, LSF, HTCondor and other schedulers.
    """
    settings = {name: value for name, value in chosen.items() if value not in (None, ())}
    placement = {name: settings.pop(name) for name in _PLACEMENT_FIELDS if name in settings}
    _check_placement_options(place, placement)
    config = _build_pod_config(settings)
    run_id = _resolve_run_id(run_id, config)
    words = tuple(format_config_options(config))
    if place == KUBERNETES.name:
        pods = KubernetesConfig(**placement)
        text = render_manifest(pods, TrainingSpec(run_id, config.groups, words, _join_allowed_networks()))
    else:
        command = build_python_command("work-pod", "--for", place, run_id, *words)
        environment = _collect_array_environment()
        text = render_array_script(ArrayConfig(**placement), run_id, config.groups, command, environment)
    click.echo(text, nl=False)


def _check_placement_options(place: str, placement: Mapping[str, Any]) -> None:
    """Check that the place has all options that are given, and that none is missing.

    Raises:
      UsageError: one is missing, or of another place.
    """
    is_kubernetes = place == KUBERNETES.name
    known = [field.name for field in dataclasses.fields(KubernetesConfig if is_kubernetes else ArrayConfig)]
    for name in placement:
        if name not in known:
            raise click.UsageError(f"--{name.replace('_', '-')} does not go with --for {place}: leave it out.")
    for name in _REQUIRED_FIELD_METAVARS if is_kubernetes else ():
        if name not in placement:
            raise click.UsageError(f"Missing option '--{name.replace('_', '-')}'.")


def _join_allowed_networks() -> str:
    """The networks of a person's own whose code pods may import, separated by commas: as here.

    Raises:
      ConfigError: `ensemble.toml` cannot be read.
    """
    return ",".join(sorted(architectures.list_allowed_networks()))


def _collect_array_environment() -> dict[str, str]:
    networks = _join_allowed_networks()
    own = {architectures.NETWORKS_VARIABLE: networks} if networks else {}
    return {**own, "ENSEMBLE_RUNS": str(runs_folder()), "ENSEMBLE_DATA": str(data_folder())}


def _resolve_run_id(run_id: str | None, config: EnsembleConfig) -> str:
    """Return the id of the run, under which its first task creates it.

    Raises:
      ConfigError: what was given is no id of a run.
    """
    if run_id is None:  # As of a run made here, and of no other that is made in the same second.
        return f"{config.dataset}-{time.strftime('%m%d-%H%M%S')}-{secrets.token_hex(2)}"
    if len(run_id) > RUN_ID_LENGTH or not RUN_ID.fullmatch(run_id):
        raise ConfigError(
            f"run-id is {run_id!r:.60}: it has to be two or more words of lower-case letters "
            f"and digits, joined by hyphens, at most {RUN_ID_LENGTH} characters, as "
            "digits-first-try."
        )
    return run_id


@click.command(name="work-pod", hidden=True)
@click.option("--for", "place", type=click.Choice(list(EXTERNAL_TARGETS)), default=KUBERNETES.name)
@click.argument("run_id", metavar="RUN")
@add_settings_options(EnsembleConfig)
def run_work_pod_command(place: str, run_id: str, **chosen: Any) -> None:
    """Be a task of what `run_manifest_command` prints: train the group of its index."""
    from ensemble.runs.groups.array_task import execute_array_task

    index = os.environ.get(_COMPLETION_INDEX_VARIABLE, "")
    if not re.fullmatch("[0-9]{1,4}", index):
        raise ConfigError(
            f"{_COMPLETION_INDEX_VARIABLE} is {index!r:.60}: it has to be the number of a group, "
            "from 0. Kubernetes sets it in the pods of a Job whose completionMode is Indexed, and "
            "so does the script that manifest prints."
        )
    config = _build_pod_config({name: value for name, value in chosen.items() if value is not None})
    submission = os.environ.get(SUBMISSION_VARIABLE, "")
    sys.exit(execute_array_task(_resolve_run_id(run_id, config), config, int(index), submission, place))


def _build_pod_config(chosen: dict[str, Any]) -> EnsembleConfig:
    """The settings that were chosen, and how many groups there are to be.

    Raises:
      ConfigError: one is out of its range; or the groups were left to the machine, and pods run
        on others.
    """
    if architectures.is_custom_network(own := chosen.get("network", "")):
        architectures.allow_network(own)  # Whoever types a name here wants its code to run.
    config = EnsembleConfig(**chosen)
    if not config.groups:
        raise ConfigError(
            "groups is 0, which picks the best number for this machine, but pods run on other "
            "machines: give the number of groups, such as --groups 4."
        )
    return config


def format_config_options(config: EnsembleConfig) -> list[str]:
    """Settings as words of the command line; all of them, whatever other versions begin with."""
    words: list[str] = []
    for name, value in config.as_dict().items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{flag}" if value else f"--no-{flag}")
        else:
            words += [f"--{flag}", str(value)]
    return words
