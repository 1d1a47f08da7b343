"""Setting a run up and launching it: what will run, on what, and about how long."""

import socket
from dataclasses import replace

from ensemble import architectures, datasets, runs
from ensemble.access import Action
from ensemble.config import EnsembleConfig
from ensemble.datasets import DatasetInfo
from ensemble.datasets.entry import Entry
from ensemble.datasets.registry import find
from ensemble.datasets.split import held_out
from ensemble.errors import ConfigError, EnsembleError
from ensemble.jobs.placement import Placement
from ensemble.jobs.queue import comes_first, in_order
from ensemble.machine.arrangement import groups_here
from ensemble.machine.estimate import Past, estimate, members_per_device, memory
from ensemble.machine.network_cost import Cost
from ensemble.machine.this_machine import machine
from ensemble.ui.devices import loader, probe
from ensemble.ui.devices import where as places
from ensemble.ui.frame import room
from ensemble.ui.jobs import launch as launching
from ensemble.ui.jobs import picker
from ensemble.ui.jobs.launch import Plan
from ensemble.ui.shared import loaders, run_panel, settings
from ensemble.ui.sign_in import rights
from ensemble.ui.train import network, where
from ensemble.wording import formats
from ensemble.wording import jobs as jobs_words
from ensemble.wording.runs import networks as networks_words

TOLD_BY = {
    "runs": "as runs before it took",
    "race": "by the speed measured on Devices",
    "guess": "a rough guess, no run to go by yet",
}


def plan() -> Plan[EnsembleConfig]:
    """What Launch will do with the settings as they stand."""
    members = settings.value("members")
    label = f"Launch {formats.count(members, 'member')}"
    if why := rights.why_not(Action.LAUNCH):
        return Plan(None, label, why)
    try:
        config = settings.chosen()
    except ConfigError as error:
        return Plan(None, label, str(error))
    info = datasets.info(config.dataset)
    if not info.prepared:
        return Plan(None, label, f"{info.title} is not here yet: fetch it, or choose Digits.")
    held = held_out(info.train_size, config.validation)
    if config.batch_size > info.train_size - held:
        beside = f" beside the {held:,} of validation" if held else ""
        return Plan(
            None,
            label,
            f"A batch of {config.batch_size:,} is more than the "
            f"{info.train_size - held:,} training images{beside}: choose a smaller "
            "one.",
        )
    found = network.known(config.network, info, config.width)
    reason = network.unfit(config, found)
    if reason or found.cost is None:
        return Plan(None, label, reason)
    if choice := where.choice():
        return on_cluster(config, label, choice)
    return on_machine(config, replace(info, train_size=info.train_size - held), label, found.cost)


def on_machine(
    config: EnsembleConfig, info: DatasetInfo, label: str, cost: Cost
) -> Plan[EnsembleConfig]:
    """The plan in full once it is known which devices there are."""
    found = probe.probe()
    if (here := found.answer) is None:
        unknown = "Looking for devices…" if found.waiting else "The devices could not be asked."
        return Plan(config, label, note=unknown)
    devices = min(config.devices or here.devices, here.devices)
    held = ""
    if here.platform == "cpu":
        needed = memory(config, cost, find(info.name).nbytes_prepared, devices)
        if needed > (there := machine().memory_bytes):
            return Plan(None, label, networks_words.too_much_memory(needed, there))
        held = f" About {networks_words.memory(needed)} of memory."
    guess = estimate(
        config,
        info.train_size,
        platform=here.platform,
        devices=devices,
        cores=here.cores,
        host=socket.gethostname(),
        past=past_runs(info, cost, here.devices),
        raced=raced(config, devices),
        work=cost.flops,
    )
    on = formats.count(devices, "device")
    groups = config.groups or groups_here(config, find(config.dataset).train_size)
    if groups > 1:
        spread = f"in {groups} groups, each with a process and cores of its own"
    else:
        spread = members_per_device(config.members, min(devices, config.members))
    how = TOLD_BY[guess.told_by]
    after = jobs_words.starts_after(comes_first())
    note = f"On {here.said}, {spread}.{held} The time is {how}. {after}".rstrip()
    return Plan(
        config, f"{label} on {on}, about {formats.duration(rounded(guess.seconds))}", note=note
    )


def on_cluster(config: EnsembleConfig, label: str, choice: str) -> Plan[EnsembleConfig]:
    """The plan for a cluster, which is not waited for: how long it takes nobody here knows."""
    try:
        placement = places.fitting_placement(choice)
    except EnsembleError as error:
        return Plan(None, label, str(error))
    groups = config.groups or groups_here(config, find(config.dataset).train_size)
    how = formats.count(groups, "task")
    note = f"Each task trains {share(config.members, groups)}. {places.note(choice)}"
    return Plan(
        config,
        f"{label} in {how} on {places.scheduler_of(choice).title}",
        note=note,
        placement=placement,
    )


def share(members: int, groups: int) -> str:
    """How many members each group has: "4 members", "2 or 3 members"."""
    least, more = divmod(members, groups)
    return f"{least} or {least + 1} members" if more else formats.count(least, "member")


def rounded(seconds: float) -> float:
    """An estimate without figures that it does not hold: to 5 s, 10 s, 1 min, ..."""
    grain = next((g for limit, g in ((60, 5), (300, 10), (3600, 60)) if seconds < limit), 600)
    return max(grain, round(seconds / grain) * grain)


def past_runs(info: DatasetInfo, cost: Cost, all_devices: int) -> list[Past]:
    """What earlier runs tell of this machine's speed, newest first.

    Args:
      info: what the run to be learns.
      cost: what a member of its network takes for that; by as much more as others' images have
        more pixels, of the same network.
      all_devices: how many there are.
    """
    return [
        Past(
            theirs.devices or all_devices,
            run.status.img_member_per_s,
            run.status.host,
            theirs.precision,
            cost.flops * pixels(run.data) / pixels(info),
            (str(theirs.network), theirs.width),
        )
        for run in loaders.all_runs()[:50]
        if (theirs := run.trained)
        and run.status.img_member_per_s
        and run.status.host
        # Groups may have waited for a place, or been trained on other machines than their worker's.
        and not run.in_groups
    ]


def pixels(data: DatasetInfo | Entry) -> int:
    """How many one image has."""
    return data.image_shape[0] * data.image_shape[1]


def raced(config: EnsembleConfig, devices: int) -> float | None:
    """The speed that the last race found for such a run; None where it had other devices."""
    race = loader.latest()
    if race is None or race.devices != devices or not race.agrees(config.precision):
        return None
    return race.rate(config.precision, config.members)


def launch_button(key: str) -> None:
    """The button that starts the run, with the reason beside it where it cannot."""
    launching.launch_button(key, plan, still_asked, launch, lambda planned: room.tell())


def still_asked() -> bool:
    """Whether the devices, or the network, are still to say what they are."""
    return probe.probe().waiting or network.still_asked()


def make_ready(drawn: bool = True) -> None:
    """Have a process ready for the next run; not while a run needs the machine for itself.

    Args:
      drawn: whether the settings are on the page: what will likely be run is compiled then.
    """
    found = probe.probe()
    # Until the devices are known, asking for them keeps a core busy; then the page draws anew.
    if not found.waiting and not in_order():
        here = found.answer
        on_cpu = here is not None and here.platform == "cpu"
        planned = plan() if drawn and on_cpu else None
        # What only follows its groups compiles nothing.
        likely = planned.config if planned and not planned.placement else None
        likely = likely if likely and likely.groups == 1 else None
        # Code of one's own is imported for its run alone: it may change before that.
        own = likely is not None and architectures.is_own(likely.network)
        runs.keep_warm_worker(None if own else likely)


def launch(config: EnsembleConfig, placement: Placement | None = None) -> None:
    """Start `config` in the background and show it."""
    launching.launch(
        run_panel.SCREEN,
        (config, placement),
        lambda: runs.launch(config, placement),
        lambda run: picker.remember(run_panel.SCREEN, run),
    )
