"""Comparisons: `setp` and `set` (PTX ISA 9.0, §9.7.6)."""

from oracle_floats import BF16, F16, F32, F64, FORMATS
from oracle_form import Form
from oracle_inputs import integer_edges
from oracle_integer_forms import key, of


def ordered(relation):
    """A comparison of numbers as one of formats: false where a side is NaN."""
    return lambda fmt, a, b: not (fmt.is_nan(a) or fmt.is_nan(b)) and relation(key(fmt, a), key(fmt, b))


def unordered(relation):
    return lambda fmt, a, b: fmt.is_nan(a) or fmt.is_nan(b) or relation(key(fmt, a), key(fmt, b))


RELATIONS = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
}
UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
COMBINE = {"and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b}


def integer_comparisons():
    """(name, spelled types, comparison of bits) for all of them."""
    for width in (16, 32, 64):
        for name, relation in RELATIONS.items():
            if name in ("eq", "ne"):
                yield name, [f"{sign}{width}" for sign in "bus"], relation, f"u{width}"
                continue
            for sign in "us":
                number = of(f"{sign}{width}")
                compare = lambda a, b, relation=relation, number=number: relation(number(a), number(b))
                yield name, [f"{sign}{width}"], compare, f"u{width}"
        for name, plain in UNSIGNED.items():
            yield name, [f"u{width}"], RELATIONS[plain], f"u{width}"


def float_comparisons():
    compares = {name: ordered(relation) for name, relation in RELATIONS.items()}
    compares |= {name + "u": unordered(relation) for name, relation in RELATIONS.items()}
    compares["num"] = lambda fmt, a, b: not fmt.is_nan(a) and not fmt.is_nan(b)
    compares["nan"] = lambda fmt, a, b: fmt.is_nan(a) or fmt.is_nan(b)
    for name, compare in compares.items():
        for ty, fmt in (
            ("f32", F32), ("ftz.f32", F32), ("f64", F64), ("f16", F16), ("ftz.f16", F16), ("bf16", BF16)):
            flush = fmt.flush if "ftz" in ty else (lambda bits: bits)
            whole = lambda a, b, compare=compare, fmt=fmt, flush=flush: compare(fmt, flush(a), flush(b))
            yield name, [ty], whole, ty.split(".")[-1]


def pairs(operand):
    """Operands that are equal, neighbours, zeros of both signs, NaN on either side."""
    if operand[0] == "u":
        return [(e, e) for e in integer_edges(int(operand[1:]))[:4]]
    if operand.endswith("x2"):
        low = pairs(operand[:-2])
        return [(a | c << 16, b | d << 16) for (a, b), (c, d) in zip(low, low[3:] + low[:3])]
    fmt = FORMATS[operand]
    nan, one = fmt.infinity | fmt.smallest_normal >> 1, fmt.one
    rows = [(0, fmt.sign), (fmt.sign, 0), (nan, nan), (nan, one), (one, nan), (one, one), (one, one + 1)]
    return rows + [(1, 2), (1, 0), (fmt.sign | 1, 1), (fmt.infinity, fmt.infinity), (fmt.sign | fmt.infinity, nan)]


def comparisons():
    for name, types, compare, operand in [*integer_comparisons(), *float_comparisons()]:
        count = 10 if operand[0] == "u" else 18
        spellings = [f"setp.{name}.{ty}" for ty in types]
        yield Form(spellings, [operand] * 2, "pred", lambda a, b, c=compare: int(c(a, b)), pairs(operand), count)


def combined():
    """`setp` with a combination and both results, `set`: one comparison of each type stands for all, which are tested
    alone."""
    chosen = [
        ("lt", "s16"), ("ge", "u16"), ("eq", "b16"), ("lt", "s32"), ("hs", "u32"), ("ne", "b32"), ("le", "s64"), ("hs", "u64"),
        ("eq", "b64"), ("ge", "f32"), ("neu", "ftz.f32"), ("nan", "f64"), ("lt", "f16"), ("ne", "ftz.f16"), ("gtu", "bf16"),
    ]
    every = [*integer_comparisons(), *float_comparisons()]
    for name, ty in chosen:
        compare, operand = next((c, o) for n, types, c, o in every if n == name and ty in types)
        verdicts = lambda a, b, compare=compare: [int(compare(a, b)), 1 - int(compare(a, b))]
        yield from setp_forms(name, ty, verdicts, operand)
        single = lambda a, b, compare=compare: [int(compare(a, b))]
        yield from set_forms(name, ty, single, operand)
        if operand in ("f16", "bf16"):
            halves = lambda a, b, compare=compare: [int(compare(a & 0xFFFF, b & 0xFFFF)), int(compare(a >> 16, b >> 16))]
            yield from setp_forms(name, ty + "x2", halves, operand + "x2")
            yield from set_forms(name, ty + "x2", halves, operand + "x2")


def setp_forms(name, ty, verdicts, operand):
    # ptxas refuses the second result for single halves.
    results = ["pred"] * (1 if operand in ("f16", "bf16") else 2)
    given, verdicts = verdicts, lambda a, b: given(a, b)[:len(results)]
    yield Form(f"setp.{name}.{ty}", [operand] * 2, results, verdicts, pairs(operand), 12)
    for word, combine in COMBINE.items():
        two = lambda a, b, p, combine=combine: [combine(verdict, p) for verdict in verdicts(a, b)]
        special = [(*row, p) for row in pairs(operand) for p in (0, 1)]
        spelling = f"setp.{name}.{word}.{ty}"
        yield Form(spelling, [operand] * 2 + ["pred"], results, two, special, 12)
        if not ty.endswith("x2"):
            one = lambda a, b, p, two=two: two(a, b, p)[0]
            yield Form(spelling, [operand] * 2 + ["pred"], "pred", one, special, 8)


ONES = {"f32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80, "f16x2": 0x3C00, "bf16x2": 0x3F80}


def set_forms(name, ty, verdicts, operand):
    if operand.endswith("x2"):
        destinations = ("u32", "s32", operand)
    elif operand in ("f16", "bf16"):
        destinations = ("u16", "s16", "u32", "s32", "f16", "bf16")
    else:
        destinations = ("u32", "s32", "f32", "f16", "bf16")
    # set.cmp{.bool}{.ftz}.dtype.stype
    ftz, source = ("ftz.", ty[4:]) if ty.startswith("ftz.") else ("", ty)
    for to in destinations:
        if to == "bf16" and ftz or (to, operand) == ("f16", "bf16"):
            # ptxas refuses them.
            continue
        # A pair is told in halves of the register.
        yes = ONES[to] if to in ONES else 0xFFFF if operand.endswith("x2") or to[1:] == "16" else 0xFFFFFFFF
        told = lambda verdicts, yes=yes: sum((yes if verdict else 0) << 16 * at for at, verdict in enumerate(verdicts))
        result = to if to in ONES else "u" + to[1:]
        plain = lambda a, b, told=told: told(verdicts(a, b))
        yield Form(f"set.{name}.{ftz}{to}.{source}", [operand] * 2, result, plain, pairs(operand), 8)
        special = [(*row, p) for row in pairs(operand) for p in (0, 1)]
        for word, combine in COMBINE.items():
            joined = lambda a, b, p, told=told, combine=combine: told([combine(verdict, p) for verdict in verdicts(a, b)])
            yield Form(f"set.{name}.{word}.{ftz}{to}.{source}", [operand] * 2 + ["pred"], result, joined, special, 6)


def families():
    yield "compare", comparisons()
    yield "combine", combined()
