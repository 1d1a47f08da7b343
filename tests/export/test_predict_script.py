"""The predict.py of an exported folder reads images as `ensemble serve` does; it checks weights."""

import io
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ensemble.errors import PredictionsError
from ensemble.export import predict_with_numpy
from ensemble.export.member_export import collect_content
from ensemble.export.predict_folder import build_predict_script, write_predict_folder
from ensemble.serving.request_images import parse_input_images
from tests.documents import REPO
from tests.export.drawn import create_drawn_run
from tests.export.elsewhere import run_elsewhere

DRAWS = np.random.default_rng(0)
PIXELS = DRAWS.integers(0, 256, (2, 28, 28, 1)).astype(np.uint8)
FLOATS = DRAWS.uniform(0, 255, PIXELS.shape)
# The images, and whether they are to be read: two programs that refuse everything agree as well.
IMAGES = {
    "bytes": (PIXELS, True),
    "whole floats to 255": (PIXELS.astype(np.float64), True),
    "floats to 255": (FLOATS, True),
    "floats to 1": (PIXELS / 255, True),
    "float16 to 1": ((PIXELS / 255).astype(np.float16), True),
    "integers to 255": (PIXELS.astype(np.int64), True),
    "integers to 1": (PIXELS.astype(np.int64) // 128, True),
    "blank bytes": (np.zeros_like(PIXELS), True),
    "blank floats": (np.zeros(PIXELS.shape), True),
    "white floats": (np.ones(PIXELS.shape), True),
    "booleans": (PIXELS > 127, True),
    "16 bits": (PIXELS.astype(np.uint16) * 257, True),
    "12 bits": (PIXELS.astype(np.int32) * 16, True),
    "a little beyond 0 to 1": (FLOATS / 255 * 1.01 - 0.004, True),
    "one far larger": (np.where(np.arange(FLOATS.size).reshape(FLOATS.shape) == 9, 200.5, FLOATS / 255), False),
    "standardized": ((FLOATS - FLOATS.mean()) / FLOATS.std(), False),
    "NaN": (np.where(FLOATS > 250, np.nan, FLOATS), False),
    "infinity": (np.where(FLOATS > 250, np.inf, FLOATS), False),
    "negative": (-FLOATS, False),
    "a negative integer": (PIXELS.astype(np.int16) - 1, False),
    "no images": (PIXELS[:0], False),
    "no channels": (PIXELS[..., 0], True),
    "channels first": (PIXELS.transpose(0, 3, 1, 2), True),
    "one image": (PIXELS[0], False),
    "two channels": (np.repeat(PIXELS, 2, axis=3), False),
    "another size": (PIXELS[:, :27], False),
    "colors": (np.repeat(PIXELS, 3, axis=3), False),
}
READ_IMAGES = """
import json, sys, warnings
import numpy as np
folder, images, pixels = sys.argv[1:]
sys.path.insert(0, folder)
import predict
answers, read = {}, {}
for name, array in np.load(images).items():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            probabilities = predict.predict(array)
            read[name] = predict.prepare_images(array)
            assert np.array_equal(probabilities, predict.predict(read[name]))
            assert caught == [] or caught[0].filename == "<string>"
            answers[name] = sorted({str(each.message) for each in caught})
        except ValueError as error:
            answers[name] = str(error)
assert "ensemble" not in sys.modules
np.savez(pixels, **read)
print(json.dumps(answers))
"""
MISMATCH = (
    "Error: weights.npz does not belong to model.json: it comes from another export, or is "
    "damaged. Export the run again.\n"
)
NETWORKS = pytest.mark.parametrize(("network", "width"), [("logistic", 0), ("resnet", 4)])


def write_folder(folder: Path, network: str, width: int, members: int = 1) -> None:
    run = create_drawn_run(network, members=members, width=width)
    write_predict_folder(collect_content(run.id), folder, False)


@pytest.mark.long_cases
@NETWORKS
def test_the_script_reads_and_refuses_the_images_that_serve_does(network: str, width: int, tmp_path: Path) -> None:
    write_folder(tmp_path / "f", network, width)
    np.savez(tmp_path / "images.npz", **{name: array for name, (array, _) in IMAGES.items()})
    paths = [str(tmp_path / name) for name in ("f", "images.npz", "pixels.npz")]
    answers = json.loads(run_elsewhere(["-B", "-c", READ_IMAGES, *paths], tmp_path / "elsewhere"))
    with np.load(tmp_path / "pixels.npz") as pixels:
        for name, (array, is_read) in IMAGES.items():
            served, said = read_as_serve_does(array)
            assert answers[name] == said, name
            assert (name in pixels.files) == (served is not None) == is_read, name
            if is_read:
                np.testing.assert_array_equal(pixels[name], served, name)
        np.testing.assert_array_equal(pixels["floats to 1"], PIXELS)


def read_as_serve_does(array: np.ndarray) -> tuple[np.ndarray | None, list[str] | str]:
    """Return the pixels and the notes about them; if they are refused, None and the sentence."""
    np.save(file := io.BytesIO(), array)
    try:
        served = parse_input_images("application/x-npy", file.getvalue(), (28, 28, 1))
    except PredictionsError as error:
        return None, str(error)
    assert served is not None
    return served.pixels, list(served.notes)


def test_the_command_reports_images_that_it_refuses_in_one_sentence(tmp_path: Path) -> None:
    write_folder(tmp_path / "f", "logistic", 0)
    np.save(tmp_path / "images.npy", IMAGES["standardized"][0])
    _, sentence = read_as_serve_does(IMAGES["standardized"][0])
    assert run_command(tmp_path / "f", tmp_path / "images.npy") == f"Error: {sentence}\n"
    assert "No such file" in run_command(tmp_path / "f", tmp_path / "none.npy")


@NETWORKS
def test_weights_of_another_export_are_refused(network: str, width: int, tmp_path: Path) -> None:
    for name, members in (("f", 1), ("other", 2)):
        write_folder(tmp_path / name, network, width, members)
    np.save(tmp_path / "images.npy", PIXELS)
    shutil.copy(tmp_path / "other" / "weights.npz", tmp_path / "f")
    assert run_command(tmp_path / "f", tmp_path / "images.npy") == MISMATCH
    with (tmp_path / "other" / "weights.npz").open("r+b") as file:
        file.seek(1000)
        file.write(b"damage")
    assert run_command(tmp_path / "other", tmp_path / "images.npy") == MISMATCH


def test_a_folder_without_checksum_is_read(tmp_path: Path) -> None:
    write_folder(tmp_path / "f", "logistic", 0)
    file = tmp_path / "f" / "model.json"
    model = json.loads(file.read_text("utf-8"))
    assert model.pop("weights")["file"] == "weights.npz"
    file.write_text(json.dumps(model))
    np.save(tmp_path / "images.npy", PIXELS)
    words = [str(tmp_path / "f" / "predict.py"), str(tmp_path / "images.npy")]
    assert len(run_elsewhere(words, tmp_path / "elsewhere").splitlines()) == len(PIXELS)


def run_command(folder: Path, images: Path) -> str:
    """Return what the script writes to stderr when it fails."""
    done = subprocess.run(
        [sys.executable, "-I", "-B", str(folder / "predict.py"), str(images)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    return done.stderr


@pytest.mark.parametrize("by_numpy", [True, False])
def test_the_script_is_written_as_lint_wants_it(by_numpy: bool, tmp_path: Path) -> None:
    (tmp_path / "predict.py").write_text(build_predict_script(by_numpy), "utf-8")
    config = ["--config", str(REPO / "pyproject.toml"), "--no-cache"]
    for words in (["check", "--ignore", "D"], ["format", "--check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *words, *config, str(tmp_path / "predict.py")],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("side", [1, 3, 5])
def test_a_kernel_of_odd_size_keeps_the_image_s_size(side: int) -> None:
    image = np.arange(70.0).reshape(1, 7, 10, 1)
    kernel = np.zeros((side, side, 1, 1))
    kernel[(side - 1) // 2, (side - 1) // 2] = 1
    np.testing.assert_array_equal(predict_with_numpy.convolve(image, kernel, False), image)
