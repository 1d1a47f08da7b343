"""The program of a run's members, started by member_process.py: it answers until its input ends."""

import json
import os
import sys
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ensemble.errors import EnsembleError
from ensemble.runs.epoch_choice import select_default_epoch
from ensemble.runs.members import Members, list_member_epochs, open_members, select_members
from ensemble.runs.store import find_run


def main() -> None:
    """Open the members that the first line names, then say what they make of images."""
    # A network of a person's own may print: what it writes goes where errors go.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    requests = sys.stdin.buffer
    try:
        _serve_members(requests, answers)
    except EnsembleError as error:
        _send_answer(answers, {"error": str(error), "kind": type(error).__name__})
    except BrokenPipeError:  # Whoever asked has gone.
        os._exit(0)


def _serve_members(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Answer each request with probabilities, float32 (M, N, C), in its bytes.

    Args:
      requests: a line that says whose members, then a line with a shape and uint8 images of it,
        again and again.
      answers: a line for each, then the bytes.

    Raises:
      EnsembleError: as `_open_chosen_members`, or a probability is no number.
    """
    asked = json.loads(requests.readline())
    members, numbers = _open_chosen_members(asked["run_id"], asked["epoch"], asked["members"])
    classes = members.network.classes
    _send_answer(answers, {"epoch": members.epoch, "members": numbers, "classes": classes})
    while line := requests.readline():
        images = np.empty(json.loads(line)["shape"], np.uint8)
        if _read_into_array(requests, images) < images.nbytes:
            return  # Whoever asked has gone.
        _send_answer(answers, {}, members.predict_probabilities(images))


def _open_chosen_members(run_id: str, epoch: int | None, numbers: list[int] | None) -> tuple[Members, list[int]]:
    """The members of these numbers, from 0, at an epoch, and the numbers.

    Args:
      run_id: whose.
      epoch: one of `list_member_epochs`; None is that of `select_default_epoch`.
      numbers: which; None is all that had not diverged by then.

    Raises:
      EnsembleError: as `open_members`.
      RunError: one of them had diverged by then.
    """
    run = find_run(run_id)
    if epoch is None and (epochs := list_member_epochs(run_id)):
        epoch = select_default_epoch(run, epochs)
    members = open_members(run_id, epoch)
    if numbers is None:
        return members, list(run.remaining_members(members.epoch))
    return select_members(run, members, numbers), numbers


def _read_into_array(file: IO[bytes], array: NDArray[np.uint8]) -> int:
    """Fill an array from a file; how many bytes there were."""
    view, done = array.reshape(-1).data, 0
    while done < len(view):
        piece = file.read(min(len(view) - done, 2**20))
        if not piece:
            break
        view[done : done + len(piece)] = piece
        done += len(piece)
    return done


def _send_answer(answers: IO[bytes], message: dict[str, Any], array: NDArray[np.float32] | None = None) -> None:
    """A line of JSON, and an array's bytes behind it."""
    answers.write(json.dumps(message).encode() + b"\n")
    if array is not None:
        answers.write(np.ascontiguousarray(array, "<f4").tobytes())
    answers.flush()


if __name__ == "__main__":
    main()
