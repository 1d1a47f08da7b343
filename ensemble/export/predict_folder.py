"""A folder that classifies images without this program: a script, the weights and a README.

The script needs NumPy only if that is enough for the network, else plain Flax.
"""

import ast
import hashlib
import importlib.metadata
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from ensemble.errors import ConfigError, PredictionsError
from ensemble.exchange.checks import images as image_rule
from ensemble.exchange.checks.limits import MOST_SIDE
from ensemble.export.export_format import EnsembleContent, ExportFormat, judge_probabilities
from ensemble.export.folder_replacement import open_atomic_folder
from ensemble.export.model_card import write_model_card
from ensemble.files import image_levels
from ensemble.machine.python_command import build_python_environment
from ensemble.storage.arrays.npz import write_arrays
from ensemble.storage.atomic_files import write_bytes, write_json

HERE = Path(__file__).resolve().parent
NUMPY_NETWORKS = ("cnn", "mlp", "logistic", "lenet5")
FLAX_NETWORKS = ("resnet", "resnet_groupnorm")
_SCRIPT, _MODEL, WEIGHTS, NETWORK = "predict.py", "model.json", "weights.npz", "network.py"
_REQUIREMENTS, README = "requirements.txt", "README.md"
TIMEOUT_S = 3600.0
_OWN_IMPORT = "from ensemble.engine.networks.arithmetic import Arithmetic\n"


def write_predict_folder(content: EnsembleContent, path: Path, replace: bool) -> None:
    """Write the folder as a whole; an existing one keeps the files that have other names."""
    network = str(content.config.network)
    if network not in (*NUMPY_NETWORKS, *FLAX_NETWORKS):
        raise ConfigError(
            f"{network} is a network of your own, which no folder can bring along: take its "
            "weights with --format safetensors, and its code with you."
        )
    with open_atomic_folder(path) as folder:
        _write_folder_files(content, network, folder)


def _write_folder_files(content: EnsembleContent, network: str, folder: Path) -> None:
    by_numpy = network in NUMPY_NETWORKS
    write_bytes(folder / _SCRIPT, build_predict_script(by_numpy).encode())
    write_arrays(folder / WEIGHTS, content.name_arrays())
    with (folder / WEIGHTS).open("rb") as file:
        weights = {"file": WEIGHTS, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}
    write_json(folder / _MODEL, {**content.describe(), "weights": weights})
    packages = ("numpy",) if by_numpy else ("numpy", "jax", "flax")
    lines = [f"{name}=={importlib.metadata.version(name)}" for name in packages]
    write_bytes(folder / _REQUIREMENTS, "\n".join([*lines, ""]).encode())
    if not by_numpy:
        write_bytes(folder / NETWORK, _build_network_source(network).encode())
    write_bytes(folder / README, write_model_card(content, by_numpy).encode())


def build_predict_script(by_numpy: bool) -> str:
    """Return the script with the source of all that it needs, so that it imports no `ensemble`.

    Its rule for images is that of `ensemble serve`: both read and refuse the same images.
    """
    template = HERE / f"predict_with_{'numpy' if by_numpy else 'flax'}.py"
    rule = Path(image_rule.__file__).read_text("utf-8").replace("PredictionsError", "ValueError")
    sources = [
        Path(image_levels.__file__).read_text("utf-8"),
        rule,
        (HERE / "predict_common.py").read_text("utf-8"),
        template.read_text("utf-8"),
    ]
    imports, bodies = list[ast.stmt](), list[str]()
    for source in sources:
        lines, statements = source.splitlines(), ast.parse(source).body
        found = [each for each in statements if isinstance(each, ast.Import | ast.ImportFrom)]
        imports += found
        bodies.append("\n".join(lines[found[-1].end_lineno :]).strip())
        docstring = "\n".join(lines[: statements[0].end_lineno])
    head = f"{docstring}\n\n{_merge_imports(imports)}\n\nMOST_SIDE = {MOST_SIDE}\n"
    return head + "\n\n\n".join(bodies) + "\n"


def _merge_imports(statements: list[ast.stmt]) -> str:
    plain, names = set[str](), defaultdict[str, set[str]](set)
    for statement in statements:
        if isinstance(statement, ast.ImportFrom):
            names[statement.module or ""].update(alias.name for alias in statement.names)
        else:
            plain.add(ast.unparse(statement))
    lines = sorted(plain)
    lines += [f"from {module} import {', '.join(sorted(names[module]))}" for module in sorted(names)]
    groups = defaultdict[bool, list[str]](list)
    for line in lines:
        package = line.split()[1].partition(".")[0]
        if package != "ensemble":
            groups[package in sys.stdlib_module_names].append(line)
    return "\n\n".join("\n".join(groups[is_standard]) for is_standard in (True, False))


def _build_network_source(network: str) -> str:
    from ensemble.engine.networks import resnet

    source = Path(resnet.__file__).read_text("utf-8")
    network_code = source[: source.index("\ndef create_resnet(")]
    assert _OWN_IMPORT in network_code
    grouped = network == "resnet_groupnorm"
    return (
        network_code.replace(_OWN_IMPORT, "").rstrip()
        + f'''


def create_network(classes: int, width: int) -> nn.Module:
    """The module; 0 is its own width."""
    return ResNet(classes, width or WIDTH, grouped={grouped})
'''
    )


def _judge_predict_folder(content: EnsembleContent, path: Path) -> tuple[dict[str, float], float | None]:
    with tempfile.TemporaryDirectory() as elsewhere:
        images, answers = Path(elsewhere, "images.npy"), Path(elsewhere, "answers.npy")
        np.save(images, content.images)
        _run_predict_script(path, images, answers)
        probabilities: Any = np.load(answers)
    return judge_probabilities(content, probabilities)


def _run_predict_script(folder: Path, images: Path, answers: Path) -> None:
    """Have the folder's script answer, in an empty working folder, isolated from this program.

    Raises:
      PredictionsError: it could not.
    """
    # No bytecode: those files would contain the path of the folder.
    words = (sys.executable, "-I", "-B", str(folder.resolve() / _SCRIPT), str(images), "--out")
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
        raise PredictionsError(f"{folder / _SCRIPT} was written, and does not run here: {last}")


FORMAT = ExportFormat(
    name="folder",
    title="A folder that classifies",
    gloss="For somebody with Python and nothing else: a script, the weights, and a README.",
    suffix="",
    holds_weights=True,
    write=write_predict_folder,
    judge=_judge_predict_folder,
    takes_own_networks=False,
)
