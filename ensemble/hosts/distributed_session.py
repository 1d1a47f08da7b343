"""How the processes of one program find each other: first by links of this program's, then JAX's.

JAX (0.10, 0.11) ends a process by abort() where another does not come in time; so it is asked
only once all are there.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from ensemble.hosts.distributed_environment import (
    DISTRIBUTED_VARIABLE,
    DistributedEnvironment,
    detect_distributed_environment,
)
from ensemble.hosts.process_exit import call_on_abort
from ensemble.hosts.process_group import ProcessGroup, clear_process_group, set_process_group
from ensemble.hosts.rendezvous import connect_processes
from ensemble.machine.jax_settings import prepare_jax

JOIN_TIMEOUT_S = 120.0
# JAX's own, for what this program's links do not notice: it gives up on a process after between a
# half and the whole of it. These links, which know more, come first (company.SILENCE_SECONDS).
JAX_HEARTBEAT_TIMEOUT_S, JAX_SHUTDOWN_TIMEOUT_S = 30, 10


def is_distributed_requested() -> bool:
    """Whether the environment asks for one program of several processes."""
    return os.environ.get(DISTRIBUTED_VARIABLE, "") not in ("", "0")


@contextmanager
def join_process_group(seconds: float = JOIN_TIMEOUT_S) -> Iterator[ProcessGroup | None]:
    """This process among the others of its program, in which it ends as they do.

    Whatever goes wrong within ends every process, each with the sentence. It must come before
    anything starts JAX.

    Args:
      seconds: how long to wait for the others.

    Yields:
      None where it is the only one.

    Raises:
      ConfigError: nothing says how many processes there are.
      HostsError: they do not all come.
    """
    prepare_jax()
    place = detect_distributed_environment()
    if place.count == 1:
        yield None
        return
    company, address = connect_processes(place, seconds)
    call_on_abort(company.report_jax_abort)
    try:
        _start_distributed_jax(place, address, int(seconds))
        set_process_group(company)
        with _forward_stop_signals(company):
            yield company
        _shut_down_distributed_jax(company)
    except BaseException as error:
        company.end_by_error(error)
    finally:
        clear_process_group()


def _start_distributed_jax(place: DistributedEnvironment, address: str, seconds: int) -> None:
    """Have JAX find the devices of all hosts."""
    if any(name.lower() in ("http_proxy", "https_proxy", "grpc_proxy") for name in os.environ):
        # Else gRPC asks a proxy for the way to the next rack.
        os.environ.setdefault("no_grpc_proxy", place.host)
    import jax

    # Signals are this program's own business.
    jax.config.update("jax_enable_preemption_service", False)
    jax.distributed.initialize(
        address,
        place.count,
        place.index,
        place.devices,
        "deactivate",
        seconds,
        JAX_HEARTBEAT_TIMEOUT_S,
        JAX_SHUTDOWN_TIMEOUT_S,
    )
    jax.devices()  # The processes tell each other of them: now, while all are here.


def _shut_down_distributed_jax(company: ProcessGroup) -> None:
    """Let go of the others, who are at the same place."""
    import jax

    company.close()
    jax.distributed.shutdown()


@contextmanager
def _forward_stop_signals(company: ProcessGroup) -> Iterator[None]:
    """In a process that follows, a signal is a request that the one that leads hears of.

    The second Ctrl-C ends at once. The one that leads has its own way, as when it is alone.
    """

    def request_stop(number: int, frame: FrameType | None) -> None:
        company.stop_requested = True  # A heartbeat says so: a signal may come within a message.
        signal.signal(signal.SIGINT, signal.default_int_handler)

    if company.is_leader:
        yield
        return
    before = {stop_signal: signal.signal(stop_signal, request_stop) for stop_signal in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for signal_number, handler in before.items():
            signal.signal(signal_number, handler)
