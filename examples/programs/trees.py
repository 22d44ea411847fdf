"""The order in which JAX flattens trees.

Each tree here has numbers for leaves, given as they are written down, and the
oracle has the order in which JAX flattens them and the path it calls each by. The
same trees are built in `tests/trees.rs`, and must give the same.
"""

import collections
import dataclasses
from typing import Any, NamedTuple

import jax


class State(NamedTuple):
    """Fields that are not in the order of their names."""

    weights: Any
    bias: Any
    count: Any


class Layer(NamedTuple):
    w: Any
    b: Any


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Optimizer:
    """A field without arrays is no part of the tree."""

    nu: Any
    name: str = dataclasses.field(metadata={"static": True})
    mu: Any


TREES = {
    "leaf": 0,
    "dict": {"b": 0, "a": 1, "c": 2},
    "dicts": {
        "params": {"w2": 0, "w1": 1, "bias": 2},
        "opt": {"nu": {"w": 3}, "mu": {"w": 4}},
        "step": 5,
    },
    "keys": {"b": 0, "a10": 1, "a2": 2, "_": 3, "Z": 4, "\u00e9": 5, "a": 6, "": 7},
    "named_tuple": State(weights=0, bias=1, count=2),
    "dataclass": Optimizer(nu=0, name="adam", mu=1),
    "ordered_dict": collections.OrderedDict([("b", 0), ("a", 1)]),
    "list": [0, 1, 2],
    "tuple": ((0, 1), 2, (3,)),
    "none": (0, None, {"y": 1, "x": None}, [None, 2]),
    "empty": {"x": 0, "list": [], "dict": {}, "tuple": (), "a": 1},
    "model": {
        "state": State(
            weights={"dense": [Layer(w=0, b=1), Layer(w=2, b=None)], "conv": Layer(w=3, b=4)},
            bias=None,
            count=5,
        ),
        "opt": (Optimizer(nu=[6, 7], name="adam", mu={"z": 8, "y": 9}), 10),
    },
}


def oracle():
    """For each tree the leaves' numbers and paths, in JAX's order."""
    flat = {name: jax.tree_util.tree_flatten_with_path(tree)[0] for name, tree in TREES.items()}
    return {
        name: {
            "order": [number for _, number in leaves],
            "paths": [jax.tree_util.keystr(path) for path, _ in leaves],
        }
        for name, leaves in flat.items()
    }
