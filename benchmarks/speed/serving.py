"""Predictions a second over HTTP beside the members alone: python -m benchmarks.speed.serving

A run of the `cnn` on digits with M = 1, 4 and 16 members whose weights are drawn is served by
`ensemble serve` in a process of its own. In another, plain JAX asks the same members: batches of
128 images, one after the other, a thread for each device, no HTTP and no JSON. Clients in a third
process post arrays; they, the server and the plain loop share the machine. Server and plain loop
take turns of a few seconds, each right behind the other, and what counts is the median ratio of
neighbouring turns, of images answered a second: by the clock, and by the processor, which says
what an answer costs where other work is on the same cores, and the clients are not. Clients ask
in three ways: 8 of them with 128 images a request, and 32 with one image a request, both without
rejection; and 8 with 128 images with it.

The plain loop is asked twice: by the program of this engine that the server uses too, and by
`jax.jit` of the HOWTO's network in Flax. The first is the harder to keep up with.

`--members 1,4`, `--seconds S` and `--rounds N` change what is measured. Takes about 6 minutes.
"""

import argparse
import http.client
import io
import json
import os
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
import psutil

from benchmarks import common

BATCH = 128
SERVING_METHODS = {  # clients, images a request, query
    "128 images a request": (8, BATCH, "?rejection=false"),
    "1 image a request": (32, 1, "?rejection=false"),
    "128 images a request, with rejection": (8, BATCH, ""),
}
CLOCKS = ("by the clock", "by the processor")
AIM = 0.8


def draw_run(members: int) -> str:
    """A finished run of the `cnn` on digits, its members drawn as training begins."""
    from ensemble import runs
    from ensemble.config import EnsembleConfig
    from ensemble.engine import build_network
    from ensemble.engine.step import create_members
    from ensemble.runs.parameters import write_parameters

    config = EnsembleConfig(network="cnn", dataset="digits", members=members, epochs=1)
    run = runs.create_run(config)
    write_parameters(run.path, 1, create_members(build_network(config), 0, members).params, best=1)
    return run.id


def load_images() -> np.ndarray:
    """Test images, as many as a batch has, uint8 (128, H, W, channels)."""
    from ensemble import datasets

    return np.asarray(datasets.load_dataset("digits").test_images[:BATCH])


def be_plain(run_id: str, way: str) -> None:
    """Ask the members without a server: a slice for each number of seconds on standard input."""
    import jax

    from ensemble.runs.members import open_members

    members, images = open_members(run_id, 1), load_images()
    predict = build_plain_pass(members.network, way)
    placed = [jax.device_put(members.params, device) for device in jax.local_devices()]
    for params in placed:
        predict(params, images)
    print("ready", flush=True)
    with ThreadPoolExecutor(len(placed)) as threads:
        for line in sys.stdin:
            end = time.perf_counter() + float(line)

            def ask_until_end(params: Any, end: float = end) -> int:
                done = 0
                while time.perf_counter() < end:
                    predict(params, images)
                    done += BATCH
                return done

            began, worked = time.perf_counter(), time.process_time()
            total = sum(threads.map(ask_until_end, placed))
            seconds = (time.perf_counter() - began, time.process_time() - worked)
            print(json.dumps([total / each for each in seconds]), flush=True)


def build_plain_pass(network: Any, way: str) -> Any:
    """The averaged probabilities of a batch, by the engine's program or the HOWTO's network."""
    import jax
    import jax.numpy as jnp

    if way == "engine":
        from ensemble.engine import predict_probabilities

        return lambda params, images: predict_probabilities(network, params, images).mean(axis=0)
    from benchmarks.speed.howto_loop import CNN

    module = CNN()

    @jax.jit
    def average_members(params: Any, images: Any) -> Any:
        scaled = images.astype(jnp.float32) / 255
        count = len(jax.tree.leaves(params)[0])
        each = [
            jax.nn.softmax(module.apply({"params": jax.tree.map(lambda leaf, m=m: leaf[m], params)}, scaled))
            for m in range(count)
        ]
        return sum(each) / count

    return lambda params, images: np.asarray(average_members(params, images))


def be_clients(port: int) -> None:
    """Post arrays from several threads: a slice for each line of seconds and a way to ask."""
    images = load_images()
    print("ready", flush=True)
    for line in sys.stdin:
        seconds, way = json.loads(line)
        clients, count, query = SERVING_METHODS[way]
        file = io.BytesIO()
        np.save(file, images[:count])
        body, latencies = file.getvalue(), list[float]()
        end = time.perf_counter() + seconds

        def ask_until_end(body: bytes = body, query: str = query, end: float = end, seen: Any = latencies) -> int:
            connection, done = http.client.HTTPConnection("127.0.0.1", port), 0
            while (began := time.perf_counter()) < end:
                connection.request("POST", f"/predict{query}", body, {"Content-Type": "application/x-npy"})
                answer = connection.getresponse()
                answer.read()
                assert answer.status == 200, answer.status
                seen.append(time.perf_counter() - began)
                done += 1
            connection.close()
            return done

        began = time.perf_counter()
        with ThreadPoolExecutor(clients) as threads:
            asked = [threads.submit(ask_until_end) for _ in range(clients)]
            total = count * sum(each.result() for each in asked)
        seconds = time.perf_counter() - began
        print(json.dumps([total, seconds, statistics.median(latencies)]), flush=True)


@contextmanager
def start_part(*words: str) -> Any:
    """A process that is told on its standard input what to do, ready to be told."""
    process = subprocess.Popen(
        [sys.executable, "-m", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=None if os.environ.get("BENCHMARK_LOG") else subprocess.DEVNULL,
        text=True,
        cwd=common.ROOT,
    )
    try:
        assert process.stdout
        first = process.stdout.readline()
        if not first:
            raise RuntimeError(f"{words} did not start: BENCHMARK_LOG=1 shows why.")
        yield process, first
    finally:
        process.kill()
        process.wait()


def tell(process: Any, line: str) -> Any:
    """Tell a process what to do, and wait for what it came to."""
    process.stdin.write(line + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def measure_members(members: int, seconds: float, rounds: int) -> dict[str, Any]:
    """The images a second of one number of members, in turns, and their ratios, by either clock."""
    run_id, me = draw_run(members), "benchmarks.speed.serving"
    rates: dict[str, list[float]] = defaultdict(list)
    ratios: dict[str, list[float]] = defaultdict(list)
    latencies: dict[str, list[float]] = defaultdict(list)
    server_words = ("ensemble", "serve", run_id, "--port", "0", "--json")
    with (
        start_part(*server_words) as (_, ready),
        start_part(me, "plain", run_id, "engine") as (engine, _),
        start_part(me, "plain", run_id, "flax") as (flax, _),
        start_part(me, "clients", str(json.loads(ready)["port"])) as (clients, _),
    ):
        server = psutil.Process(json.loads(ready)["pid"])
        for at in range(-1, rounds):  # the first is to warm up
            for way in SERVING_METHODS:
                plain = {name: tell(process, str(seconds)) for name, process in (("flax", flax), ("engine", engine))}
                before = server.cpu_times()
                total, passed, latency = tell(clients, json.dumps([seconds, way]))
                after = server.cpu_times()
                worked = after.user + after.system - before.user - before.system
                if at < 0:
                    continue
                latencies[way].append(latency)
                for clock, rate in enumerate((total / passed, total / worked)):
                    rates[f"{way}, {CLOCKS[clock]}"].append(rate)
                    for name, both in plain.items():
                        rates[f"{name}, {CLOCKS[clock]}"].append(both[clock])
                        ratios[f"{way} / {name}, {CLOCKS[clock]}"].append(rate / both[clock])
    return {
        "images_per_second": {name: statistics.median(each) for name, each in rates.items()},
        "ratios": {name: statistics.median(each) for name, each in ratios.items()},
        "median_seconds": {name: statistics.median(each) for name, each in latencies.items()},
    }


def main() -> None:
    match sys.argv[1:]:
        case ["plain", run_id, way]:
            return be_plain(run_id, way)
        case ["clients", port]:
            return be_clients(int(port))
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--members", default="1,4,16")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    common.isolated_folders()
    found = {
        members: measure_members(int(members), chosen.seconds, chosen.rounds) for members in chosen.members.split(",")
    }
    for members, figures in found.items():
        for name, ratio in figures["ratios"].items():
            print(f"M = {members:>2}  {name:<66} {ratio:.2f}", file=sys.stderr)
    common.keep("serving", {"batch": BATCH, "aim": AIM, "members": found})


if __name__ == "__main__":
    main()
