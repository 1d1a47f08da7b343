"""What JAX is told before it starts."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from ensemble.jobs.launch import build_worker_environment
from ensemble.machine import jax_environment
from ensemble.machine.jax_settings import (
    XLA_CPU_FLAGS,
    can_use_cache_folder,
    count_cpu_cores,
    delete_half_written_programs,
    prepare_jax,
)

OPTIONS = "--xla_backend_extra_options"


@pytest.fixture
def flags(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment in which nobody has set XLA's flags; what is set in it goes again."""
    for name in ("XLA_FLAGS", "JAX_PLATFORMS", "JAX_NUM_CPU_DEVICES"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    return monkeypatch


def test_on_a_cpu_xla_gets_its_flags_once_each(flags: pytest.MonkeyPatch) -> None:
    flags.setenv("JAX_PLATFORMS", "cpu")
    flags.setenv("XLA_FLAGS", "--xla_dump_to=here")
    prepare_jax()
    wanted = {f"--{name}={value}" for name, value in XLA_CPU_FLAGS.items()}
    assert set(os.environ["XLA_FLAGS"].split()) == {"--xla_dump_to=here", *wanted}
    prepare_jax()
    assert os.environ["XLA_FLAGS"].count(OPTIONS) == 1


def test_a_value_that_a_person_chose_is_left_alone(flags: pytest.MonkeyPatch) -> None:
    flags.setenv("JAX_PLATFORMS", "cpu")
    flags.setenv("XLA_FLAGS", f"{OPTIONS}=xla_cpu_optimize_for_size")
    prepare_jax()
    assert f"{OPTIONS}=xla_cpu_optimize_for_size" in os.environ["XLA_FLAGS"].split()
    assert os.environ["XLA_FLAGS"].count(OPTIONS) == 1


def test_a_worker_gets_what_a_person_has_said_and_nothing_that_this_process_set(flags: pytest.MonkeyPatch) -> None:
    flags.setenv("JAX_PLATFORMS", "cpu")
    flags.setenv("XLA_FLAGS", "--xla_dump_to=here")
    prepare_jax()
    assert os.environ["JAX_NUM_CPU_DEVICES"]
    given = build_worker_environment()
    assert given["XLA_FLAGS"] == "--xla_dump_to=here"
    assert "JAX_NUM_CPU_DEVICES" not in given
    flags.setenv("JAX_NUM_CPU_DEVICES", "3")  # a person's, from now on
    prepare_jax()
    assert build_worker_environment()["JAX_NUM_CPU_DEVICES"] == "3"


def test_an_accelerator_gets_none_of_them(flags: pytest.MonkeyPatch) -> None:
    flags.setattr(jax_environment, "list_platform_plugins", lambda: ("xla_cuda13",))
    flags.setenv("JAX_PLATFORMS", "cuda")
    prepare_jax()
    assert not any(name in os.environ.get("XLA_FLAGS", "") for name in XLA_CPU_FLAGS)


def test_devices_that_a_person_asked_for_are_left_alone(flags: pytest.MonkeyPatch) -> None:
    flags.setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=3")
    prepare_jax()
    assert "JAX_NUM_CPU_DEVICES" not in os.environ


def test_programs_that_were_not_written_to_their_end_are_removed(tmp_path: Path) -> None:
    for name in ("whole-cache", "whole-atime", "killed-cache", "being-written-cache"):
        (tmp_path / name).touch()
    for name in ("whole-cache", "killed-cache"):
        os.utime(tmp_path / name, (0, 0))
    delete_half_written_programs(tmp_path)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"whole-cache", "whole-atime", "being-written-cache"}


@pytest.mark.long
def test_a_killed_process_does_not_end_the_cache_of_compiled_programs(tmp_path: Path) -> None:
    cache = tmp_path / "compiled"
    cache.mkdir()
    (cache / "killed-cache").write_bytes(b"half")
    os.utime(cache / "killed-cache", (0, 0))
    script = (
        "from ensemble.machine.jax_settings import prepare_jax\n"
        "prepare_jax()\n"
        "import jax\n"
        "print(jax.jit(lambda x: x + 1)(1))\n"
    )
    given = {name: value for name, value in os.environ.items() if "CACHE" not in name}
    environment = {**given, "ENSEMBLE_DATA": str(tmp_path), "PYTHONWARNINGS": "error"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "2\n"
    assert list(cache.glob("*-cache")), done.stderr
    assert not (cache / "killed-cache").exists()


@pytest.mark.long
def test_without_a_place_for_compiled_programs_jax_works_and_one_sentence_is_said(tmp_path: Path) -> None:
    """Where a file lies in the folder's place, and in a folder whose name is not UTF-8."""
    (tmp_path / "file").touch()
    places = [tmp_path / "file", Path(os.fsdecode(bytes(tmp_path) + b"/\xff"))]
    script = (
        "import os, sys\n"
        "from ensemble.machine.jax_settings import prepare_jax\n"
        "for place in sys.argv[1:]:\n"
        "    os.environ['ENSEMBLE_DATA'] = place\n"
        "    prepare_jax(), prepare_jax()\n"
        "import jax\n"
        "print(jax.jit(lambda x: x + 1)(1))\n"
    )
    given = {name: value for name, value in os.environ.items() if "CACHE" not in name}
    done = subprocess.run([sys.executable, "-c", script, *places], env=given, capture_output=True, text=True)
    assert done.stdout == "2\n", done.stderr
    lines = done.stderr.splitlines()
    assert [f"{name}/compiled" in line for name, line in zip(("file", r"\xff"), lines, strict=True)]
    for said in lines:
        assert said.startswith("Compiled programs cannot be saved in ")
        assert said.endswith("point ENSEMBLE_DATA at a folder that can be written.")


def test_compiled_programs_are_kept_for_their_owner_alone(tmp_path: Path) -> None:
    assert can_use_cache_folder(tmp_path / "data" / "compiled")
    assert stat.S_IMODE((tmp_path / "data" / "compiled").stat().st_mode) == 0o700


def test_a_task_of_slurms_takes_as_many_cores_as_it_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    there = count_cpu_cores()
    monkeypatch.setenv("SLURM_CPUS_PER_TASK", "1")
    assert count_cpu_cores() == there, "this process is in no task"
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    assert count_cpu_cores() == 1
    for none in ("1000000", "0", "two", ""):
        monkeypatch.setenv("SLURM_CPUS_PER_TASK", none)
        assert count_cpu_cores() == there
