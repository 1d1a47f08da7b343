"""The program of an export, started by export_process.py: one request in, one answer out."""

import json
import os
import sys
from pathlib import Path
from typing import Any

from ensemble.errors import EnsembleError
from ensemble.export.export_process import describe_exported_file
from ensemble.export.member_export import export_members


def main() -> None:
    """Write what the request on stdin asks for, and say on stdout what was written."""
    # A network of a person's own may print: what it writes goes where errors go.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    answer = _answer_request(json.load(sys.stdin.buffer))
    answers.write(json.dumps(answer).encode())
    answers.close()


def _answer_request(asked: dict[str, Any]) -> dict[str, Any]:
    run_id, path, format_name = asked.pop("run_id"), asked.pop("path"), asked.pop("format_name")
    try:
        exported = export_members(run_id, Path(path), format_name, **asked)
    except EnsembleError as error:
        return {"error": str(error), "kind": type(error).__name__}
    return describe_exported_file(exported)


if __name__ == "__main__":
    main()
