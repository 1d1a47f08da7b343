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
from ensemble.jobs.job import STOP_FILE

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
        traced = ["strace", "-f", "-y", "-s", "64", "-e", f"trace={BLOCKING_CALLS}"]
        ended = subprocess.run([*traced, "-o", str(trace), *command], capture_output=True, text=True)
        if ended.returncode:
            sys.exit(ended.stderr)
        trained, writer = count_operations(trace.read_text(errors="replace"), str(folder / "runs"))
    saved = [any("orbax" in line for line in operations) for operations in writer]
    counts = [len(operations) for operations in writer]
    quiet = [count for count, full in zip(counts, saved, strict=True) if not full]
    full = [count for count, full in zip(counts, saved, strict=True) if full]
    print("Operations on the disk, an epoch:")
    print(f"  that training waits for: {trained / EPOCHS:.1f}")
    print(f"  of the threads that write, without a checkpoint: {describe_counts(quiet)}")
    print(f"  of the threads that write, with a checkpoint: {describe_counts(full)}")


def count_operations(trace: str, runs: str) -> tuple[int, list[list[str]]]:
    """How many calls the training thread makes, and those of the thread that writes, by epoch.

    The training thread is the command's first. Counted is what it does from its first look whether
    to stop to the last, which it takes after each call: it runs ahead of what is written. Of the
    other's epochs, which end with a line of the history, neither the first, which makes what others
    find, nor the last.

    Args:
      trace: what strace wrote.
      runs: the folder of runs.
    """
    epochs: list[list[str]] = []
    trainer, trained = trace.split(maxsplit=1)[0], list[str]()
    for line in trace.splitlines():
        match = LINE_PATTERN.match(line)
        if not match or runs not in line:
            continue
        thread, call, about = match.groups()
        # Of what is open already the size is known without the disk.
        if call == "newfstatat" and "AT_EMPTY_PATH" in about:
            continue
        if thread == trainer:
            trained.append(about)
        if call == "write" and "history.jsonl" in about and r"\"epoch\", " in about:
            epochs.append([])
        elif epochs and thread != trainer and "status" not in about.partition(",")[0]:
            epochs[-1].append(line)
    looks = [place for place, about in enumerate(trained) if f'/{STOP_FILE}"' in about]
    return looks[-1] - looks[0], epochs[1:-1]


def describe_counts(counts: list[int]) -> str:
    """How many there are, from the least to the most."""
    if not counts:
        return "no such epoch"
    return f"{min(counts)} to {max(counts)} ({len(counts)} epochs)"


if __name__ == "__main__":
    main()
