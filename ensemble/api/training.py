"""Training from Python: as the page does it, in a process of its own."""

import shutil
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from ensemble import datasets, runs
from ensemble.api.run import Run
from ensemble.api.run_progress import Progress, wait_for_run
from ensemble.api.session_networks import find_session_file, name_network
from ensemble.config import EnsembleConfig
from ensemble.datasets.partition.batch_size import check_batch_setting
from ensemble.errors import ConfigError
from ensemble.jobs.network_probe import ask_own_network
from ensemble.machine.run_estimate import find_memory_excess
from ensemble.runs.annotations.names import normalize_run_name
from ensemble.runs.start_weights import load_start_weights
from ensemble.runs.teacher import find_teacher
from ensemble.wording.runs import networks as networks_words

_NETWORK_COPY = "network.py"  # in a run's folder


def train(
    config: EnsembleConfig | None = None,
    *,
    name: str = "",
    progress: Progress | bool = True,
    start_from: str | Path | Mapping[str, Any] | None = None,
    network: Any = None,
) -> Run:
    """Train an ensemble and wait for it; the run is on the screens as well meanwhile.

    A process of its own trains, so that what this one does with JAX, or a notebook whose kernel
    dies, is nothing to the run. Interrupt it (Ctrl-C, or Interrupt of a notebook) and it stops at
    a checkpoint: what comes back is in state "stopped", and `Run.resume` goes on to the same
    bits. In a loop look at `Run.state`. A run that diverged comes back too, and says so.

    Args:
      config: the settings; None takes every default.
      name: what to call the run.
      progress: called with each new `ensemble.runs.Status`; True prints a line an epoch, False
        nothing. What it raises comes out of here, and the run goes on.
      start_from: weights to start from: an .npz or .safetensors file, or arrays by the names of
        the network's own (nested or as `Conv_0/kernel`); (M, …) for a set for each member, or one
        set for all. What is not among them is drawn as usual; that, and what else was made of
        them, is a warning.
      network: a network of one's own in place of the settings': the class of a Flax module, or a
        function that makes one. One that was defined in this session (a notebook's cell, a script)
        is written to a file in `session_networks/` of the working folder, and lies with the run.

    Raises:
      ConfigError: a network of one's own, or the weights, do not fit, a batch is more than the
        training images, or this machine has not the memory; no run is made.
      NotPreparedError: the dataset has not been fetched; no run is made.
      RunError: the run could not be made, or failed, or the teacher that the settings name cannot
        teach; the message says what to do.
    """
    config = EnsembleConfig() if config is None else config
    if network is not None:
        config = replace(config, network=name_network(network), width=0)
    if not datasets.is_dataset_prepared(config.dataset):
        datasets.load_dataset(config.dataset)  # says what to do
    check_batch_setting(config)
    if config.teacher:
        find_teacher(config)
    name = normalize_run_name(name)
    own = ask_own_network(config)
    for note in (*own.notes, *own.advice):
        warnings.warn(note, stacklevel=2)
    if excess := find_memory_excess(config, own.cost):
        raise ConfigError(networks_words.describe_memory_excess(*excess))
    start = None if start_from is None else load_start_weights(start_from, config)
    for note in start.notes if start else ():
        warnings.warn(note, stacklevel=2)
    run = runs.launch_run(config, start=start)
    if (source := find_session_file(str(config.network))) and source.exists():
        with suppress(OSError):  # it is there for people: what trains it is the one it came from
            shutil.copyfile(source, run.path / _NETWORK_COPY)
    if name:
        runs.rename_run(run.id, name)
    wait_for_run(run.id, progress)
    return Run(run.id)
