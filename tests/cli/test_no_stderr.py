"""Progress is for whoever watches: a training goes on where nobody does any more."""

import subprocess
import sys
from contextlib import suppress

import pytest

from ensemble.cli.output import exit_with_result
from ensemble.cli.progress_line import ProgressLine
from ensemble.runs import Status

# The last file that it opens would have number 2, which compiled code writes its complaints into.
PROGRAM = """
import os
from ensemble.cli.program import main
main(["data", "list"], standalone_mode=False)
print(*(os.readlink(f'/proc/self/fd/{one}') for one in (0, 2)))
"""


@pytest.mark.parametrize("there", [True, False], ids=["full", "closed"])
def test_progress_that_cannot_be_shown_ends_nothing(
    there: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    # What could not be written is tried again when it is closed.
    with suppress(OSError), open("/dev/full", "w", buffering=1) as full:
        monkeypatch.setattr(sys, "stderr", full if there else None)
        with ProgressLine("run") as line:
            line.show_run(Status(state="finished"))
        with pytest.raises(SystemExit) as ended:
            exit_with_result("finished", "A word.", {"state": "finished"})
        monkeypatch.undo()
    assert ended.value.code == 0
    assert capsys.readouterr().out == '{"state": "finished"}\n'


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_no_file_gets_the_number_of_a_stream_that_is_closed() -> None:
    command = [sys.executable, "-c", PROGRAM]
    shell = ["sh", "-c", 'exec "$@" 0<&- 2>&-', "sh", *command]
    said = subprocess.run(shell, stdout=subprocess.PIPE, text=True, check=True).stdout
    assert said.splitlines()[-1] == "/dev/null /dev/null"
