"""The small programs: what the examples and tests run, and what must come out.

Some are written by hand and only described here (their `.mlir` file is the
source); the others are lowered from the functions below. Every lesson has fixed
arguments, and its results are computed by JAX, or by NumPy for the hand-written
ones, which are simple enough to be seen through.
"""

import dataclasses

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from jaxlib.mlir.dialects import stablehlo

import hlo_proto
from stablehlo_text import argument_names, short_name, text

# The oldest StableHLO among the plugins we test with, for the portable artifact.
PORTABLE = "1.13.0"


@dataclasses.dataclass
class Lesson:
    """One program with arguments and results as NumPy arrays.

    With several partitions an array is the global value, and `split` says, per
    argument or result, whether its leading axis is split over the devices (True)
    or every device holds all of it (False). With several replicas, which know of
    no global value, an array has one more axis in front: the replicas.
    """

    names: list
    arguments: list
    results: list
    donated: tuple = ()
    replicas: int = 1
    partitions: int = 1
    split_arguments: tuple = ()
    split_results: tuple = ()
    pruned: tuple = ()
    files: dict = dataclasses.field(default_factory=dict)

    def oracle(self):
        out = {"replicas": self.replicas, "partitions": self.partitions, "files": self.files}
        if self.pruned:
            out["pruned"] = list(self.pruned)
        out["arguments"] = [
            {"name": name, "donated": i in self.donated}
            | self.described(value, self.split_arguments[i : i + 1])
            for i, (name, value) in enumerate(zip(self.names, self.arguments))
        ]
        out["results"] = [
            self.described(value, self.split_results[i : i + 1])
            for i, value in enumerate(self.results)
        ]
        return out

    def described(self, value, split):
        """An array for JSON, flat and row by row, as a whole and for each device.

        `dims` are those that `@main` states, `local_dims` what a device holds.
        """
        value = np.asarray(value)
        out = {"dtype": short_name(value.dtype)}
        if self.replicas > 1:
            parts = list(value)
            return out | {
                "dims": list(parts[0].shape),
                "local_dims": list(parts[0].shape),
                "per_device": [flat(part) for part in parts],
            }
        out |= {"dims": list(value.shape), "data": flat(value)}
        if self.partitions > 1:
            n = self.partitions
            parts = np.split(value, n) if split == (True,) else [value] * n
            out |= {
                "local_dims": list(parts[0].shape),
                "per_device": [flat(part) for part in parts],
            }
        return out


def flat(array):
    exact = np.float64 if array.dtype == ml_dtypes.bfloat16 else array.dtype
    return [x.item() for x in array.astype(exact).ravel()]


def mesh(n, axis):
    return Mesh(np.array(jax.devices()[:n]), (axis,))


def f32(*values):
    return np.array(values, np.float32)


def everyone(n, array):
    return np.stack([array] * n)


def rows(n, width):
    """0.25, 0.5, 0.75, ...: sums of these are exact in f32."""
    return (np.arange(n * width, dtype=np.float32).reshape(n, width) + 1) / 4


# The functions that are lowered. Their arguments and constants are such that every
# result is exact: fused or not, in whatever order, the bits are the same.


def add(x, y):
    return x + y


def sgd_step(w, g):
    return w - 0.125 * g


def counter(count):
    return count + 1


def two_devices(row):
    return jax.lax.psum(row, "batch")


def sgd_partitions_4(w, g):
    return w - 0.125 * jax.lax.psum(jnp.sum(g, axis=0), "batch")


def sgd_gspmd_4(w, g):
    return w - 0.125 * jnp.sum(g, axis=0)


def collectives(row):
    """Every way to speak to the others; each result has one row a device."""
    n = jax.lax.axis_size("batch")
    ring = [(i, (i + 1) % n) for i in range(n)]
    return {
        "all_gather": jax.lax.all_gather(row, "batch", tiled=True)[None],
        "all_to_all": jax.lax.all_to_all(row, "batch", 1, 0, tiled=True).reshape(1, n),
        "axis_index": jax.lax.axis_index("batch")[None],
        "pmax": jax.lax.pmax(row, "batch")[None],
        "ppermute_line": jax.lax.ppermute(row, "batch", ring[:-1]),
        "ppermute_ring": jax.lax.ppermute(row, "batch", ring),
        "psum": jax.lax.psum(row, "batch")[None],
        "psum_scatter": jax.lax.psum_scatter(row, "batch", scatter_dimension=1, tiled=True),
    }


def named_sharding_4(x, unused, w):
    return x @ w


def pmap_4(row):
    return jax.lax.psum(row, "batch")


def matmul_bf16(x, y):
    return x @ y


def programs():
    """All files of this module, and the oracle of all lessons."""
    files, lessons = {}, {}

    def lowered(name, jitted, arguments, **more):
        lowering = jitted.lower(*arguments)
        files[f"{name}.mlir"] = text(lowering).encode()
        # A donated array is gone after the call, so JAX gets copies.
        results = jax.tree.leaves(jitted(*[jnp.array(a) for a in arguments]))
        names = argument_names(files[f"{name}.mlir"].decode())
        kept = [a for i, a in enumerate(arguments) if i not in more.get("pruned", ())]
        lessons[name] = Lesson(names, kept, results, files={f"{name}.mlir": "mlir"}, **more)
        return lowering

    def by_hand(name, names, arguments, results, **more):
        lessons[name] = Lesson(names, arguments, results, files={f"{name}.mlir": "mlir"}, **more)

    # One device.
    lowering = lowered("add", jax.jit(add), [f32(1, 2, 3, 4), f32(10, 20, 30, 40)])
    files["add.bc"] = hlo_proto.bytecode(files["add.mlir"].decode())
    files["add.stablehlo"] = stablehlo.serialize_portable_artifact_str(lowering.as_text(), PORTABLE)
    files["add.hlo.pb"] = hlo_proto.serialized(lowering)
    lessons["add"].files |= {"add.bc": "mlir", "add.stablehlo": "mlir", "add.hlo.pb": "hlo"}

    step = jax.jit(sgd_step, donate_argnums=0)
    lowering = lowered("sgd_step", step, [f32(1, 2, 3, 4), f32(8, -20, 0.5, 0)], donated=(0,))
    files["sgd_step.hlo.pb"] = hlo_proto.serialized(lowering)
    files["must_alias.hlo.pb"] = hlo_proto.with_must_alias(files["sgd_step.hlo.pb"])
    files["scheduled.hlo.pb"] = hlo_proto.compiled(lowering)
    lessons["sgd_step"].files |= {
        "sgd_step.hlo.pb": "hlo",
        "must_alias.hlo.pb": "hlo",
        "scheduled.hlo.pb": "hlo",
    }

    lowered("counter", jax.jit(counter, donate_argnums=0), [np.float32(41)], donated=(0,))

    x = (np.arange(128) * 7 % 5 - 2).reshape(8, 16).astype(ml_dtypes.bfloat16)
    y = (np.arange(64) * 3 % 7 - 3).reshape(16, 4).astype(ml_dtypes.bfloat16)
    lowered("matmul_bf16", jax.jit(matmul_bf16), [x, y])

    x = f32(1, 2, 3, 4, 5, 6).reshape(2, 3)
    by_hand("column_major", ["x"], [x], [x + x])
    by_hand("column_major_argument", ["x"], [x], [x + x])

    # Partitions: global shapes in @main, one device a part.
    two = mesh(2, "batch")
    everywhere, by_row = NamedSharding(two, P()), NamedSharding(two, P("batch"))
    summed = jax.shard_map(two_devices, mesh=two, in_specs=P("batch"), out_specs=P())
    split = {"partitions": 2, "split_arguments": (True,), "split_results": (False,)}
    annotated = jax.jit(summed, in_shardings=by_row, out_shardings=everywhere)
    lowered("two_devices", annotated, [rows(2, 4)], **split)
    lowered("two_devices_inferred", jax.jit(summed), [rows(2, 4)], **split)

    for n in (2, 4):
        spoken = jax.shard_map(
            collectives, mesh=mesh(n, "batch"), in_specs=P("batch"), out_specs=P("batch")
        )
        lowered(
            f"collectives_{n}",
            jax.jit(spoken),
            [rows(n, n)],
            partitions=n,
            split_arguments=(True,),
            split_results=(True,) * 8,
        )

    four = mesh(4, "batch")
    stepped = jax.shard_map(
        sgd_partitions_4, mesh=four, in_specs=(P(), P("batch")), out_specs=P()
    )
    lowered(
        "sgd_partitions_4",
        jax.jit(stepped, donate_argnums=0),
        [f32(1, 2, 3, 4), rows(4, 4)],
        donated=(0,),
        partitions=4,
        split_arguments=(False, True),
        split_results=(False,),
    )

    # As older exports have it, with `mhlo.sharding` for the older partitioner.
    everywhere, by_row = NamedSharding(four, P()), NamedSharding(four, P("batch"))
    jax.config.update("jax_use_shardy_partitioner", False)
    lowered(
        "sgd_gspmd_4",
        jax.jit(
            sgd_gspmd_4,
            in_shardings=(everywhere, by_row),
            out_shardings=everywhere,
            donate_argnums=0,
        ),
        [f32(1, 2, 3, 4), rows(4, 4)],
        donated=(0,),
        partitions=4,
        split_arguments=(False, True),
        split_results=(False,),
    )
    jax.config.update("jax_use_shardy_partitioner", True)

    four = mesh(4, "x")
    everywhere, by_row = NamedSharding(four, P()), NamedSharding(four, P("x", None))
    product = jax.jit(
        named_sharding_4,
        in_shardings=(by_row, everywhere, everywhere),
        out_shardings=by_row,
    )
    lowered(
        "named_sharding_4",
        product,
        [rows(8, 16), f32(7, 7, 7), rows(16, 4)],
        partitions=4,
        split_arguments=(True, False),
        split_results=(True,),
        pruned=(1,),
    )

    lowered(
        "pmap_4",
        jax.pmap(pmap_4, axis_name="batch", devices=jax.devices()[:4]),
        [rows(4, 4)],
        partitions=4,
        split_arguments=(True,),
        split_results=(True,),
    )

    # Replicas: the shapes of one device in @main.
    for n in (2, 4):
        own, ids = rows(n, 4), np.arange(n, dtype=np.uint32)
        total = (own + ids[:, None]).sum(axis=0, dtype=np.float32)
        name = f"all_reduce_replicas_{n}"
        by_hand(name, ["row"], [own], [everyone(n, total), ids], replicas=n)
    w, g = f32(1, 2, 3, 4), rows(4, 4)
    next_w = w - np.float32(0.125) * g.sum(axis=0)
    name, arguments = "sgd_replicas_4", [everyone(4, w), g]
    by_hand(name, ["w", "g"], arguments, [everyone(4, next_w)], donated=(0,), replicas=4)

    return files, {name: lesson.oracle() for name, lesson in lessons.items()}
