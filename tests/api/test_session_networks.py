"""A network that was typed into a session: its source, with what it uses, in a file of its own."""

import importlib
import linecache
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ensemble
from ensemble.api.session_networks import extract_network_source, name_network
from ensemble.engine.networks.registry import bind_network
from ensemble.errors import ConfigError
from tests.engine.networks import modules

IMPORTS = """
import jax.numpy as jnp
import numpy
from flax import linen as nn
from flax.linen import relu
from jax.nn import tanh as squash
SIZES = (8, 6)
x = numpy.ones(3)
table = numpy.ones(3)
"""
HELPERS = """
def flatten(x):
    return x.reshape(len(x), -1)

class Block(nn.Module):
    size: int

    @nn.compact
    def __call__(self, x):
        return relu(nn.Dense(self.size, dtype=jnp.float32)(x))
"""
NETWORK = """
print("nothing of the rest of a cell")

class Net(nn.Module):
    num_classes: int = 10

    @nn.compact
    def __call__(self, x):
        x = flatten(x)
        for size in SIZES:
            x = squash(Block(size)(x))
        return nn.Dense(self.num_classes)(x)

class Bound(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(4)(flatten(x)) + table

def outer():
    class Inner(nn.Module):
        pass
    return Inner

def make(num_classes):
    return Net(num_classes)
"""


@pytest.fixture
def session() -> dict[str, Any]:
    """The names of a session of three cells, which Python has the lines of."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate((IMPORTS, HELPERS, NETWORK)):
        file = f"<cell {number} of a test>"
        linecache.cache[file] = (len(cell), None, cell.splitlines(keepends=True), file)
        exec(compile(cell, file, "exec"), namespace)
    return namespace


@pytest.mark.parametrize("factory", ["Net", "make"])
def test_it_stands_on_its_own_and_is_the_same_network(
    factory: str, session: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ENSEMBLE_NETWORKS", "")
    monkeypatch.setattr(sys, "path", list(sys.path))
    name = name_network(session[factory])
    assert name == name_network(session[factory]), "the same source has the same name"
    (file,) = Path("session_networks").iterdir()
    text = file.read_text("utf-8")
    assert "nothing of the rest" not in text
    assert "table" not in text
    importlib.invalidate_caches()
    for module in [module for module in sys.modules if module.startswith("session_networks")]:
        monkeypatch.delitem(sys.modules, module)
    network = bind_network(name, (4, 4, 1), 5)
    sizes = {path: shape.shape for path, shape in network.shapes.items()}
    assert sizes["Block_0/Dense_0/kernel"] == (16, 8)
    assert sizes["Dense_0/kernel"] == (6, 5)


@pytest.mark.parametrize(
    ("factory", "expected"),
    [
        ("Bound", r"uses table, which in this session is an array \(3,\)"),
        ("Inner", "is defined inside something else"),
        ("made", "A network is a class or a function, not a Net: give its class"),
        ("lost", "The source of Net cannot be had from this session"),
    ],
)
def test_what_no_file_can_hold_is_said(factory: str, expected: str, session: dict[str, Any]) -> None:
    session["Inner"], session["made"] = session["outer"](), session["Net"]()
    session["lost"] = session["Net"]
    if factory == "lost":
        linecache.cache.clear()
    with pytest.raises(ConfigError, match=expected):
        name_network(session[factory])


def test_one_of_a_file_keeps_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENSEMBLE_NETWORKS", "")
    assert name_network(modules.Plain) == f"{modules.__name__}:Plain"


def test_a_class_among_the_settings_is_one_sentence(session: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"train it with ensemble.train\(config, network=…\)"):
        ensemble.Config(network=session["Net"])
    assert extract_network_source(session["make"]).count("class Net") == 1


NOTEBOOK = """
import sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for cell in (
    "from flax import linen as nn\\nimport ensemble",
    '''class Net(nn.Module):
    num_classes: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.num_classes)(x.reshape(len(x), -1))''',
    "%precision 2\\nconfig = ensemble.Config(members=2, epochs=1, batch_size=500)",
    "run = ensemble.train(config, network=Net, progress=False)",
    "print(run.state, run.config.network, (run.path / 'network.py').exists())",
):
    shell.run_cell(cell).raise_error()
"""


@pytest.mark.long
def test_a_cell_of_a_notebook_is_trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENSEMBLE_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("PYTHONPATH", str(Path(ensemble.__file__).parents[1]))
    done = subprocess.run([sys.executable, "-c", NOTEBOOK], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    state, network, kept = done.stdout.split()[-3:]
    assert (state, kept) == ("finished", "True")
    assert network.startswith("session_networks.Net_")
    assert np.all([path.suffix == ".py" for path in (tmp_path / "session_networks").glob("*.py")])
