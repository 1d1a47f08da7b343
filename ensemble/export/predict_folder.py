"""A folder that classifies, for somebody who has nothing of this program: script, weights, README.

Where NumPy is enough for a network the script takes NumPy alone, else plain Flax.
"""

import importlib.metadata
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from ensemble.errors import ConfigError, PredictionsError
from ensemble.export.export_format import EnsembleContent, ExportFormat, judge_probabilities
from ensemble.export.model_card import write_model_card
from ensemble.machine.python_command import build_python_environment
from ensemble.storage.arrays.npz import write_arrays
from ensemble.storage.atomic_files import write_bytes, write_json

HERE = Path(__file__).resolve().parent
NUMPY_NETWORKS = ("cnn", "mlp", "logistic", "lenet5")
FLAX_NETWORKS = ("resnet", "resnet_groupnorm")
SCRIPT, MODEL, WEIGHTS, NETWORK = "predict.py", "model.json", "weights.npz", "network.py"
REQUIREMENTS, README = "requirements.txt", "README.md"
TIMEOUT_S = 3600.0
OWN_IMPORT = "from ensemble.engine.networks.arithmetic import Arithmetic\n"


def write_predict_folder(content: EnsembleContent, path: Path, replace: bool) -> None:
    """The folder, as a whole; of one that is there the files of these names are replaced."""
    network = str(content.config.network)
    if network not in (*NUMPY_NETWORKS, *FLAX_NETWORKS):
        raise ConfigError(
            f"{network} is a network of your own, which no folder can bring along: take its "
            "weights with --format safetensors, and its code with you."
        )
    partial = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        write_folder_files(content, network, partial)
        path.mkdir(exist_ok=True)
        for file in sorted(partial.iterdir()):
            os.replace(file, path / file.name)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def write_folder_files(content: EnsembleContent, network: str, folder: Path) -> None:
    """Every file, into a folder that is empty."""
    by_numpy = network in NUMPY_NETWORKS
    script = HERE / f"predict_with_{'numpy' if by_numpy else 'flax'}.py"
    write_bytes(folder / SCRIPT, script.read_bytes())
    write_arrays(folder / WEIGHTS, content.name_arrays())
    write_json(folder / MODEL, content.describe())
    packages = ("numpy",) if by_numpy else ("numpy", "jax", "flax")
    lines = [f"{name}=={importlib.metadata.version(name)}" for name in packages]
    write_bytes(folder / REQUIREMENTS, "\n".join([*lines, ""]).encode())
    if not by_numpy:
        write_bytes(folder / NETWORK, build_network_source(network).encode())
    write_bytes(folder / README, write_model_card(content, by_numpy).encode())


def build_network_source(network: str) -> str:
    """The code of a residual network as it stands here, without what is this program's own."""
    from ensemble.engine.networks import resnet

    source = Path(resnet.__file__).read_text("utf-8")
    network_code = source[: source.index("\ndef create_resnet(")]
    assert OWN_IMPORT in network_code
    grouped = network == "resnet_groupnorm"
    return (
        network_code.replace(OWN_IMPORT, "").rstrip()
        + f'''


def create_network(classes: int, width: int) -> nn.Module:
    """The module; 0 is its own width."""
    return ResNet(classes, width or WIDTH, grouped={grouped})
'''
    )


def judge_predict_folder(
    content: EnsembleContent, path: Path
) -> tuple[dict[str, float], float | None]:
    """The figures of what the folder's own script says, in a process that knows nothing else."""
    with tempfile.TemporaryDirectory() as elsewhere:
        images, answers = Path(elsewhere, "images.npy"), Path(elsewhere, "answers.npy")
        np.save(images, content.images)
        run_predict_script(path, images, answers)
        probabilities: Any = np.load(answers)
    return judge_probabilities(content, probabilities)


def run_predict_script(folder: Path, images: Path, answers: Path) -> None:
    """Have the folder's script answer, in an empty working folder, isolated from this program.

    Raises:
      PredictionsError: it could not.
    """
    # No bytecode: what Python keeps of a module beside it names the folder that it lay in.
    words = (sys.executable, "-I", "-B", str(folder.resolve() / SCRIPT), str(images), "--out")
    done = subprocess.run(
        [*words, str(answers)],
        cwd=answers.parent,
        env={**build_python_environment(os.environ), "JAX_PLATFORMS": "cpu"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        timeout=TIMEOUT_S,
        check=False,
    )
    if done.returncode:
        last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2][:300]
        raise PredictionsError(f"{folder / SCRIPT} was written, and does not run here: {last}")


FORMAT = ExportFormat(
    "folder",
    "A folder that classifies",
    "For somebody with Python and nothing else: a script, the weights, and a README.",
    "",
    True,
    write_predict_folder,
    judge_predict_folder,
    takes_own_networks=False,
)
