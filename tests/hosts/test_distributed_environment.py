"""Which of how many processes this is, as srun or the environment says it."""

import pytest
from click.testing import CliRunner

from ensemble.cli.program import main
from ensemble.errors import ConfigError
from ensemble.hosts.distributed_environment import (
    ADDRESS_VARIABLE,
    COUNT_VARIABLE,
    INDEX_VARIABLE,
    DistributedEnvironment,
    detect_distributed_environment,
    parse_first_node,
)

STEP = {
    "SLURM_JOB_ID": "4100",
    "SLURM_STEP_ID": "0",
    "SLURM_STEP_NODELIST": "node[007-009],big",
    "SLURM_STEP_NUM_TASKS": "4",
    "SLURM_PROCID": "2",
    "SLURM_LOCALID": "0",
    "SLURM_STEP_TASKS_PER_NODE": "1(x4)",
}


def test_three_variables_say_it_all():
    said = {ADDRESS_VARIABLE: "node1:7000", COUNT_VARIABLE: "3", INDEX_VARIABLE: "2"}
    assert detect_distributed_environment(said) == DistributedEnvironment("node1", 7000, 3, 2)


def test_a_step_of_slurm_meets_on_its_first_node_with_all_devices_of_each_host():
    assert detect_distributed_environment(STEP) == DistributedEnvironment(
        "node007", 61440 + 4100 % 4096, 4, 2, "4100.0", None
    )


def test_several_processes_of_one_host_have_a_device_each():
    place = detect_distributed_environment({**STEP, "SLURM_STEP_TASKS_PER_NODE": "2(x2)", "SLURM_LOCALID": "1"})
    assert place.devices == (1,)


def test_steps_of_one_job_do_not_meet_at_one_port():
    ports = {detect_distributed_environment({**STEP, "SLURM_STEP_ID": str(step)}).port for step in range(5)}
    assert len(ports) == 5


@pytest.mark.parametrize(
    ("nodes", "first"),
    [
        ("node1", "node1"),
        ("a,b", "a"),
        ("node[3,7-9],c", "node3"),
        ("n[01-15]", "n01"),
        ("a1,b[2-3]", "a1"),
        ("rack2-n[4]", "rack2-n4"),
    ],
)
def test_the_first_of_a_list_of_nodes(nodes, first):
    assert parse_first_node(nodes) == first


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({COUNT_VARIABLE: "2"}, "given together"),
        ({ADDRESS_VARIABLE: "node1", COUNT_VARIABLE: "2", INDEX_VARIABLE: "0"}, "given together"),
        ({ADDRESS_VARIABLE: "node1:7000", COUNT_VARIABLE: "2", INDEX_VARIABLE: "2"}, "from 0 to one less"),
        ({ADDRESS_VARIABLE: "node1:70000", COUNT_VARIABLE: "2", INDEX_VARIABLE: "1"}, "ports from 1 to 65535"),
        ({"SLURM_JOB_ID": "4", "SLURM_NTASKS": "2"}, "not a step of one.*srun"),
        ({"SLURM_JOB_ID": "4", **{k: "" for k in STEP if k != "SLURM_JOB_ID"}}, "srun"),
    ],
)
def test_half_of_it_is_refused_with_what_to_do(said, sentence):
    with pytest.raises(ConfigError, match=sentence):
        detect_distributed_environment(said)


def test_where_nothing_says_it_the_command_line_tells_how_to_start_it(no_cluster):
    said = CliRunner().invoke(main, ["train", "--distributed"])
    assert said.exit_code == 2
    assert said.stdout == ""
    assert "srun" in said.stderr
