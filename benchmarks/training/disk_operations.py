"""How many operations on the disk training waits for, an epoch: what a slow disk makes it wait.

`python -m benchmarks.training.disk_operations` trains digits under strace, and counts what the
thread that trains does to the folder of runs between one epoch's line of the history and the next.
Counted is what a network disk has to answer: to open, write, close, rename, remove, list or look
for a file.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import common

EPOCHS = 12
BLOCKING_CALLS = (
    "open,openat,creat,write,writev,pwrite64,read,pread64,close,fsync,fdatasync,rename,renameat,"
    "renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,stat,lstat,newfstatat,statx,statfs,access,"
    "faccessat2,getdents64,truncate,ftruncate,utimensat,flock"
)
LINE_PATTERN = re.compile(r"(\d+) +(\w+)\((.*)")


def main() -> None:
    """Train, count and print."""
    from ensemble.machine.python_command import build_python_command

    folder = common.isolated_folders()
    with tempfile.TemporaryDirectory() as made:
        trace = Path(made) / "trace.txt"
        words = ("train", "--dataset", "digits", "--network", "mlp", "--width", "16")
        command = build_python_command(*words, "--members", "2", "--epochs", str(EPOCHS))
        traced = [
            "strace",
            "-f",
            "-y",
            "-s",
            "64",
            "-e",
            f"trace={BLOCKING_CALLS}",
            "-o",
            str(trace),
        ]
        ended = subprocess.run([*traced, *command], capture_output=True, text=True)
        if ended.returncode:
            sys.exit(ended.stderr)
        epochs = count_epoch_operations(trace.read_text(errors="replace"), str(folder / "runs"))
    counts = [len(operations) for operations in epochs]
    saved = [any("orbax" in line for line in operations) for operations in epochs]
    quiet = [
        count for count, with_checkpoint in zip(counts, saved, strict=True) if not with_checkpoint
    ]
    full = [count for count, with_checkpoint in zip(counts, saved, strict=True) if with_checkpoint]
    print("Operations on the disk that the training thread waits for, an epoch:")
    print(f"  without a checkpoint: {describe_counts(quiet)}")
    print(f"  with a checkpoint:    {describe_counts(full)}")


def count_epoch_operations(trace: str, runs: str) -> list[list[str]]:
    """The calls of the training thread, by epoch, without the first, which makes what others find.

    Args:
      trace: what strace wrote.
      runs: the folder of runs.
    """
    epochs: list[list[str]] = []
    trainer = ""
    for line in trace.splitlines():
        match = LINE_PATTERN.match(line)
        if not match or runs not in line:
            continue
        thread, call, about = match.groups()
        # Of what is open already the size is known without the disk.
        if call == "newfstatat" and "AT_EMPTY_PATH" in about:
            continue
        ends_epoch = call == "write" and "history.jsonl" in about and r"\"epoch\", " in about
        if ends_epoch:
            trainer = thread
            epochs.append([])
        elif epochs and thread == trainer:
            epochs[-1].append(line)
    return epochs[1:-1]


def describe_counts(counts: list[int]) -> str:
    """How many there are, from the least to the most."""
    if not counts:
        return "no such epoch"
    return f"{min(counts)} to {max(counts)} ({len(counts)} epochs)"


if __name__ == "__main__":
    main()
