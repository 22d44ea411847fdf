"""The programs of the Rust benchmarks, in JAX and in pypjrt.

    python benches/jax/bench.py                 measures every line by itself: the README's table
    python benches/jax/bench.py --line scalar   one of its rows
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


def additions(leaves):
    """As many donated numbers, to each of which one is added that is lent."""
    jax = jax_on_cpu()
    add = lambda state, lent: [a + g for a, g in zip(state, lent)]
    step = jax.jit(add, donate_argnums=0)
    state, lent = ([jax.numpy.zeros((), "float32") for _ in range(leaves)] for _ in range(2))

    def run(times):
        nonlocal state
        for _ in range(times):
            state = step(state, lent)
        state[-1].block_until_ready()

    return run


def to_device(count):
    """Floats are copied to a device, each time awaited."""
    jax = jax_on_cpu()
    import numpy as np

    values = np.arange(count, dtype="float32")

    def run(times):
        for _ in range(times):
            jax.device_put(values, may_alias=False).block_until_ready()

    return run


def to_host(count):
    """Floats are copied from a device into new memory."""
    jax = jax_on_cpu()
    import numpy as np

    array = jax.numpy.arange(count, dtype="float32").block_until_ready()

    def run(times):
        for _ in range(times):
            # Without a copy it would be a view of the device's memory.
            assert np.array(array, copy=True)[-1] == count - 1

    return run


F32 = 11  # in the C API


class Pypjrt:
    """A client of the Rust benchmark's plugin, which runs StableHLO."""

    def __init__(self):
        import numpy as np
        import pypjrt

        self.client = pypjrt.Client.create(os.environ["XLA_PJRT_CPU_PLUGIN"])
        # Whoever lets go of them may not use the device any more.
        self.devices = self.client.devices()
        self.device = self.devices.__enter__()[0]
        self.zero = np.zeros((), "float32")

    def scalar(self):
        return self.client.buffer_from_host(self.zero, F32, [], self.device)


def pypjrt_scalar():
    """The Rust benchmark's counter, on the same plugin."""
    pypjrt = Pypjrt()
    with open(os.path.join(PROGRAMS, "counter.mlir")) as file:
        step = pypjrt.client.compile(file.read())
    count = pypjrt.scalar()

    def run(times):
        nonlocal count
        assert pypjrt.devices, "they are kept"
        for _ in range(times):
            (count,) = step(count)

    return run


def pypjrt_additions(leaves):
    """The Rust benchmark's program of that many donated and lent numbers, on the same plugin."""
    pypjrt = Pypjrt()
    scalar = "tensor<f32>"
    given = [f"%a{n}: {scalar} {{tf.aliasing_output = {n} : i32}}" for n in range(leaves)]
    taken = [f"%g{n}: {scalar}" for n in range(leaves)]
    body = [f"%b{n} = stablehlo.add %a{n}, %g{n} : {scalar}" for n in range(leaves)]
    sums, types = (", ".join(list) for list in ([f"%b{n}" for n in range(leaves)], [scalar] * leaves))
    step = pypjrt.client.compile(
        f"func.func @main({', '.join(given + taken)}) -> ({types}) {{\n"
        + "\n".join(body)
        + f"\nreturn {sums} : {types}\n}}"
    )
    state, lent = ([pypjrt.scalar() for _ in range(leaves)] for _ in range(2))

    def run(times):
        nonlocal state
        assert pypjrt.devices, "they are kept"
        for _ in range(times):
            state = step(*state, *lent)

    return run


LINES = {
    "scalar": scalar,
    "pypjrt-scalar": pypjrt_scalar,
    "100-lent-100-donated": lambda: additions(100),
    "pypjrt-100-lent-100-donated": lambda: pypjrt_additions(100),
    "to-device-4KB": lambda: to_device(1 << 10),
    "to-device-256MB": lambda: to_device(1 << 26),
    "to-host-4KB": lambda: to_host(1 << 10),
    "to-host-256MB": lambda: to_host(1 << 26),
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
    """Prints a row of the README's table, of which this fills what is its own."""
    run = LINES[name]()
    times = 1
    while timed(run, times)[0] < 0.05:
        times *= 2
    batches = [timed(run, times) for _ in range(20)]
    wall, thread = (sorted(seconds / times * 1e6 for seconds in kind) for kind in zip(*batches))
    library = "pypjrt" if name.startswith("pypjrt") else "jax"
    middle = f"{library} {micros(wall[10])} ({micros(wall[5])} to {micros(wall[15])})"
    print(f"| {name} | | {middle} | | | | {micros(wall[2])} | {micros(thread[10])} |", flush=True)


def micros(time):
    return f"{time:.2f} us" if time < 100 else f"{time:.1f} us" if time < 1e4 else f"{time / 1e3:.1f} ms"


HEAD = """\
| line | this layer | beside it (middle half) | ratio | at most | | quickest tenth | calling thread |
|---|---:|---:|---|---:|---|---:|---:|"""


def facts():
    from importlib.metadata import version
    from platform import python_version

    load = os.getloadavg()[0]
    versions = ", ".join(f"{package} {version(package)}" for package in ("jax", "pypjrt"))
    return f"Python {python_version()}, {versions}; {os.cpu_count()} cores, load {load:.2f}"


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
        print(f"{facts()}\n\n{HEAD}", flush=True)
        # A process for each: one client's threads don't disturb another's.
        for name in LINES:
            if name.startswith("pypjrt") and "XLA_PJRT_CPU_PLUGIN" not in os.environ:
                print(f"| {name} | | XLA_PJRT_CPU_PLUGIN names no plugin | | | | | |", flush=True)
                continue
            os.spawnl(os.P_WAIT, sys.executable, sys.executable, __file__, "--line", name)


if __name__ == "__main__":
    main()
