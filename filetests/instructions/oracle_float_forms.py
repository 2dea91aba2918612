"""Correctly rounded floating-point instructions (PTX ISA 9.0, §9.7.3).

Single precision turns every NaN result into 0x7fffffff; `.ftz` flushes subnormal operands and results to zeros of
their sign; `.sat` clamps to [0, 1] and makes NaN +0.
"""

import oracle_floats as exact
from oracle_floats import F32, F64
from oracle_form import Form

MODES = ("rn", "rz", "rm", "rp")
ONE, HALF_ULP, QUARTER_ULP, MAX = 0x3F800000, 0x33800000, 0x33000000, 0x7F7FFFFF
NEG = 0x80000000


def modified(operation, ftz, sat):
    """An operation in single precision with its modifiers, or None where the ISA leaves the result open."""

    def semantics(*operands):
        if ftz:
            operands = [F32.flush(bits) for bits in operands]
        result = operation(*operands)
        if ftz:
            # Whether a result that rounds up to the smallest normal number is flushed depends on when tininess is
            # noticed, which the ISA does not say.
            if result & ~NEG == F32.smallest_normal:
                return None
            result = F32.flush(result)
        if sat:
            result = saturate(F32, result)
        return result

    return semantics


def saturate(fmt, bits):
    if fmt.is_nan(bits):
        return 0
    if bits == fmt.sign:
        # The ISA does not say whether -0 is inside [+0, 1].
        return None
    return 0 if fmt.is_negative(bits) else min(bits, fmt.one)


def modifiers():
    for ftz in ("", ".ftz"):
        for sat in ("", ".sat"):
            yield ftz, sat


# Ties at one, results beside them, overflow, cancellation, sums of zeros, subnormal operands and results.
SUMS = [
    (ONE, HALF_ULP), (ONE + 1, HALF_ULP), (ONE, HALF_ULP + 1), (ONE, QUARTER_ULP), (ONE, NEG | QUARTER_ULP),
    (ONE, NEG | QUARTER_ULP + 1), (MAX, 0x73000000), (MAX, 0x72FFFFFF), (MAX, MAX), (NEG | MAX, NEG | MAX),
    (ONE, NEG | ONE), (0, NEG), (NEG, NEG), (ONE + 1, NEG | ONE), (1, NEG | 1), (1, 1), (0x00400000, 0x00400000),
    (0x00800001, 0x80800000), (0x7F800000, 0xFF800000), (0x7F800000, 0x7F800000), (0x4B800000, ONE), (0x4B800001, ONE),
    (ONE, 1), (ONE, NEG | 1), (0x3F000000, 0x3F000001), (0x7FC00000, ONE), (ONE, 0xFFA00001), (0x7F800000, MAX),
]
DIFFERENCES = [(a, b ^ NEG) for a, b in SUMS]
PRODUCTS = [
    (ONE + 1, ONE + 1), (ONE + 1, ONE + 0x7FFFFF), (0x3F801000, 0x3F801000), (0x3F800800, 0x3F801800), (MAX, 2 * ONE),
    (MAX, ONE + 1), (0x5F800000, 0x5F800000), (0x5F7FFFFF, 0x5F800000), (0x1F800000, 0x1F800000), (0x1F800000, 0x20000000),
    (1, 0x3F000000), (3, 0x3F000000), (1, 0x3EFFFFFF), (NEG | 1, 0x3F000001), (0x00800000, 0x3F000000), (1, 1),
    (0x00FFFFFF, 0x3F000000), (0x7F800000, 0), (0x7F800000, NEG), (0, NEG | ONE), (0x7F800000, 0xC0000000),
    (0x20000000, 0x20000000), (0x20000000, 0x203FFFFF), (0x7FC00001, 0), (0x3F000000, 0x3F7FFFFF), (ONE, ONE),
]
FMAS = [
    (ONE + 1, ONE + 1, NEG | 0x3F800002), (0x3F801000, 0x3F801000, NEG | 0x3F802000), (ONE, ONE, HALF_ULP),
    (ONE, ONE, NEG | QUARTER_ULP), (ONE + 1, ONE, HALF_ULP), (ONE, ONE, NEG | ONE), (ONE, NEG | ONE, ONE),
    (MAX, 2 * ONE, NEG | MAX), (MAX, MAX, NEG | MAX), (MAX, ONE, 0x73000000), (0x7F800000, 0, ONE), (0x7F800000, ONE, 0xFF800000),
    (0, NEG | ONE, 0), (0, NEG | ONE, NEG), (0, ONE, NEG), (1, 1, ONE), (1, NEG | 1, ONE), (1, 1, 0), (1, NEG | 1, 0),
    (0x1F800000, 0x1F800000, 1), (0x1F800000, 0x1F800000, NEG | 1), (0x1A000000, 0x1A000000, 0x00400000),
    (0x3F7FFFFF, 0x3F7FFFFF, 0x34000000), (ONE, 0x7F800000, 0x7FC00000), (0x4B800001, ONE, ONE), (0x4B800000, ONE, 0x3F800001),
    (0x40490FDB, 0x402DF854, NEG | 0x4108A2C0), (0x7F000000, 0x40000000, 0xFF7FFFFF), (ONE, ONE, 0x00000001), (ONE, ONE, NEG | 1),
]


def arithmetic_f32():
    minus = lambda a: a if F32.is_nan(a) else a ^ NEG
    for mode in MODES:
        add = lambda a, b, mode=mode: exact.add(F32, mode, a, b)
        sub = lambda a, b, mode=mode: exact.add(F32, mode, a, minus(b))
        mul = lambda a, b, mode=mode: exact.mul(F32, mode, a, b)
        for name, operation, special in (("add", add, SUMS), ("sub", sub, DIFFERENCES), ("mul", mul, PRODUCTS)):
            for ftz, sat in modifiers():
                spelled = [f"{name}.{mode}{ftz}{sat}.f32"] + ([f"{name}{ftz}{sat}.f32"] if mode == "rn" else [])
                semantics = modified(operation, ftz, sat)
                yield Form(spelled, ["f32"] * 2, "f32", semantics, special, 40 if sat else 48)


def fma_f32():
    for mode in MODES:
        operation = lambda a, b, c, mode=mode: exact.fma(F32, mode, a, b, c)
        for ftz, sat in modifiers():
            spelled = [f"{name}.{mode}{ftz}{sat}.f32" for name in ("fma", "mad")]
            yield Form(spelled, ["f32"] * 3, "f32", modified(operation, ftz, sat), FMAS, 48 if sat else 60)


QUOTIENTS = [
    (ONE, 0x40400000), (0x40C00000, 0x40400000), (ONE, ONE + 1), (ONE + 1, ONE), (ONE, 0), (NEG | ONE, 0), (0, 0), (0, NEG),
    (0x7F800000, 0x7F800000), (0x7F800000, 0), (ONE, 0x7F800000), (MAX, 0x3F000000), (MAX, 0x3F7FFFFF), (1, 0x40000000),
    (3, 0x40000000), (1, 0x3F000000), (0x00800000, 0x40000000), (0x00FFFFFE, 0x40000000), (ONE, 0x7F000000), (ONE, MAX),
    (ONE, 1), (1, 1), (0x7FC00000, ONE), (ONE, 0xFF800001), (0x3F7FFFFF, 0x3F800001), (0x4B7FFFFF, 0x4B800001),
]
ROOTS = [(bits,) for bits in (0x40800000, 0x40000000, 0x40800001, 0x407FFFFF, 0x3F800001, 0x3F7FFFFF, 0x00000002, 0x00000004, 0x00400000)]


def others_f32():
    for ftz in ("", ".ftz"):
        for mode in MODES:
            divide = lambda a, b, mode=mode: exact.div(F32, a, b, mode)
            yield Form(f"div.{mode}{ftz}.f32", ["f32"] * 2, "f32", modified(divide, ftz, ""), QUOTIENTS, 48)
            invert = lambda a, mode=mode: exact.div(F32, ONE, a, mode)
            yield Form(f"rcp.{mode}{ftz}.f32", ["f32"], "f32", modified(invert, ftz, ""), ROOTS, 56)
            root = lambda a, mode=mode: exact.sqrt(F32, a, mode)
            yield Form(f"sqrt.{mode}{ftz}.f32", ["f32"], "f32", modified(root, ftz, ""), ROOTS, 56)
        yield from extremes(ftz)
        # No arithmetic here, so nothing rounds up to the smallest normal number.
        flush = F32.flush if ftz else (lambda bits: bits)
        magnitude = lambda a, flush=flush: None if F32.is_nan(a) else flush(a) & ~NEG
        negated = lambda a, flush=flush: None if F32.is_nan(a) else flush(a) ^ NEG
        yield Form(f"abs{ftz}.f32", ["f32"], "f32", magnitude, count=30)
        yield Form(f"neg{ftz}.f32", ["f32"], "f32", negated, count=30)
    yield Form("copysign.f32", ["f32"] * 2, "f32", lambda a, b: copysign(F32, a, b), count=20)


ZEROS_AND_NANS = [
    (0, NEG), (NEG, 0), (0x7FC00000, ONE), (ONE, 0x7FC00000), (0xFFC00000, 0x7F800001), (0x7F800000, 0xFF800000),
    (ONE, ONE + 1), (NEG | ONE, NEG | (ONE + 1)), (1, 0), (1, NEG), (NEG | 1, 0), (NEG | 1, 1), (0x7FFFFFFF, 0xFF800000),
]


def extremes(ftz):
    for name, better in (("min", lambda a, b: a < b), ("max", lambda a, b: a > b)):
        for nan in ("", ".NaN"):
            flush = F32.flush if ftz else (lambda bits: bits)
            choose = lambda a, b, better=better, nan=nan, flush=flush: extreme(F32, flush(a), flush(b), better, nan)
            yield Form(f"{name}{ftz}{nan}.f32", ["f32"] * 2, "f32", choose, ZEROS_AND_NANS, 30)
            signed = lambda a, b, better=better, nan=nan, flush=flush: xorsign(F32, flush(a), flush(b), better, nan)
            yield Form(f"{name}{ftz}{nan}.xorsign.abs.f32", ["f32"] * 2, "f32", signed, ZEROS_AND_NANS, 30)


def order(fmt, bits):
    """An integer in the order of the numbers, -0 below +0."""
    magnitude = bits & ~fmt.sign
    return -1 - magnitude if fmt.is_negative(bits) else magnitude


def extreme(fmt, a, b, better, nan):
    if fmt.is_nan(a) or fmt.is_nan(b):
        if nan or (fmt.is_nan(a) and fmt.is_nan(b)):
            return fmt.nan
        return b if fmt.is_nan(a) else a
    return a if better(order(fmt, a), order(fmt, b)) else b


def xorsign(fmt, a, b, better, nan):
    """The sign of a NaN beside a number is for hardware to say."""
    if fmt.is_nan(a) != fmt.is_nan(b) and not nan:
        return None
    chosen = extreme(fmt, a & ~fmt.sign, b & ~fmt.sign, better, nan)
    return chosen if fmt.is_nan(chosen) else chosen | (a ^ b) & fmt.sign


def copysign(fmt, a, b):
    return None if fmt.is_nan(b) else (a & fmt.sign) | (b & ~fmt.sign)


def testp():
    for fmt, ty in ((F32, "f32"), (F64, "f64")):
        # Zero counts as normal (§9.7.3.1).
        tests = {
            "finite": fmt.is_finite, "infinite": fmt.is_infinite, "notanumber": fmt.is_nan,
            "number": lambda a, fmt=fmt: not fmt.is_nan(a), "subnormal": fmt.is_subnormal,
            "normal": lambda a, fmt=fmt: fmt.is_finite(a) and not fmt.is_subnormal(a),
        }
        special = [(bits,) for bits in (fmt.infinity | 1, fmt.infinity, fmt.infinity - 1, 0, fmt.sign, 1, fmt.smallest_normal)]
        for name, test in tests.items():
            yield Form(f"testp.{name}.{ty}", [ty], "pred", lambda a, test=test: int(test(a)), special, 24)


def scaled(rows):
    """Rows of singles as doubles that stand in the same relation to their format."""
    def double(bits):
        sign, exponent, fraction = bits >> 31, bits >> 23 & 0xFF, bits & 0x7FFFFF
        if exponent in (0, 0xFF):
            exponent = 0x7FF if exponent else 0
        else:
            exponent += 1023 - 127
        low = 0x1FFFFFFF if fraction == 0x7FFFFF else 0
        return sign << 63 | exponent << 52 | fraction << 29 | low
    return [tuple(double(bits) for bits in row) for row in rows]


ONE64, HALF_ULP64, NEG64, MAX64 = 0x3FF << 52, 0x3CA << 52, 1 << 63, 0x7FEFFFFFFFFFFFFF
SUMS64 = [
    (ONE64, HALF_ULP64), (ONE64 + 1, HALF_ULP64), (ONE64, HALF_ULP64 + 1), (ONE64, HALF_ULP64 - (1 << 52)),
    (MAX64, 0x3C9 + 0x400 << 52), (MAX64, MAX64), (1, NEG64 | 1), (1, 1), (0x4340 << 48, ONE64),
]
PRODUCTS64 = [(ONE64 + 1, ONE64 + 1), (MAX64, ONE64 + 1), (1, 0x3FE << 52), (3, 0x3FE << 52), (1, 1), (0x1FF << 52, 0x200 << 52)]
FMAS64 = [
    (ONE64 + 1, ONE64 + 1, NEG64 | (ONE64 + 2)), (ONE64, ONE64, HALF_ULP64), (MAX64, 2 << 61, NEG64 | MAX64), (1, 1, ONE64),
    (1, NEG64 | 1, 0), (ONE64, NEG64 | ONE64, ONE64), (0x1E0 << 52, 0x1E0 << 52, 1),
]


def without_nan(operation):
    """Which NaN a double-precision instruction passes on is for hardware to say; what it makes of numbers is not."""
    return lambda *operands: None if any(F64.is_nan(bits) for bits in operands) else operation(*operands)


def f64():
    for mode in MODES:
        yield from arithmetic_f64(mode)
    for name, better in (("min", lambda a, b: a < b), ("max", lambda a, b: a > b)):
        choose = lambda a, b, better=better: extreme64(a, b, better)
        yield Form(f"{name}.f64", ["f64"] * 2, "f64", choose, scaled(ZEROS_AND_NANS), 30)
    yield Form("abs.f64", ["f64"], "f64", without_nan(lambda a: a & ~NEG64), count=24)
    yield Form("neg.f64", ["f64"], "f64", without_nan(lambda a: a ^ NEG64), count=24)
    yield Form("copysign.f64", ["f64"] * 2, "f64", lambda a, b: copysign(F64, a, b), count=20)


def arithmetic_f64(mode):
    add = without_nan(lambda a, b: exact.add(F64, mode, a, b))
    sub = without_nan(lambda a, b: exact.add(F64, mode, a, b ^ NEG64))
    mul = without_nan(lambda a, b: exact.mul(F64, mode, a, b))
    fma = without_nan(lambda a, b, c: exact.fma(F64, mode, a, b, c))
    divide = without_nan(lambda a, b: exact.div(F64, a, b, mode))
    differences = [(a, b ^ NEG64) for a, b in SUMS64]
    plain = lambda name: [f"{name}.f64", f"{name}.rn.f64"] if mode == "rn" else f"{name}.{mode}.f64"
    yield Form(plain("add"), ["f64"] * 2, "f64", add, SUMS64 + scaled(SUMS), 64)
    yield Form(plain("sub"), ["f64"] * 2, "f64", sub, differences + scaled(DIFFERENCES), 64)
    yield Form(plain("mul"), ["f64"] * 2, "f64", mul, PRODUCTS64 + scaled(PRODUCTS), 64)
    yield Form([f"fma.{mode}.f64", f"mad.{mode}.f64"], ["f64"] * 3, "f64", fma, FMAS64 + scaled(FMAS), 80)
    yield Form(f"div.{mode}.f64", ["f64"] * 2, "f64", divide, scaled(QUOTIENTS), 60)
    invert = without_nan(lambda a: exact.div(F64, ONE64, a, mode))
    yield Form(f"rcp.{mode}.f64", ["f64"], "f64", invert, scaled(ROOTS), 56)
    yield Form(f"sqrt.{mode}.f64", ["f64"], "f64", without_nan(lambda a: exact.sqrt(F64, a, mode)), scaled(ROOTS), 56)


def extreme64(a, b, better):
    return None if F64.is_nan(a) and F64.is_nan(b) else extreme(F64, a, b, better, "")


def families():
    yield "single_add_mul", arithmetic_f32()
    yield "single_fma", fma_f32()
    yield "single_other", others_f32()
    yield "testp", testp()
    yield "double", f64()
