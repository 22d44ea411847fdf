"""Gradients summed over micro-steps, with noise from a key for each of them.

A step's batch is four shards of four rows. Who works on a shard is left to whoever runs
the programs: two devices do two shards each, one after the other; four devices do one
each. A shard has its own random key (`fold_in` of the step's key and the shard's number),
so the numbers are the same either way, but for the order of additions.

- `micro` adds a shard's gradients to what the device has summed up. The sums are
  donated, and the devices don't speak to each other.
- `update` adds up the sums of all devices and takes one step: the only all-reduce. State,
  sums and metrics are donated; the sums come back as zeros.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

from partitioned import numbers
from stablehlo_text import text

SEED = 7
SHARDS, ROWS, INPUTS, HIDDEN = 4, 4, 6, 16
DEVICES = (2, 4)
STEPS = 8
RATE, MOMENTUM, KEEP = 0.1, 0.5, 0.75


class Params(NamedTuple):
    w1: jax.Array
    w2: jax.Array


class State(NamedTuple):
    params: Params
    momentum: Params
    step: jax.Array


class Sums(NamedTuple):
    """What the shards of one step add up to."""

    gradients: Params
    loss: jax.Array


class Metrics(NamedTuple):
    """What the steps add up to."""

    loss: jax.Array
    steps: jax.Array


class Batch(NamedTuple):
    x: jax.Array
    y: jax.Array


def shard_loss(params, key, batch):
    """The sum of the squared errors of a shard, with dropout in the hidden layer."""
    hidden = jnp.tanh(batch.x @ params.w1)
    kept = jax.random.bernoulli(key, KEEP, hidden.shape)
    return jnp.sum((jnp.where(kept, hidden / KEEP, 0) @ params.w2 - batch.y) ** 2)


def micro(params, sums, key, batch):
    # Without this word, JAX would sum the gradients over the devices by itself.
    params = jax.lax.pcast(params, "devices", to="varying")
    key = jax.random.wrap_key_data(key)
    loss, gradients = jax.value_and_grad(shard_loss)(params, key, batch)
    return jax.tree.map(jnp.add, sums, Sums(gradients, loss[None]))


def update(state, sums, metrics):
    total = jax.lax.psum(sums, "devices")
    state, loss = apply(state, total.gradients, total.loss[0])
    metrics = Metrics(metrics.loss + loss, metrics.steps + 1)
    return state, jax.tree.map(jnp.zeros_like, sums), metrics


def apply(state, gradients, loss):
    rows = SHARDS * ROWS
    gradients = jax.tree.map(lambda g: g / rows, gradients)
    momentum = jax.tree.map(lambda m, g: MOMENTUM * m + g, state.momentum, gradients)
    params = jax.tree.map(lambda p, m: p - RATE * m, state.params, momentum)
    return State(params, momentum, state.step + 1), loss / rows


def noise(key):
    """What a device draws with its key."""
    return jax.random.uniform(jax.random.wrap_key_data(key), (4,))


# The arguments, by formulas that the lesson has, too.


def first_state():
    params = Params(numbers(INPUTS, HIDDEN) / 2, numbers(HIDDEN) / 4)
    return State(params, jax.tree.map(np.zeros_like, params), np.int32(0))


def batch_of(step):
    """Row r of step s has x[j] = ((s * 31 + r * 7 + j * 5) % 16 - 8) / 8."""
    rows, columns = np.arange(SHARDS * ROWS)[:, None], np.arange(INPUTS)[None, :]
    x = (((step * 31 + rows * 7 + columns * 5) % 16 - 8) / 8).astype(np.float32)
    return Batch(x, x[:, 0] * x[:, 1] + x[:, 2] / 2)


def shard_key(step, shard):
    key = jax.random.key(SEED)
    return jax.random.fold_in(jax.random.fold_in(key, step), shard)


def programs():
    files = {}
    state, metrics = first_state(), Metrics(np.float32(0), np.int32(0))
    for n in DEVICES:
        # Arrays for all devices: what is split over them is n times as long.
        times = lambda leaf: np.zeros((n * leaf.shape[0], *leaf.shape[1:]), leaf.dtype)
        sums = Sums(jax.tree.map(times, state.params), np.zeros(n, np.float32))
        key = np.zeros(2 * n, np.uint32)
        batch = jax.tree.map(lambda leaf: leaf[: n * ROWS], batch_of(0))
        for function, takes, gives, donated, arguments in (
            (micro, "wsss", "s", (1,), (state.params, sums, key, batch)),
            (update, "wsw", "wsw", (0, 1, 2), (state, sums, metrics)),
        ):
            lowering = over_devices(function, n, takes, gives, donated).lower(*arguments)
            files[f"{function.__name__}_{n}.mlir"] = text(lowering).encode()
    n = max(DEVICES)
    lowering = over_devices(noise, n, "s", "s", ()).lower(np.zeros(2 * n, np.uint32))
    files[f"noise_{n}.mlir"] = text(lowering).encode()
    return files, oracle()


def over_devices(function, n, takes, gives, donated):
    """Jitted over n devices; a letter for each argument and result: whole or split."""
    mesh = Mesh(np.array(jax.devices()[:n]), ("devices",))
    specs = {"w": P(), "s": P("devices")}
    takes = tuple(specs[letter] for letter in takes)
    gives = tuple(specs[letter] for letter in gives)
    gives = gives if len(gives) > 1 else gives[0]
    mapped = jax.shard_map(function, mesh=mesh, in_specs=takes, out_specs=gives)
    mapped.__name__ = function.__name__
    sharded = lambda specs: jax.tree.map(lambda spec: NamedSharding(mesh, spec), specs)
    return jax.jit(
        mapped,
        in_shardings=sharded(takes),
        out_shardings=sharded(gives),
        donate_argnums=donated,
    )


def large_step(state, keys, batch):
    """All shards at once, as one would write it for a single device."""

    def loss(params):
        shards = jax.tree.map(lambda leaf: leaf.reshape(SHARDS, ROWS, *leaf.shape[1:]), batch)
        return jnp.sum(jax.vmap(shard_loss, (None, 0, 0))(params, keys, shards))

    loss, gradients = jax.value_and_grad(loss)(state.params)
    return apply(state, gradients, loss)


def oracle():
    state, losses = first_state(), []
    for step in range(STEPS):
        keys = jnp.stack([shard_key(step, shard) for shard in range(SHARDS)])
        state, loss = jax.jit(large_step)(state, keys, batch_of(step))
        losses.append(loss.item())
    draws = [
        jax.jit(jax.random.uniform, static_argnums=1)(
            jax.random.fold_in(jax.random.key(SEED), device), (4,)
        ).tolist()
        for device in range(max(DEVICES))
    ]
    trained = {name: leaf.ravel().tolist() for name, leaf in state.params._asdict().items()}
    return {"seed": SEED, "noise": draws, "losses": losses, "trained": trained}
