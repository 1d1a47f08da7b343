"""What a run was trained with: packages, devices and cores."""

import json
from contextlib import suppress
from typing import Any

from ensemble import runs
from ensemble.jobs.folders import read_stored_config
from ensemble.storage.atomic_files import read_json


def list_trained_versions(run: runs.Run) -> list[tuple[str, str]]:
    """The packages that it was trained with, by name; none where it does not say."""
    try:
        packages = read_stored_config(run.path).packages
    except (OSError, ValueError):
        return []
    return [(str(name), str(value)) for name, value in packages.items()] if packages else []


def list_machine_facts(run: runs.Run) -> list[tuple[str, str]]:
    """What it was trained on, as far as the run says: devices and cores, and no names of hosts."""
    paths = [run.path / "devices.json", *sorted((run.path / "groups").glob("*/devices.json"))]
    machines: list[dict[str, Any]] = []
    for path in paths:
        with suppress(OSError, ValueError, json.JSONDecodeError):
            machines.append(read_json(path))
    facts = [("platform", _join_distinct_values(machine.get("platform") for machine in machines))]
    every = [device for machine in machines for device in _list_or_empty(machine.get("devices"))]
    kinds = [device.get("kind") for device in every if isinstance(device, dict)]
    facts.append(("devices", _join_distinct_values(kinds)))
    facts.append(("cores", _join_distinct_values(machine.get("cores") for machine in machines)))
    return [(name, value) for name, value in facts if value]


def _list_or_empty(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _join_distinct_values(values: Any) -> str:
    """The distinct values, in their order; "" where there are none."""
    return ", ".join(dict.fromkeys(str(value) for value in values if value is not None))
