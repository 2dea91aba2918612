"""Binary floating point in exact arithmetic, for the oracle of the instruction vectors.

Values are `fractions.Fraction`s; rounding is done once, here, from the exact value, in every mode of IEEE 754. Nothing
uses the host's own floating point, and nothing was taken from Beamline's Rust code.
"""

from decimal import Decimal, getcontext
from fractions import Fraction
from math import isqrt

getcontext().prec = 80


class Format:
    """A binary interchange format."""

    def __init__(self, exponent_bits, fraction_bits, nan):
        self.fraction_bits = fraction_bits
        self.bits = 1 + exponent_bits + fraction_bits
        self.bias = (1 << (exponent_bits - 1)) - 1
        self.top = (1 << exponent_bits) - 1
        self.sign = 1 << (self.bits - 1)
        self.infinity = self.top << fraction_bits
        self.largest = self.infinity - 1
        self.smallest_normal = 1 << fraction_bits
        self.one = self.bias << fraction_bits
        # What an operation without a result gives.
        self.nan = nan

    def fraction(self, bits):
        return bits & (self.smallest_normal - 1)

    def exponent(self, bits):
        return (bits & ~self.sign) >> self.fraction_bits

    def is_nan(self, bits):
        return (bits & ~self.sign) > self.infinity

    def is_infinite(self, bits):
        return (bits & ~self.sign) == self.infinity

    def is_zero(self, bits):
        return (bits & ~self.sign) == 0

    def is_subnormal(self, bits):
        return self.exponent(bits) == 0 and not self.is_zero(bits)

    def is_finite(self, bits):
        return self.exponent(bits) != self.top

    def is_negative(self, bits):
        return bits & self.sign != 0

    def value(self, bits):
        """The exact value of a finite number."""
        exponent, fraction = self.exponent(bits), self.fraction(bits)
        if exponent != 0:
            fraction |= self.smallest_normal
        power = max(exponent, 1) - self.bias - self.fraction_bits
        value = Fraction(fraction) * Fraction(2) ** power
        return -value if self.is_negative(bits) else value

    def round(self, value, mode="rn", zero_sign=0):
        """The bits of an exact value in a rounding mode; an exact zero gets the sign asked for."""
        if value == 0:
            return self.sign if zero_sign else 0
        negative = value < 0
        magnitude = -value if negative else value
        power = floor_log2(magnitude)
        quantum = max(power, 1 - self.bias) - self.fraction_bits
        scaled = magnitude / Fraction(2) ** quantum
        steps = integral(scaled, away_or_not(mode, negative))
        # `steps` units from zero is `steps` in bits as well, once the exponent is added.
        bits = steps + ((quantum + self.bias + self.fraction_bits - 1) << self.fraction_bits)
        if bits >= self.infinity:
            bits = self.overflow(mode, negative)
        return bits | (self.sign if negative else 0)

    def overflow(self, mode, negative):
        if mode in ("rn", "rna") or mode == ("rm" if negative else "rp"):
            return self.infinity
        return self.largest

    def flush(self, bits):
        """A subnormal becomes a zero of its sign."""
        return bits & self.sign if self.is_subnormal(bits) else bits


F32 = Format(8, 23, 0x7FFFFFFF)
F64 = Format(11, 52, 0xFFF8000000000000)
F16 = Format(5, 10, 0x7FFF)
BF16 = Format(8, 7, 0x7FFF)
FORMATS = {"f16": F16, "bf16": BF16, "f32": F32, "f64": F64}


def floor_log2(value):
    """The integer part of log2 of a positive fraction."""
    power = value.numerator.bit_length() - value.denominator.bit_length()
    return power if Fraction(2) ** power <= value else power - 1


def away_or_not(mode, negative):
    """A rounding mode as it looks from a magnitude."""
    if mode in ("rn", "rz", "rna"):
        return mode
    return "away" if (mode == "rp") != negative else "rz"


def integral(value, mode):
    """A fraction as an integer: to nearest even, toward zero, away from zero, down or up."""
    low = value.numerator // value.denominator
    rest = value - low
    if rest == 0:
        return low
    if mode == "rn":
        half = Fraction(1, 2)
        return low + (1 if rest > half or (rest == half and low % 2 == 1) else 0)
    if mode == "rna":
        return low + (1 if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and value > 0) else 0)
    if mode == "rz":
        return low if value > 0 else low + 1
    if mode == "away":
        return low + 1 if value > 0 else low
    return low if mode == "rm" else low + 1


def add(fmt, mode, a, b):
    if fmt.is_nan(a) or fmt.is_nan(b):
        return fmt.nan
    if fmt.is_infinite(a) or fmt.is_infinite(b):
        opposite = fmt.is_infinite(a) and fmt.is_infinite(b) and a != b
        return fmt.nan if opposite else (a if fmt.is_infinite(a) else b)
    return fmt.round(fmt.value(a) + fmt.value(b), mode, zero_sum_sign(fmt, mode, a, b))


def zero_sum_sign(fmt, mode, a, b):
    """The sign of a sum that is exactly zero (IEEE 754-2019, §6.3)."""
    if fmt.is_negative(a) == fmt.is_negative(b):
        return fmt.is_negative(a)
    return mode == "rm"


def mul(fmt, mode, a, b):
    if fmt.is_nan(a) or fmt.is_nan(b):
        return fmt.nan
    sign = (a ^ b) & fmt.sign
    if fmt.is_infinite(a) or fmt.is_infinite(b):
        return fmt.nan if fmt.is_zero(a) or fmt.is_zero(b) else sign | fmt.infinity
    return fmt.round(fmt.value(a) * fmt.value(b), mode, sign)


def fma(fmt, mode, a, b, c):
    if fmt.is_nan(a) or fmt.is_nan(b) or fmt.is_nan(c):
        return fmt.nan
    sign = (a ^ b) & fmt.sign
    if fmt.is_infinite(a) or fmt.is_infinite(b):
        product_is_nan = fmt.is_zero(a) or fmt.is_zero(b)
        against = fmt.is_infinite(c) and (c & fmt.sign) != sign
        return fmt.nan if product_is_nan or against else sign | fmt.infinity
    if fmt.is_infinite(c):
        return c
    exact = fmt.value(a) * fmt.value(b) + fmt.value(c)
    return fmt.round(exact, mode, zero_sum_sign(fmt, mode, sign, c))


def div(fmt, a, b, mode="rn"):
    if fmt.is_nan(a) or fmt.is_nan(b):
        return fmt.nan
    sign = (a ^ b) & fmt.sign
    if fmt.is_infinite(a):
        return fmt.nan if fmt.is_infinite(b) else sign | fmt.infinity
    if fmt.is_infinite(b):
        return sign
    if fmt.is_zero(b):
        return fmt.nan if fmt.is_zero(a) else sign | fmt.infinity
    return fmt.round(fmt.value(a) / fmt.value(b), mode, sign)


def sqrt(fmt, a, mode="rn"):
    if fmt.is_nan(a) or fmt.is_zero(a):
        return fmt.nan if fmt.is_nan(a) else a
    if fmt.is_negative(a):
        return fmt.nan
    if fmt.is_infinite(a):
        return a
    return fmt.round(root(fmt.value(a)), mode)


def root(value):
    """The square root of a positive fraction to 200 bits, with a bit below them where it is inexact."""
    shift = 400 + 2 * value.denominator.bit_length()
    scaled = (value.numerator << shift) // value.denominator
    low = isqrt(scaled)
    exact = low * low == scaled and (value.numerator << shift) % value.denominator == 0
    return Fraction(2 * low + (0 if exact else 1), 1 << (shift // 2 + 1))


def decimal(value):
    return Decimal(value.numerator) / Decimal(value.denominator)


def fraction(value):
    return Fraction(value)


PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798")
LN2 = Decimal(2).ln()


def exp2(value):
    return fraction((decimal(value) * LN2).exp())


def log2(value):
    return fraction(decimal(value).ln() / LN2)


def sin(value):
    """By its series, after taking away whole turns."""
    x = decimal(value)
    x -= (x / (2 * PI)).to_integral_value() * 2 * PI
    term, total, n = x, x, 1
    while abs(term) > Decimal(10) ** -70:
        term *= -x * x / ((n + 1) * (n + 2))
        total += term
        n += 2
    return fraction(total)


def cos(value):
    x = decimal(value)
    x -= (x / (2 * PI)).to_integral_value() * 2 * PI
    term, total, n = Decimal(1), Decimal(1), 0
    while abs(term) > Decimal(10) ** -70:
        term *= -x * x / ((n + 1) * (n + 2))
        total += term
        n += 2
    return fraction(total)


def tanh(value):
    x = decimal(value)
    if abs(x) > 60:
        return Fraction(1 if x > 0 else -1) * (1 - Fraction(1, 1 << 150))
    if abs(x) < Decimal(10) ** -12:
        return fraction(x - x * x * x / 3)
    e = (2 * x).exp()
    return fraction((e - 1) / (e + 1))
