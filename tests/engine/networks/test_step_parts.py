"""What benchmarks.speed.parts reads from a compiled program."""

import jax
import jax.numpy as jnp

from benchmarks.speed.hlo import Program, nbytes
from benchmarks.speed.parts import kinds, own_seconds, part_of, table


def test_products_are_counted_and_slices_are_read_alone():
    def steps(rows, weights):
        with jax.named_scope("convolution_0"):
            return jax.lax.map(lambda row: jnp.tanh(row @ weights), rows)

    arrays = jnp.zeros((50, 8, 16)), jnp.zeros((16, 4))
    costs = Program(jax.jit(steps).lower(*arrays).compile().as_text()).costs()
    products = [one for one in costs.values() if one.flops]
    assert {one.flops for one in products} == {2 * 8 * 16 * 4}
    assert {part_of(one) for one in products} == {"convolution_0 products, forward"}
    # A step reads its row of the fifty, and writes its own.
    ran = [one for name, one in costs.items() if "slice" in name and one.nbytes]
    assert ran
    assert all(one.nbytes < 50 * 8 * 16 * 4 for one in ran)


def test_bytes_of_shapes():
    assert nbytes("(f32[128,10]{1,0}, bf16[3], u8[], s32[2,2])") == 5120 + 6 + 1 + 16


def test_an_operation_has_its_own_time_and_the_rest_lies_between():
    def event(name, start, long, **more):
        return {"name": name, "tid": 1, "ts": start, "dur": long, "args": more}

    events = [event("run", 0, 100), event("a", 10, 60, hlo_op="a"), event("b", 20, 15, hlo_op="b")]
    seconds = own_seconds(events)
    assert [(name, round(took * 1e6)) for name, took in seconds] == [("", 40), ("a", 45), ("b", 15)]
    [between, *_] = table({}, seconds, 1, single=False)
    assert between["part"] == "between"
    assert between["ms"] == 0.1


def test_shares_are_added_up_by_what_is_done():
    shares = {
        "convolution_0 products, forward": 0.2,
        "Dense_0 products, backward": 0.3,
        "convolution_1 taps, forward": 0.1,
        "weights": 0.1,
        "loss": 0.25,
        "update": 0.05,
    }
    rows = [{"part": part, "share": share} for part, share in shares.items()]
    assert kinds(rows) == {"products": 0.5, "the rest": 0.25, "transforms and taps": 0.2, "update": 0.05}
