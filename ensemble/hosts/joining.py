"""How the processes of one program find each other: first by links of this program's, then JAX's.

JAX (0.10, 0.11) ends a process by abort() where another does not come in time; so it is asked
only once all are there.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from ensemble.hosts.company import Company, depart, enter
from ensemble.hosts.ending import on_abort
from ensemble.hosts.meeting import meet
from ensemble.hosts.place import ASKED, Place, find_place
from ensemble.machine.jax_settings import prepare_jax

JOIN_SECONDS = 120.0
# JAX's own, for what this program's links do not notice: it gives up on a process after between a
# half and the whole of it. These links, which know more, come first (company.SILENCE_SECONDS).
HEARTBEAT_SECONDS, SHUTDOWN_SECONDS = 30, 10


def asked() -> bool:
    """Whether the environment asks for one program of several processes."""
    return os.environ.get(ASKED, "") not in ("", "0")


@contextmanager
def joined(seconds: float = JOIN_SECONDS) -> Iterator[Company | None]:
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
    place = find_place()
    if place.count == 1:
        yield None
        return
    company, address = meet(place, seconds)
    on_abort(company.aborted)
    try:
        _start_jax(place, address, int(seconds))
        enter(company)
        with _told_to_stop(company):
            yield company
        _end_jax(company)
    except BaseException as error:
        company.fail(error)
    finally:
        depart()


def _start_jax(place: Place, address: str, seconds: int) -> None:
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
        HEARTBEAT_SECONDS,
        SHUTDOWN_SECONDS,
    )
    jax.devices()  # The processes tell each other of them: now, while all are here.


def _end_jax(company: Company) -> None:
    """Let go of the others, who are at the same place."""
    import jax

    company.close()
    jax.distributed.shutdown()


@contextmanager
def _told_to_stop(company: Company) -> Iterator[None]:
    """In a process that follows, a signal is a request that the one that leads hears of.

    The second Ctrl-C ends at once. The one that leads has its own way, as when it is alone.
    """

    def note(number: int, frame: FrameType | None) -> None:
        company.asked_to_stop = True  # A heartbeat says so: a signal may come within a message.
        signal.signal(signal.SIGINT, signal.default_int_handler)

    if company.leads:
        yield
        return
    before = {one: signal.signal(one, note) for one in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
