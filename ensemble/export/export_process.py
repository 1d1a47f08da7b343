"""Exports by a process of their own, for programs whose own JAX is to stay as it is.

As member_process.py has it: a notebook may have JAX on an accelerator, or not at all, and a page
does other things meanwhile.
"""

import json
import logging
import subprocess
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ensemble import errors
from ensemble.errors import RunError
from ensemble.export.member_export import ExportedFile, Temperature
from ensemble.jobs.launch import build_worker_environment
from ensemble.jobs.worker_death import format_exit_status
from ensemble.machine.python_command import build_python_command
from ensemble.storage.plain_files import parse_json

PROCESS_MODULE = "ensemble.export.export_process_main"
TIMEOUT_S = 3600.0


def export_in_process(
    run_id: str,
    path: Path,
    format_name: str | None,
    *,
    epoch: int | None = None,
    temperature: Temperature = None,
    replace: bool = False,
) -> ExportedFile:
    """What `export_members` does, in another process.

    Raises:
      EnsembleError: as `export_members`.
    """
    asked = {
        "run_id": run_id,
        "path": str(path.absolute()),
        "format_name": format_name,
        "epoch": epoch,
        "temperature": temperature,
        "replace": replace,
    }
    try:
        done = subprocess.run(
            build_python_command(module=PROCESS_MODULE),
            input=json.dumps(asked).encode(),
            capture_output=True,
            env=build_worker_environment(),
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise RunError(
            f"The export of “{run_id}” took over {TIMEOUT_S / 60:.0f} minutes and was ended: "
            "export it from the command line."
        ) from error
    answer: Any = parse_json(done.stdout) if done.returncode == 0 else None
    if not isinstance(answer, dict):
        written = done.stderr.decode("utf-8", "replace").strip()
        logging.getLogger("ensemble").error("The process of an export ended.\n%s", written)
        last = written.rpartition("\n")[2][:300] or format_exit_status(done.returncode)
        raise RunError(f"The export of “{run_id}” ended unexpectedly ({last}): try again.")
    if "error" in answer:
        kind = getattr(errors, str(answer.get("kind")), RunError)
        raise kind(str(answer["error"]))
    return ExportedFile(**{**answer, "path": path})


def describe_exported_file(exported: ExportedFile) -> dict[str, Any]:
    return {**asdict(exported), "path": str(exported.path)}
