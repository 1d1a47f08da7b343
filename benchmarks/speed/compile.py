"""What a worker tells XLA's compiler on a CPU: python -m benchmarks.speed.compile

Processor seconds of compiling the first parameters and the training step, and of ten steps, as a
worker asks for it, with loops unrolled as well, and with XLA's own emitters and level; and how far
apart the last losses are.
"""

import argparse
import json
import os
import subprocess
import sys
import time

from benchmarks import common

VARIANTS, ROUNDS = ("xla", "unrolled", "worker"), 3
LEVEL, OPTIONS = "xla_backend_optimization_level", "xla_backend_extra_options"


def measured(variant: str) -> dict[str, float]:
    """The figures of one variant, from a process of its own: XLA reads its flags once."""
    environment = {**os.environ, "JAX_ENABLE_COMPILATION_CACHE": "false"}
    command = [sys.executable, "-m", "benchmarks.speed.compile", variant]
    done = subprocess.run(command, env=environment, cwd=common.ROOT, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def once(variant: str) -> dict[str, float]:
    """Compile, and take ten steps, five times over, in this process."""
    from ensemble import datasets
    from ensemble.config import EnsembleConfig
    from ensemble.machine import jax_settings

    flags = jax_settings.XLA_CPU_FLAGS
    if variant == "unrolled":
        flags[OPTIONS] = flags[OPTIONS].replace(",xla_cpu_disable_loop_unrolling", "")
    if variant == "xla":
        del flags[LEVEL], flags[OPTIONS]
    jax_settings.prepare_jax()
    from ensemble.engine import Trainer

    trainer = Trainer(EnsembleConfig(members=2), datasets.load_dataset("digits"))
    began = time.process_time()
    state, _ = trainer.train(trainer.init_members(), 1, 0, 0)
    compiled = time.process_time() - began
    steps = []
    for _ in range(5):
        began = time.process_time()
        state, figures = trainer.train(state, 1, 0, 10)
        steps.append(time.process_time() - began)
    return {
        "compile_cpu_s": round(compiled, 2),
        "ten_steps_cpu_s": round(min(steps), 2),
        "last_loss": float(figures.loss[0, -1]),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("variant", nargs="?", choices=VARIANTS, help="in this process, without rounds")
    if variant := parser.parse_args().variant:
        print(json.dumps(once(variant)))
        return
    rounds = [{variant: measured(variant) for variant in VARIANTS} for _ in range(ROUNDS)]
    losses = [figures["last_loss"] for turn in rounds for figures in turn.values()]
    common.keep("compile", {"losses_apart": max(losses) - min(losses), "rounds": rounds})


if __name__ == "__main__":
    main()
