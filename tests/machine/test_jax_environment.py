"""What JAX does not take of the environment is said in one sentence, before anything is begun."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ensemble.errors import ConfigError
from ensemble.machine import jax_environment
from ensemble.machine.jax_environment import (
    check_jax_environment,
    describe_jax_start_error,
    find_environment_problem,
    find_platform_problem,
)

WRONG_VARIABLES = [
    ("JAX_PLATFORMS", "CPU", "did you mean cpu? Set JAX_PLATFORMS=cpu, or unset it"),
    ("JAX_PLATFORMS", "cpu ", "did you mean cpu?"),
    ("JAX_PLATFORMS", "quantum", "there is no such platform. Set JAX_PLATFORMS=cpu"),
    ("JAX_NUM_CPU_DEVICES", "two", "has to be a whole number from 1"),
    ("JAX_NUM_CPU_DEVICES", "0", "has to be a whole number from 1"),
    ("JAX_NUM_CPU_DEVICES", "1.5", "has to be a whole number from 1"),
    ("JAX_DEFAULT_PRNG_IMPL", "rbg", "members are drawn with threefry2x32 alone"),
    ("JAX_DISABLE_JIT", "True", "without compiling nothing can be trained: unset it."),
    ("JAX_TRANSFER_GUARD", "disallow", "unset it, or choose log."),
    ("JAX_TRANSFER_GUARD_HOST_TO_DEVICE", "disallow_explicit", "unset it, or choose log."),
]
RIGHT_VARIABLES = [
    {},
    {"JAX_PLATFORMS": "", "JAX_NUM_CPU_DEVICES": "", "JAX_DISABLE_JIT": "0"},
    {"JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": "3", "JAX_DISABLE_JIT": "false"},
    {"JAX_NUM_CPU_DEVICES": "-1", "JAX_DEFAULT_PRNG_IMPL": "threefry2x32"},
    {"JAX_TRANSFER_GUARD": "log", "JAX_PLATFORMS": "cuda,cpu"},
]


@pytest.fixture(autouse=True)
def no_plugins(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A machine whose JAX knows no accelerator, whatever this one has."""
    monkeypatch.setattr(jax_environment, "list_platform_plugins", lambda: ())
    return monkeypatch


@pytest.mark.parametrize(("variable", "value", "expected"), WRONG_VARIABLES)
def test_a_wrong_variable_is_named_with_its_value_and_what_to_do(variable: str, value: str, expected: str) -> None:
    problem = find_environment_problem({variable: value})
    assert problem.startswith(variable)
    assert expected in problem
    assert "\n" not in problem


@pytest.mark.parametrize("environment", RIGHT_VARIABLES)
def test_what_jax_takes_is_not_refused(environment: dict[str, str]) -> None:
    assert find_environment_problem(environment) == ""


def test_a_platform_that_no_package_is_installed_for_is_refused_unless_one_may_be(
    no_plugins: pytest.MonkeyPatch,
) -> None:
    assert "has nothing for it" in find_platform_problem("cuda")
    no_plugins.setattr(jax_environment, "list_platform_plugins", lambda: ("xla_cuda13",))
    assert find_platform_problem("cuda") == ""
    assert find_platform_problem("of_a_plugin") == ""


def test_flags_are_tried_once_and_what_xla_says_of_them_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(jax_environment.CHECKED_FLAGS_VARIABLE, "")
    monkeypatch.setenv("XLA_FLAGS", "--xla_no_such_flag=1")
    with pytest.raises(ConfigError, match=r"Unknown flag in XLA_FLAGS: --xla_no_such_flag=1"):
        check_jax_environment()
    monkeypatch.setenv("XLA_FLAGS", "--xla_dump_to=/nowhere")
    check_jax_environment()
    assert os.environ[jax_environment.CHECKED_FLAGS_VARIABLE] == "--xla_dump_to=/nowhere"
    monkeypatch.setattr(jax_environment, "find_flags_problem", lambda flags: "tried again")
    check_jax_environment()


def test_what_jax_says_as_it_starts_is_told_from_other_errors() -> None:
    missing = RuntimeError("Unable to initialize backend 'cuda': no GPU\nand more of it.")
    assert "Unable to initialize backend 'cuda': no GPU and more" in str(describe_jax_start_error(missing))
    wrong = ValueError("invalid truth value 'maybe' for environment 'JAX_ENABLE_X64'")
    assert "JAX_ENABLE_X64" in str(describe_jax_start_error(wrong))
    assert describe_jax_start_error(ValueError("a bug")) is None
    assert describe_jax_start_error(RuntimeError("a bug")) is None


@pytest.mark.parametrize("words", [("train", "--epochs", "1"), ("devices",), ("network", "cnn")])
def test_every_command_that_starts_jax_says_one_sentence_and_makes_nothing(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ensemble", *words],
        env={**os.environ, "ENSEMBLE_RUNS": str(tmp_path / "runs"), "JAX_DEFAULT_PRNG_IMPL": "rbg"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    (sentence,) = done.stderr.splitlines()
    assert sentence.startswith("Error: JAX_DEFAULT_PRNG_IMPL is 'rbg', but members are drawn")
    assert not list(tmp_path.glob("runs/*"))
