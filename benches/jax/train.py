"""`train_mnist` in JAX, for `cargo bench --bench train`.

    python benches/jax/train.py DEVICES EPOCHS STEPS FOLDER

STEPS is of each epoch, no more than there are batches. FOLDER has the images as the
benchmark wrote them. Prints the seconds of the epochs, the last loss, how many of the
held-out images were seen right, and the most memory that the process had, in MiB.

It needs what `third_party/bench-requirements.txt` lists.
"""

import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "examples", "programs"))

import jax

jax.config.update("jax_platforms", "cpu")

import jax.numpy as jnp
import numpy as np

SEED = 0


def images(folder, name):
    path = os.path.join(folder, name)
    pixels = np.fromfile(path + ".pixels", np.uint8).reshape(-1, 784)
    return pixels, np.fromfile(path + ".labels", np.int32)


def peak():
    with open("/proc/self/status") as status:
        kibibytes = next(line for line in status if line.startswith("VmHWM:")).split()[1]
    return int(kibibytes) / 1024


def main(devices, epochs, steps, folder):
    jax.config.update("jax_num_cpu_devices", devices)
    import train_mnist

    pixels, labels = images(folder, "training")
    held_out = images(folder, "held_out")
    shapes = train_mnist.images_and_labels
    step = train_mnist.jitted_step(devices)
    evaluate = train_mnist.jitted_evaluate(devices)
    init, order = jax.jit(train_mnist.init), jax.jit(train_mnist.shuffle)
    # Compiled before the clock starts, as the others do.
    batch = shapes(train_mnist.BATCH).values()
    step = step.lower(train_mnist.STATE, train_mnist.METRICS, *batch).compile()
    evaluation = shapes(train_mnist.N_TEST).values()
    evaluate = evaluate.lower(train_mnist.STATE.params, *evaluation).compile()
    init = init.lower(train_mnist.SEED).compile()
    order = order.lower(train_mnist.SEED, train_mnist.SEED).compile()

    mesh = jax.sharding.Mesh(np.array(jax.devices()[:devices]), ("batch",))
    whole = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
    split = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("batch"))

    start = time.perf_counter()
    held_out = jax.device_put(held_out, split)
    state = jax.device_put(init(np.uint32(SEED)), whole)
    for epoch in range(epochs):
        rows = np.asarray(order(np.uint32(SEED), np.uint32(epoch)))
        count = min(steps, len(rows) // train_mnist.BATCH)
        zeros = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), train_mnist.METRICS)
        metrics = jax.device_put(zeros, whole)
        pending = None
        for batch in np.split(rows[: train_mnist.BATCH * count], count):
            # One collective at a time: more that pile up can wait for each other for ever.
            if devices > 1 and pending is not None:
                last = pending.item()
            given = jax.device_put((pixels[batch], labels[batch]), split)
            state, metrics, loss = step(state, metrics, *given)
            # The loss of the step before: meanwhile the device has this one to do.
            if devices == 1 and pending is not None:
                last = pending.item()
            pending = loss
        last = pending.item()
        metrics.loss_sum.item()
        correct = evaluate(state.params, *held_out).correct.item()
    seconds = time.perf_counter() - start
    print(seconds, last, correct, peak())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]), sys.argv[4])
