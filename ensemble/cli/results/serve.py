"""The command that serves an ensemble over HTTP."""

import errno
import json
import os
import socket
from pathlib import Path

import click

from ensemble.cli.options import EPOCH_OPTION, add_refuse_option
from ensemble.cli.output import print_line
from ensemble.cli.server_port import FIRST_UNPRIVILEGED_PORT, MAX_PORT, find_free_port
from ensemble.errors import ConfigError
from ensemble.wording import formats

_DEFAULT_HOST, _DEFAULT_PORT = "localhost", 8700


@click.command(name="serve")
@click.argument("run_id", metavar="RUN")
@click.option("--host", default=_DEFAULT_HOST, help="Address to listen on; localhost by default: this machine.")
@click.option(
    "--port",
    type=click.IntRange(0, MAX_PORT),
    default=_DEFAULT_PORT,
    help=f"Port to listen on; {_DEFAULT_PORT} by default, 0 for any that is free.",
)
@click.option(
    "--allowed-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="Name that others ask the server by; can be repeated.",
)
@click.option(
    "--token-file",
    type=Path,
    metavar="FILE",
    help="File with the token; by default ENSEMBLE_TOKEN, else one is made where it is needed.",
)
@EPOCH_OPTION
@click.option("--members", metavar="LIST", help="Members to ask, by number from 1 or by name: 1,3,4.")
@add_refuse_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout once it answers.")
def run_serve_command(
    run_id: str,
    host: str,
    port: int,
    hosts: tuple[str, ...],
    token_file: Path | None,
    epoch: int | None,
    members: str | None,
    refuse: float,
    as_json: bool,
) -> None:
    """Answer programs over HTTP: POST a picture or an array, get what the ensemble says of it.

    Only this machine reaches it unless --host says otherwise, and then a token is asked for.
    docs/take_it_away.md says what is answered. SIGTERM and Ctrl-C end it once what is in hand is
    answered.
    """
    # Late: JAX and Starlette take a while.
    from ensemble import runs
    from ensemble.serving.application import build_application
    from ensemble.serving.http_server import run_server
    from ensemble.serving.member_choice import parse_member_numbers
    from ensemble.serving.request_guard import build_request_guard
    from ensemble.serving.served_ensemble import open_served_ensemble

    run = runs.find_run(run_id)
    runs.require_training_config(run)
    numbers = parse_member_numbers(run, members) if members is not None else None
    guard, token_made = build_request_guard(host, hosts, token_file)
    with _open_port(host, port) as listening:
        print_line("Opening the members.", err=True)
        served = open_served_ensemble(run_id, epoch, numbers, refuse)
        print_line("Compiling for every size of batch: seconds when it is done again.", err=True)
        served.compile_programs()
        address = listening.getsockname()
        url = f"http://{_format_host(host)}:{address[1]}"

        def announce() -> None:
            if as_json:
                ready = {
                    "state": "ready",
                    "run_id": run.id,
                    "epoch": served.classifier.epoch,
                    "members": len(served.member_names),
                    "url": url,
                    "host": address[0],
                    "port": address[1],
                    "pid": os.getpid(),
                    "token": guard.token if token_made else None,
                }
                click.echo(json.dumps(ready))
                return
            count = formats.format_count(len(served.member_names), "member")
            print_line(f"{served.name}: {count} answer at {url}/predict; Ctrl-C ends it.")
            if token_made:
                print_line(f"Token, said once: {guard.token}")

        run_server(build_application(served, guard), listening, announce)


def _open_port(host: str, port: int) -> socket.socket:
    """A socket that listens.

    Raises:
      ConfigError: it cannot be had; the sentence names another port where there is one.
    """
    from ensemble.serving.http_server import open_listening_socket

    try:
        return open_listening_socket(host, port)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            free = find_free_port(host, port)
            remedy = f"use --port {free}" if free else "use --port with another"
            raise ConfigError(f"Port {port} is taken by another program: {remedy}.") from error
        if error.errno == errno.EACCES:
            raise ConfigError(
                f"Port {port} is kept for the system: choose one from "
                f"{FIRST_UNPRIVILEGED_PORT:,}, such as --port {_DEFAULT_PORT}."
            ) from error
        raise ConfigError(
            f"This machine cannot listen on {host:.80} ({error.strerror or error}): use --host "
            "with localhost, 0.0.0.0, or one of its own addresses."
        ) from error


def _format_host(host: str) -> str:
    """A host as an address of HTTP has it; what stands for every address as localhost."""
    if host in ("0.0.0.0", "::", ""):
        return "localhost"
    return f"[{host}]" if ":" in host else host
