"""The approximate instructions (PTX ISA 9.0, §9.7.3): the correctly rounded result and the error that the ISA allows.

Bounds: `Nulp` from the correctly rounded result; `2^-Nabs` absolute; `2^-Nrel` relative. Results that the ISA gives
exactly (infinities, zeros, NaN) are exact here. Where it gives no bound there is no row, with two exceptions that say
so below.
"""

import oracle_floats as exact
from fractions import Fraction
from oracle_floats import F32, F64
from oracle_form import Form

ONE, NEG = F32.one, F32.sign
EDGES = [(sign | bits,) for bits in (0, ONE, 0x7F800000, 1, 0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0x7FC00000, 0x7F800001) for sign in (0, NEG)]


def flushing(function, ftz):
    """The function with `.ftz`, operand and result; a result on the edge of flushing is left out."""

    def semantics(*operands):
        if not ftz:
            return function(*operands)
        result = function(*[F32.flush(bits) for bits in operands])
        if isinstance(result, tuple):
            # The hardware's own result may be on the other side of the smallest normal number.
            magnitude = result[0] & ~NEG
            if abs(magnitude - F32.smallest_normal) <= 4:
                return None
            if magnitude < F32.smallest_normal:
                return F32.flush(result[0])
        return result if isinstance(result, tuple) or result is None else F32.flush(result)

    return semantics


def special(function, table):
    """A function whose results for zeros, infinities and NaN are given; other results carry a bound."""

    def semantics(bits):
        if F32.is_nan(bits):
            return F32.nan
        return table[bits] if bits in table else function(bits)

    return semantics


INF, ZERO = F32.infinity, 0


def rcp(bits):
    return F32.round(1 / F32.value(bits)), "1ulp"


def sqrt(bits):
    if F32.is_negative(bits):
        # The table speaks of -normal only.
        return None if F32.is_subnormal(bits) else F32.nan
    return exact.sqrt(F32, bits), "2^-23rel"


def rsqrt(bits):
    if F32.is_negative(bits):
        return None if F32.is_subnormal(bits) else F32.nan
    return F32.round(1 / exact.root(F32.value(bits))), "2^-22.9rel"


def lg2(bits):
    if F32.is_negative(bits):
        return None if F32.is_subnormal(bits) else F32.nan
    value = F32.value(bits)
    bound = "2^-22abs" if Fraction(1, 2) < value < 2 else "2^-22rel"
    return F32.round(exact.log2(value)), bound


def ex2(bits):
    value = F32.value(bits)
    if value > 200:
        return INF, "2ulp"
    return F32.round(exact.exp2(max(value, Fraction(-400)))), "2ulp"


def angle(function):
    def semantics(bits):
        value = abs(exact.decimal(F32.value(bits)))
        if value > 100 * exact.PI:
            return None
        bound = "2^-20.5abs" if value <= 2 * exact.PI else "2^-14.7abs"
        return F32.round(function(F32.value(bits))), bound

    return semantics


def tanh(bits):
    if F32.is_subnormal(bits):
        return bits
    return F32.round(exact.tanh(F32.value(bits))), "2^-11rel"


def between(low, high, count):
    """Numbers spread evenly over a range."""
    step = Fraction(high - low) / count
    return [(F32.round(Fraction(low) + step * i + Fraction(1, 97)),) for i in range(count)]


def of_one():
    signed_inf = {0: INF, NEG: NEG | INF, INF: 0, NEG | INF: NEG}
    powers = [(sign | (127 + n << 23) | f,) for n in (-126, -125, -3, 0, 5, 126, 127) for f in (0, 1, 0x7FFFFF) for sign in (0, NEG)]
    yield "rcp", special(rcp, signed_inf), powers, True
    yield "sqrt", special(sqrt, {0: 0, NEG: NEG, INF: INF, NEG | INF: F32.nan}), between(0, 10, 12), True
    yield "rsqrt", special(rsqrt, {0: INF, NEG: NEG | INF, INF: 0, NEG | INF: F32.nan}), between(0, 10, 12), True
    near_one = between(Fraction(1, 2), 2, 16) + [(ONE - 1,), (ONE + 1,), (0x3F000000,), (0x40000000,), (0x41000000,)]
    yield "lg2", special(lg2, {0: NEG | INF, NEG: NEG | INF, INF: INF, NEG | INF: F32.nan}), near_one, True
    exponents = between(-150, 130, 28) + [(F32.round(Fraction(n)),) for n in (-151, -150, -149, -127, -126, -1, 1, 10, 127, 128, 129)]
    yield "ex2", special(ex2, {0: ONE, NEG: ONE, INF: INF, NEG | INF: 0}), exponents, True
    angles = between(-7, 7, 24) + between(-310, 310, 16) + [(0x40490FDB,), (0x3FC90FDB,), (0x40C90FDB,), (0xC0490FDB,)]
    nan = {INF: F32.nan, NEG | INF: F32.nan}
    yield "sin", special(angle(exact.sin), {0: 0, NEG: NEG, **nan}), angles, True
    yield "cos", special(angle(exact.cos), {0: ONE, NEG: ONE, **nan}), angles, True
    yield "tanh", special(tanh, {0: 0, NEG: NEG, INF: ONE, NEG | INF: NEG | ONE}), between(-9, 9, 24) + between(-0.1, 0.1, 8), False


def single():
    for name, function, inputs, has_ftz in of_one():
        for ftz in ("", ".ftz") if has_ftz else ("",):
            yield Form(f"{name}.approx{ftz}.f32", ["f32"], "f32", flushing(function, ftz), EDGES + inputs, 72)
    for ftz in ("", ".ftz"):
        yield Form(f"div.approx{ftz}.f32", ["f32"] * 2, "f32", flushing(div_approx, ftz), QUOTIENTS, 56)
        yield Form(f"div.full{ftz}.f32", ["f32"] * 2, "f32", flushing(div_full, ftz), QUOTIENTS, 56)


LARGE = 0x7E800000  # 2^126
QUOTIENTS = [
    (ONE, 0x40400000), (ONE, LARGE), (ONE, LARGE + 1), (NEG | ONE, LARGE + 1), (INF, LARGE + 1), (INF, LARGE), (0x7F7FFFFF, 0x7F7FFFFF),
    (0x7F7FFFFF, 0x3F000000), (0, 0), (0, NEG), (INF, INF), (INF, 0), (ONE, 0), (NEG | ONE, 0), (ONE, INF), (NEG | ONE, INF),
    (0, 0x7F000000), (0x7FC00000, ONE), (ONE, 0x7FC00000), (INF, 0x7F000000), (0x00800000, 0x40000000), (0x00800000, 0x3F800001),
    (1, ONE), (1, 0x3E800000), (0x3F800000, 0x00800000), (0x41200000, 0xC0E00000),
]


def div_full(a, b):
    """Within 2 ulp for all operands."""
    exactly = exact.div(F32, a, b)
    plain = all(F32.is_finite(bits) and not F32.is_zero(bits) for bits in (a, b))
    return (exactly, "2ulp") if plain else exactly


def div_approx(a, b):
    """`a * (1/b)`: within 2 ulp for |b| in [2^-126, 2^126]; NaN or zero for larger ones; open for smaller ones."""
    magnitude = b & ~NEG
    if LARGE < magnitude < INF and not F32.is_nan(a):
        return F32.nan if F32.is_infinite(a) else (a ^ b) & NEG
    if F32.is_subnormal(b):
        return None
    return div_full(a, b)


def high_word(function):
    """An approximation of the upper 32 bits (1.11.20), the lower ones ignored in the operand and zero in the result."""

    def semantics(bits):
        bits &= 0xFFFFFFFF << 32
        # A NaN has its own canonical encoding here, which is not that of the other instructions.
        return 0x7FFFFFFF << 32 if F64.is_nan(bits) else function(F64.flush(bits))

    return semantics


# The ISA gives no bound for the `gross approximations`: twice the unit of the 20 bits that they have. For
# rsqrt.approx.f64 it gives none either; CUDA's rsqrt() for double, which is this instruction, is documented at 1 ulp,
# ours is within 2.
GROSS = "2^-19rel"


def rcp64(bits):
    sign = bits & F64.sign
    if F64.is_zero(bits) or F64.is_infinite(bits):
        return sign | (F64.infinity if F64.is_zero(bits) else 0)
    result = F64.round(1 / F64.value(bits))
    return sign if F64.is_subnormal(result) else (result, GROSS)


def rsqrt64(bound):
    def semantics(bits):
        if F64.is_zero(bits):
            return bits | F64.infinity
        if F64.is_negative(bits):
            return None
        if F64.is_infinite(bits):
            return 0
        return F64.round(1 / exact.root(F64.value(bits))), bound

    return semantics


EDGES64 = [
    (sign | bits,)
    for bits in (0, 1, F64.infinity, F64.one, F64.smallest_normal, F64.largest, F64.infinity | 1, F64.infinity | 1 << 51,
                 F64.smallest_normal - 1, F64.one | 0xFFFFFFFF, 0x7FD << 52, 0x7FE << 52 | 1 << 51, 0x4010 << 48, 0x4024000012345678)
    for sign in (0, F64.sign)
]


def double():
    yield Form("rcp.approx.ftz.f64", ["f64"], "f64", high_word(rcp64), EDGES64, 56)
    yield Form("rsqrt.approx.ftz.f64", ["f64"], "f64", high_word(rsqrt64(GROSS)), EDGES64, 56)
    software = rsqrt64("2ulp")
    yield Form("rsqrt.approx.f64", ["f64"], "f64", lambda bits: None if F64.is_nan(bits) else software(bits), EDGES64, 56)


def families():
    yield "approximate", [*single(), *double()]
