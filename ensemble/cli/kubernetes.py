"""The commands for Kubernetes: one prints a manifest, one is what its pods run."""

import dataclasses
import os
import re
import secrets
import sys
import time
from collections.abc import Callable
from typing import Any

import click

from ensemble import architectures
from ensemble.cli.options import Command, add_settings_options, build_setting_option
from ensemble.cluster.kubernetes import KubernetesConfig, TrainingSpec
from ensemble.cluster.kubernetes import render_manifest as as_manifest
from ensemble.cluster.kubernetes.training import SUBMISSION_VARIABLE
from ensemble.config import EnsembleConfig
from ensemble.errors import ConfigError
from ensemble.jobs.folders import RUN_ID, RUN_ID_LENGTH

COMPLETION_INDEX_VARIABLE = "JOB_COMPLETION_INDEX"  # which Kubernetes sets, from 0
REQUIRED_FIELD_METAVARS = {
    "name": "NAME",
    "image": "IMAGE",
    "runs_claim": "CLAIM",
    "data_claim": "CLAIM",
}
FIELD_METAVARS = {
    **REQUIRED_FIELD_METAVARS,
    "pull_secret": "SECRET",
    "node_selector": "KEY=VALUE",
    "toleration": "TAINT",
}


def add_kubernetes_options(command: Command) -> Command:
    """Gives a command one option for every field of `KubernetesConfig`."""
    for field in reversed(dataclasses.fields(KubernetesConfig)):
        command = (
            _build_kubernetes_option(field)
            if field.name in FIELD_METAVARS
            else build_setting_option(field)
        )(command)
    return command


def _build_kubernetes_option(field: "dataclasses.Field[Any]") -> Callable[[Command], Command]:
    return click.option(
        "--" + field.name.replace("_", "-"),
        required=field.name in REQUIRED_FIELD_METAVARS,
        default=None,
        multiple=isinstance(field.default, tuple),
        metavar=FIELD_METAVARS[field.name],
        help=field.metadata["help"],
    )


@click.command(name="manifest")
@add_settings_options(EnsembleConfig)
@add_kubernetes_options
@click.option("--run-id", metavar="RUN", help="Id of the run; a new one by default.")
def run_manifest_command(run_id: str | None, **chosen: Any) -> None:
    """Print what trains an ensemble on Kubernetes, and its dashboard, for kubectl apply -f -.

    One pod a group of members, which go on where they were if their node is lost. Nothing is
    started here, and no cluster is asked.
    """
    settings = {name: value for name, value in chosen.items() if value is not None}
    pod_fields = {field.name for field in dataclasses.fields(KubernetesConfig)}
    pods = KubernetesConfig(
        **{name: value for name, value in settings.items() if name in pod_fields}
    )
    config = build_pod_config(
        {name: value for name, value in settings.items() if name not in pod_fields}
    )
    training = TrainingSpec(
        resolve_run_id(run_id, config), config.groups, tuple(format_config_options(config))
    )
    click.echo(as_manifest(pods, training), nl=False)


def resolve_run_id(run_id: str | None, config: EnsembleConfig) -> str:
    """The id that the run is to have, which its pods make it under.

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
@click.argument("run_id", metavar="RUN")
@add_settings_options(EnsembleConfig)
def run_work_pod_command(run_id: str, **chosen: Any) -> None:
    """Be a pod of the Job of `run_manifest_command`: train the group of its completion index."""
    from ensemble.runs.groups import pod

    index = os.environ.get(COMPLETION_INDEX_VARIABLE, "")
    if not re.fullmatch("[0-9]{1,4}", index):
        raise ConfigError(
            f"{COMPLETION_INDEX_VARIABLE} is {index!r:.60}: it has to be the number of a group, "
            "from 0. Kubernetes sets it in the pods of a Job whose completionMode is Indexed, as "
            "manifest prints it."
        )
    config = build_pod_config({name: value for name, value in chosen.items() if value is not None})
    submission = os.environ.get(SUBMISSION_VARIABLE, "")
    sys.exit(pod.execute_pod(resolve_run_id(run_id, config), config, int(index), submission))


def build_pod_config(chosen: dict[str, Any]) -> EnsembleConfig:
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
