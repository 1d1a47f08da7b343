"""The port that the dashboard is asked to have: whether it is free, and which is the next."""

import errno
import os
import socket
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ensemble.errors import ConfigError

MAX_PORT, _PORTS_TO_TRY = 65_535, 100
FIRST_UNPRIVILEGED_PORT = 1024


def check_server_port(options: tuple[str, ...]) -> None:
    """See that the port that Streamlit is told to have can be had.

    Where none is named Streamlit finds a free one itself.

    Raises:
      ConfigError: another program has it, or nobody without rights of the system may.
    """
    port = read_server_option("port", options)
    address = str(read_server_option("address", options) or "")
    if not str(port or "").isdecimal() or not 0 < int(str(port)) <= MAX_PORT:
        return
    number = int(str(port))
    problem = find_port_error(address, number)
    if problem == errno.EACCES:
        raise ConfigError(
            f"Port {number} is kept for the system: choose one from "
            f"{FIRST_UNPRIVILEGED_PORT:,}, such as --server.port 8501."
        )
    if problem != errno.EADDRINUSE:
        return
    free = find_free_port(address, number)
    remedy = f"use --server.port {free}" if free else "use --server.port with another"
    raise ConfigError(
        f"Port {number} is taken, perhaps by a dashboard that is open already: look at "
        f"http://localhost:{number}, or {remedy}."
    )


def find_free_port(address: str, port: int) -> int | None:
    """The next port after one that can be had; None where there is none near it."""
    ahead = range(port + 1, min(port + _PORTS_TO_TRY, MAX_PORT) + 1)
    return next((other for other in ahead if find_port_error(address, other) is None), None)


def find_port_error(address: str, port: int) -> int | None:
    """Why nothing can be served at a port, as the system numbers errors; None if it can be."""
    try:
        found = socket.getaddrinfo(address or None, port, 0, socket.SOCK_STREAM, 0, 1)
        for family, kind, protocol, _, place in found[:1] if address else found:
            with socket.socket(family, kind, protocol) as trial:
                if os.name != "nt":
                    trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:
                    trial.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                trial.bind(place)
    except OSError as error:
        return error.errno
    return None


def read_server_option(name: str, options: tuple[str, ...]) -> Any:
    """What Streamlit's option `server.NAME` is; None where it is said nowhere.

    The command line goes before the environment, that before the files.
    """
    for place, option in enumerate(options):
        key, equals, value = option.partition("=")
        if key == f"--server.{name}":
            return value if equals else "".join(options[place + 1 : place + 2])
    if stated := os.environ.get(f"STREAMLIT_SERVER_{name.upper()}"):
        return stated
    return next((value for value in _read_settings_files(name) if value is not None), None)


def _read_settings_files(name: str) -> Iterator[Any]:
    for folder in (Path(), Path("~").expanduser()):
        try:
            settings = tomllib.loads((folder / ".streamlit" / "config.toml").read_text("utf-8"))
            yield settings.get("server", {}).get(name)
        except (OSError, ValueError, AttributeError, RecursionError):
            continue
