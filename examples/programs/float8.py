"""Numbers for the 8-bit (and one 4-bit) float formats, from ml_dtypes.

For each format: what every bit pattern means as f32, and what a set of f32
values becomes. The set is chosen where a wrong rounding rule shows: halfway
between two neighbours and one f32 step to either side of it, among subnormals,
around the largest value, and the values that need a rule of their own (signed
zero, infinities, NaNs, the ends of the f32 range).
"""

import ml_dtypes
import numpy as np

FORMATS = (
    "float8_e5m2",
    "float8_e4m3fn",
    "float8_e4m3b11fnuz",
    "float8_e5m2fnuz",
    "float8_e4m3fnuz",
    "float8_e4m3",
    "float8_e3m4",
    "float8_e8m0fnu",
    "float4_e2m1fn",
)

# f32 bit patterns that each format is asked about, with either sign.
SPECIAL_F32_BITS = (
    0x00000000,  # zero
    0x00000001,  # the smallest subnormal
    0x007FFFFF,  # the largest subnormal
    0x00800000,  # the smallest normal
    0x3F800000,  # one
    0x3F7FFFFF,  # just below one
    0x3FC00000,  # 1.5: halfway between two powers of two
    0x40490FDB,  # pi
    0x7F000000,  # 2^127
    0x7F400000,  # 1.5 * 2^127
    0x7F7FFFFF,  # the largest finite
    0x7F800000,  # infinity
    0x7FC00000,  # a quiet NaN
    0x7F800001,  # a signalling NaN
    0x7FFFFFFF,  # a NaN with every payload bit
)


def number(value):
    """A float as JSON can hold it: NaN and the infinities are strings."""
    value = float(value)
    return value if np.isfinite(value) else str(value)


def table(name):
    dtype = np.dtype(getattr(ml_dtypes, name))
    patterns = np.arange(16 if name.startswith("float4") else 256, dtype=np.uint8)
    meaning = patterns.view(dtype).astype(np.float32)
    inputs = conversion_inputs(meaning)
    with np.errstate(over="ignore", invalid="ignore"):
        outputs = inputs.astype(dtype).view(np.uint8)
    return {
        "values": [number(v) for v in meaning],
        "f32_bits": [int(b) for b in inputs.view(np.uint32)],
        "bits": [int(b) for b in outputs],
    }


def conversion_inputs(meaning):
    """About 300 f32 values that exercise the rounding of one format."""
    finite = np.unique(np.abs(meaning[np.isfinite(meaning)]))
    # One step past the largest value, where rounding up means overflow.
    past = finite[-1] + (finite[-1] - finite[-2])
    ladder = np.append(finite.astype(np.float64), np.float64(past))
    middles = ((ladder[:-1] + ladder[1:]) / 2).astype(np.float32)
    stride = max(1, len(middles) // 24)
    middles = np.unique(np.concatenate([middles[:12], middles[::stride], middles[-10:]]))
    magnitudes = np.concatenate(
        [
            middles,
            np.nextafter(middles, np.float32(0)),
            np.nextafter(middles, np.float32(np.inf)),
            ladder[-4:].astype(np.float32),
            np.array(SPECIAL_F32_BITS, np.uint32).view(np.float32),
        ]
    )
    bits = np.unique(magnitudes.view(np.uint32))
    return np.concatenate([bits, bits | 0x80000000]).astype(np.uint32).view(np.float32)


def oracle():
    return {name: table(name) for name in FORMATS}
