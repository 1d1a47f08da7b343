"""The links between one process that leads and all others: who comes, and who is refused."""

import errno
import socket
import time

from ensemble.errors import HostsError
from ensemble.hosts.company import Company
from ensemble.hosts.kinds import Follower, Leader
from ensemble.hosts.place import Place
from ensemble.hosts.wire import Wire

RETRY_SECONDS = 0.2
HELLO_SECONDS = 5.0


def meet(place: Place, seconds: float) -> tuple[Company, str]:
    """This process's links, and an address on the first host for JAX's own.

    Raises:
      HostsError: not all processes came within so many seconds; or it is none of them.
    """
    end = time.monotonic() + seconds
    return _lead(place, end, seconds) if place.index == 0 else _follow(place, end, seconds)


def _lead(place: Place, end: float, seconds: float) -> tuple[Company, str]:
    wires: dict[int, Wire] = {}
    names = {0: socket.gethostname()}
    with _listening(place, end) as server:
        while len(wires) < place.count - 1:
            server.settimeout(max(end - time.monotonic(), 0.01))
            try:
                connection, _ = server.accept()
            except TimeoutError as error:
                raise _not_all(place, wires, seconds) from error
            wire = Wire(connection)
            if said := _hello(wire, place):
                wires[said[0]], names[said[0]] = wire, said[1]
    everyone = [names[index] for index in range(place.count)]
    address = f"{place.host}:{_free_port()}"
    for wire in wires.values():
        wire.send("welcome", names=everyone, address=address)
    return Leader(0, everyone, dict(sorted(wires.items()))), address


def _follow(place: Place, end: float, seconds: float) -> tuple[Company, str]:
    wire = _connected(place, end, seconds)
    wire.send(
        "hello", index=place.index, count=place.count, key=place.key, name=socket.gethostname()
    )
    wire.patience(max(end - time.monotonic(), 0) + HELLO_SECONDS)
    try:
        answer = wire.receive()
    except (OSError, EOFError, ValueError) as error:
        wire.close()
        raise HostsError(
            f"The first process, on {place.host}, ended or fell silent before all had come: its "
            "log says why."
        ) from error
    if answer.kind != "welcome":
        wire.close()
        raise HostsError(str(answer.said.get("sentence", "It was refused.")))
    wire.patience(None)
    names, address = answer.said["names"], answer.said["address"]
    return Follower(place.index, names, {0: wire}), str(address)


def _listening(place: Place, end: float) -> socket.socket:
    """A socket at the place where all meet; one that just ended may still have it."""
    while True:
        try:
            return socket.create_server(("", place.port), backlog=place.count)
        except OSError as error:
            if error.errno != errno.EADDRINUSE or time.monotonic() > end:
                raise HostsError(
                    f"The processes cannot meet at port {place.port} of {place.host} "
                    f"({error.strerror}): end the program that has it, or name another port."
                ) from error
        time.sleep(RETRY_SECONDS)


def _hello(wire: Wire, place: Place) -> tuple[int, str] | None:
    """Who came, and from which host; None where it is none of this program's processes."""
    wire.patience(HELLO_SECONDS)
    try:
        message = wire.receive()
        index, count = int(message.said["index"]), int(message.said["count"])
        name, key = str(message.said["name"]), str(message.said["key"])
    except (OSError, EOFError, ValueError, KeyError, TypeError):
        wire.close()
        return None
    if (count, key) != (place.count, place.key) or not 0 < index < count:
        wire.send(
            "refused",
            sentence=f"Another program's processes meet at {place.host}, port "
            f"{place.port}: start this one at another port.",
        )
        wire.close()
        return None
    wire.patience(None)
    return index, name


def _connected(place: Place, end: float, seconds: float) -> Wire:
    while True:
        try:
            return Wire(socket.create_connection((place.host, place.port), HELLO_SECONDS))
        except OSError as error:
            if time.monotonic() > end:
                why = error.strerror or str(error)
                raise HostsError(
                    f"The first process cannot be reached at {place.host}, port {place.port}, "
                    f"within {seconds:.0f} seconds ({why}): see that it was started, and that this "
                    "host can reach that one by this name."
                ) from error
        time.sleep(RETRY_SECONDS)


def _not_all(place: Place, wires: dict[int, Wire], seconds: float) -> HostsError:
    """What the process that leads says, to the others too, where some did not come."""
    here, missing = len(wires) + 1, [n + 1 for n in range(1, place.count) if n not in wires]
    which = ", ".join(map(str, missing[:8])) + (", …" if len(missing) > 8 else "")
    sentence = (
        f"Only {here} of {place.count} processes came to {place.host} within {seconds:.0f} seconds "
        f"(not number {which}): see that all were started, and that their hosts can reach this one."
    )
    for wire in wires.values():
        wire.send("refused", sentence=sentence)
        wire.close()
    return HostsError(sentence)


def _free_port() -> int:
    with socket.create_server(("", 0)) as server:
        port: int = server.getsockname()[1]
        return port
