"""Fork `ensemble` processes from a server that has already imported JAX, so that each starts in 0.2 s instead of 0.9.

Inside `forked_starts`, `subprocess.Popen` gets `python -m ensemble …` and `build_python_command(…)` from the server.
The server has only imported modules: it has one thread and has not initialized JAX. The new process is a child of the
caller, with its own environment, folder and streams. JAX reads the environment when the program first imports it.

Differences from a regular process: the command line in /proc, and third-party modules that are already imported.
Linux only. Set ENSEMBLE_TESTS_FORK=0 in an environment to start its processes as usual.
"""

import ctypes
import gc
import importlib.abc
import importlib.machinery
import io
import json
import os
import runpy
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

IMPORTED = (
    "filelock",
    "flax.linen",
    "flax.nnx",
    "numpy",
    "optax",
    "psutil",
    "scipy.stats",
    "PIL.Image",
    "yaml",
    "click",
)
PR_SET_CHILD_SUBREAPER = 36  # of prctl(2): orphans among its descendants become this process's children
MOST_BYTES = 2**20
SWITCH = "ENSEMBLE_TESTS_FORK"


class ForkServer:
    """A client of the server, which is started with the first process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None

    def start(
        self, words: Sequence[str], folder: str, environment: dict[str, str], streams: Sequence[int], session: bool
    ) -> int:
        """Start `python` with these words and return the PID, which is a child of this process."""
        request = {"words": words, "folder": folder, "environment": environment, "session": session}
        with self._lock:
            connection = self._connect()
            set_subreaper(True)
            try:
                socket.send_fds(connection, [json.dumps(request).encode()], list(streams))
                pid = int(connection.recv(32))
            finally:
                set_subreaper(False)
            connection.send(b"go")  # the process is our child by now
        return pid

    def _connect(self) -> socket.socket:
        if self._socket is None:
            self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            words = [sys.executable, "-P", __file__, str(theirs.fileno())]
            environment = {name: value for name, value in os.environ.items() if not name.startswith(("JAX_", "XLA_"))}
            self._process = subprocess.Popen(
                words, pass_fds=[theirs.fileno()], env=environment, stdin=subprocess.DEVNULL
            )
            theirs.close()
        return self._socket

    def close(self) -> None:
        if self._socket and self._process:
            self._socket.close()
            self._process.wait()
            self._socket = self._process = None


@contextmanager
def forked_starts() -> Iterator[None]:
    """Fork the `ensemble` processes that `subprocess.Popen` starts in this context (on Linux only)."""
    if sys.platform != "linux" or os.environ.get(SWITCH) == "0":
        yield
        return
    server, start = ForkServer(), subprocess.Popen._execute_child  # type: ignore[attr-defined]
    names = start.__code__.co_varnames[1 : start.__code__.co_argcount]

    def execute_child(self: Any, *values: Any) -> None:
        given = dict(zip(names, values, strict=True))
        if not can_be_forked(given):
            return start(self, *values)
        pipes = (("p2cread", "p2cwrite"), ("c2pread", "c2pwrite"), ("errread", "errwrite"))
        own = [given["p2cread"], given["c2pwrite"], given["errwrite"]]
        streams = [number if stream == -1 else stream for number, stream in enumerate(own)]
        environment = dict(os.environ if given["env"] is None else given["env"])
        folder = os.fspath(given["cwd"] or os.getcwd())
        self.pid = server.start(
            [os.fspath(word) for word in given["args"][1:]], folder, environment, streams, given["start_new_session"]
        )
        self._child_created = True
        self._close_pipe_fds(*(given[name] for pair in pipes for name in pair))

    subprocess.Popen._execute_child = execute_child  # type: ignore[attr-defined]
    try:
        yield
    finally:
        subprocess.Popen._execute_child = start  # type: ignore[attr-defined]
        server.close()


def can_be_forked(given: dict[str, Any]) -> bool:
    """Return whether these arguments of `Popen` start an `ensemble` process that can be forked."""
    words, environment = given["args"], os.environ if given["env"] is None else given["env"]
    if not isinstance(words, list | tuple) or words[0] != sys.executable or environment.get(SWITCH) == "0":
        return False
    is_ours = list(words[1:3]) == ["-m", "ensemble"] or (words[1] == "-P" and Path(words[2]).name == "run_module.py")
    special = ("preexec_fn", "pass_fds", "shell", "executable")
    alike = all(environment.get(name) == os.environ.get(name) for name in {*environment, *os.environ} if is_read(name))
    return is_ours and alike and not any(given[name] for name in special)


def is_read(name: str) -> bool:
    """Return whether Python or a library reads this variable before the fork."""
    harmless = ("PYTHONSAFEPATH", "PYTHONUNBUFFERED")
    return name.startswith(("PYTHON", "LD_", "OPENBLAS_", "OMP_", "MALLOC_", "GLIBC_")) and name not in harmless


def set_subreaper(wanted: bool) -> None:
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, int(wanted), 0, 0, 0)


def main() -> None:
    """Run the server. In a forked child, run the requested program."""
    for module in IMPORTED:
        importlib.import_module(module)
    gc.collect()
    gc.freeze()
    if (threads := len(os.listdir("/proc/self/task"))) > 1:
        raise RuntimeError(f"A process with {threads} threads cannot be forked: one of {IMPORTED} starts them.")
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        asked = serve(connection)
    if asked:
        begin_process(**asked)


def serve(connection: socket.socket) -> dict[str, Any] | None:
    """Fork at each request. Returns the request in the child, and None in the server when the tests have ended."""
    while True:
        message, streams, _, _ = socket.recv_fds(connection, MOST_BYTES, 3)
        if not message:
            return None
        (started, has_started), (allowed, allow) = os.pipe(), os.pipe()
        if not (middle := os.fork()):
            if child := os.fork():  # its parent becomes the caller when the middle process ends
                os.write(has_started, str(child).encode())
                os._exit(0)
            os.read(allowed, 1)
            for number in (started, has_started, allowed, allow):
                os.close(number)
            return {**json.loads(message), "streams": streams}
        os.waitpid(middle, 0)
        connection.send(os.read(started, 32))
        connection.recv(2)
        os.write(allow, b"!")
        for number in (*streams, started, has_started, allowed, allow):
            os.close(number)


def begin_process(
    words: list[str], folder: str, environment: dict[str, str], session: bool, streams: list[int]
) -> None:
    """Run the words that follow `python` on a command line."""
    if session:
        os.setsid()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    plain = bool(environment.get("PYTHONUNBUFFERED"))
    sys.stdin = sys.__stdin__ = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, "r")))
    sys.stdout = sys.__stdout__ = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "w")), write_through=plain)
    sys.stderr = sys.__stderr__ = io.TextIOWrapper(
        io.BufferedWriter(io.FileIO(2, "w")), errors="backslashreplace", line_buffering=True, write_through=plain
    )
    sys.meta_path.insert(0, JaxReadsTheEnvironment(sys.modules.pop("jax")))
    if words[0] == "-P":
        sys.argv = words[1:]
        runpy.run_path(words[1], run_name="__main__")
    else:
        sys.argv = ["", *words[2:]]
        sys.path.insert(0, folder)
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)


class JaxReadsTheEnvironment(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Returns the imported JAX at the program's `import jax`, configured from the environment as it is then."""

    def __init__(self, jax: ModuleType) -> None:
        self._jax, self._spec = jax, jax.__spec__

    def find_spec(self, name: str, *_: Any) -> importlib.machinery.ModuleSpec | None:
        return importlib.machinery.ModuleSpec("jax", self) if name == "jax" else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return self._jax

    def exec_module(self, module: ModuleType) -> None:
        sys.meta_path.remove(self)
        module.__spec__ = self._spec
        values = dict(module.config.values)
        for name, text in os.environ.items():
            if (option := name.lower()) in values and name.startswith("JAX_"):
                module.config.update(option, convert_value(text, values[option]))


def convert_value(text: str, default: Any) -> Any:
    """Convert a variable's text to the type of the option's default."""
    if isinstance(default, bool):
        return text.lower() in ("1", "y", "yes", "t", "true", "on")
    return type(default)(text) if isinstance(default, int | float) else text


if __name__ == "__main__":
    main()
