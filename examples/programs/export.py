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
import sys

# Several devices in one process; to be set before JAX is imported.
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

# HLO names source files and lines: not here, where nobody has them.
os.environ["JAX_TRACEBACK_IN_LOCATIONS_LIMIT"] = "0"

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))


def json_text(value, depth=0):
    """JSON with objects spread over lines and each list of numbers on one line."""
    pad, end = " " * (depth + 1), " " * depth
    if isinstance(value, dict) and value:
        items = (f"{pad}{json.dumps(k)}: {json_text(v, depth + 1)}" for k, v in value.items())
        return "{\n" + ",\n".join(items) + "\n" + end + "}"
    if isinstance(value, list) and any(isinstance(v, dict) for v in value):
        items = (pad + json_text(v, depth + 1) for v in value)
        return "[\n" + ",\n".join(items) + "\n" + end + "]"
    return json.dumps(value, allow_nan=False)


def json_file(value):
    return (json_text(value) + "\n").encode()


def float8_files():
    import float8

    return {"oracle/float8.json": json_file(float8.oracle())}


def lesson_files():
    import lessons

    files, oracle = lessons.programs()
    return files | {"oracle/lessons.json": json_file(oracle)}


def tree_files():
    import trees

    return {"oracle/trees.json": json_file(trees.oracle())}


GROUPS = {"float8": float8_files, "lessons": lesson_files, "trees": tree_files}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", choices=GROUPS, help="one group of files")
    arguments = parser.parse_args()
    for name in [arguments.only] if arguments.only else GROUPS:
        for path, content in GROUPS[name]().items():
            target = HERE / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            print(f"{path}: {len(content)} bytes")


if __name__ == "__main__":
    main()
