"""The table [slurm] of ensemble.toml: what is read from it, and what is said where it is wrong."""

import re

import pytest

from ensemble.cluster import SlurmConfig
from ensemble.cluster.settings import read_settings_table
from ensemble.errors import ConfigError

TABLE = """
networks = ["my:Net"]
[slurm]
partition = "gpu,cpu"
account = "p-12@lab"
time = 90
gpus = 2
setup = ["module load cuda", "source ~/venv/bin/activate"]
"""


@pytest.fixture(autouse=True)
def here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_table_is_the_default_and_its_lines_stay_out_of_a_jobs_folder(here) -> None:
    assert read_settings_table() is None
    assert SlurmConfig.from_toml() == SlurmConfig()
    (here / "ensemble.toml").write_text(TABLE)
    found = SlurmConfig.from_toml()
    assert found == SlurmConfig(
        partition="gpu,cpu",
        account="p-12@lab",
        time=90,
        gpus=2,
        setup=("module load cuda", "source ~/venv/bin/activate"),
    )
    assert "setup" not in found.as_dict()
    assert SlurmConfig.from_dict(found.as_dict()).setup == ()
    # A job's folder may have been made elsewhere: its lines would be somebody else's code.
    assert SlurmConfig.from_dict({**found.as_dict(), "setup": ["rm -r ~"]}).setup == ()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("slurm = 3", "In ensemble.toml, slurm has to be a table, [slurm]: correct it."),
        (
            "[slurm]\ntime = 1",
            "In ensemble.toml, table [slurm]: time is 1: it has to be a whole number from 2 to 525,600.",
        ),
        (
            "[slurm]\npartition = '--wrap=x'",
            "In ensemble.toml, table [slurm]: partition is "
            "'--wrap=x': it has to be a name of letters, digits and . , @ + _ -.",
        ),
        (
            "[slurm]\npartition = 3",
            "In ensemble.toml, table [slurm]: partition is 3: it has to be a name of letters, digits and . , @ + _ -.",
        ),
        (
            "[slurm]\nqueue = 'x'",
            "In ensemble.toml, table [slurm]: No such setting: queue. There "
            "are: account, constraint, cpus, gpus, gres, memory, partition, qos, time.",
        ),
        (
            "[slurm]\nnodes = 4",
            "In ensemble.toml, table [slurm]: nodes is 4, but a task has one node. Remove the line, and "
            "use --groups to train on several nodes.",
        ),
        (
            "[slurm]\nsetup = 'module load cuda'",
            "In ensemble.toml, table [slurm]: setup has to be "
            "a list of at most 50 lines of shell code, each of at most 1,000 letters.",
        ),
        (
            '[slurm]\nsetup = ["a\\nb"]',
            "In ensemble.toml, table [slurm]: setup has to be a list of "
            "at most 50 lines of shell code, each of at most 1,000 letters.",
        ),
        ("[slurm", "ensemble.toml cannot be read"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(here, text: str, says: str) -> None:
    (here / "ensemble.toml").write_text(text)
    with pytest.raises(ConfigError, match=f"^{re.escape(says)}"):
        SlurmConfig.from_toml()


def test_one_node_in_the_file_and_any_number_in_an_earlier_record_are_read(here) -> None:
    (here / "ensemble.toml").write_text("[slurm]\nnodes = 1\ntime = 30\n")
    assert SlurmConfig.from_toml() == SlurmConfig(time=30)
    assert SlurmConfig.from_dict({"nodes": 4, "time": 30}) == SlurmConfig(time=30)
