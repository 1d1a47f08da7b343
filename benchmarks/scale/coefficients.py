"""Costs per group, member, example and byte, from what was measured, by least squares."""

import json
from typing import Any

import numpy as np
from scipy.optimize import nnls

from benchmarks.scale import written

CLASSES, FLOAT = written.CLASSES, 4


def fitted(rows: list[list[float]], costs: list[float]) -> tuple[list[float], float]:
    """What each column costs, none less than nothing, and the median relative error.

    Errors count relative to what was seen: the small sizes have as much to say as the large.

    Args:
      rows: of each measurement how much of each there was.
      costs: what it took.
    """
    weights = 1 / np.array(costs)
    coefficients, _ = nnls(np.array(rows) * weights[:, None], np.ones(len(costs)))
    errors = np.abs(np.array(rows) @ coefficients * weights - 1)
    return [float(coefficient) for coefficient in coefficients], float(np.median(errors))


def of_merges(merges: list[dict[str, Any]]) -> dict[str, float]:
    """Seconds and memory of merging an epoch of G groups with M members in all."""
    rows = [
        [
            1.0,
            merge["groups"],
            merge["members"] * merge["examples"] * CLASSES * FLOAT / 1e6,
            merge["members"] * merge["parameter_bytes"] / 1e6,
        ]
        for merge in merges
    ]
    seconds, error = fitted(rows, [merge["seconds"] for merge in merges])
    held = [[1.0, row[2], row[3] / merge["groups"]] for row, merge in zip(rows, merges, strict=True)]
    large = [n for n, merge in enumerate(merges) if merge["bytes"] > 4e6]  # less is chance
    memory, off = fitted([held[n] for n in large], [merges[n]["bytes"] / 1e6 for n in large])
    return {
        "merge_s": seconds[0],
        "merge_s_per_group": seconds[1],
        "merge_s_per_mb_of_predictions": seconds[2],
        "merge_s_per_mb_of_parameters": seconds[3],
        "merge_error": error,
        "merge_mb": memory[0],
        "merge_mb_per_mb_of_predictions": memory[1],
        "merge_mb_per_mb_of_a_groups_parameters": memory[2],
        "memory_error": off,
    }


def of_looks(looks: list[dict[str, Any]]) -> dict[str, float]:
    """Seconds of a look at G groups that have nothing new."""
    coefficients, error = fitted([[1.0, look["groups"]] for look in looks], [look["seconds"] for look in looks])
    return {"look_s": coefficients[0], "look_s_per_group": coefficients[1], "look_error": error}


def of_lengths(lengths: list[dict[str, Any]]) -> dict[str, float]:
    """Seconds of a merge of one new line, after few lines and after many."""
    by_lines = sorted(lengths, key=lambda length: (length["members"], length["lines"]))
    return {f"new_line_s_after_{length['lines']}_of_{length['members']}": length["seconds"] for length in by_lines}


def of_tasks(groups: list[dict[str, Any]]) -> dict[str, float]:
    """What a task takes before it trains, and what it leaves: the mean over the sizes measured."""

    def mean(values: list[float]) -> float:
        return float(np.mean(values))

    before = ("imports", "packages_and_data", "compile_and_first_steps", "first_checkpoint")
    per = [(group["files"], group["members"]) for group in groups]
    kept = [files["checkpoint_bytes"] / files["checkpoints"] / count for files, count in per]
    return {
        "start_cold_s": mean([sum(group["cold"][name] for name in before) for group in groups]),
        "start_warm_s": mean([sum(group["warm"][name] for name in before) for group in groups]),
        "later_checkpoint_s": mean([group["warm"]["later_checkpoint"] for group in groups]),
        "task_mb": max(group["warm"]["bytes"] for group in groups) / 1e6,
        "status_writes_per_s": max(group["warm"]["status_writes"] / group["warm"]["wall"] for group in groups),
        "entries_of_a_group": mean(
            [
                files["entries"] - files["checkpoint_entries"] - group["epochs"] * 2
                for (files, _), group in zip(per, groups, strict=True)
            ]
        ),
        "entries_of_a_checkpoint": mean([files["checkpoint_entries"] / files["checkpoints"] for files, _ in per]),
        "checkpoint_mb_per_member": mean(kept) / 1e6,
        "compiled_anew_by_a_second": max(group["compiled_by_second"] for group in groups),
    }


def of_lines() -> dict[str, float]:
    """Bytes of a line of the run's history: of itself, and of each member."""
    draw = np.random.default_rng(0)
    few, many = (written.line("steps", 1000, members, draw) for members in (2, 1002))
    short, long = (len(json.dumps(line, default=lambda array: array.tolist()).encode()) for line in (few, many))
    per = (long - short) / 1000
    return {"line_bytes": short - 2 * per, "line_bytes_per_member": per}
