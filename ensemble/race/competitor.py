"""One competitor of a race: a process that trains when it is asked to, and answers how fast.

A line of JSON on stdin is a request, a line on stdout its answer:

    {"begin": M}                 {"losses": (S, M), "platform": …, "devices": …, "kind": …}
                                 or {"absent": why it cannot have M members}
    {"race": M, "seconds": s}    {"rate": img·member/s of a slice of about s seconds}

It ends when nobody can write to it any more.
"""

import json
import os
import sys
import time
from typing import Any

from ensemble.machine.jax_settings import is_cpu_only, prepare_jax
from ensemble.race.settings import RaceConfig
from ensemble.race.training_loops import TrainingLoop, create_training_loop

MAX_CPU_DEVICES = 8  # for the HOWTO's loop, one a member


def run_competitor(name: str, config: RaceConfig) -> None:
    """Answer every request on stdin; `name` is one of `settings.COMPETITORS`."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # What others print is no answer.
    prepare_competitor(name, config)
    loop, steps = create_training_loop(name, config), dict[int, int]()
    for line in sys.stdin:
        request = json.loads(line)
        if "begin" in request:
            losses = loop.compile_and_check(request["begin"])
            answer = {"absent": losses} if isinstance(losses, str) else {"losses": losses.tolist()}
            answers.write(json.dumps(answer | read_competitor_devices(loop)) + "\n")
        else:
            members, seconds = request["race"], request["seconds"]
            done, took = time_training_slice(loop, members, steps.get(members), seconds)
            steps[members] = max(1, round(done * seconds / took))
            rate = done * config.batch_size * members / took
            answers.write(json.dumps({"rate": rate}) + "\n")


def prepare_competitor(name: str, config: RaceConfig) -> None:
    """Set what JAX needs, before it starts."""
    devices = min(config.members[-1], MAX_CPU_DEVICES)
    if is_cpu_only() and name in ("howto", "one_by_one"):
        os.environ["JAX_NUM_CPU_DEVICES"] = str(devices if name == "howto" else 1)
    flags = os.environ.get("XLA_FLAGS")
    prepare_jax()
    # Several processes share an accelerator for once: none of them may take all its memory.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    if name == "howto":
        from ensemble.race.howto import THREADS_PER_DEVICE

        # As people run it: no flags of ours. But without a larger pool its `pmean` starves,
        # and after 40 s XLA ends the process.
        os.environ.pop("XLA_FLAGS", None)
        os.environ.update({"XLA_FLAGS": flags} if flags else {})
        os.environ.setdefault("NPROC", str(max(16, THREADS_PER_DEVICE * min(config.members[-1], 8))))


def read_competitor_devices(loop: TrainingLoop) -> dict[str, Any]:
    """The devices that it runs on: `platform`, how many `devices`, and their `kind`."""
    import jax

    every = jax.local_devices()
    return {"platform": every[0].platform, "devices": len(every), "kind": every[0].device_kind}


def time_training_slice(loop: TrainingLoop, members: int, steps: int | None, seconds: float) -> tuple[int, float]:
    """Steps done in a slice, and the seconds they took.

    Args:
      loop: which has begun with so many members.
      members: how many.
      steps: how many to do; None where that has to be found first, by ever longer tries.
      seconds: how long it should take.
    """
    tries = [1, 4, 16, 64, 256] if steps is None else []
    for count in tries:
        began = time.perf_counter()
        loop.run_steps(members, count)
        took = time.perf_counter() - began
        steps = max(1, round(count * seconds / took))
        if took > seconds / 5:
            break
    began = time.perf_counter()
    loop.run_steps(members, steps or 1)
    return steps or 1, time.perf_counter() - began
