"""The forms of the engine on a GPU, and PyTorch beside them: python -m benchmarks.speed.gpu

For each form and precision a process of its own: compile time, img·member/s and device memory
for each number of members. Then what PyTorch's `torch.func.vmap` makes of the same, eager and
compiled; then, in the form that was fastest, 16 members on MNIST until the ensemble is right on
99 % of the test images, and 64 members for 10 epochs. Takes about 4 minutes on an H200. `--small`
goes the same way with 2 members and small batches of `digits` on the CPU, in half a minute: it
keeps nothing.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from typing import Any

from benchmarks import common
from benchmarks.speed.jax_loops import BATCH

FORMS, PRECISIONS = ("patches", "grouped", "scan"), ("bfloat16", "float32")
MEMBERS, CALLS, CALL_SECONDS = (1, 4, 16, 64), 3, 0.5
VMAP_MEMBERS = (16,)
LIMIT_SECONDS = 900
TARGET_ACCURACY, MEMBERS_TO_TARGET, EPOCHS_TO_TARGET = 0.99, 16, 8
MOST_MEMBERS, EPOCHS = 64, 10


def settings(dataset: str, members: int, precision: str, **other_settings: Any) -> Any:
    """A run's settings."""
    from ensemble.config import EnsembleConfig

    return EnsembleConfig(dataset=dataset, members=members, precision=precision, **other_settings)


def measured(
    form: str, precision: str, members: list[int], dataset: str, batch_size: int, calls: int
) -> list[dict[str, Any]]:
    """The figures of one form and precision, fewest members first, in this process.

    Device memory is the most that the process has held: it grows with the members.
    """
    import jax

    from ensemble import datasets
    from ensemble.engine import Trainer

    digits, lines = datasets.load_dataset(dataset), []
    for count in members:
        line: dict[str, Any] = {"form": form, "precision": precision, "members": count}
        try:
            config = settings(dataset, count, precision, batch_size=batch_size)
            began = time.perf_counter()
            trainer = Trainer(config, digits, jax.local_devices(), form)
            state, _ = trainer.train(trainer.start(), 1, 0, 1)
            line["compile_s"] = round(time.perf_counter() - began, 2)
            line["img_member_per_s"] = round(speed(trainer, state, calls))
            line["device_memory_mb"] = memory_mb(jax.local_devices()[0])
        except jax.errors.JaxRuntimeError as error:  # Out of memory, above all.
            line["error"] = str(error).splitlines()[0][:200]
        lines.append(line)
        print(line, file=sys.stderr, flush=True)
    return lines


def speed(trainer: Any, state: Any, calls: int) -> float:
    """Images times members per second: the median of so many calls of about a second."""
    steps, count, speeds = trainer.steps_per_epoch, 1, list[float]()
    while len(speeds) < calls:
        began = time.perf_counter()
        state, _ = trainer.train(state, 1, 0, count)
        took = time.perf_counter() - began
        if count == steps or took > CALL_SECONDS / 2:
            speeds.append(count * trainer.config.batch_size * trainer.config.members / took)
        count = max(1, min(steps, int(count * min(8.0, CALL_SECONDS / took))))
    return statistics.median(speeds)


def memory_mb(device: Any) -> int | None:
    """The most memory of the device that this process has held; None where it does not say."""
    stats = device.memory_stats() or {}
    return round(stats["peak_bytes_in_use"] / 2**20) if "peak_bytes_in_use" in stats else None


def whole_run(form: str, precision: str, members: int, dataset: str, epochs: int, target: float) -> dict[str, Any]:
    """Epochs of one run, until its ensemble's accuracy is `target`: seconds, and accuracies."""
    import jax

    from ensemble import datasets
    from ensemble.engine import Trainer

    config = settings(dataset, members, precision, epochs=epochs)
    began = time.perf_counter()
    trainer = Trainer(config, datasets.load_dataset(dataset), jax.local_devices(), form)
    state, lines = trainer.start(), []
    trainer.compile_evaluation(state)
    start_seconds = time.perf_counter() - began
    for epoch in range(1, epochs + 1):
        began = time.perf_counter()
        state, _ = trainer.train(state, epoch, 0, trainer.steps_per_epoch)
        trained = time.perf_counter() - began
        evaluation = trainer.evaluate(state)
        lines.append(
            {
                "training_s": round(trained, 3),
                "test_s": round(time.perf_counter() - began - trained, 3),
                "ensemble_test_accuracy": float(evaluation.ensemble_accuracy),
                "mean_member_test_accuracy": round(float(evaluation.accuracy.mean()), 5),
            }
        )
        print(lines[-1], file=sys.stderr, flush=True)
        if evaluation.ensemble_accuracy >= target:
            break
    return {
        "form": form,
        "precision": precision,
        "members": members,
        "dataset": dataset,
        "target": target,
        "start_s": round(start_seconds, 2),
        "seconds_after_start": round(sum(line["training_s"] + line["test_s"] for line in lines), 2),
        "device_memory_mb": memory_mb(jax.local_devices()[0]),
        "epochs": lines,
    }


def here(tasks: list[list[Any]]) -> list[Any]:
    """Do tasks, each the name of a function and its arguments, in this process."""
    from ensemble.machine.jax_settings import prepare_jax

    prepare_jax()
    return [{"measured": measured, "whole_run": whole_run}[name](*rest) for name, *rest in tasks]


def child(tasks: list[list[Any]]) -> list[Any]:
    """The same in a process of its own, whose memory is counted from nothing."""
    command = [sys.executable, "-m", "benchmarks.speed.gpu", "--tasks", json.dumps(tasks)]
    done = subprocess.run(
        command, cwd=common.ROOT, stdout=subprocess.PIPE, text=True, check=False, timeout=LIMIT_SECONDS
    )
    if done.returncode:
        return [[{"task": task, "error": f"exit status {done.returncode}"}] for task in tasks]
    return list(json.loads(done.stdout.splitlines()[-1]))


def best_form(lines: list[dict[str, Any]], members: int) -> tuple[str, str]:
    """Form and precision that were the fastest with so many members."""
    able = [line for line in lines if line.get("members") == members and "error" not in line]
    fastest = max(able, key=lambda line: line["img_member_per_s"])
    return fastest["form"], fastest["precision"]


def compare(members: list[int], dataset: str, batch_size: int, calls: int, apart: bool) -> list[dict[str, Any]]:
    """All forms in all precisions, in processes apart or in one."""
    tasks = [
        ["measured", form, precision, members, dataset, batch_size, calls] for form in FORMS for precision in PRECISIONS
    ]
    groups = [child([task])[0] for task in tasks] if apart else child(tasks)
    return [line for group in groups for line in group]


def vmap_rivals() -> list[dict[str, Any]]:
    """What `torch.func.vmap` reaches; PyTorch is needed."""
    lines = []
    for members in VMAP_MEMBERS:
        for precision in PRECISIONS:
            for mode in ("eager", "compiled"):
                words = ["benchmarks.speed.torch_vmap", str(members), precision, mode]
                done = subprocess.run(
                    [sys.executable, "-m", *words],
                    cwd=common.ROOT,
                    stdout=subprocess.PIPE,
                    text=True,
                    check=False,
                    timeout=LIMIT_SECONDS,
                )
                if done.returncode == 0:
                    lines.append(json.loads(done.stdout.splitlines()[-1]))
    return lines


def device_names() -> list[str]:
    """The devices of a process like those that measured; JAX is not started in this one."""
    code = "import jax; print(*(one.device_kind for one in jax.local_devices()), sep='\\n')"
    return subprocess.check_output([sys.executable, "-c", code], text=True).split("\n")[:-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="the same way, on the CPU")
    parser.add_argument("--tasks", type=json.loads, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.tasks:
        print(json.dumps(here(args.tasks)))
        return
    common.isolated_folders()
    if args.small:
        os.environ["JAX_PLATFORMS"] = "cpu"
        # Stock convolutions in a compiled loop are slow on a CPU: few images.
        lines = compare([2], "digits", batch_size=8, calls=1, apart=False)
        run = child([["whole_run", *best_form(lines, 2), 2, "digits", 1, 1.0]])[0]
        print(json.dumps({"forms": lines, "run": run}, indent=1))
        return
    lines = compare(list(MEMBERS), "mnist", BATCH, CALLS, apart=True)
    figures: dict[str, Any] = {"devices": device_names(), "forms": lines}
    figures["torch_vmap"] = vmap_rivals()
    for name, members, epochs, target in (
        ("to_target", MEMBERS_TO_TARGET, EPOCHS_TO_TARGET, TARGET_ACCURACY),
        ("of_many", MOST_MEMBERS, EPOCHS, 1.0),
    ):
        task = ["whole_run", *best_form(lines, members), members, "mnist", epochs, target]
        figures[name] = child([task])[0]
    common.keep("gpu", figures)


if __name__ == "__main__":
    main()
