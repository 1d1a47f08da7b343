"""Tasks of a run that a scheduler starts: what each creates, refuses and waits for."""

import signal
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from click.testing import CliRunner, Result

from ensemble import runs
from ensemble.cli.kubernetes import format_config_options
from ensemble.cli.program import main
from ensemble.cluster.schedulers import KUBERNETES
from ensemble.errors import ConfigError, RunError
from ensemble.jobs.job import STOP_FILE
from ensemble.jobs.status import write_status
from ensemble.jobs.worker import create_stop_request
from ensemble.runs.groups import external_tasks
from ensemble.runs.groups.array_task import (
    EXIT_DIVERGED,
    EXIT_DONE,
    EXIT_RESTART,
    execute_array_task,
    take_up_run,
    wait_for_run,
)
from ensemble.runs.groups.group import list_run_groups
from tests.runs.pods import CONFIG, ON, RUN, soon
from tests.workers import PATIENCE_SECONDS, held_by_a_worker, wait_until


def called(index: str, *words: str) -> Result:
    environment = {"JOB_COMPLETION_INDEX": index, "ENSEMBLE_SUBMISSION": "first"}
    return CliRunner(env=environment).invoke(main, ["work-pod", RUN, *words])


def set_states(run: runs.Run, *states: str) -> None:
    """Have the run and its groups say that they ended so."""
    for job, state in zip([run, *list_run_groups(run)], states, strict=True):
        write_status(job.path, replace(job.status, state=state, pid=None, updated=0.0))


def test_what_merges_ends_alone_where_its_node_is_drained():
    run = take_up_run(RUN, CONFIG, ON, "first")
    stop = create_stop_request(run)
    with ThreadPoolExecutor(1) as threads:
        told = threads.submit(wait_until, run, lambda run: "2 of 2 groups wait" in run.message)
        told.add_done_callback(lambda _: signal.raise_signal(signal.SIGTERM))
        found = runs.execute_run(RUN, stop=stop)
    assert found.state == "stopped"
    assert "If Kubernetes does not start it again, delete its Job" in found.message
    assert not list(run.path.rglob(STOP_FILE))  # Nobody asked for the run to be stopped.


def test_the_first_task_creates_the_run_and_the_others_wait_for_it(runs_of_one_test):
    beside = runs_of_one_test / f".new-{RUN}"  # The first was killed while it wrote.
    beside.mkdir(parents=True)
    (beside / "status.json").write_text("{")
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(wait_for_run, RUN, CONFIG, ON, "first")
        time.sleep(0.3)
        assert not waiting.done()
        run = take_up_run(RUN, CONFIG, ON, "first")
        assert waiting.result(timeout=PATIENCE_SECONDS).id == run.id == RUN
        set_states(run, "stopped", "stopped", "stopped")
        waiting = threads.submit(wait_for_run, RUN, CONFIG, ON, "second")
        time.sleep(0.3)
        assert not waiting.done()
        take_up_run(RUN, CONFIG, ON, "second")
        waiting.result(timeout=PATIENCE_SECONDS)
    assert [path.name for path in runs_of_one_test.iterdir()] == [RUN]
    assert [group.path.exists() for group in list_run_groups(run)] == [True, True]


@pytest.mark.parametrize("other", [{"seed": 1}, {"groups": 1}, {"learning_rate": 0.051}])
def test_another_run_under_the_id_is_refused_and_stays_as_it_is(other):
    run = take_up_run(RUN, CONFIG, ON, "earlier")
    result = called("0", *format_config_options(replace(CONFIG, **other)))
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: A run “{RUN}” with other settings")
    assert runs.find_run(RUN).config == run.config == CONFIG
    assert "earlier" in (run.path / "groups" / "submission.json").read_text()


def test_a_run_of_this_machine_is_not_taken_for_one_of_pods():
    run = runs.create_run(CONFIG)
    with pytest.raises(ConfigError, match="another placement"):
        take_up_run(run.id, CONFIG, ON, "first")


def test_a_folder_that_is_no_run_is_left_alone(runs_of_one_test):
    (runs_of_one_test / RUN).mkdir(parents=True)
    (runs_of_one_test / RUN / "mine.txt").write_text("mine")
    assert called("0", *format_config_options(CONFIG)).exit_code == 2
    assert [path.name for path in runs_of_one_test.rglob("*")] == [RUN, "mine.txt"]


@pytest.mark.parametrize(
    ("index", "words", "said"),
    [
        ("", [], "JOB_COMPLETION_INDEX is ''"),
        ("-1", [], "from 0"),
        ("2", [], "the run has 2 groups"),
        ("2", ["--for", "lsf"], "the run has 2 groups"),  # as scripts of earlier versions call it
        ("0", ["--groups", "0"], "give the number"),
        ("0", ["--members", "3"], "at most 1"),
    ],
)
def test_a_pod_that_nobody_could_mend_ends_with_status_2(index, words, said):
    result = called(index, *format_config_options(CONFIG), *words)
    assert result.exit_code == 2
    assert said in result.stderr


def test_a_stop_stands_until_the_manifest_is_applied_again():
    run = take_up_run(RUN, CONFIG, ON, "first")
    set_states(run, "stopped", "stopped", "queued")
    for folder in (run.path, *(group.path for group in list_run_groups(run))):
        (folder / STOP_FILE).touch()
    # Kubernetes begins pods of the same Job anew, as after a lost node: at once at their end.
    assert [execute_array_task(RUN, CONFIG, index, "first", ON) for index in (0, 1)] == [EXIT_DONE, EXIT_DONE]
    assert runs.find_run(RUN).state == "stopped"
    run = take_up_run(RUN, CONFIG, ON, "second")
    assert run.state == "queued"
    assert not list(run.path.rglob(STOP_FILE))


def test_a_submission_waits_until_the_pods_of_the_one_before_have_ended():
    run = take_up_run(RUN, CONFIG, ON, "first")
    with ThreadPoolExecutor(1) as threads:
        with held_by_a_worker(run.path):
            taken = threads.submit(take_up_run, RUN, CONFIG, ON, "second")
            time.sleep(0.3)
            assert not taken.done()
            set_states(run, "stopped", "stopped", "stopped")
        assert taken.result(timeout=PATIENCE_SECONDS).state == "queued"


# The signal may come while a file is being read, which is then left to the collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
@pytest.mark.parametrize("index", [0, 1])
def test_a_task_that_is_told_to_end_while_it_waits_does_so_at_once(index, capsys):
    run = take_up_run(RUN, CONFIG, ON, "first")
    with held_by_a_worker(run.path), ThreadPoolExecutor(1) as threads:
        told = threads.submit(soon, lambda: "aiting for" in capsys.readouterr().out)
        told.add_done_callback(lambda _: signal.raise_signal(signal.SIGTERM))
        with pytest.raises(SystemExit, match=str(EXIT_RESTART)):
            execute_array_task(RUN, CONFIG, index, "second", ON)


def test_what_merges_passes_a_stop_on_and_waits_for_no_pod_that_is_not_there():
    run = take_up_run(RUN, CONFIG, ON, "first")
    with ThreadPoolExecutor(1) as threads:
        told = threads.submit(wait_until, run, lambda run: "2 of 2 groups wait" in run.message)
        told.add_done_callback(lambda _: runs.request_run_stop(RUN))
        assert runs.execute_run(RUN).state == "stopped"
    assert all((group.path / STOP_FILE).exists() for group in list_run_groups(run))


def test_a_group_that_failed_is_waited_for_until_nobody_would_begin_it_any_more(monkeypatch):
    run = take_up_run(RUN, CONFIG, ON, "first")
    set_states(run, "queued", "failed", "stopped")
    tasks = external_tasks.ExternalTasks(run, KUBERNETES)
    assert [task.state for task in tasks.poll_tasks().values()] == ["waiting", "waiting"]
    monkeypatch.setattr(external_tasks, "TASK_LOST_SECONDS", -1.0)
    assert [task.state for task in tasks.poll_tasks().values()] == ["ended", "waiting"]


def test_a_run_of_pods_is_resumed_by_pods_alone():
    run = take_up_run(RUN, CONFIG, ON, "first")
    set_states(run, "stopped", "stopped", "stopped")
    with pytest.raises(RunError, match="apply the manifest again"):
        runs.resume_run(RUN)
    result = CliRunner().invoke(main, ["train", "--resume", RUN])
    assert result.exit_code == 1
    assert "apply the manifest again" in result.stderr
    assert runs.find_run(RUN).state == "stopped"


@pytest.mark.parametrize(("state", "status"), [("finished", EXIT_DONE), ("diverged", EXIT_DIVERGED)])
def test_a_run_at_its_end_is_left_there(state, status):
    run = take_up_run(RUN, CONFIG, ON, "first")
    set_states(run, state, state, state)
    assert execute_array_task(RUN, CONFIG, 0, "second", ON) == status
    assert runs.find_run(RUN).state == state
