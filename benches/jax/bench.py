"""The programs of the Rust benchmarks, in JAX and in pypjrt.

    python benches/jax/bench.py                 measures every line by itself
    python benches/jax/bench.py --line scalar   one of them
    python benches/jax/bench.py --serve scalar  for `cargo bench --bench jax`

Served, a line is run as often as a number on standard input says, and the seconds that took,
all together and on the calling thread, are written to standard output: so JAX and Rust take
turns in one go.

It needs what `third_party/bench-requirements.txt` lists.
"""

import argparse
import os
import sys
import time

DEVICES = 4
HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "..", "..", "examples", "programs")


def jax_on_cpu():
    import jax

    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", DEVICES)
    return jax


def scalar():
    """A number that is counted up, donated, and counted up again."""
    jax = jax_on_cpu()
    count = jax.numpy.zeros((), "float32")
    step = jax.jit(lambda count: count + 1, donate_argnums=0)

    def run(times):
        nonlocal count
        for _ in range(times):
            count = step(count)
        count.block_until_ready()

    return run


def descent(leaves, summed, await_every=None):
    """A state of some rows on each device, less an eighth of a gradient or of its sum."""
    jax = jax_on_cpu()
    import numpy as np

    def step(state, gradient):
        if summed:
            gradient = jax.lax.psum(gradient, "replicas")
        return [row - 0.125 * gradient for row in state]

    mapped = jax.pmap(step, axis_name="replicas", donate_argnums=0)
    row = np.tile(np.array([1, 2, 3, 4], "float32"), (DEVICES, 1))
    on_devices = jax.pmap(lambda row: row * 1)
    state = [on_devices(row) for _ in range(leaves)]
    gradient = on_devices(row)

    def run(times):
        nonlocal state
        for n in range(times):
            state = mapped(state, gradient)
            if await_every and (n + 1) % await_every == 0:
                jax.block_until_ready(state)
        jax.block_until_ready(state)

    return run


def train_step(devices):
    """A step of the examples' network on one or more devices, each awaited."""
    jax = jax_on_cpu()
    sys.path.insert(0, PROGRAMS)
    import numpy as np
    import train_mnist

    step = train_mnist.jitted_step(devices)
    state = jax.jit(train_mnist.init)(np.uint32(0))
    zeros = lambda leaf: jax.numpy.zeros(leaf.shape, leaf.dtype)
    metrics = jax.tree.map(zeros, train_mnist.METRICS)
    shapes = train_mnist.images_and_labels(train_mnist.BATCH).values()
    batch = [np.zeros(shape.shape, shape.dtype) for shape in shapes]
    # Once, so that both have it on the devices already.
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:devices]), ("batch",))
    split = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("batch"))
    batch = [jax.device_put(array, split) for array in batch]

    def run(times):
        nonlocal state, metrics
        for _ in range(times):
            state, metrics, loss = step(state, metrics, *batch)
            loss.block_until_ready()

    return run


def pypjrt_scalar():
    """The Rust benchmark's counter, on the same plugin."""
    import numpy as np
    import pypjrt

    client = pypjrt.Client.create(os.environ["XLA_PJRT_CPU_PLUGIN"])
    with open(os.path.join(PROGRAMS, "counter.mlir")) as file:
        step = client.compile(file.read())
    f32 = 11
    held = client.devices()
    device = held.__enter__()[0]
    count = client.buffer_from_host(np.zeros((), "float32"), f32, [], device)

    def run(times):
        nonlocal count
        assert held, "lets go of the devices otherwise"
        for _ in range(times):
            (count,) = step(count)

    return run


LINES = {
    "scalar": scalar,
    "pypjrt-scalar": pypjrt_scalar,
    "4x1-alone": lambda: descent(1, False),
    "4x64-alone": lambda: descent(64, False),
    "4x1-alone-awaited": lambda: descent(1, False, 1),
    "4x1-summed-awaited": lambda: descent(1, True, 1),
    "4x64-summed-awaited": lambda: descent(64, True, 1),
    # More in flight would end in a hang.
    "4x1-summed": lambda: descent(1, True, 2),
    "train-step-1": lambda: train_step(1),
    "train-step-4": lambda: train_step(4),
}


def timed(run, times):
    start, thread = time.perf_counter(), time.thread_time()
    run(times)
    return time.perf_counter() - start, time.thread_time() - thread


def serve(run):
    run(1)
    print("ready", flush=True)
    for line in sys.stdin:
        print(*(f"{seconds:.9f}" for seconds in timed(run, int(line))), flush=True)


def measure(name):
    run = LINES[name]()
    times = 1
    while timed(run, times)[0] < 0.05:
        times *= 2
    batches = sorted(timed(run, times)[0] / times * 1e6 for _ in range(20))
    print(f"{name:24} {batches[10]:10.2f} us ({batches[5]:.2f} to {batches[15]:.2f})", flush=True)


def main():
    parser = argparse.ArgumentParser()
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--line", choices=LINES)
    which.add_argument("--serve", choices=LINES)
    options = parser.parse_args()
    if options.serve:
        serve(LINES[options.serve]())
    elif options.line:
        measure(options.line)
    else:
        # A process for each: one client's threads don't disturb another's.
        for name in LINES:
            os.spawnl(os.P_WAIT, sys.executable, sys.executable, __file__, "--line", name)


if __name__ == "__main__":
    main()
