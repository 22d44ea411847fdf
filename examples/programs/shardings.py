"""Arrays that are split over meshes of devices in every way that JAX has words for.

Each program takes arrays and gives their doubles, split in another way: what the
compiled program says of its shardings can be compared with what JAX says, which box of
the array each device holds. Every program is there twice, for the two partitioners:
with `sdy` attributes and, as older exports have it, with `mhlo.sharding`.
"""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

from stablehlo_text import text

MATRIX, VECTOR, CUBE = (8, 16), (16,), (4, 2, 8)

# For each mesh the arrays. A result is split as the next array of the same dims is.
MESHES = {
    "shardings_4": (
        {"x": 4},
        [
            (MATRIX, P("x")),
            (MATRIX, P(None, "x")),
            (MATRIX, P()),
            (VECTOR, P("x")),
            (VECTOR, P()),
            (CUBE, P("x")),
            (CUBE, P(None, None, "x")),
        ],
    ),
    "shardings_2x4": (
        {"x": 2, "y": 4},
        [
            (MATRIX, P("x", "y")),
            (MATRIX, P("y", "x")),
            (MATRIX, P(("x", "y"))),
            (MATRIX, P(("y", "x"))),
            (MATRIX, P(None, ("y", "x"))),
            (MATRIX, P("x")),
            (MATRIX, P("y")),
            (MATRIX, P(None, "x")),
            (MATRIX, P(None, "y")),
            (MATRIX, P()),
            (VECTOR, P(("y", "x"))),
            (VECTOR, P("y")),
            (CUBE, P("y", None, "x")),
            (CUBE, P(None, "x", "y")),
        ],
    ),
    "shardings_2x2x2": (
        {"a": 2, "b": 2, "c": 2},
        [
            (MATRIX, P("a", "c")),
            (MATRIX, P("c", "a")),
            (MATRIX, P(("c", "a"), "b")),
            (MATRIX, P("b", ("c", "a"))),
            (MATRIX, P("b")),
            (MATRIX, P(("c", "b", "a"))),
            (CUBE, P("b", "c", "a")),
            (CUBE, P(None, "c", "b")),
        ],
    ),
}


def doubles(*arrays):
    return [array * 2 for array in arrays]


def next_alike(arrays):
    """For each array the index of the next one with the same dims, around the end."""
    out = []
    for i, (dims, _) in enumerate(arrays):
        alike = [j for j, (other, _) in enumerate(arrays) if other == dims]
        out.append(alike[(alike.index(i) + 1) % len(alike)])
    return out


def described(dims, spec, sharding, mesh):
    """Which box of the array each device holds: [start, end] for each axis."""
    held = sharding.devices_indices_map(dims)
    boxes = [
        [list(part.indices(size)[:2]) for part, size in zip(held[device], dims)]
        for device in mesh.devices.flat
    ]
    return {
        "spec": str(spec),
        "axes": [
            [] if axes is None else [axes] if isinstance(axes, str) else list(axes)
            for axes in (*spec, *[None] * (len(dims) - len(spec)))
        ],
        "dims": list(dims),
        "local_dims": list(sharding.shard_shape(dims)),
        "boxes": boxes,
    }


def programs():
    """All files of this module, and the oracle."""
    files, oracle = {}, {}
    for name, (axes, arrays) in MESHES.items():
        count = int(np.prod(list(axes.values())))
        devices = np.array(jax.devices()[:count]).reshape(*axes.values())
        mesh = Mesh(devices, tuple(axes))
        shardings = [NamedSharding(mesh, spec) for _, spec in arrays]
        results = next_alike(arrays)
        values = [np.zeros(dims, np.float32) for dims, _ in arrays]
        for ending, shardy in (("", True), ("_gspmd", False)):
            jax.config.update("jax_use_shardy_partitioner", shardy)
            split = jax.jit(
                doubles,
                in_shardings=tuple(shardings),
                out_shardings=[shardings[i] for i in results],
            )
            files[f"{name}{ending}.mlir"] = text(split.lower(*values)).encode()
        jax.config.update("jax_use_shardy_partitioner", True)
        oracle[name] = {
            "partitions": count,
            "mesh": axes,
            "arrays": [
                described(dims, spec, sharding, mesh)
                for (dims, spec), sharding in zip(arrays, shardings)
            ],
            "results": results,
        }
    return files, oracle
