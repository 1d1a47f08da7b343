"""A real nginx that serves the very site of deploy/nginx.conf, as no root and on free ports."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

REPO = Path(__file__).resolve().parents[2]
SITE = REPO / "deploy" / "nginx.conf"
# What a person puts their own for; each of them stands in the file.
NAME, PORT, SECURE = "ensemble.example.org", "listen 80;", "listen 443 ssl;"
BACKEND, PEM, KEY = "127.0.0.1:8501", "/etc/ssl/ensemble.pem", "/etc/ssl/private/ensemble.key"
AROUND = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
worker_processes 1;
events {{ worker_connections 256; }}
http {{
    access_log {folder}/access.log;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/site.conf;
}}
"""
NOBODY = 65534


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def program() -> str:
    """Where nginx is; a test that wants it is skipped without."""
    found = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if not found or not shutil.which("openssl"):
        pytest.skip("nginx or openssl is not installed: on Debian, apt-get install nginx openssl")
    return found


def certificate(folder: Path) -> None:
    """One for localhost that nobody vouches for."""
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "1",
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=DNS:localhost",
            "-keyout",
            folder / "key.pem",
            "-out",
            folder / "certificate.pem",
        ],
        check=True,
        capture_output=True,
    )


def site(changes: Mapping[str, str]) -> str:
    """The site of deploy/ with a person's own words in place of the example's."""
    text = SITE.read_text("utf-8")
    for example, own in changes.items():
        assert example in text, example
        text = text.replace(example, own)
    return text


@contextmanager
def nginx(backend: int, changes: Mapping[str, str] | None = None, files: Sequence[Path] = ()) -> Iterator[str]:
    """A proxy before an app; its address, https and with no path.

    Args:
      backend: the app's port on this machine.
      changes: what else is put in place of what stands in the file.
      files: those that `changes` name, by their names alone.
    """
    where, port = program(), free_port()
    # Not below the tests' own folder, which nobody but its user may enter.
    with tempfile.TemporaryDirectory(dir="/tmp") as name, ExitStack() as stack:
        folder = Path(name)
        certificate(folder)
        for file in files:
            shutil.copy(file, folder)
        own = {
            NAME: "localhost",
            PORT: f"listen 127.0.0.1:{free_port()};",
            SECURE: f"listen 127.0.0.1:{port} ssl;",
            BACKEND: f"127.0.0.1:{backend}",
            PEM: f"{folder}/certificate.pem",
            KEY: f"{folder}/key.pem",
        }
        (folder / "site.conf").write_text(site({**(changes or {}), **own}))
        (folder / "nginx.conf").write_text(AROUND.format(folder=folder))
        process = _start([where, "-c", f"{folder}/nginx.conf", "-e", f"{folder}/error.log"], folder)
        stack.callback(_end, process)
        _wait(port, process, folder)
        yield f"https://localhost:{port}"


def _start(command: list[str], folder: Path) -> "subprocess.Popen[bytes]":
    """Not as root, whoever runs the tests."""
    user: dict[str, Any] = {}
    if os.geteuid() == 0:
        user = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        for path in (folder, *folder.iterdir()):
            os.chown(path, NOBODY, NOBODY)
    with (folder / "output").open("wb") as output:
        return subprocess.Popen(command, stdout=output, stderr=output, **user)


def _wait(port: int, process: "subprocess.Popen[bytes]", folder: Path) -> None:
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    pytest.fail(f"nginx did not start:\n{(folder / 'output').read_text()}")


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    process.wait(timeout=10)
