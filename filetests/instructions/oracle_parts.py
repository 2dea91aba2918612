"""Masks, permutations by name, and instructions on the bytes and halves of a word (PTX ISA 9.0, §9.7.1, §9.7.9, §9.7.17)."""

from oracle_form import Form, clamp, signed, wrap

ONES = 0xFFFFFFFF


def forms():
    yield from masks()
    yield from permutations()
    yield from packed()
    yield from video()
    yield from packs()


AMOUNTS = [(a, b) for a in (0, 1, 5, 31, 32, 33, 64, ONES) for b in (0, 1, 8, 31, 32, 33, 64)]


def masks():
    for mode in ("clamp", "wrap"):
        bits = lambda a, b, clamped=mode == "clamp": bmsk(a, b, clamped)
        yield Form(f"bmsk.{mode}.b32", ["u32"] * 2, "u32", bits, AMOUNTS, 64)
        for sign in "us":
            extend = lambda a, b, clamped=mode == "clamp", sign=sign: szext(a, b, clamped, sign == "s")
            special = [(a, n) for a in (0x80F0F0F1, 0x7F0F0F0E, ONES, 0xAAAAAAAA) for n in (0, 1, 2, 8, 31, 32, 33, 40, 64, ONES)]
            yield Form(f"szext.{mode}.{sign}32", ["u32"] * 2, "u32", extend, special, 48)
    special = [(0b10110100, base, n) for base in (0, 2, 3, 7, 31) for n in (0, 1, 2, 4, 5)]
    special += [(0b10110100, base, wrap(-n, 32)) for base in (0, 2, 7, 31) for n in (1, 2, 4, 5)]
    special += [(ONES, 5, 27), (ONES, 5, 28), (ONES, 31, wrap(-32, 32)), (ONES, 0, 1 << 31), (0, 3, 1), (ONES, 0, 32), (ONES, 0, 33)]
    yield Form("fns.b32", ["u32"] * 3, "u32", fns, special, 60)


def bmsk(at, width, clamped):
    """One bit after the other: those of the field that lie in the word."""
    if clamped and at > 31:
        return 0
    start, length = at % 32, width if clamped and width > 31 else width % 32
    return sum(1 << i for i in range(32) if start <= i < start + length)


def szext(a, width, clamped, is_signed):
    if clamped and width > 31:
        return a
    width %= 32
    field = a & (1 << width) - 1
    return wrap(signed(field, width), 32) if is_signed and width else field


def fns(mask, base, n):
    if base > 31:
        # The base is a position in the word.
        return None
    n = signed(n, 32)
    if n == -(1 << 31):
        # On an H100.
        return 0
    if n == 0:
        return base if mask >> base & 1 else ONES
    order = range(base, 32) if n > 0 else range(base, -1, -1)
    found = [at for at in order if mask >> at & 1]
    return found[abs(n) - 1] if len(found) >= abs(n) else ONES


# The table of the ISA: for each value of the two low bits of c the source bytes of the result, the highest first.
MODES = {
    "f4e": ("3210", "4321", "5432", "6543"), "b4e": ("5670", "6701", "7012", "0123"),
    "rc8": ("0000", "1111", "2222", "3333"), "ecl": ("3210", "3211", "3222", "3333"),
    "ecr": ("0000", "1110", "2210", "3210"), "rc16": ("1010", "3232", "1010", "3232"),
}


def permutations():
    for mode, table in MODES.items():
        def permute(a, b, c, table=table):
            source = a | b << 32
            chosen = [source >> 8 * int(byte) & 0xFF for byte in table[c & 3]]
            return sum(byte << 8 * (3 - at) for at, byte in enumerate(chosen))
        special = [(0x33221100, 0x77665544, c) for c in (0, 1, 2, 3, 4, 0xFFFFFFFE)]
        yield Form(f"prmt.b32.{mode}", ["u32"] * 3, "u32", permute, special, 12)


def split(word, parts, sign):
    width = 32 // parts
    fields = [word >> width * at & (1 << width) - 1 for at in range(parts)]
    return [signed(field, width) for field in fields] if sign == "s" else fields


def joined(fields, parts):
    width = 32 // parts
    return sum(wrap(field, width) << width * at for at, field in enumerate(fields))


def each(parts, sign, operation):
    return lambda a, b: [operation(x, y) for x, y in zip(split(a, parts, sign), split(b, parts, sign))]


EDGES = [(0x80007FFF, 0x7FFF8000), (0x00FF80FF, 0xFF0080FF), (0x7F80FF01, 0x807F01FF), (ONES, 0), (0x80808080, 0x80808080)]


def packed():
    add = each(2, "u", lambda a, b: a + b)
    yield Form(["add.s16x2", "add.u16x2"], ["u32"] * 2, "u32", lambda a, b: joined(add(a, b), 2), EDGES, 16)
    for name, choose in (("min", min), ("max", max)):
        for sign in "us":
            best = each(2, sign, choose)
            yield Form(f"{name}.{sign}16x2", ["u32"] * 2, "u32", lambda a, b, best=best: joined(best(a, b), 2), EDGES, 16)
        positive = each(2, "s", lambda a, b, choose=choose: max(choose(a, b), 0))
        both = lambda a, b, positive=positive: joined(positive(a, b), 2)
        yield Form([f"{name}.relu.s16x2", f"{name}.s16x2.relu"], ["u32"] * 2, "u32", both, EDGES, 16)
        word = lambda a, b, choose=choose: wrap(max(choose(signed(a, 32), signed(b, 32)), 0), 32)
        yield Form([f"{name}.relu.s32", f"{name}.s32.relu"], ["u32"] * 2, "u32", word, count=16)


def video():
    """All lanes are selected, and so the third source matters to `.add` alone."""
    operations = {"vadd": lambda a, b: a + b, "vsub": lambda a, b: a - b, "vmin": min, "vmax": max}
    for parts in (4, 2):
        special = [(*edge, 0x12345678) for edge in EDGES]
        types = {sign: f"{sign}32.{sign}32.{sign}32" for sign in "us"}
        for name, operation in operations.items():
            groups = ["us"] if name in ("vadd", "vsub") else ["u", "s"]
            for group in groups:
                lanes = each(parts, group[0], operation)
                whole = lambda a, b, c, lanes=lanes, parts=parts: joined(lanes(a, b), parts)
                yield Form([f"{name}{parts}.{types[sign]}" for sign in group], ["u32"] * 3, "u32", whole, special, 16)
        distance = each(parts, "u", lambda a, b: abs(a - b))
        whole = lambda a, b, c, distance=distance, parts=parts: joined(distance(a, b), parts)
        yield Form(f"vabsdiff{parts}.{types['u']}", ["u32"] * 3, "u32", whole, special, 16)
        total = lambda a, b, c, distance=distance: wrap(c + sum(distance(a, b)), 32)
        yield Form(f"vabsdiff{parts}.{types['u']}.add", ["u32"] * 3, "u32", total, special + [(ONES, 0, ONES)], 16)


def packs():
    near = [-(1 << 31), -32769, -32768, -129, -128, -9, -8, -2, -1, 0, 1, 2, 3, 4, 7, 8, 15, 16, 127, 128, 255, 256, 32767, 32768, 65535, 65536]
    near = [wrap(value, 32) for value in near]
    for ty in ("u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2"):
        bits = int(ty[1:])
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if ty[0] == "s" else (0, (1 << bits) - 1)
        part = lambda a, low=low, high=high, bits=bits: wrap(clamp(signed(a, 32), low, high), bits)
        pair = lambda a, b, part=part, bits=bits: part(a) << bits | part(b)
        rows = list(zip(near, near[4:] + near[:4]))
        if bits == 16:
            yield Form(f"cvt.pack.sat.{ty}.s32", ["u32"] * 2, "u32", pair, rows, 32)
            continue
        above = lambda a, b, c, pair=pair, bits=bits: wrap(pair(a, b) | c << 2 * bits, 32)
        yield Form(f"cvt.pack.sat.{ty}.s32.b32", ["u32"] * 3, "u32", above, [(*row, 0x89ABCDEF) for row in rows], 32)
