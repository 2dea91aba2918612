"""Conversions (`cvt`, PTX ISA 9.0, §9.7.9)."""

import oracle_floats as exact
from fractions import Fraction
from oracle_float_forms import saturate
from oracle_floats import F32, F64
from oracle_form import Form, clamp, signed, wrap
from oracle_inputs import integer_edges

INTEGERS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")
FORMATS = {"f32": F32, "f64": F64}


def width(ty):
    return int(ty[1:])


def number(ty, bits):
    return signed(bits, width(ty)) if ty[0] == "s" else bits


def limits(ty):
    n = width(ty)
    return (-(1 << (n - 1)), (1 << (n - 1)) - 1) if ty[0] == "s" else (0, (1 << n) - 1)


def between_integers():
    for sat in ("", ".sat"):
        for to in INTEGERS:
            for source in INTEGERS:
                if sat and limits(source)[0] >= limits(to)[0] and limits(source)[1] <= limits(to)[1]:
                    # ptxas refuses `.sat` where every value fits.
                    continue

                def semantics(bits, to=to, source=source, sat=sat):
                    value = number(source, bits)
                    return wrap(clamp(value, *limits(to)) if sat else value, width(to))
                # Where the limits of the destination are, in the source.
                near = [limit + step for limit in limits(to) for step in (-1, 0, 1)]
                special = [(wrap(value, width(source)),) for value in near]
                yield Form(f"cvt{sat}.{to}.{source}", [f"u{width(source)}"], f"u{width(to)}", semantics, special, 12)


def from_integers():
    for source in INTEGERS:
        # Ties and their neighbours, where the integer is wider than a significand.
        ties = [(1 << 24) + d for d in range(-2, 4)] + [(1 << 31) + (1 << 7) + d for d in (-1, 0, 1)] + [(1 << 53) + d for d in (-1, 0, 1, 3)]
        ties += [-t for t in ties] + [(1 << 63) + (1 << 39), (1 << 63) + (1 << 10), (1 << 64) - 1, (1 << 60) + 1]
        special = [(wrap(tie, width(source)),) for tie in ties] if width(source) > 16 else []
        for mode in ("rn", "rz", "rm", "rp"):
            whole = lambda bits, mode=mode, source=source: F32.round(Fraction(number(source, bits)), mode)
            count = 32 if width(source) > 16 else 10
            yield Form(f"cvt.{mode}.f32.{source}", [f"u{width(source)}"], "f32", whole, special, count)
        whole = lambda bits, source=source: F64.round(Fraction(number(source, bits)), "rn")
        yield Form(f"cvt.rn.f64.{source}", [f"u{width(source)}"], "f64", whole, special, 24 if width(source) > 16 else 10)


# Rounding to an integer by the names that cvt has for it.
INTEGRAL = {"rni": "rn", "rzi": "rz", "rmi": "rm", "rpi": "rp"}
HALVES = (0, 0.25, 0.5, 0.75, 1, 1.5, 2.5, 3.5, 126.5, 127.5, 128.5, 254.5, 255.5, 256, 32767.5, 32768.5, 65535.5, 65536)
LARGE = (2**24 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53 - 1, 2**63 - 1024, 2**63, 2**64 - 2048, 2**64)


def numbers(fmt):
    magnitudes = [fmt.round(Fraction(value)) for value in HALVES + LARGE]
    return [(sign | bits,) for bits in magnitudes for sign in (0, fmt.sign)]


def not_a_number(fmt, to):
    """Zero where neither side has 64 bits, else the highest bit alone."""
    return 0 if fmt is F32 and width(to) != 64 else 1 << (width(to) - 1)


def to_integers():
    for source, fmt in FORMATS.items():
        for ftz in ("", ".ftz") if fmt is F32 else ("",):
            for name, mode in INTEGRAL.items():
                for to in INTEGERS:
                    semantics = lambda bits, fmt=fmt, ftz=ftz, mode=mode, to=to: integer(fmt, fmt.flush(bits) if ftz else bits, mode, to)
                    spelled = [f"cvt.{name}{ftz}{sat}.{to}.{source}" for sat in ("", ".sat")]
                    yield Form(spelled, [source], f"u{width(to)}", semantics, around(fmt, to), 20)


def around(fmt, to):
    """Numbers around the limits of an integer, halves, NaN and infinities."""
    low, high = limits(to)
    half = Fraction(1, 2)
    near = [v + d for v in (low, high) for d in (-1, -half, -half / 2, 0, half / 2, half, 1)]
    near += [half, -half, 3 * half, -3 * half, 5 * half, -5 * half, half / 2, -half / 2]
    rows = [(fmt.round(Fraction(value)),) for value in near[14:18] + near]
    nan = fmt.infinity | fmt.smallest_normal >> 1
    return [(nan,), (fmt.sign | nan,), (fmt.infinity,), (fmt.sign | fmt.infinity,), (1,), (fmt.sign | 1,)] + rows


def integer(fmt, bits, mode, to):
    if fmt.is_nan(bits):
        return not_a_number(fmt, to)
    low, high = limits(to)
    if fmt.is_infinite(bits):
        return wrap(low if fmt.is_negative(bits) else high, width(to))
    return wrap(clamp(exact.integral(fmt.value(bits), mode), low, high), width(to))


def rounded(fmt, bits, mode):
    """A float as an integral float of its sign. A NaN that is not the canonical one is for hardware to say."""
    if fmt.is_nan(bits):
        return fmt.nan if fmt is F32 and bits == fmt.nan else None
    if fmt.is_infinite(bits):
        return bits
    return fmt.round(Fraction(exact.integral(fmt.value(bits), mode)), "rn", fmt.is_negative(bits))


def finish(fmt, bits, sat):
    return bits if bits is None or not sat else saturate(fmt, bits)


def to_integral_floats():
    for name, mode in INTEGRAL.items():
        for ftz in ("", ".ftz"):
            for sat in ("", ".sat"):
                whole = lambda bits, mode=mode, ftz=ftz, sat=sat: finish(
                    F32, rounded(F32, F32.flush(bits) if ftz else bits, mode), sat)
                special = [(0x7FFFFFFF,), *numbers(F32)]
                yield Form(f"cvt.{name}{ftz}{sat}.f32.f32", ["f32"], "f32", whole, special, 28)
        whole = lambda bits, mode=mode: rounded(F64, bits, mode)
        yield Form(f"cvt.{name}.f64.f64", ["f64"], "f64", whole, numbers(F64), 40)


def copied(fmt, bits):
    return None if fmt.is_nan(bits) and bits != fmt.nan else bits


def saturated(fmt, bits):
    return saturate(fmt, bits)


# Doubles around ties of singles, the largest single, and the subnormal singles.
DOUBLES = [
    0x3FF0000010000000, 0x3FF0000010000001, 0x3FF000000FFFFFFF, 0x3FF0000030000000, 0x47EFFFFFE0000000, 0x47EFFFFFF0000000,
    0x47EFFFFFEFFFFFFF, 0x47F0000000000000, 0x7FEFFFFFFFFFFFFF, 0x3810000000000000, 0x380FFFFFE0000000, 0x36A0000000000000,
    0x3690000000000000, 0x3690000000000001, 0x368FFFFFFFFFFFFF, 0x36B8000000000000, 0x0000000000000001, 0x3FB999999999999A,
    0x3FE0000000000000, 0x7FF0000000000000, 0x7FF8000000000000, 0xFFF8000000000001, 0x0000000000000000, 0x3FF0000000000000,
]


def narrow(bits, mode):
    if F64.is_nan(bits):
        return F32.nan
    if F64.is_infinite(bits):
        return F32.infinity | (F32.sign if F64.is_negative(bits) else 0)
    return F32.round(F64.value(bits), mode, F64.is_negative(bits))


def widen(bits):
    """What NaN becomes is for hardware to say."""
    if F32.is_nan(bits):
        return None
    if F32.is_infinite(bits):
        return F64.infinity | (F64.sign if F32.is_negative(bits) else 0)
    return F64.round(F32.value(bits), "rn", F32.is_negative(bits))


def narrowed(bits, mode, ftz, sat):
    if F64.is_nan(bits):
        # The ISA leaves its bits open; an H100 keeps the sign and the upper ones.
        return finish(F32, bits >> 32 & F32.sign | 0x7FC00000 | bits >> 29 & 0x3FFFFF, sat)
    result = narrow(bits, mode)
    if ftz:
        # See oracle_float_forms: when tininess is noticed decides.
        if result & ~F32.sign == F32.smallest_normal and abs(F64.value(bits)) < F32.value(F32.smallest_normal):
            return None
        result = F32.flush(result)
    return finish(F32, result, sat)


def between_floats():
    canonical = [(0x7FFFFFFF,)]
    yield Form("cvt.f32.f32", ["f32"], "f32", lambda a: copied(F32, a), canonical, 24)
    yield Form("cvt.ftz.f32.f32", ["f32"], "f32", lambda a: copied(F32, F32.flush(a)), canonical, 24)
    yield Form("cvt.sat.f32.f32", ["f32"], "f32", lambda a: saturated(F32, a), count=28)
    yield Form("cvt.ftz.sat.f32.f32", ["f32"], "f32", lambda a: saturated(F32, F32.flush(a)), count=28)
    yield Form("cvt.f64.f64", ["f64"], "f64", lambda a: None if F64.is_nan(a) else a, count=24)
    yield Form("cvt.sat.f64.f64", ["f64"], "f64", lambda a: saturated(F64, a), count=28)
    yield Form("cvt.f64.f32", ["f32"], "f64", widen, count=36)
    yield Form("cvt.ftz.f64.f32", ["f32"], "f64", lambda a: widen(F32.flush(a)), count=36)
    special = [(bits ^ sign,) for bits in DOUBLES for sign in (0, 1 << 63)]
    for mode in ("rn", "rz", "rm", "rp"):
        for ftz in ("", ".ftz"):
            for sat in ("", ".sat"):
                whole = lambda bits, mode=mode, ftz=ftz, sat=sat: narrowed(bits, mode, ftz, sat)
                yield Form(f"cvt.{mode}{ftz}{sat}.f32.f64", ["f64"], "f32", whole, special, 52)


def families():
    yield "convert_integer", between_integers()
    yield "convert_to_float", from_integers()
    yield "convert_to_integer", to_integers()
    yield "convert_float", [*to_integral_floats(), *between_floats()]
