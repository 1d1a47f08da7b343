"""Networks of one's own whose products have many axes, on a jaxlib that cannot fuse them."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import jaxlib
import numpy as np
import pytest

from ensemble import architectures, datasets, runs
from ensemble.config import EnsembleConfig
from ensemble.engine.networks.compiler_options import BROKEN_FUSION_VERSIONS, YNN_FUSION, choose_compiler_options
from ensemble.engine.networks.registry import bind_network
from tests.workers import wait_for_end

REPO = Path(__file__).resolve().parents[2]
# After jax 40412: queries times keys in seven axes, one of them of size 1.
GROUPED = """
from flax import linen as nn


class Grouped(nn.Module):
    classes: int

    @nn.compact
    def __call__(self, x):
        shape = (1, 2, 2, 7, 7, 4)
        draw = nn.initializers.normal(1.0)
        q, k = (x.reshape(-1, *shape) * self.param(name, draw, (1, *shape)) for name in "qk")
        return nn.Dense(self.classes)((q * k).sum(3).reshape(len(x), -1))
"""
NETWORK = "grouped:Grouped"
PLAIN = f"""
{GROUPED}
import jax

network = Grouped(10)
x = jax.random.normal(jax.random.key(0), (64, 28, 28, 1))
print(jax.jit(network.apply)(network.init(jax.random.key(1), x), x).shape)
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("grouped.py").write_text(GROUPED)
    monkeypatch.setenv(architectures.NETWORKS_VARIABLE, NETWORK)
    return NETWORK


@pytest.mark.long
@pytest.mark.usefixtures("two_devices_a_worker")
def test_a_worker_and_whoever_asks_the_members_live(own: str, config: EnsembleConfig) -> None:
    run = runs.launch_run(replace(config, epochs=1, network=own))
    ended = wait_for_end(run)
    assert ended.state == "finished", (run.path / "log.txt").read_text()
    script = (
        "from ensemble import datasets, runs\n"
        f"members = runs.open_members({run.id!r})\n"
        "images = datasets.load('digits').test_images[:64]\n"
        "print(members.predict_probabilities(images).sum())"
    )
    asked = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": str(REPO)}, capture_output=True, text=True
    )
    assert asked.returncode == 0, asked.stderr
    np.testing.assert_allclose(float(asked.stdout), 2 * 64, rtol=1e-5)


@pytest.mark.long
@pytest.mark.skipif(jaxlib.__version__ not in BROKEN_FUSION_VERSIONS, reason="a jaxlib that is whole")
def test_plain_jax_dies_of_it() -> None:
    """Where this fails, this jaxlib needs the option no more."""
    assert subprocess.run([sys.executable, "-c", PLAIN]).returncode < 0


def test_only_networks_of_ones_own_are_compiled_otherwise(own: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shape = datasets.load_dataset("digits").train_images.shape[1:]
    broken = jaxlib.__version__ in BROKEN_FUSION_VERSIONS
    mine = bind_network(own, shape, 10)
    assert choose_compiler_options(mine) == ({YNN_FUSION: ""} if broken else None)
    assert choose_compiler_options(bind_network("cnn", shape, 10)) is None
    monkeypatch.setenv("XLA_FLAGS", f"--{YNN_FUSION}=-reduce")
    assert choose_compiler_options(mine) is None, "a person chose another"
