"""Links between processes: what they carry, and how the end of one ends all. Without JAX."""

import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from ensemble.errors import HostsError
from ensemble.hosts import distributed_session, process_group
from ensemble.hosts.distributed_environment import DistributedEnvironment
from ensemble.hosts.message_connection import MessageConnection
from ensemble.hosts.rendezvous import connect_processes
from tests.hosts.pair import free_port

# A process among others that does as it is told by its arguments; a second stands for eight.
PROCESS = """
import os, sys, time
from ensemble.hosts import process_group, process_exit, rendezvous, distributed_environment
process_group.HEARTBEAT_TIMEOUT_S = 1.0
process_group.HEARTBEAT_INTERVAL_S = process_group.SETTLE_TIME_S = 0.1
here, _ = rendezvous.connect_processes(distributed_environment.detect_distributed_environment(), 20)
process_exit.call_on_abort(here.report_jax_abort)
here.on_fatal_error = lambda sentence: print("LAST WORDS", sentence, flush=True)
print("here", flush=True)
if sys.argv[1] == str(here.index):
    if sys.argv[2] == "abort":
        process_group.SETTLE_TIME_S = 0.0  # Gone before the others have settled what to say.
        os.abort()
    try:
        raise {"bug": ValueError, "mended": process_group.EnsembleError}[sys.argv[2]]("boom")
    except Exception as error:
        here.end_by_error(error)
time.sleep(20)
"""


@pytest.fixture
def three(request, tmp_path):
    """Three processes of which one may do something, and their logs."""
    address, logs = f"localhost:{free_port()}", [tmp_path / str(n) for n in range(3)]
    all_three = []
    for index, log in enumerate(logs):
        said = {"JAX_COORDINATOR_ADDRESS": address, "ENSEMBLE_NUM_PROCESSES": "3", "ENSEMBLE_PROCESS_ID": str(index)}
        with log.open("wb") as file:
            all_three.append(
                subprocess.Popen(
                    [sys.executable, "-c", PROCESS, *getattr(request, "param", ("", ""))],
                    stdout=file,
                    stderr=file,
                    env={**os.environ, **said},
                )
            )
    end = time.monotonic() + 240
    for one, log in zip(all_three, logs, strict=True):
        while "here" not in log.read_text() and one.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
    yield all_three, logs
    for one in all_three:
        one.kill()
        one.wait()


def others_end(all_three, logs, index, status, *words):
    """All but one end with this status, and each says these words."""
    for other in {0, 1, 2} - {index}:
        assert all_three[other].wait(10) == status, logs[other].read_text()
        for word in words:
            assert word in logs[other].read_text()


@pytest.mark.parametrize(
    ("index", "number", "how"), [(1, signal.SIGKILL, "was killed"), (0, signal.SIGSTOP, "was suspended")]
)
def test_who_is_killed_or_stopped_is_named_by_all_others(three, index, number, how):
    all_three, logs = three
    all_three[index].send_signal(number)
    who = f"Process {index + 1} of 3 (on "
    others_end(all_three, logs, index, 75, who, how)
    if number == signal.SIGSTOP:  # One that wakes knows that it was itself that was away.
        all_three[index].send_signal(signal.SIGCONT)
        assert all_three[index].wait(10) == 75
        said = logs[index].read_text()
        assert "LAST WORDS " + who in said
        assert "was suspended for" in said


@pytest.mark.parametrize(
    ("three", "status", "said"),
    [
        (("0", "bug"), 1, "process 1 of 3"),
        (("0", "mended"), 1, "boom"),
        (("1", "abort"), 75, "connection of jax.distributed"),
    ],
    indirect=["three"],
)
def test_an_error_in_one_is_said_by_all(three, status, said):
    all_three, logs = three
    others_end(all_three, logs, None, status, said)
    tracebacks = ["Traceback" in log.read_text() for log in logs]
    assert sum(tracebacks) == (said.startswith("process"))


def companies(count: int):
    port = free_port()
    places = [DistributedEnvironment("localhost", port, count, index) for index in range(count)]
    with ThreadPoolExecutor(count) as pool:
        return [one for one, _ in pool.map(lambda place: connect_processes(place, 10), places)]


def test_rows_of_all_come_to_the_first_in_their_places():
    whole = np.random.default_rng(0).normal(size=(5, 2, 3)).astype(np.float32)
    owners = np.array([0, 1, 1, 2, 0])
    every = companies(3)
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda one: one.gather_rows(whole[owners == one.index], owners), every))
        list(pool.map(lambda one: one.wait_at_barrier(), every))
    np.testing.assert_array_equal(found[0], whole)
    np.testing.assert_array_equal(found[1][owners == 1], whole[owners == 1])
    for one in every:
        one.close()


@pytest.mark.parametrize("dtype", ["float32", "uint8", "bool", "int64", "float64"])
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3), (2**18, 3)])
def test_an_array_arrives_as_it_was(dtype, shape):
    one, other = (MessageConnection(end) for end in socket.socketpair())
    sent = np.random.default_rng(1).integers(0, 2, shape).astype(dtype)
    with ThreadPoolExecutor(1) as pool:
        told = pool.submit(one.send, "rows", [sent.T, sent], step=3)
        kind, said, arrays = other.receive()
        told.result()
    assert (kind, said) == ("rows", {"step": 3})
    for got, wanted in zip(arrays, [sent.T, sent], strict=True):
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(got, wanted)
    one.close()
    with pytest.raises(EOFError):
        other.receive()
    other.close()


@pytest.mark.parametrize("sent", [b"GET / HTTP/1.1\r\n\r\n", b"\0\0\0\2[]", b"\0\0\0\1{", b"\xff" * 8])
def test_what_is_no_message_is_refused(sent):
    one, other = socket.socketpair()
    one.sendall(sent)
    one.close()
    wire = MessageConnection(other)
    with pytest.raises(ValueError):  # noqa: PT011  JSON's own words
        wire.receive()
    wire.close()


def test_who_does_not_come_is_named_and_those_who_came_say_it_too():
    port = free_port()
    places = [DistributedEnvironment("localhost", port, 3, index) for index in (0, 1)]
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(connect_processes, place, 1.0) for place in places]
    for one in both:
        with pytest.raises(HostsError, match=r"Only 2 of 3 processes connected .*\(not number 3\)"):
            one.result()


def test_a_process_without_a_first_one_says_where_it_looked():
    port = free_port()
    with pytest.raises(HostsError, match=rf"cannot be reached at localhost, port {port}"):
        connect_processes(DistributedEnvironment("localhost", port, 2, 1), 0.5)


def test_another_programs_process_is_refused_and_what_is_no_process_ignored():
    port = free_port()
    places = [
        DistributedEnvironment("localhost", port, 2, 0, "7.0"),
        DistributedEnvironment("localhost", port, 2, 1, "8.0"),
        DistributedEnvironment("localhost", port, 2, 1, "7.0"),
    ]
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(connect_processes, places[0], 10)
        with pytest.raises(HostsError, match="Another program uses"):
            connect_processes(places[1], 5)
        with socket.create_connection(("localhost", port)) as other:
            other.sendall(b"GET / HTTP/1.1\r\n\r\n")
        follower, address = connect_processes(places[2], 5)
        leader, same = first.result()
    assert address == same
    assert leader.names == follower.names
    for one in (leader, follower):
        one.close()


def test_a_port_that_somebody_has_is_said():
    with socket.create_server(("", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(HostsError, match=f"cannot connect at port {port}"):
            connect_processes(DistributedEnvironment("localhost", port, 2, 0), 0.3)


def test_these_links_notice_before_those_of_jax():
    """JAX may give up after half of its time: the cause would not be known yet."""
    latest = process_group.HEARTBEAT_TIMEOUT_S + 2 * process_group.HEARTBEAT_INTERVAL_S + process_group.SETTLE_TIME_S
    assert latest < distributed_session.JAX_HEARTBEAT_TIMEOUT_S / 2
