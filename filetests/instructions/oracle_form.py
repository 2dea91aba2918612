"""A form: the spellings of one instruction, its operand kinds, and what it computes."""


class Form:
    def __init__(self, spellings, sources, results, semantics, special=(), count=16):
        self.spellings = [spellings] if isinstance(spellings, str) else list(spellings)
        # Kinds: `pred`, `u8` to `u128` (any integer or untyped bits), `f16`, `bf16`, `f32`, `f64`, `f16x2`, `bf16x2`.
        self.sources = list(sources)
        self.results = [results] if isinstance(results, str) else list(results)
        self.semantics = semantics
        self.special = list(special)
        self.count = count


def width_of(kind):
    """How many bits a kind has."""
    if kind == "pred":
        return 1
    return 32 if kind.endswith("x2") else int(kind.lstrip("bfu"))


def signed(bits, width):
    """The number that bits are in two's complement."""
    return bits - (1 << width) if bits >> (width - 1) else bits


def wrap(number, width):
    """The low bits of a number."""
    return number & ((1 << width) - 1)


def clamp(number, low, high):
    return min(max(number, low), high)
