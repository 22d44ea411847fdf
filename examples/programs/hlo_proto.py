"""The other forms a program comes in: bytecode and HLO protobuf.

One protobuf has to be made by hand. StableHLO can only say that an argument may
alias a result; that it must is something only HLO can say, and JAX never does.
So the message that JAX makes is taken apart just far enough to change that word.
"""

import io

from jax.interpreters import mlir
from jaxlib.mlir import ir

# Field numbers of HloModuleProto and of its alias table.
INPUT_OUTPUT_ALIAS = 8
ENTRIES = 1
KIND = 4
MAY_ALIAS, MUST_ALIAS = 1, 2

VARINT, BYTES = 0, 2


def bytecode(program):
    """The text of a program as MLIR bytecode."""
    with mlir.make_ir_context() as context, ir.Location.unknown(context):
        out = io.BytesIO()
        ir.Module.parse(program).operation.write_bytecode(out)
        return out.getvalue()


def serialized(lowered):
    """HLO before any pass of the compiler."""
    return lowered.compiler_ir("hlo").as_serialized_hlo_module_proto()


def compiled(lowered):
    """HLO after all passes, with a schedule: a result, not to be compiled again."""
    (module,) = lowered.compile().runtime_executable().hlo_modules()
    return module.as_serialized_hlo_module_proto()


def with_must_alias(module):
    """The same module, with every alias entry's kind raised from may to must."""
    changed = 0

    def entry(message):
        nonlocal changed
        changed += 1
        kept = [f for f in fields(message) if f[0] != KIND]
        return joined([*kept, (KIND, VARINT, MUST_ALIAS)])

    out = edited(module, INPUT_OUTPUT_ALIAS, lambda table: edited(table, ENTRIES, entry))
    if not changed:
        raise ValueError("the module has no alias entry")
    return out


def edited(message, number, change):
    """The message with each field of this number replaced by its change."""
    return joined(
        [(n, wire, change(value) if n == number else value) for n, wire, value in fields(message)]
    )


def fields(message):
    """The (number, wire type, value) triples of a protobuf message."""
    at = 0
    while at < len(message):
        tag, at = read_varint(message, at)
        number, wire = tag >> 3, tag & 7
        if wire == VARINT:
            value, at = read_varint(message, at)
        elif wire == BYTES:
            size, at = read_varint(message, at)
            value, at = message[at : at + size], at + size
        else:  # 64 or 32 bits
            size = {1: 8, 5: 4}[wire]
            value, at = message[at : at + size], at + size
        yield number, wire, value


def joined(triples):
    out = bytearray()
    for number, wire, value in triples:
        out += varint(number << 3 | wire)
        if wire == VARINT:
            out += varint(value)
        else:
            out += varint(len(value)) if wire == BYTES else b""
            out += value
    return bytes(out)


def read_varint(message, at):
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])
