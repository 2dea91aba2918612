"""Operands for the instruction vectors: edges first, then deterministic pseudo-random values.

The generator is splitmix64, keyed by the form, so that adding a form does not change the rows of another.
"""

from oracle_floats import FORMATS
from oracle_form import width_of

MASK64 = (1 << 64) - 1


class Random:
    """Splitmix64."""

    def __init__(self, key):
        self.state = 0
        for byte in key.encode():
            self.state = (self.state * 0x100000001B3 ^ byte) & MASK64

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK64
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK64
        return z ^ (z >> 31)

    def below(self, bound):
        return self.next() % bound

    def choose(self, values):
        return values[self.below(len(values))]

    def bits(self, width):
        return (self.next() | self.next() << 64) & ((1 << width) - 1)


def integer_edges(width):
    top = 1 << (width - 1)
    mask = (1 << width) - 1
    edges = [0, 1, mask, top, top - 1, 2, mask - 1, top + 1, 3, 7]
    edges += [mask // 3, mask // 3 * 2, 1 << (width // 2), (1 << (width // 2)) - 1, top >> 1, mask - 6]
    return edges


def float_edges(fmt):
    """Positive and negative edges of a format, without NaN."""
    one, step = fmt.one, fmt.smallest_normal
    magnitudes = [0, one, 1, fmt.largest, fmt.smallest_normal, fmt.infinity, fmt.smallest_normal - 1]
    magnitudes += [one + 1, one - 1, one - step, one + step, one + step // 2 + step, fmt.smallest_normal + 1]
    magnitudes += [one + fmt.fraction_bits * step, one + (fmt.fraction_bits + 1) * step - 1, fmt.largest - step]
    magnitudes += [one - (fmt.fraction_bits + 1) * step, one - (fmt.fraction_bits + 2) * step, 2 * step, step + step // 2]
    return [sign | magnitude for magnitude in magnitudes for sign in (0, fmt.sign)]


def nans(fmt):
    quiet = fmt.infinity | fmt.smallest_normal >> 1
    return [quiet, fmt.sign | quiet, fmt.infinity | 1, fmt.sign | fmt.infinity | 0x1234, fmt.infinity | (fmt.smallest_normal - 1)]


def random_float(random, fmt):
    """A finite number: of any size, near one, or with few significant bits."""
    kind = random.below(4)
    if kind == 0:
        bits = random.bits(fmt.bits)
        return bits if fmt.is_finite(bits) else bits & ~(1 << (fmt.fraction_bits + 1))
    exponent = fmt.bias - 12 + random.below(24)
    fraction = random.bits(fmt.fraction_bits)
    if kind == 1:
        keep = fmt.fraction_bits // 2
        fraction = fraction >> keep << keep
    return random.choose([0, fmt.sign]) | exponent << fmt.fraction_bits | fraction


def random_integer(random, width):
    """Of any size: the significant bits are uniform in number."""
    bits = random.bits(width) >> random.below(width)
    return bits if random.below(2) == 0 else ((1 << width) - 1) ^ bits


def edges_of(kind):
    if kind == "pred":
        return [0, 1]
    if kind in FORMATS:
        return float_edges(FORMATS[kind]) + nans(FORMATS[kind])
    if kind.endswith("x2"):
        half = edges_of(kind[:-2])
        return [low | half[(11 * at + 5) % len(half)] << 16 for at, low in enumerate(half)]
    return integer_edges(width_of(kind))


def random_of(random, kind):
    if kind == "pred":
        return random.below(2)
    if kind in FORMATS:
        return random_float(random, FORMATS[kind])
    if kind.endswith("x2"):
        return random_of(random, kind[:-2]) | random_of(random, kind[:-2]) << 16
    return random_integer(random, width_of(kind))


def rows(key, kinds, special, count):
    """Distinct operand tuples: the special ones, every edge of a single operand, then a mixture."""
    random = Random(key)
    found = dict.fromkeys(tuple(row) for row in special)
    edges = [edges_of(kind) for kind in kinds]
    if len(kinds) == 1:
        found.update(dict.fromkeys((edge,) for edge in edges[0]))
    attempts = 0
    while attempts < 40 * count:
        attempts += 1
        row = []
        for kind, choices in zip(kinds, edges):
            row.append(random.choose(choices) if random.below(5) < 3 else random_of(random, kind))
        found.setdefault(tuple(row))
    return list(found)
