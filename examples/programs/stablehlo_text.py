"""From a lowered JAX function to the text that is committed."""

import re

import numpy as np

NAME = re.compile(r' loc\("((?:[^"\\]|\\.)*)"\)')


def text(lowered):
    """StableHLO text without source locations, except the arguments' names.

    JAX prints either no locations or all of them, with the paths of the Python
    files. Only the names are of use here: `%arg0: tensor<f32> loc("state['w']")`
    lets whoever loads the program speak of `state['w']` instead of argument 0.
    They all stand in the line of `@main`, so that line is taken from the long
    form and the rest from the short one.
    """
    lines = lowered.as_text().splitlines()
    named = lowered.as_text(debug_info=True).splitlines()
    (at,) = (i for i, line in enumerate(lines) if " @main(" in line)
    (main,) = (line for line in named if " @main(" in line)
    if NAME.sub("", main) != lines[at]:
        raise ValueError("the two forms of @main differ in more than names")
    lines[at] = main
    return "\n".join(line.rstrip() for line in lines).rstrip() + "\n"


def argument_names(program):
    """The names in the text of a program, in the order of its arguments."""
    (main,) = (line for line in program.splitlines() if " @main(" in line)
    return NAME.findall(main)


def short_name(dtype):
    """StableHLO's own name of an element type: f32, bf16, i32, ui8."""
    name = np.dtype(dtype).name
    for long, short in (("bfloat", "bf"), ("float", "f"), ("uint", "ui"), ("int", "i")):
        name = name.replace(long, short) if name.startswith(long) else name
    return name
