"""A recurrent network, for a loop that prepares, uploads, trains and reads at the same time.

It reads a sequence frame by frame, and learns to remember the first number of the last frame:
small matrices, one after another, which keep one core of a CPU at work and leave the others
free for whoever makes the next batch.

The batches lie in host memory as bytes of 6 bits each (packed with deflate in the lesson), by
a formula that the lesson has, too. The state is donated.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from partitioned import numbers
from stablehlo_text import text

FRAMES, ROWS, FEATURES, HIDDEN = 32, 64, 96, 16
STEPS = 40
RATE = 0.25


class State(NamedTuple):
    w_in: jax.Array
    w_back: jax.Array
    w_out: jax.Array


class Batch(NamedTuple):
    x: jax.Array
    y: jax.Array


def step(state, batch):
    def loss(state):
        def frame(hidden, x):
            return jnp.tanh(x @ state.w_in + hidden @ state.w_back), None

        first = jnp.zeros((ROWS, HIDDEN), jnp.float32)
        last, _ = jax.lax.scan(frame, first, batch.x)
        return jnp.mean((last @ state.w_out - batch.y) ** 2)

    loss, gradients = jax.value_and_grad(loss)(state)
    return jax.tree.map(lambda w, g: w - RATE * g, state, gradients), loss


def first_state():
    return State(
        numbers(FEATURES, HIDDEN) / 16, numbers(HIDDEN, HIDDEN) / 16, numbers(HIDDEN) / 8
    )


def packed(step):
    """The numbers of a step's batch as bytes of 0 to 63, none like its neighbours."""
    count = FRAMES * ROWS * FEATURES
    with np.errstate(over="ignore"):
        mixed = (np.arange(count, dtype=np.uint32) + np.uint32(step * count)) * np.uint32(2654435761)
        mixed = (mixed ^ (mixed >> 15)) * np.uint32(2246822519)
    return (mixed >> 26).astype(np.uint8)


def batch_of(step):
    x = ((packed(step).astype(np.float32) - 32) / 32).reshape(FRAMES, ROWS, FEATURES)
    return Batch(x, x[-1, :, 0])


def programs():
    """The file, and the losses of some steps."""
    state = first_state()
    program = text(jax.jit(step, donate_argnums=0).lower(state, batch_of(0)))
    losses = []
    for number in range(STEPS):
        state, loss = jax.jit(step)(state, batch_of(number))
        losses.append(loss.item())
    return {"overlap.mlir": program.encode()}, {"losses": losses}
