"""The command line, as a person calls it."""

import errno
import functools
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import jax
import numpy as np
import pytest
from click.testing import CliRunner, Result
from PIL import Image

from ensemble import datasets, regression, runs
from ensemble.cli.program import main
from ensemble.cli.results.predict import format_prediction_line
from ensemble.config import EnsembleConfig
from ensemble.machine.bench_result import read_bench_results
from ensemble.machine.machine_info import read_machine_info
from ensemble.wording.escaping import escape_terminal_text
from tests.conftest import variant

pytestmark = pytest.mark.usefixtures("two_devices_a_worker")

# The network that is compiled soonest: the words and their answers are the same for all.
FAST = ["--network", "logistic", "--members", "2", "--epochs", "1", "--batch-size", "128"]


def call(*words: str) -> Result:
    return CliRunner().invoke(main, words, catch_exceptions=False)


def program(*words: str) -> list[str]:
    return [sys.executable, "-m", "ensemble", *words]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--members", "4097"], "1<=x<=4096"),
        (["--members", "many"], "not a valid integer"),
        (["--learning-rate", "-1"], "1e-05<=x<=10"),
        (["--momentum", "1"], "0.0<=x<=0.999"),
        (["--batch-size", "0"], "1<=x<=4096"),
        (["--dataset", "cifar"], "fashion_mnist"),
        (["--warmup-epochs", "20", "--epochs", "2"], "shorter warm-up"),
        (["--colour", "red"], "No such option"),
        (["--resume", "digits-1", "--members", "2"], "leave out the other options"),
    ],
)
def test_bad_values_are_named_with_their_range(words, said):
    result = call("train", *words)
    assert result.exit_code == 2
    assert said in result.stderr
    assert runs.list_runs() == []


@pytest.mark.parametrize("command", ["show", "stop", "delete"])
def test_an_unknown_run_is_said_without_a_traceback(command):
    result = call("runs", command, "../../etc")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: There is no run")


def test_every_setting_is_an_option_with_its_help():
    text = call("train", "--help").output
    for name in EnsembleConfig().as_dict():
        assert "--" + name.replace("_", "-") in text
    assert "from 1 to 4,096" in text


def test_datasets_are_listed():
    rows = [json.loads(row) for row in call("data", "list", "--json").output.splitlines()]
    assert [row["name"] for row in rows] == ["digits", "mnist", "fashion_mnist", "kmnist"]
    assert rows[0]["prepared"]
    assert "digits" in call("data", "list").output


def test_train_show_predict_and_delete(tmp_path):
    done = subprocess.run(program("train", *FAST), capture_output=True, text=True, check=True)
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["state"] == "finished"
    assert len(result["member_test_accuracy"]) == 2
    assert {"run_id", "ensemble_test_accuracy", "ensemble_test_nll", "seconds"} <= set(result)
    assert result["img_member_per_s"] * result["seconds"] > 0
    assert result["compile_seconds"] > 0
    assert result["at_chance"] == ("At chance level: " in done.stderr)
    assert "finished" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Warning" not in done.stderr

    run_id = result["run_id"]
    shown = json.loads(call("runs", "show", run_id).output)
    assert shown["settings"]["batch_size"] == 128
    assert run_id in call("runs", "list").output
    assert runs.find_run(run_id).config.network == "logistic"

    check_predict(run_id, tmp_path)
    check_accuracy_estimate(run_id, tmp_path / "unlabelled")

    assert call("runs", "delete", run_id).exit_code == 0
    assert runs.list_runs() == []


def check_accuracy_estimate(run_id: str, folder: Path) -> None:
    """Of a folder of the run's own test images: how many are right, or why that is not said."""
    folder.mkdir()
    assert "no picture in the folder" in call("predict", run_id, str(folder), "--estimate").stderr
    for number, image in enumerate(datasets.load_dataset("digits").test_images[-30:, ..., 0]):
        Image.fromarray(image).save(folder / f"{number:02}.png")
    (folder / ".hidden").write_text("left out")
    done = call("predict", run_id, str(folder), "--estimate", "--json")
    assert done.exit_code == 0, done.stderr
    *pictures, last = map(json.loads, done.stdout.splitlines())
    assert [Path(picture["image"]).name for picture in pictures] == sorted(path.name for path in folder.glob("*.png"))
    found = last["estimate"]
    assert (found["run_id"], found["images"], found["labelled"]["images"]) == (run_id, 30, 500)
    assert "unlike" not in found["refusals"], "they are some of the labelled ones"
    assert found["told"] == (found["labelled"]["calibration"] == "none")
    assert found["trust"] == ("checked" if found["told"] else "lower")


def check_predict(run_id: str, folder: Path) -> None:
    """The run's own test images read as they were when it was trained; the rest in sentences."""
    images = datasets.load_dataset("digits").test_images[:2, ..., 0]
    for number, image in enumerate(images):
        Image.fromarray(image).save(folder / f"{number}.png")
    photo = np.full((300, 400), 235, np.uint8)
    for number, image in enumerate(images):
        photo[90:202, 60 + 160 * number : 172 + 160 * number] -= image.repeat(4, 0).repeat(4, 1) // 2
    Image.fromarray(photo).convert("RGB").save(folder / "photo.tif")
    (folder / "bad\x1b[1m.png").write_text("not a picture")
    names = [str(folder / name) for name in ("0.png", "bad\x1b[1m.png", "1.png", "none.png", "photo.tif")]
    done = call("predict", run_id, *names, "--json", "--refuse", "0.1", "--epoch", "1")
    assert done.exit_code == 1
    bad, none = done.stderr.splitlines()
    assert bad.startswith(rf"{folder}/bad\x1b[1m.png: This is text, not a picture")
    said = "No such file or directory): give a file that exists and that you may read."
    assert none == f"{folder}/none.png: The file cannot be read ({said}"

    found = list(map(json.loads, done.stdout.splitlines()))
    assert [one["image"] for one in found] == [names[0], names[2], names[4]]
    assert all((one["run_id"], one["epoch"]) == (run_id, 1) for one in found)
    kept = runs.read_run_predictions(run_id, 1)
    for number, one in enumerate(found[:2]):
        (digit,) = one["digits"]
        assert digit["box"] == [0, 0, 28, 28]
        np.testing.assert_allclose(digit["probabilities"], kept[:, number].mean(0), atol=1e-5)
        assert digit["votes"] == kept[:, number].argmax(-1).tolist()
        assert digit["label"] == kept[:, number].mean(0).argmax()
        assert digit["rejected"] == (digit["score"] > digit["threshold"]) == (one["text"] == "?")
        assert sum(digit["signs"].values()) == pytest.approx(digit["score"], abs=1e-4)
        assert 0 <= digit["epistemic"] <= np.log(2) + 1e-6
        assert one["confidence"] <= max(digit["probabilities"]) + 1e-6
    boxes = [digit["box"] for digit in found[2]["digits"]]
    assert [60 < left < right < 172 for left, _, right, _ in boxes] == [True, False]
    assert all(90 <= top < bottom <= 202 for _, top, _, bottom in boxes)
    assert len(found[2]["text"]) == 2

    line = escape_terminal_text(format_prediction_line({**found[0], "image": names[1], "notes": ["First of 2 pages."]}))
    share = found[0]["confidence"]
    sure = "over 99.9 %" if share >= 0.9995 else f"{100 * share:.1f} %"
    votes = " ".join(map(str, found[0]["digits"][0]["votes"]))
    assert line == (
        rf"{folder}/bad\x1b[1m.png: {found[0]['text']}  ({sure}; "
        f"votes {votes}) First of 2 pages."
    )
    assert "no members of epoch 7" in call("predict", run_id, names[0], "--epoch", "7").stderr
    assert call("predict", run_id, names[0], "--refuse", "1").exit_code == 2


def test_ctrl_c_stops_with_a_checkpoint_and_resume_goes_on():
    words = program("train", *FAST, "--epochs", "1000")
    child = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    end = time.monotonic() + 120
    while not [run for run in runs.list_runs() if run.status.step]:
        assert time.monotonic() < end, "no step in two minutes"
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    stdout, _ = child.communicate(timeout=240)
    assert child.returncode == 130
    result = json.loads(stdout.splitlines()[-1])
    assert result["state"] == "stopped"
    run = runs.find_run(result["run_id"])
    assert list((run.path / "checkpoints").iterdir())

    asked: list[int] = []

    def stop_when_it_goes_on(status: runs.Status) -> None:
        if status.step > run.status.step and not asked:
            asked.append(call("runs", "stop", run.id).exit_code)

    resumed = runs.requeue_run(run.id)  # Another process of its own would do the same.
    again = runs.execute_run(resumed.id, stop_when_it_goes_on, synchronous=True)
    assert (again.state, asked) == ("stopped", [0])
    assert run.status.step < again.status.step < 10_000


def test_a_run_that_diverges_has_an_exit_status_of_its_own():
    # Weights leave float32's range within ten steps: this network is compiled in a moment.
    words = ["--network", "mlp", "--members", "2", "--devices", "2", "--batch-size", "128"]
    done = call("train", *words, "--learning-rate", "10", "--momentum", "0.999")
    assert json.loads(done.stdout.splitlines()[-1])["state"] == "diverged", done.stderr
    assert done.exit_code == 3
    assert "is no longer a number" in done.stderr


def test_predict_before_the_first_checkpoint_is_said(tmp_path):
    run = runs.create_run(EnsembleConfig())
    path = tmp_path / "x.png"
    Image.new("L", (28, 28)).save(path)
    result = call("predict", run.id, str(path))
    assert result.exit_code == 1
    assert "no checkpoint yet" in result.stderr


def test_devices_are_named():
    found = json.loads(call("devices", "--json").stdout)
    assert found["platform"] == jax.default_backend()
    assert [one["kind"] for one in found["devices"]] == [one.device_kind for one in jax.local_devices()]
    assert found["cores"] >= 1


# It measures the HOWTO's network; one that is compiled in a moment has its figures alike.
@pytest.mark.parametrize(("network", "forward"), [("mlp", 477_600), variant("cnn", 9_287_680)])
def test_bench_prints_both_rates_and_the_share_of_the_product(network, forward, monkeypatch, tmp_path):
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path))
    config = functools.partial(EnsembleConfig, network=network)
    monkeypatch.setattr("ensemble.cli.machine.EnsembleConfig", config)
    # The share is of what was measured, of whatever size: a small one takes no second.
    monkeypatch.setattr("ensemble.engine.training_speed.PRODUCT_SIZE", 384)
    words = ["--members", "2", "--batch-size", "128", "--dataset", "digits", "--seconds", "0.2"]
    words += ["--devices", "2", "--precision", "bfloat16", "--json"]
    found = json.loads(call("bench", *words).stdout)
    speed = found["img_member_per_s"]
    assert found["precision"] == "bfloat16"
    assert speed == found["img_member_per_s_bfloat16"] > 0
    # Two programs that were really run: never twice the same speed to the last figure.
    assert found["img_member_per_s_float32"] not in (0, speed)
    assert found["bfloat16_emulated"] is not read_machine_info().fast_bfloat16
    if network == "cnn":
        assert set(found["bfloat16_products"]) == {"convolutions", "dense", "gain"}
    assert found["compile_seconds"] > 0
    # It has two places: few where an epoch takes some hundredths of a second.
    assert found["seconds_per_epoch"] == pytest.approx(10 * 128 * 2 / speed, rel=0.1, abs=0.005)
    assert 100 < found["peak_memory_mb"] < 8000
    product = 1e9 * found["matrix_product_gflop_per_s"]
    operations = 3 * forward  # forward, and twice as many backward
    # Above 1 where Winograd's method saves more multiplications than the rest costs.
    assert found["share_of_matrix_product"] > 0
    share = operations * speed / product
    rounded = 0.001 + 0.06e9 / product * share  # GFLOP/s have one place: few where others work too
    assert found["share_of_matrix_product"] == pytest.approx(share, abs=rounded)
    (stored,) = read_bench_results(socket.gethostname())
    assert stored.rates == {name: found[f"img_member_per_s_{name}"] for name in ("float32", "bfloat16")}
    assert (stored.network, stored.work, stored.devices, stored.platform) == (
        network,
        forward,
        2,
        jax.default_backend(),
    )


def test_bench_sets_the_number_of_devices_before_jax_is_imported():
    code = (
        "import sys\n"
        "from ensemble.cli.program import main\n"
        "from ensemble.machine import jax_settings\n"
        "def prepare():\n"
        "    print('jax' in sys.modules)\n"
        "    sys.exit()\n"
        "jax_settings.prepare_jax = prepare\n"
        "main(['bench', '--dataset', 'digits'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


# Of what `ensemble bench` measures, as much as it uses itself.
FAKE_SPEED = {"img_member_per_s_float32": 2.0, "img_member_per_s_bfloat16": 1.0, "bfloat16_emulated": False}


def test_bench_reports_that_its_result_cannot_be_stored(monkeypatch):
    monkeypatch.setattr("ensemble.engine.training_speed.measure_training_speed", lambda config, seconds: FAKE_SPEED)

    def refuse(result):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("ensemble.cli.machine.write_bench_result", refuse)
    done = call("bench", "--dataset", "digits", "--json")
    assert (done.exit_code, json.loads(done.stdout)) == (0, FAKE_SPEED)
    assert done.stderr.startswith("Could not store the result in ")


@pytest.mark.long
def test_lbfgs_solves_with_and_without_pmap():
    words = ["--samples", "200", "--features", "8", "--classes", "3", "--iterations", "4"]
    words += ["--stepsize", "0.5", "--history", "1"]  # compiles in a quarter of the time
    done = call("lbfgs", *words, "--devices", "2", "--no-sweep", "--json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["state"] == "finished"
    assert found["objective"] == pytest.approx(found["objective_with_pmap"], rel=1e-5)
    assert found["error"] == pytest.approx(found["error_with_pmap"], rel=1e-3)
    assert found["replica_spread"] == 0.0
    both = {"without_pmap", "with_pmap"}
    assert set(found["step_seconds_median"]) == set(found["compile_seconds"]) == both
    (solve,) = regression.list_regressions()
    assert len(regression.read_regression_traces(solve.path).with_pmap.seconds) == 4
    assert found["speedup"] > 0
