"""The links between one process that leads and all others: who comes, and who is refused."""

import errno
import socket
import time

from ensemble.errors import HostsError
from ensemble.hosts.distributed_environment import DistributedEnvironment
from ensemble.hosts.message_connection import MessageConnection
from ensemble.hosts.process_group import ProcessGroup
from ensemble.hosts.process_roles import FollowerProcess, LeaderProcess

RETRY_INTERVAL_S = 0.2
HELLO_TIMEOUT_S = 5.0


def connect_processes(place: DistributedEnvironment, seconds: float) -> tuple[ProcessGroup, str]:
    """This process's links, and an address on the first host for JAX's own.

    Raises:
      HostsError: not all processes came within so many seconds; or it is none of them.
    """
    end = time.monotonic() + seconds
    return _accept_processes(place, end, seconds) if place.index == 0 else _connect_to_leader(place, end, seconds)


def _accept_processes(place: DistributedEnvironment, end: float, seconds: float) -> tuple[ProcessGroup, str]:
    wires: dict[int, MessageConnection] = {}
    names = {0: socket.gethostname()}
    with _open_server(place, end) as server:
        while len(wires) < place.count - 1:
            server.settimeout(max(end - time.monotonic(), 0.01))
            try:
                connection, _ = server.accept()
            except TimeoutError as error:
                raise _refuse_incomplete_group(place, wires, seconds) from error
            wire = MessageConnection(connection)
            if hello := _receive_hello(wire, place):
                wires[hello[0]], names[hello[0]] = wire, hello[1]
    everyone = [names[index] for index in range(place.count)]
    address = f"{place.host}:{_find_free_port()}"
    for wire in wires.values():
        wire.send("welcome", names=everyone, address=address)
    return LeaderProcess(0, everyone, dict(sorted(wires.items()))), address


def _connect_to_leader(place: DistributedEnvironment, end: float, seconds: float) -> tuple[ProcessGroup, str]:
    wire = _open_connection_to_leader(place, end, seconds)
    wire.send("hello", index=place.index, count=place.count, key=place.key, name=socket.gethostname())
    wire.set_timeout(max(end - time.monotonic(), 0) + HELLO_TIMEOUT_S)
    try:
        answer = wire.receive()
    except (OSError, EOFError, ValueError) as error:
        wire.close()
        raise HostsError(
            f"The first process, on {place.host}, exited or stopped responding before all "
            "processes had connected: its log says why."
        ) from error
    if answer.kind != "welcome":
        wire.close()
        raise HostsError(str(answer.values.get("sentence", "It was rejected.")))
    wire.set_timeout(None)
    names, address = answer.values["names"], answer.values["address"]
    return FollowerProcess(place.index, names, {0: wire}), str(address)


def _open_server(place: DistributedEnvironment, end: float) -> socket.socket:
    """A socket at the place where all meet; one that just ended may still have it."""
    while True:
        try:
            return socket.create_server(("", place.port), backlog=place.count)
        except OSError as error:
            if error.errno != errno.EADDRINUSE or time.monotonic() > end:
                raise HostsError(
                    f"The processes cannot connect at port {place.port} of {place.host} "
                    f"({error.strerror}): end the program that uses it, or choose another port."
                ) from error
        time.sleep(RETRY_INTERVAL_S)


def _receive_hello(wire: MessageConnection, place: DistributedEnvironment) -> tuple[int, str] | None:
    """Who came, and from which host; None if it is none of this program's processes."""
    wire.set_timeout(HELLO_TIMEOUT_S)
    try:
        message = wire.receive()
        index, count = int(message.values["index"]), int(message.values["count"])
        name, key = str(message.values["name"]), str(message.values["key"])
    except (OSError, EOFError, ValueError, KeyError, TypeError):
        wire.close()
        return None
    if (count, key) != (place.count, place.key) or not 0 < index < count:
        wire.send(
            "refused",
            sentence=(f"Another program uses {place.host}, port {place.port}: choose another port for this one."),
        )
        wire.close()
        return None
    wire.set_timeout(None)
    return index, name


def _open_connection_to_leader(place: DistributedEnvironment, end: float, seconds: float) -> MessageConnection:
    while True:
        try:
            return MessageConnection(socket.create_connection((place.host, place.port), HELLO_TIMEOUT_S))
        except OSError as error:
            if time.monotonic() > end:
                why = error.strerror or str(error)
                raise HostsError(
                    f"The first process cannot be reached at {place.host}, port {place.port}, "
                    f"within {seconds:.0f} seconds ({why}): check that it was started, and "
                    "that this host can reach that one by this name."
                ) from error
        time.sleep(RETRY_INTERVAL_S)


def _refuse_incomplete_group(
    place: DistributedEnvironment, wires: dict[int, MessageConnection], seconds: float
) -> HostsError:
    """What the process that leads says, to the others too, where some did not come."""
    here, missing = len(wires) + 1, [n + 1 for n in range(1, place.count) if n not in wires]
    which = ", ".join(map(str, missing[:8])) + (", …" if len(missing) > 8 else "")
    sentence = (
        f"Only {here} of {place.count} processes connected to {place.host} within "
        f"{seconds:.0f} seconds (not number {which}): check that all were started, and that "
        "their hosts can reach this one."
    )
    for wire in wires.values():
        wire.send("refused", sentence=sentence)
        wire.close()
    return HostsError(sentence)


def _find_free_port() -> int:
    with socket.create_server(("", 0)) as server:
        port: int = server.getsockname()[1]
        return port
