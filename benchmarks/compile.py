"""XLA's level of optimisation on a CPU: python -m benchmarks.compile

Compiling the training step, and ten steps, in processor seconds at XLA's own level 3 and at
level 1, which a worker sets; and whether the last loss is the same to the bit.
"""

import json
import os
import subprocess
import sys
import time

from benchmarks import common

LEVELS, ROUNDS = (3, 1), 3


def measured(level: int) -> dict[str, float | str]:
    """The figures of one level, from a process of its own: XLA reads its flags once."""
    environment = {**os.environ, "XLA_FLAGS": f"--xla_backend_optimization_level={level}"}
    environment["JAX_ENABLE_COMPILATION_CACHE"] = "false"
    command = [sys.executable, "-m", "benchmarks.compile", "once"]
    done = subprocess.run(command, env=environment, cwd=common.ROOT, check=True,
                          capture_output=True, text=True)  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


def once() -> dict[str, float | str]:
    """Compile, and take ten steps, five times over, in this process."""
    from ensemble import data
    from ensemble.config import EnsembleConfig
    from ensemble.runs.environment import prepare_jax

    prepare_jax()
    from ensemble.engine import Trainer

    trainer = Trainer(EnsembleConfig(members=2), data.load("digits"))
    state = trainer.init()
    began = time.process_time()
    state, _ = trainer.train(state, 1, 0, 0)
    compiled = time.process_time() - began
    steps = []
    for _ in range(5):
        began = time.process_time()
        state, figures = trainer.train(state, 1, 0, 10)
        steps.append(time.process_time() - began)
    return {
        "compile_cpu_s": round(compiled, 2),
        "ten_steps_cpu_s": round(min(steps), 2),
        "last_loss": float(figures.loss[0, -1]).hex(),
    }


def main() -> None:
    if "once" in sys.argv:
        print(json.dumps(once()))
        return
    rounds = [{f"level_{level}": measured(level) for level in LEVELS} for _ in range(ROUNDS)]
    losses = {found["last_loss"] for one in rounds for found in one.values()}
    common.keep("compile", {"same_bits": len(losses) == 1, "rounds": rounds})


if __name__ == "__main__":
    main()
