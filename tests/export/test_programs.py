"""An ensemble as one program: images in, probabilities out, run by others than us."""

import json
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

from ensemble import datasets, runs
from ensemble.analysis.quality.temperature_scaling import apply_temperature, fit_temperature
from ensemble.architectures import NETWORKS_VARIABLE
from ensemble.datasets.partition.split import select_validation_indices
from ensemble.errors import ConfigError, RunError
from ensemble.export import EXPORT_FORMATS, export_members
from ensemble.export.predict_folder import FLAX_NETWORKS, NUMPY_NETWORKS
from ensemble.export.programs import ensemble_program
from ensemble.extras import EXPORT, describe_missing_packages
from tests.conftest import variant
from tests.engine.networks import modules
from tests.export.drawn import create_drawn_run
from tests.export.elsewhere import assert_no_trace, call_export, run_elsewhere

BUILT_IN = (*NUMPY_NETWORKS, *FLAX_NETWORKS)
# Layers of every kind, and other collections of Flax's; what is deeper is written alike.
QUICK = ("logistic", "mlp", "lenet5", "Careful")
WIDTHS = {"resnet": 4, "resnet_groupnorm": 8}
FILE, IMAGES, ANSWERS = "program", "images.npy", "answers.npz"

# Three batches of different sizes, one of them of a single image.
BATCHES = """
import importlib.util, sys
import numpy as np
assert importlib.util.find_spec("ensemble") is None
images = np.load(sys.argv[2])
batches = [images[:1], images[1:130], images[130:]]
"""
RUN_ONNX = (
    BATCHES
    + """
import onnxruntime
session = onnxruntime.InferenceSession(sys.argv[1])
assert [(one.name, one.type) for one in session.get_inputs()] == [("images", "tensor(uint8)")]
answers = [session.run(["probabilities", "average"], {"images": one}) for one in batches]
assert not {"jax", "flax", "ensemble"} & set(sys.modules)
"""
)
RUN_STABLEHLO = (
    BATCHES
    + """
from jax import export
program = export.deserialize(bytearray(open(sys.argv[1], "rb").read()))
assert program.platforms == ("cpu", "cuda", "tpu"), program.platforms
answers = [program.call(one) for one in batches]
answers = [(one["probabilities"], one["average"]) for one in answers]
assert not {"flax", "ensemble"} & set(sys.modules)
"""
)
SAVE = """
each, averages = zip(*answers)
np.savez(sys.argv[3], probabilities=np.concatenate(each, 1), average=np.concatenate(averages))
"""


def ask_elsewhere(format_name: str, file: Path) -> tuple[np.ndarray, np.ndarray]:
    """What the file makes of digits' test images, in a program that does not know ours."""
    folder = file.parent
    np.save(folder / IMAGES, datasets.load_dataset("digits").test_images)
    program = (RUN_ONNX if format_name == "onnx" else RUN_STABLEHLO) + SAVE
    words = ["-c", program, *(str(folder / name) for name in (file.name, IMAGES, ANSWERS))]
    run_elsewhere(words, folder / "elsewhere")
    with np.load(folder / ANSWERS) as answers:
        return answers["probabilities"], answers["average"]


@pytest.mark.parametrize(
    ("format_name", "network"),
    [
        *(("onnx", network) for network in QUICK),
        ("stablehlo", "Careful"),
        *(variant("onnx", network) for network in BUILT_IN if network not in QUICK),
        *(variant("stablehlo", network) for network in BUILT_IN),
    ],
)
def test_a_program_says_what_the_members_say(
    format_name: str, network: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if network not in BUILT_IN:
        network = f"{modules.__name__}:{network}"
        monkeypatch.setenv(NETWORKS_VARIABLE, network)
    run = create_drawn_run(network, width=WIDTHS.get(network, 0))
    file = tmp_path / FILE
    said = call_export(run.id, str(file), "--with-members", "--format", format_name)
    probabilities, average = ask_elsewhere(format_name, file)
    recorded = runs.read_run_predictions(run.id, 2)
    np.testing.assert_allclose(probabilities, recorded, atol=1e-5, rtol=0)
    np.testing.assert_allclose(average, recorded.mean(axis=0), atol=1e-5, rtol=0)
    assert said["difference"] < 1e-5
    assert said["figures"] == pytest.approx(said["run_figures"], abs=1e-5)
    right = average.argmax(axis=1) == datasets.load_dataset("digits").test_labels
    assert said["figures"]["accuracy"] == pytest.approx(right.mean())
    assert said["temperature"] is None
    assert said["bytes"] == file.stat().st_size
    assert_no_trace(file.read_bytes().replace(modules.__name__.encode(), b""))


def test_a_graph_says_what_it_is(tmp_path: Path) -> None:
    run = create_drawn_run("logistic")
    export_members(run.id, tmp_path / FILE, "onnx", temperature=1.5)
    model = onnx.load(tmp_path / FILE)
    onnx.checker.check_model(model, full_check=True)
    known = {one.key: one.value for one in model.metadata_props}
    assert json.loads(known["class_names"]) == list("0123456789")
    assert (known["network"], known["dataset"], known["run"]) == ("logistic", "digits", run.id)
    assert (known["members"], known["temperature"]) == ("2", "1.5")
    assert "the division by 255 is inside" in known["preparation"]
    shapes = {
        edge.name: [one.dim_param or one.dim_value for one in edge.type.tensor_type.shape.dim]
        for edge in (*model.graph.input, *model.graph.output)
    }
    assert shapes == {"images": ["batch", 28, 28, 1], "probabilities": [2, "batch", 10], "average": ["batch", 10]}
    # Its figures are those of what it answers, at its temperature.
    recorded, labels = runs.read_run_predictions(run.id, 2), runs.load_test_set(run).labels
    tempered = apply_temperature(recorded.mean(axis=0), 1.5)
    nll = -np.log(tempered[np.arange(len(labels)), labels]).mean()
    assert json.loads(known["figures"])["nll"] == pytest.approx(nll, abs=1e-6)


@pytest.mark.long_cases
@pytest.mark.parametrize("format_name", ["onnx", "stablehlo"])
def test_a_temperature_is_of_the_average_alone(format_name: str, tmp_path: Path) -> None:
    run = create_drawn_run("logistic", members=3, validation=0.3)
    recorded, there = runs.read_run_predictions(run.id, 2), datasets.load_dataset("digits")
    held = select_validation_indices(run.config, there)
    fitted = fit_temperature(runs.read_validation_predictions(run.id, 2).mean(axis=0), there.train_labels[held])
    for word, temperature in (("0.25", 0.25), ("3", 3.0), ("fitted", fitted)):
        file = tmp_path / FILE
        words = ["--with-members", "--format", format_name, "--force", "--temperature", word]
        said = call_export(run.id, str(file), *words)
        assert said["temperature"] == pytest.approx(temperature, rel=1e-6)
        assert said["figures"] == pytest.approx(said["run_figures"], abs=1e-5)
        probabilities, average = ask_elsewhere(format_name, file)
        np.testing.assert_allclose(probabilities, recorded, atol=1e-5, rtol=0)
        expected = apply_temperature(recorded.mean(axis=0), temperature)
        np.testing.assert_allclose(average, expected, atol=1e-5, rtol=0)
    assert fitted != pytest.approx(1, abs=0.01), "a temperature that changes nothing"


def test_a_temperature_that_cannot_be_is_refused(tmp_path: Path) -> None:
    run = create_drawn_run("logistic")
    for temperature in (0, -1.0, 17, float("nan"), "hot"):
        with pytest.raises(ConfigError, match=r"a number from 0\.0625 to 16, or “fitted”"):
            export_members(run.id, tmp_path / FILE, "onnx", temperature=temperature)
    with pytest.raises(ConfigError, match="npz holds no averaged probabilities"):
        export_members(run.id, tmp_path / FILE, "npz", temperature=2.0)
    with pytest.raises(RunError, match="no predictions of validation images to fit"):
        export_members(run.id, tmp_path / FILE, "onnx", temperature="fitted")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "package"), [("onnx", "onnx"), ("onnx", "onnxruntime"), ("tensorboard", "tensorboardX")]
)
def test_a_package_that_is_missing_is_named_with_what_installs_it(
    name: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = create_drawn_run("logistic")
    monkeypatch.setitem(sys.modules, package, None)  # as if it were not installed
    with pytest.raises(ConfigError) as refused:
        export_members(run.id, tmp_path / FILE, name)
    assert str(refused.value) == (
        f"{name} takes the package {package}, which is not installed here: pip install {package} (the extra “export”)."
    )
    assert not list(tmp_path.iterdir())
    for other in EXPORT_FORMATS[name].packages:
        monkeypatch.setitem(sys.modules, other, None)
    packages = EXPORT_FORMATS[name].packages
    several = describe_missing_packages(name, packages, EXPORT)
    assert several.endswith(f"pip install {' '.join(packages)} (the extra “export”)")
    needing = {one.name for one in EXPORT_FORMATS.values() if package in one.packages}
    assert needing == {name}


def test_members_that_fit_into_no_such_file_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = create_drawn_run("logistic")
    monkeypatch.setattr(ensemble_program, "MAX_WEIGHT_BYTES", 2 * 7850 * 4 - 1)
    for name in ("onnx", "stablehlo"):
        with pytest.raises(ConfigError, match=r"GiB, and such a file holds 2: .* safetensors\."):
            export_members(run.id, tmp_path / FILE, name)
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(ensemble_program, "MAX_WEIGHT_BYTES", 2 * 7850 * 4)
    export_members(run.id, tmp_path / FILE, "stablehlo")
