"""Traces cached on disk: found again, told apart, thrown away when they are no good."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

from ensemble import optimizers
from ensemble.datasets import Dataset
from ensemble.engine import Trainer, step, trace_cache
from ensemble.engine.draws import batches
from ensemble.engine.forms import looped_execution
from ensemble.engine.optimizer import init_optimizer_state
from ensemble.engine.trace_cache import cache_trace, find_traces_folder, register_serialization
from ensemble.optimizers import OPTIMIZERS, Optimizer
from tests.engine.conftest import devices, small_config

CACHE = "jax_compilation_cache_dir"


@register_serialization
class Pair(NamedTuple):
    one: Array
    other: Array


class Traced:
    """A function that counts how often it is traced."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, pair: Pair, scale: dict[str, Array]) -> Pair:
        self.times += 1
        return Pair(pair.one * scale["by"], pair.other - pair.one.sum())


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    jax.jit(lambda x: x + 1)(1.0)  # JAX's own cache is set up now, in the folder of all tests.
    before = jax.config.values[CACHE]
    jax.config.update(CACHE, str(tmp_path))
    found = find_traces_folder()
    assert found is not None
    yield found
    jax.config.update(CACHE, before)


def anew(traced: Traced, *settings: object) -> Callable[..., Pair]:
    """`cache_trace` as a process has it that begins: a function of which JAX remembers nothing."""
    return cache_trace("pair", lambda *arguments: traced(*arguments), *settings)


def ask(traced: Traced, *settings: object, size: int = 3) -> Pair:
    pair = Pair(jnp.arange(float(size)), jnp.ones(size))
    return jax.jit(anew(traced, *settings))(pair, {"by": jnp.full(size, 2.0)})


def check(pair: Pair) -> None:
    np.testing.assert_array_equal(pair.one, [0, 2, 4])
    np.testing.assert_array_equal(pair.other, [-2, -2, -2])


def test_it_is_traced_once_for_all_who_come_later(folder: Path) -> None:
    traced = Traced()
    for _ in range(3):
        check(ask(traced))
    assert traced.times == 1
    assert len(list(folder.iterdir())) == 1


def test_other_settings_shapes_or_sources_are_another_trace(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    traced = Traced()
    ask(traced)
    ask(traced, "bfloat16")
    ask(traced, size=4)
    monkeypatch.setattr(trace_cache, "_SOURCES", "a line was changed")
    ask(traced)
    assert traced.times == len(list(folder.iterdir())) == 4


def test_devices_share_it(folder: Path) -> None:
    traced, devices = Traced(), jax.local_devices()[:2]
    both = Pair(jnp.arange(6.0).reshape(2, 3), jnp.ones((2, 3)))
    for _ in range(2):
        found = jax.pmap(anew(traced), devices=devices)(both, {"by": jnp.full((2, 3), 2.0)})
        check(Pair(found.one[0], found.other[0]))
        np.testing.assert_array_equal(found.other[1], [-11, -11, -11])
    check(ask(traced))
    assert traced.times == 1


@pytest.mark.parametrize("optimizer", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_what_an_optimizer_remembers_can_be_cached(folder: Path, optimizer: Optimizer) -> None:
    times = 0

    def again(state: object) -> object:
        nonlocal times
        times += 1
        return jax.tree.map(lambda leaf: leaf + 1, state)

    state = init_optimizer_state(optimizer, {"kernel": jnp.zeros(3)})
    for _ in range(2):
        got = jax.jit(cache_trace("again", lambda *each: again(*each), optimizer))(state)
        assert jax.tree.structure(got) == jax.tree.structure(state)
    assert times == 1


def test_another_source_of_the_optimizers_is_another_circumstance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = trace_cache._digest_sources()
    assert trace_cache._digest_sources() == before
    source = Path(optimizers.__file__)
    (changed := tmp_path / source.name).write_text(source.read_text("utf-8") + "#", "utf-8")
    monkeypatch.setattr(optimizers, "__file__", str(changed))
    assert trace_cache._digest_sources() != before


@pytest.mark.parametrize("content", [b"", b"no trace", b"0" * 1000])
def test_a_damaged_one_is_made_again(folder: Path, content: bytes) -> None:
    traced = Traced()
    ask(traced)
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    file.write_bytes(content)
    check(ask(traced))
    assert traced.times == 2
    assert file.read_bytes() == whole


def test_one_cut_short_is_made_again(folder: Path) -> None:
    traced = Traced()
    ask(traced)
    (file,) = folder.iterdir()
    file.write_bytes(file.read_bytes()[:-1])
    check(ask(traced))
    assert traced.times == 2


def test_only_so_many_are_cached_and_the_unused_go(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_cache, "MAX_STORED_TRACES", 2)
    traced = Traced()
    for name in ("first", "second"):
        ask(traced, name)
        for file in folder.iterdir():  # Clocks of file systems may be coarse.
            earlier = file.stat().st_mtime - 10
            os.utime(file, (earlier, earlier))
    ask(traced, "first")
    ask(traced, "third")
    assert traced.times == 3
    ask(traced, "first")
    assert traced.times == 3
    ask(traced, "second")
    assert traced.times == 4


@pytest.mark.parametrize("nowhere", [None, "gs://bucket/folder"])
def test_where_jax_caches_nothing_here_nothing_is_cached(folder: Path, nowhere: str | None) -> None:
    jax.config.update(CACHE, nowhere)
    traced = Traced()
    check(ask(traced))
    check(ask(traced))
    assert traced.times == 2
    assert not folder.exists()


def test_a_disk_that_says_no_stops_nobody(folder: Path) -> None:
    folder.parent.mkdir(exist_ok=True)
    folder.touch()  # A file where the folder should be.
    check(ask(Traced()))


def test_what_cannot_be_written_down_is_traced_each_time(folder: Path) -> None:
    class Unknown(NamedTuple):
        one: Array

    traced = []

    def function(given: Unknown) -> Unknown:
        traced.append(given)
        return Unknown(given.one + 1)

    for _ in range(2):
        found = jax.jit(cache_trace("unknown", lambda given: function(given)))(Unknown(jnp.ones(2)))
        np.testing.assert_array_equal(found.one, [2, 2])
    assert len(traced) >= 2
    assert not folder.exists()


def test_a_type_that_is_defined_anew_ends_the_keeping(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_cache, "_unserializable_types", [])
    register_serialization(Pair)  # As when a changed file is imported again.
    assert find_traces_folder() is None
    check(ask(Traced()))


@pytest.mark.long
def test_training_is_the_same_to_the_last_bit(folder: Path, few: Dataset) -> None:
    found, remembered = (
        [],
        (looped_execution.build_member_programs, step._build_creation_program, batches._build_order_program),
    )
    for cache in (None, str(folder.parent), str(folder.parent)):
        jax.config.update(CACHE, cache)
        for one in remembered:
            one.cache_clear()
        made = Trainer(small_config(network="logistic"), few, devices(1))
        state, figures = made.train(made.start(), 1, 0, 3)
        tested = made.evaluate(state)
        found.append(jax.tree.leaves((made.get(state), figures.loss, tested.probabilities)))
    for one in remembered:
        one.cache_clear()
    assert len(list(folder.iterdir())) == len(["train", "evaluate", "create", "draw"])
    for plain, first, again in zip(*found, strict=True):
        np.testing.assert_array_equal(plain, first)
        np.testing.assert_array_equal(plain, again)


def test_a_process_looks_once_whether_compiled_programs_have_become_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from jax._src.lru_cache import LRUCache

    def there() -> set[str]:
        return {file.name for file in tmp_path.glob("*-cache")}

    cache = LRUCache(str(tmp_path), max_size=100)
    for name in "abc":
        cache.put(name, bytes(60))
    assert there() == {"a-cache", "b-cache", "c-cache"}, "after the first nobody looked"
    monkeypatch.setattr(trace_cache, "_scanned_folders", set())  # as in a process that begins
    LRUCache(str(tmp_path), max_size=100).put("d", bytes(60))
    assert there() == {"d-cache"}
