"""Ensembles written for other programs, read back by programs that do not import ours."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import ensemble
from ensemble import datasets, runs
from ensemble.architectures import NETWORKS_VARIABLE
from ensemble.cli.program import main
from ensemble.cli.results.exchange import EXPORT_FORMAT_NAMES
from ensemble.errors import ConfigError, PredictionsError, RunError
from ensemble.export import EXPORT_FORMATS, export_members
from ensemble.export.predict_folder import FLAX_NETWORKS, NUMPY_NETWORKS
from tests.documents import REFERENCE, read_sections
from tests.engine.networks import modules
from tests.export.drawn import create_drawn_run
from tests.export.elsewhere import assert_no_trace, call_export, run_elsewhere
from tests.pages.ensembles import trained

# The format as its authors describe it, read by no more than Python and NumPy, elsewhere.
READ_SAFETENSORS = """
import json, struct, sys
import numpy as np
content = open(sys.argv[1], "rb").read()
(length,) = struct.unpack("<Q", content[:8])
header = json.loads(content[8 : 8 + length])
assert (8 + length) % 8 == 0
metadata = header.pop("__metadata__")
arrays = {}
for name, entry in header.items():
    assert entry["dtype"] == "F32"
    first, last = entry["data_offsets"]
    flat = np.frombuffer(content[8 + length + first : 8 + length + last], "<f4")
    arrays[name] = flat.reshape(entry["shape"])
"""
READ_NPZ = """
import json, sys
import numpy as np
file = np.load(sys.argv[1])
metadata = json.loads(str(file["metadata"]))
arrays = {name: file[name] for name in file.files if name != "metadata"}
"""
TEXTS = {"program", "version", "run", "network", "preparation", "dataset"}
CLASSIFY = """
images = np.load(sys.argv[2]).reshape(-1, 784) / np.float32(255)
answers = []
for m in range(int(metadata["members"])):
    dense = f"members/{m}/params/Dense_0/"
    logits = images @ arrays[dense + "kernel"] + arrays[dense + "bias"]
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    answers.append(raised / raised.sum(axis=1, keepdims=True))
np.save(sys.argv[3], np.array(answers))
assert "ensemble" not in sys.modules
print(json.dumps(metadata))
"""


@pytest.mark.parametrize(("format_name", "program"), [("safetensors", READ_SAFETENSORS), ("npz", READ_NPZ)])
def test_weights_are_read_and_used_by_another_program(format_name: str, program: str, tmp_path: Path) -> None:
    run = create_drawn_run("logistic", members=3)
    file = tmp_path / f"weights.{format_name}"
    said = call_export(run.id, str(file), "--with-members", "--format", format_name)
    test = datasets.load_dataset("digits")
    images, answers = tmp_path / "images.npy", tmp_path / "answers.npy"
    np.save(images, test.test_images)
    words = ["-c", program + CLASSIFY, str(file), str(images), str(answers)]
    metadata = json.loads(run_elsewhere(words, tmp_path / "elsewhere"))
    recorded = runs.read_run_predictions(run.id, 2)
    np.testing.assert_allclose(np.load(answers), recorded, atol=1e-5)
    if format_name == "safetensors":  # whose metadata are texts
        metadata = {name: value if name in TEXTS else json.loads(value) for name, value in metadata.items()}
    assert metadata["class_names"] == list("0123456789")
    assert (metadata["network"], metadata["dataset"], metadata["epoch"]) == ("logistic", "digits", 2)
    assert metadata["member_names"] == ["member 1", "member 2", "member 3"]
    right = (recorded.mean(axis=0).argmax(axis=1) == test.test_labels).mean()
    assert metadata["figures"]["accuracy"] == pytest.approx(right)
    # The command's last line has the figures of the file, and they are the run's.
    assert said["figures"]["accuracy"] == said["run_figures"]["accuracy"] == pytest.approx(right)
    assert said["figures"] == pytest.approx(said["run_figures"], abs=1e-6)
    assert said["difference"] < 1e-6
    assert (said["format"], said["members"], said["epoch"]) == (format_name, 3, 2)
    assert said["bytes"] == file.stat().st_size
    reference = read_sections(REFERENCE)["export"]
    assert [name for name in said if f"`{name}`" not in reference] == []
    assert_no_trace(file.read_bytes())


def test_every_collection_is_in_the_file(tmp_path: Path) -> None:
    run = create_drawn_run("resnet", members=1, width=4)
    export_members(run.id, tmp_path / "weights.npz", "npz")
    with np.load(tmp_path / "weights.npz") as file:
        assert {name.split("/")[2] for name in file.files if "/" in name} == {"params", "batch_stats"}


@pytest.mark.long_cases
@pytest.mark.parametrize("network", [*NUMPY_NETWORKS, *FLAX_NETWORKS])
def test_the_folder_classifies_where_there_is_nothing_of_ours(network: str, tmp_path: Path) -> None:
    width = {"resnet": 4, "resnet_groupnorm": 8}.get(network, 0)
    run = create_drawn_run(network, width=width)
    folder = tmp_path / "predict"
    said = call_export(run.id, str(folder), "--with-members", "--format", "folder")
    assert said["difference"] < 1e-5
    assert said["figures"] == pytest.approx(said["run_figures"], abs=1e-5)
    names = {"predict.py", "weights.npz", "model.json", "requirements.txt", "README.md"}
    assert {file.name for file in folder.iterdir()} == names | ({"network.py"} if network in FLAX_NETWORKS else set())
    words = {"jax", "flax"} & set((folder / "predict.py").read_text("utf-8").split())
    assert bool(words) == (network in FLAX_NETWORKS)
    for file in folder.iterdir():
        assert_no_trace(file.read_bytes())
        assert b"ensemble." not in file.read_bytes() or file.name == "README.md"
    # Odd counts, one channel left out, and another program that imports it.
    images, answers = tmp_path / "images.npy", tmp_path / "answers.npy"
    np.save(images, datasets.load_dataset("digits").test_images[:301, :, :, 0])
    printed = run_elsewhere([str(folder / "predict.py"), str(images), "--out", str(answers)], tmp_path / "elsewhere")
    recorded = runs.read_run_predictions(run.id, 2)
    np.testing.assert_allclose(np.load(answers), recorded[:, :301], atol=1e-5)
    average = recorded.mean(axis=0)
    first = printed.splitlines()[0].split()
    assert first[:2] == ["0:", str(average[0].argmax())]
    assert len(printed.splitlines()) == 301
    assert not (folder / "__pycache__").exists()


def test_a_network_of_ones_own_is_refused_by_the_folder_and_its_weights_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"{modules.__name__}:Careful"
    monkeypatch.setenv(NETWORKS_VARIABLE, name)
    run = create_drawn_run(name)
    for existing in ("nothing", "a folder of mine"):
        folder = tmp_path / existing
        if existing == "a folder of mine":
            folder.mkdir()
            (folder / "notes.txt").write_text("mine")
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises(ConfigError) as refused:
            export_members(run.id, folder, "folder", replace=True)
        assert str(refused.value) == (
            f"{name} is a network of your own, which no folder can bring along: take its weights "
            "with --format safetensors, and its code with you."
        )
        assert sorted(tmp_path.rglob("*")) == before
    written = export_members(run.id, tmp_path / "weights.safetensors", "safetensors")
    assert written.figures == pytest.approx(written.recorded, abs=1e-6)


def test_the_readme_is_a_model_card(tmp_path: Path) -> None:
    run = create_drawn_run("logistic")
    export_members(run.id, tmp_path / "predict", "folder")
    text = (tmp_path / "predict" / "README.md").read_text("utf-8")
    for part in (
        "# Digits",
        "python predict.py images.npy",
        "(N, 28, 28, 1)",
        "10 classes: 0, 1, 2",
        "| accuracy |",
        "(95 %: ",
        "| ECE |",
        "| gain over a member alone |",
        "**Calibration.**",
        "**Class by class.**",
        "What not to use it for",
        "has not been measured",
    ):
        assert part in text, part
    # As finely as so few images allow: 500 have one decimal, as on every screen.
    accuracy = re.search(r"\| accuracy \| ([\d.]+) % \(95 %: ([\d.]+) to ([\d.]+) %\)", text)
    assert accuracy
    assert [len(end.partition(".")[2]) for end in accuracy.groups()] == [1, 1, 1]


def test_the_table_has_every_epoch_of_the_ensemble_and_its_members(tmp_path: Path) -> None:
    run = create_drawn_run("logistic")
    lines = [
        {
            "kind": "epoch",
            "epoch": epoch,
            "progress": float(epoch),
            "step": 10 * epoch,
            "seconds": 2.0 * epoch,
            "train_loss": [1.5 / epoch, None],
            "train_accuracy": [0.5, 0.6],
            "test_loss": [1.0 / epoch, 2.0 / epoch],
            "test_accuracy": [0.25 * epoch, 0.125],
            "ensemble_test_nll": 0.75 / epoch,
            "ensemble_test_accuracy": 0.25 * epoch,
        }
        for epoch in (1, 2)
    ]
    (run.path / "history.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    file = tmp_path / "curves.csv"
    said = call_export(run.id, str(file), "--format", "csv")
    rows = list(csv.DictReader(file.read_text("utf-8").splitlines()))
    assert [(row["epoch"], row["who"]) for row in rows] == [
        (str(epoch), who) for epoch in (1, 2) for who in ("ensemble", "member 1", "member 2")
    ]
    assert float(rows[1]["train_nll"]) == 1.5
    assert rows[2]["train_nll"] == ""
    assert float(rows[5]["test_nll"]) == 1.0
    assert float(rows[0]["test_accuracy"]) == 0.25
    assert said["figures"]["ece"] == pytest.approx(said["run_figures"]["ece"])
    assert said["figures"]["brier"] == pytest.approx(said["run_figures"]["brier"])
    assert said["difference"] is None
    assert_no_trace(file.read_bytes())


def test_what_cannot_be_written_is_said_and_nothing_is_lost(tmp_path: Path) -> None:
    run = create_drawn_run("logistic")
    there = tmp_path / "there.npz"
    there.write_bytes(b"mine")
    with pytest.raises(PredictionsError, match="already exists"):
        export_members(run.id, there, "npz")
    assert there.read_bytes() == b"mine"
    export_members(run.id, there, "npz", replace=True)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(PredictionsError, match="is a folder: choose another name"):
        export_members(run.id, folder, "safetensors", replace=True)
    with pytest.raises(PredictionsError, match="is a file: choose another name"):
        export_members(run.id, there, "folder", replace=True)
    export_members(run.id, folder, "folder", replace=True)
    assert (folder / "notes.txt").read_text() == "mine"
    assert (folder / "predict.py").exists()
    with pytest.raises(PredictionsError, match="cannot be written"):
        export_members(run.id, tmp_path / "none" / "a.npz", "npz")
    with pytest.raises(PredictionsError, match="cannot be written"):
        export_members(run.id, tmp_path / "none" / "a", "folder")
    with pytest.raises(ConfigError, match="format is 'x': it has to be one of safetensors, npz"):
        export_members(run.id, tmp_path / "a", "x")
    with pytest.raises(RunError, match="has no members of epoch 7"):
        export_members(run.id, tmp_path / "a.npz", "npz", epoch=7)
    with pytest.raises(RunError):
        export_members(trained().id, tmp_path / "a.npz", "npz")
    assert not list(tmp_path.glob(".*")), "something half-written is left"


def test_options_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    run = create_drawn_run("logistic")
    for words, sentence in (
        (["--format", "safetensors"], "add --with-members"),
        (["--format", "folder"], "add --with-members"),
        (["--with-members", "--images"], "--images is of predictions"),
        (["--format", "csv", "--all-epochs"], "--all-epochs is of predictions"),
    ):
        done = CliRunner().invoke(main, ["export", run.id, str(tmp_path / "a"), *words])
        assert done.exit_code == 2
        assert sentence in done.output
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", ["npz", "safetensors", "stablehlo", "csv"])
def test_the_ending_of_the_name_chooses_the_form(ending: str, tmp_path: Path) -> None:
    run = create_drawn_run("logistic")
    said = call_export(run.id, str(tmp_path / f"out.{ending.upper()}"), "--with-members")
    assert said["format"] == ending
    assert call_export(run.id, str(tmp_path / "out"), "--with-members")["format"] == "npz"
    assert "shape" in call_export(run.id, str(tmp_path / "other"))
    assert ensemble.open_run(run.id).export(tmp_path / f"again.{ending}").format == ending


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("members.onnx", "--format onnx holds the members' parameters: add --with-members."),
        ("members.onnx --format npz --with-members", "'members.onnx' has the ending of the format onnx, and the form"),
        ("board.npz --to csv", "leave the format out, or choose a name with .csv."),
        ("out.npz --format safetensors --with-members", "or choose a name with .safetensors."),
        ("table.parquet", "choose one of .safetensors, .npz, .onnx, .stablehlo, .csv, or name the format."),
        ("members.pt --with-members", "No export format has the ending of 'members.pt'"),
    ],
)
def test_an_ending_that_contradicts_is_refused(words: str, said: str, tmp_path: Path) -> None:
    run = create_drawn_run("logistic")
    done = CliRunner().invoke(main, ["export", run.id, *f"{tmp_path}/{words}".split()])
    assert done.exit_code == 2
    assert said in done.stderr
    assert not list(tmp_path.iterdir())


def test_without_a_form_predictions_are_written_as_ever(tmp_path: Path) -> None:
    run = create_drawn_run("logistic")
    file = tmp_path / "predictions.npz"
    for words, images in (([], True), (["--format", "npz", "--no-images", "--force"], False)):
        said = call_export(run.id, str(file), *words)
        assert set(said) == {"run_id", "file", "epochs", "shape", "images"}
        with np.load(file) as arrays:
            assert ("images" in arrays.files) == images == said["images"]
            np.testing.assert_array_equal(arrays["probabilities"], runs.read_run_predictions(run.id, 2))


def test_the_command_knows_every_form() -> None:
    assert set(EXPORT_FORMAT_NAMES) == set(EXPORT_FORMATS)
    assert all(one.title and one.gloss.endswith(".") for one in EXPORT_FORMATS.values())
