"""HLO modules as XLA writes them, and what XLA says that they take and give.

The modules come from JAX, and from HLO text for what JAX never writes: tuples in
tuples, layouts, dimensions that are no multiples of anything. What they are is
read by XLA itself, from its program shape and from the head of its text.
"""

import pathlib
import re

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxlib import _hlo
from jaxlib.mlir.dialects import stablehlo

import hlo_proto

HERE = pathlib.Path(__file__).resolve().parent

NESTED = """
HloModule nested, input_output_alias={ {1,0}: (1, {}, must-alias), {0}: (0, {}, may-alias) }, buffer_donor={ (2, {}) }

swapped {
  p = f32[2,3]{1,0} parameter(0)
  q = s32[5]{0} parameter(1)
  c = s32[5]{0} copy(q)
  ROOT t = (s32[5]{0}, f32[2,3]{1,0}) tuple(c, p)
}

ENTRY main {
  a = f32[2,3]{1,0} parameter(0), metadata={op_name="a[0]"}
  b = s32[5]{0} parameter(1), metadata={op_name="b"}
  c = f32[2,3]{0,1} parameter(2)
  d = pred[] parameter(3), metadata={op_name="d.flag"}
  n = f32[2,3]{0,1} negate(c)
  k = (s32[5]{0}, f32[2,3]{1,0}) call(a, b), to_apply=swapped
  e = f32[2,3]{1,0} get-tuple-element(k), index=1
  m = s32[5]{0} get-tuple-element(k), index=0
  i = (s32[5]{0}, f32[2,3]{0,1}) tuple(m, n)
  o = () tuple()
  w = ((s32[5]{0}, f32[2,3]{0,1}), ()) tuple(i, o)
  v = (((s32[5]{0}, f32[2,3]{0,1}), ()), pred[]) tuple(w, d)
  ROOT r = (f32[2,3]{1,0}, (s32[5]{0}, f32[2,3]{0,1}), (((s32[5]{0}, f32[2,3]{0,1}), ()), pred[])) tuple(e, i, v)
}
"""


def loop(state, count):
    def body(carry):
        index, values = carry
        return index + 1, jax.tree.map(lambda x: (x * 2 + index).astype(x.dtype), values)

    return jax.lax.while_loop(lambda carry: carry[0] < count, body, (0, state))[1]


def summed(x, w):
    return jax.lax.psum(x @ w, "i"), w


def lowered():
    row = jax.ShapeDtypeStruct((4,), jnp.float32)
    state = {"w": jax.ShapeDtypeStruct((3, 4), jnp.bfloat16), "b": row, "n": jax.ShapeDtypeStruct((), jnp.int32)}
    mesh = Mesh(jax.devices()[:4], ("i",))
    spread = NamedSharding(mesh, PartitionSpec("i"))
    whole = NamedSharding(mesh, PartitionSpec())
    rows = jax.ShapeDtypeStruct((8, 4), jnp.float32, sharding=spread)
    square = jax.ShapeDtypeStruct((4, 4), jnp.float32, sharding=whole)
    split = jax.shard_map(
        summed,
        mesh=mesh,
        in_specs=(PartitionSpec("i"), PartitionSpec()),
        out_specs=(PartitionSpec(), PartitionSpec()),
    )
    return {
        "while_loop": jax.jit(loop, donate_argnums=0).lower(state, 7),
        "single": jax.jit(lambda x: (x > 0).astype(jnp.complex64)).lower(row),
        "returned": jax.jit(lambda x, y: (y, x + y, x), donate_argnums=(1,)).lower(row, row),
        "sharded": jax.jit(lambda x, w: (x @ w, w), donate_argnums=(1,)).lower(rows, square),
        "shard_map": jax.jit(split, donate_argnums=(1,)).lower(rows, square),
    }


def leaves(shape, place=()):
    """The arrays of a shape, each with its place in the tuple."""
    if shape.is_tuple():
        for index, part in enumerate(shape.tuple_shapes()):
            yield from leaves(part, (*place, index))
    else:
        yield shape, list(place)


def described(shape):
    layout = ",".join(map(str, shape.layout().minor_to_major()))
    dims = ",".join(map(str, shape.dimensions()))
    kind = str(shape).split("[")[0]
    return {"type": f"{kind}[{dims}]", "layout": f"{{{layout}}}"}


def facts(module):
    """What XLA says of a serialized module."""
    computation = _hlo.XlaComputation(module)
    text = computation.get_hlo_module().to_string()
    shape = computation.program_shape()
    outputs = list(leaves(shape.result_shape()))
    places = [place for _, place in outputs]
    numbers = lambda listed: [int(n) for n in listed.split(",") if n.strip()]
    head = text.split("\n", 1)[0]
    donated = [
        [int(parameter), places.index(numbers(output)), kind == "must"]
        for output, parameter, kind in re.findall(
            r"\{([\d, ]*)\}: \((\d+), \{\}, (may|must)-alias\)", head
        )
    ]
    donors = re.search(r"buffer_donor=\{(.*?\)) \}", head)
    offered = [int(n) for n in re.findall(r"\((\d+), \{\}\)", donors[1])] if donors else []
    entry = text[text.index("\nENTRY ") :]
    named = re.findall(r"parameter\((\d+)\).*?(?:op_name=\"(.*?)\"|\n)", entry)
    names = {int(number): name.replace("\\'", "'") or None for number, name in named}
    return {
        "name": head.split()[1].rstrip(","),
        "inputs": [
            {"name": names[index]} | described(part)
            for index, part in enumerate(shape.parameter_shapes())
        ],
        "outputs": [described(part) for part, _ in outputs],
        "donated": sorted(donated),
        "offered": sorted(offered),
        "collectives": bool(re.search(r" all-reduce(-start)?\(", text)),
    }


def bytecodes():
    """Other forms of programs that are there as text."""
    read = lambda name: (HERE / f"{name}.mlir").read_text()
    files = {
        f"modules/{name}.bc": hlo_proto.bytecode(read(name))
        for name in ("two_devices", "all_reduce_replicas_4")
    }
    unstated = re.sub(r"mhlo.num_\w+ = \d : i32(, )?", "", read("add"))
    artifact = stablehlo.serialize_portable_artifact_str(read("sgd_gspmd_4"), "1.8.0")
    return files | {
        "modules/unstated.bc": hlo_proto.bytecode(unstated),
        "modules/sgd_gspmd_4.stablehlo": artifact,
    }


def programs():
    """The modules by file, and what XLA says of each by its name."""
    modules = {name: hlo_proto.serialized(program) for name, program in lowered().items()}
    nested = _hlo.hlo_module_from_text(NESTED)
    modules["nested"] = nested.as_serialized_hlo_module_proto()
    files = {f"modules/{name}.hlo.pb": module for name, module in modules.items()}
    return files | bytecodes(), {name: facts(module) for name, module in modules.items()}
