"""How soon many who watch one run see it refreshed: benchmarks.screens.viewers

    python -m benchmarks.screens.viewers [VIEWERS] [SECONDS]

A run trains on this machine and that many tabs have it open on Train: as browsers they ask for a
refresh when its time has come, and wait for the end of it. Seconds from the question to the end.
"""

import asyncio
import json
import os
import signal
import socket
import statistics
import sys
import tempfile
import time
from pathlib import Path

import psutil
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from benchmarks import common
from benchmarks.screens import server
from ensemble import runs
from ensemble.config import EnsembleConfig

VIEWERS, SECONDS = 60, 30.0
ANSWER_LIMIT_S = 60.0


async def draw(tab: ClientConnection, query: str, fragment: str = "") -> dict[str, float]:
    """Have a page or a fragment of it drawn; the fragments that want to be again, and how often.

    Raises:
      TimeoutError: the server does not end its answer within ANSWER_LIMIT_S.
    """
    message = BackMsg()
    message.rerun_script.query_string = query
    message.rerun_script.page_name = "train"
    message.rerun_script.fragment_id = fragment
    await tab.send(message.SerializeToString())
    again: dict[str, float] = {}
    async with asyncio.timeout(ANSWER_LIMIT_S):
        while True:
            answer = ForwardMsg.FromString(await tab.recv(decode=False))
            if answer.WhichOneof("type") == "auto_rerun":
                again[answer.auto_rerun.fragment_id] = answer.auto_rerun.interval
            if answer.WhichOneof("type") == "script_finished":
                return again


async def open_tab(url: str, query: str) -> tuple[ClientConnection, dict[str, float]]:
    """A tab with the page drawn, and the fragments that want to be drawn again."""
    tab = await connect(url, max_size=None, ping_interval=None, subprotocols=[Subprotocol("streamlit")])
    return tab, await draw(tab, query)


async def watch(tab: ClientConnection, query: str, again: dict[str, float], end: float) -> list[float]:
    """Have the run's part of the page refreshed until the end; seconds of each refresh."""
    took: list[float] = []
    while time.monotonic() < end and again:
        fragment, interval = min(again.items(), key=lambda item: item[1])
        await asyncio.sleep(interval)
        began = time.monotonic()
        again |= await draw(tab, query, fragment)
        took.append(time.monotonic() - began)
    return took


async def watch_together(
    port: int, run_id: str, viewers: int, seconds: float, process: psutil.Process
) -> tuple[list[float], float]:
    """Seconds of every refresh of all viewers, and those of the processor that the server took."""
    url, query = f"ws://localhost:{port}/_stcore/stream", f"run={run_id}"
    tabs = [await open_tab(url, query) for _ in range(viewers)]
    before, end = process.cpu_times(), time.monotonic() + seconds
    each = await asyncio.gather(*(watch(tab, query, again, end) for tab, again in tabs))
    after = process.cpu_times()
    for tab, _ in tabs:
        await tab.close()
    spent = after.user + after.system - before.user - before.system
    return [one for took in each for one in took], spent


def main() -> None:
    viewers = int(sys.argv[1]) if len(sys.argv) > 1 else VIEWERS
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else SECONDS
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # The run and the server end too.
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ENSEMBLE_RUNS"] = f"{folder}/runs"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        process = server.start(Path(folder), port)
        try:
            common.wait_until_healthy(f"http://localhost:{port}", process)
            run = runs.launch_run(EnsembleConfig(members=4, epochs=1000))
            while runs.find_run(run.id).status.epoch < 2:
                time.sleep(0.2)
            took, spent = asyncio.run(watch_together(port, run.id, viewers, seconds, psutil.Process(process.pid)))
        finally:
            for run in runs.list_runs():
                runs.request_run_stop(run.id)
            while any(run.active for run in runs.list_runs()):
                time.sleep(0.2)
            server.end(process)
    print(
        json.dumps(
            {
                "viewers": viewers,
                "refreshes": len(took),
                "median_s": round(statistics.median(took), 2),
                "p95_s": round(statistics.quantiles(took, n=20)[-1], 2),
                "server_ms_each": round(1000 * spent / len(took), 1),
                "load": [round(part, 1) for part in os.getloadavg()],
            }
        )
    )


if __name__ == "__main__":
    main()
