"""A step of a network that no device holds whole: weights and batch are both split.

The mesh has two axes. The batch is split over `data`, the hidden units of the two
layers over `model`: each device has a block of each weight and a part of the rows. The
function knows nothing of it. It is written for whole arrays, and the compiler puts in
what the devices have to say to each other.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

from stablehlo_text import argument_names, text

AXES = {"data": 2, "model": 2}
STEPS = 5
RATE = 0.5


class Params(NamedTuple):
    w1: jax.Array
    b1: jax.Array
    w2: jax.Array


class Batch(NamedTuple):
    x: jax.Array
    y: jax.Array


PARAMS = Params(w1=P(None, "model"), b1=P("model"), w2=P("model", None))
BATCH = Batch(x=P("data", None), y=P("data", None))


def step(params, batch):
    def loss(params):
        hidden = jnp.tanh(batch.x @ params.w1 + params.b1)
        return jnp.mean((hidden @ params.w2 - batch.y) ** 2)

    loss, gradients = jax.value_and_grad(loss)(params)
    return jax.tree.map(lambda p, g: p - RATE * g, params, gradients), loss


def numbers(*dims):
    """Numbers between -1 and 1 that look like none in particular, exact in f32."""
    i = np.arange(np.prod(dims))
    return ((i * 37 % 64 - 32) / 32).astype(np.float32).reshape(dims)


def arguments():
    params = Params(w1=numbers(4, 8) / 2, b1=numbers(8) / 8, w2=numbers(8, 2) / 4)
    x = numbers(8, 4)
    return params, Batch(x, np.stack([x[:, 0] * x[:, 1], x[:, 2]], axis=1))


def tree_of(value):
    """A named tuple of arrays for JSON, flat and row by row."""
    return {name: np.asarray(leaf).ravel().tolist() for name, leaf in value._asdict().items()}


def programs():
    """The file, and what five steps give on one device, where nothing is split."""
    devices = np.array(jax.devices()[:4]).reshape(*AXES.values())
    mesh = Mesh(devices, tuple(AXES))
    split = lambda tree: jax.tree.map(lambda spec: NamedSharding(mesh, spec), tree)
    params, batch = arguments()
    jitted = jax.jit(
        step,
        in_shardings=(split(PARAMS), split(BATCH)),
        out_shardings=(split(PARAMS), split(P())),
        donate_argnums=0,
    )
    program = text(jitted.lower(params, batch))
    assert argument_names(program)[0] == "params.w1"
    oracle = {"params": tree_of(params), "batch": tree_of(batch), "losses": []}
    for _ in range(STEPS):
        params, loss = jax.jit(step)(params, batch)
        oracle["losses"].append(loss.item())
    oracle["trained"] = tree_of(params)
    return {"partitioned_2x2.mlir": program.encode()}, oracle
