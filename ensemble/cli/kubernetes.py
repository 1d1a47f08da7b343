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
from ensemble.cli.options import Command, option, settings_options
from ensemble.cluster.kubernetes import KubernetesConfig, Training
from ensemble.cluster.kubernetes import manifest as as_manifest
from ensemble.cluster.kubernetes.training import SUBMISSION
from ensemble.config import EnsembleConfig
from ensemble.errors import ConfigError
from ensemble.jobs.folders import RUN_ID, RUN_ID_LENGTH

INDEX = "JOB_COMPLETION_INDEX"  # which Kubernetes sets, from 0
NEEDED = {"name": "NAME", "image": "IMAGE", "runs_claim": "CLAIM", "data_claim": "CLAIM"}
WORDS = {**NEEDED, "pull_secret": "SECRET", "node_selector": "KEY=VALUE", "toleration": "TAINT"}


def kubernetes_options(command: Command) -> Command:
    """Gives a command one option for every field of `KubernetesConfig`."""
    for field in reversed(dataclasses.fields(KubernetesConfig)):
        command = (_word(field) if field.name in WORDS else option(field))(command)
    return command


def _word(field: "dataclasses.Field[Any]") -> Callable[[Command], Command]:
    return click.option(
        "--" + field.name.replace("_", "-"),
        required=field.name in NEEDED,
        default=None,
        multiple=isinstance(field.default, tuple),
        metavar=WORDS[field.name],
        help=field.metadata["help"],
    )


@click.command()
@settings_options(EnsembleConfig)
@kubernetes_options
@click.option("--run-id", metavar="RUN", help="What the run is to be called; a new id by default.")
def manifest(run_id: str | None, **chosen: Any) -> None:
    """Print what trains an ensemble on Kubernetes, and its dashboard, for kubectl apply -f -.

    One pod a group of members, which go on where they were if their node is lost. Nothing is
    started here, and no cluster is asked.
    """
    given = {name: value for name, value in chosen.items() if value is not None}
    asked = {field.name for field in dataclasses.fields(KubernetesConfig)}
    pods = KubernetesConfig(**{name: value for name, value in given.items() if name in asked})
    config = settings_of({name: value for name, value in given.items() if name not in asked})
    training = Training(checked_id(run_id, config), config.groups, tuple(as_words(config)))
    click.echo(as_manifest(pods, training), nl=False)


def checked_id(given: str | None, config: EnsembleConfig) -> str:
    """The id that the run is to have, which its pods make it under.

    Raises:
      ConfigError: what was given is no id of a run.
    """
    if given is None:  # As of a run made here, and of no other that is made in the same second.
        return f"{config.dataset}-{time.strftime('%m%d-%H%M%S')}-{secrets.token_hex(2)}"
    if len(given) > RUN_ID_LENGTH or not RUN_ID.fullmatch(given):
        raise ConfigError(
            f"run-id is {given!r:.60}: it has to be two words or more of lower-case letters and "
            f"digits, joined by hyphens, at most {RUN_ID_LENGTH} characters, as digits-first-try."
        )
    return given


@click.command(name="work-pod", hidden=True)
@click.argument("run_id", metavar="RUN")
@settings_options(EnsembleConfig)
def work_pod(run_id: str, **chosen: Any) -> None:
    """Be a pod of the Job that `manifest` prints: train the group of its completion index."""
    from ensemble.runs.groups import pod

    index = os.environ.get(INDEX, "")
    if not re.fullmatch("[0-9]{1,4}", index):
        raise ConfigError(
            f"{INDEX} is {index!r:.60}: it has to be the number of a group, from 0. Kubernetes "
            "sets it in the pods of a Job whose completionMode is Indexed, as manifest prints it."
        )
    config = settings_of({name: value for name, value in chosen.items() if value is not None})
    submission = os.environ.get(SUBMISSION, "")
    sys.exit(pod.work_pod(checked_id(run_id, config), config, int(index), submission))


def settings_of(chosen: dict[str, Any]) -> EnsembleConfig:
    """The settings that were chosen, and how many groups there are to be.

    Raises:
      ConfigError: one is out of its range; or the groups were left to the machine, and pods run
        on others.
    """
    if architectures.is_own(own := chosen.get("network", "")):
        architectures.allow(own)  # Whoever types a name here wants its code to run.
    config = EnsembleConfig(**chosen)
    if not config.groups:
        raise ConfigError(
            "groups is 0, what this machine does best, but pods run on other machines: say how "
            "many groups there are to be, such as --groups 4."
        )
    return config


def as_words(config: EnsembleConfig) -> list[str]:
    """Settings as words of the command line; all of them, whatever other versions begin with."""
    words: list[str] = []
    for name, value in config.as_dict().items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{flag}" if value else f"--no-{flag}")
        else:
            words += [f"--{flag}", str(value)]
    return words
