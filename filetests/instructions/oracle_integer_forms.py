"""Integer, logic and selection instructions (PTX ISA 9.0, §9.7.1, §9.7.2, §9.7.6, §9.7.8, §9.7.9)."""

import oracle_parts
from oracle_floats import F32
from oracle_form import Form, clamp, signed, wrap
from oracle_inputs import integer_edges

S32_MIN, S32_MAX = -(1 << 31), (1 << 31) - 1


def kind(ty):
    """The kind of a type's operands: `u32` for `s32` and `b32`."""
    return ty if ty[0] == "f" or ty[:2] == "bf" or ty == "pred" else "u" + ty[1:]


def of(ty):
    """How the bits of a type are read as a number."""
    width = int(ty[1:])
    return (lambda bits: signed(bits, width)) if ty[0] == "s" else (lambda bits: bits)


def arithmetic(name, ty, operation, arity=2, spellings=None, **more):
    """An instruction on numbers of one type, whose result wraps."""
    number, width = of(ty), int(ty[1:])

    def semantics(*operands):
        result = operation(*[number(bits) for bits in operands])
        return None if result is None else wrap(result, width)

    return Form(spellings or f"{name}.{ty}", [kind(ty)] * arity, kind(ty), semantics, **more)


def both(name, width):
    return [f"{name}.s{width}", f"{name}.u{width}"]


def add_sub():
    for width in (16, 32, 64):
        yield arithmetic("add", f"u{width}", lambda a, b: a + b, spellings=both("add", width))
        yield arithmetic("sub", f"u{width}", lambda a, b: a - b, spellings=both("sub", width))
        yield arithmetic("neg", f"s{width}", lambda a: -a, 1)
        yield arithmetic("abs", f"s{width}", abs, 1)
        for sign in "us":
            ty = f"{sign}{width}"
            yield arithmetic("min", ty, min)
            yield arithmetic("max", ty, max)
            yield arithmetic("sad", ty, lambda a, b, c: c + (b - a if a < b else a - b), 3)
    edges = [(1 << 31, 1 << 31), (S32_MAX, 1), (1 << 31, 0xFFFFFFFF), (S32_MAX, 0xFFFFFFFF), (0, 1 << 31)]
    saturate = lambda number: clamp(number, S32_MIN, S32_MAX)
    yield arithmetic("add.sat", "s32", lambda a, b: saturate(a + b), special=edges, count=24)
    yield arithmetic("sub.sat", "s32", lambda a, b: saturate(a - b), special=edges, count=24)


def extended():
    """Carries; the flag is the last operand of what reads it and the last result of `.cc`.

    The ISA says that sub.cc writes a borrow. What addc reads after it on hardware is the carry of a + ~b + 1.
    """
    for ty in ("u32", "s32", "u64", "s64"):
        number, n = of(ty), int(ty[1:])
        # The product is a term of its own: the carry is that of the addition alone.
        low = lambda a, b, n=n: wrap(a * b, n)
        high = lambda a, b, n=n, number=number: wrap(number(a) * number(b) >> n, n)
        yield from chained("add", "", ty, 2, lambda a, b, flag: a + b + flag)
        yield from chained("sub", "", ty, 2, lambda a, b, flag, top=(1 << n) - 1: a + (wrap(b, n) ^ top) + flag)
        yield from chained("mad", ".lo", ty, 3, lambda a, b, c, flag, low=low: low(a, b) + c + flag)
        yield from chained("mad", ".hi", ty, 3, lambda a, b, c, flag, high=high: high(a, b) + c + flag)


def chained(name, half, ty, arity, exact):
    bits, n = kind(ty), int(ty[1:])
    top = (1 << n) - 1
    special = [(top, 1), (top, 0), (top, top), (0, 0), (0, 1), (1, 1), (1 << n - 1, 1 << n - 1), (top - 1, 1), (5, 4), (4, 5)]
    special = [(*row, last)[:arity] for row in special for last in (top, 1)[:arity - 1]]
    for reads in (False, True):
        for writes in (False, True):
            if not (reads or writes):
                continue

            def semantics(*operands, reads=reads, writes=writes):
                number = exact(*operands) if reads else exact(*operands, int(name == "sub"))
                return [wrap(number, n)] + ([int(number != wrap(number, n))] if writes else [])

            spelling = f"{name}{'c' if reads else ''}{half}{'.cc' if writes else ''}.{ty}"
            rows = [(*row, flag) for row in special for flag in (0, 1)] if reads else special
            sources = [bits] * arity + (["pred"] if reads else [])
            yield Form(spelling, sources, [bits] + (["pred"] if writes else []), semantics, rows, len(rows) + 8)


def quotient(a, b):
    """Toward zero; by zero, and where it does not fit, the ISA says nothing."""
    magnitude = abs(a) // abs(b)
    return magnitude if (a < 0) == (b < 0) else -magnitude


def is_open(a, b, width):
    return b == 0 or (b == -1 and a == -(1 << (width - 1)))


def mul_mad():
    for width in (16, 32, 64):
        half = width
        yield arithmetic("mul.lo", f"u{width}", lambda a, b: a * b, spellings=both("mul.lo", width))
        yield arithmetic("mad.lo", f"u{width}", lambda a, b, c: a * b + c, 3, spellings=both("mad.lo", width))
        for sign in "us":
            ty = f"{sign}{width}"
            yield arithmetic("mul.hi", ty, lambda a, b, half=half: (a * b) >> half, count=20)
            yield arithmetic("mad.hi", ty, lambda a, b, c, half=half: ((a * b) >> half) + c, 3, count=20)
            divide = lambda a, b, width=width: None if is_open(a, b, width) else quotient(a, b)
            rest = lambda a, b, width=width: None if is_open(a, b, width) else a - b * quotient(a, b)
            yield arithmetic("div", ty, divide, count=20)
            yield arithmetic("rem", ty, rest, count=20)
    yield arithmetic(
        "mad.hi.sat", "s32", lambda a, b, c: clamp(((a * b) >> 32) + c, S32_MIN, S32_MAX), 3, count=24,
        special=[(S32_MAX, S32_MAX, S32_MAX), (1 << 31, S32_MAX, 1 << 31), (1 << 31, 1 << 31, 0x40000000)],
    )
    for ty in ("u16", "s16", "u32", "s32"):
        yield from wide(ty)
    low24 = lambda bits: bits & 0xFFFFFF
    yield arithmetic("mul24.lo", "u32", lambda a, b: low24(a) * low24(b), count=20)
    signed24 = lambda number: signed(number & 0xFFFFFF, 24)
    yield arithmetic("mul24.lo", "s32", lambda a, b: signed24(a) * signed24(b), count=20)
    for sign, cut in (("u", low24), ("s", signed24)):
        ty = f"{sign}32"
        yield arithmetic("mul24.hi", ty, lambda a, b, cut=cut: (cut(a) * cut(b)) >> 16, count=20)
        yield arithmetic("mad24.lo", ty, lambda a, b, c, cut=cut: cut(a) * cut(b) + c, 3, count=20)
        yield arithmetic("mad24.hi", ty, lambda a, b, c, cut=cut: ((cut(a) * cut(b)) >> 16) + c, 3, count=20)
    yield arithmetic(
        "mad24.hi.sat", "s32", lambda a, b, c: clamp(((signed24(a) * signed24(b)) >> 16) + c, S32_MIN, S32_MAX), 3, count=24,
        special=[(0x7FFFFF, 0x7FFFFF, S32_MAX), (0x800000, 0x7FFFFF, 1 << 31), (0x800000, 0x800000, 0x7FFFFFF0)],
    )
    for a_sign in "us":
        for b_sign in "us":
            yield dp4a(a_sign, b_sign)
            yield dp2a("lo", a_sign, b_sign)
            yield dp2a("hi", a_sign, b_sign)


def wide(ty):
    number, width = of(ty), int(ty[1:])
    result = f"u{2 * width}"
    product = lambda a, b: wrap(number(a) * number(b), 2 * width)
    yield Form(f"mul.wide.{ty}", [kind(ty)] * 2, result, product)
    sum_of = lambda a, b, c: wrap(number(a) * number(b) + c, 2 * width)
    yield Form(f"mad.wide.{ty}", [kind(ty)] * 2 + [result], result, sum_of)


def dp4a(a_sign, b_sign):
    def byte(word, i, sign):
        bits = (word >> (8 * i)) & 0xFF
        return signed(bits, 8) if sign == "s" else bits

    def semantics(a, b, c):
        return wrap(c + sum(byte(a, i, a_sign) * byte(b, i, b_sign) for i in range(4)), 32)

    special = [(0xFFFFFFFF, 0xFFFFFFFF, 0), (0x80808080, 0x7F7F7F7F, 5), (0x80808080, 0x80808080, 0xFFFFFFFF)]
    return Form(f"dp4a.{a_sign}32.{b_sign}32", ["u32"] * 3, "u32", semantics, special, 16)


def dp2a(part, a_sign, b_sign):
    def field(word, i, bits, sign):
        value = word >> (bits * i) & (1 << bits) - 1
        return signed(value, bits) if sign == "s" else value

    def semantics(a, b, c):
        first = 0 if part == "lo" else 2
        return wrap(c + sum(field(a, i, 16, a_sign) * field(b, first + i, 8, b_sign) for i in (0, 1)), 32)

    special = [(0xFFFFFFFF, 0xFFFFFFFF, 0), (0x80008000, 0x7F808180, 5), (0x7FFF8000, 0x80807F7F, 0xFFFFFFFF)]
    return Form(f"dp2a.{part}.{a_sign}32.{b_sign}32", ["u32"] * 3, "u32", semantics, special, 16)


def logic():
    table = {"and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b}
    for name, operation in table.items():
        yield Form(f"{name}.pred", ["pred"] * 2, "pred", operation)
        for width in (16, 32, 64):
            yield Form(f"{name}.b{width}", [f"u{width}"] * 2, f"u{width}", operation, count=12)
    yield Form("not.pred", ["pred"], "pred", lambda a: 1 - a)
    for width in (16, 32, 64):
        ty = f"u{width}"
        yield Form(f"not.b{width}", [ty], ty, lambda a, width=width: wrap(~a, width), count=12)
        yield Form(f"cnot.b{width}", [ty], ty, lambda a: 1 if a == 0 else 0, count=12)
        yield from shifts(width)


def shifts(width):
    """Amounts of the width and more shift everything out: they are clamped to the width (§9.7.8)."""
    ty, edges = f"u{width}", integer_edges(width)
    amounts = [0, 1, width - 1, width, width + 1, 31, 32, 33, 63, 64, 65, 255, 256, 0x80000000, 0xFFFFFFFF]
    special = [(edges[3 + i % 5] | 1, amount) for i, amount in enumerate(amounts)] + [(edges[2], amount) for amount in amounts]
    left = lambda a, by: wrap(a << min(by, width), width)
    right = lambda a, by: a >> min(by, width)
    arithmetic_right = lambda a, by: wrap(signed(a, width) >> min(by, width), width)
    yield Form(f"shl.b{width}", [ty, "u32"], ty, left, special, 32)
    yield Form([f"shr.u{width}", f"shr.b{width}"], [ty, "u32"], ty, right, special, 32)
    yield Form(f"shr.s{width}", [ty, "u32"], ty, arithmetic_right, special, 32)


def bits():
    yield from funnels()
    tables = (0x00, 0xFF, 0x96, 0xE8, 0x80, 0xFE, 0xCA, 0x1D, 0x3C, 0xF0, 0xCC, 0xAA)
    words = ((0xF0F01234, 0xCCCC5678, 0xAAAA9ABC), (0, 0xFFFFFFFF, 0x0F0F0F0F), (0x80000001, 0x80000001, 0))
    yield Form("lop3.b32", ["u32"] * 3 + ["u8"], "u32", lop3, [(*row, table) for table in tables for row in words], 36)
    for name, combine in (("and", lambda a, b: a & b), ("or", lambda a, b: a | b)):
        semantics = lambda a, b, c, table, q, combine=combine: logic_and_predicate(lop3(a, b, c, table), combine, q)
        special = [(*row, table, q) for table in (0x00, 0x80, 0x96, 0xFE) for row in words for q in (0, 1)]
        yield Form(f"lop3.{name}.b32", ["u32"] * 3 + ["u8", "pred"], ["u32", "pred"], semantics, special, 24)
    selects = (0x3210, 0x7654, 0x0123, 0x4567, 0x8888, 0xFEDC, 0x7531, 0x0000, 0xFFFF1234, 0xBA98)
    pairs = ((0x33221100, 0x77665544), (0x80FF7F00, 0x018182FE))
    yield Form("prmt.b32", ["u32"] * 3, "u32", prmt, [(*pair, select) for select in selects for pair in pairs], 32)
    for width in (32, 64):
        ty = f"u{width}"
        yield Form(f"popc.b{width}", [ty], "u32", lambda a: bin(a).count("1"))
        yield Form(f"clz.b{width}", [ty], "u32", lambda a, width=width: width - a.bit_length())
        yield Form(f"brev.b{width}", [ty], ty, lambda a, width=width: int(f"{a:0{width}b}"[::-1], 2))
        for sign in "us":
            yield from fields(sign, width)
        special = [(0xAB, (1 << width) - 1, pos, n) for pos, n in FIELDS]
        insert = lambda a, b, pos, n, width=width: bfi(a, b, pos, n, width)
        yield Form(f"bfi.b{width}", [ty, ty, "u32", "u32"], ty, insert, special, 32)


FIELDS = [(8, 8), (0, 32), (0, 0), (31, 1), (31, 2), (32, 8), (60, 8), (63, 1), (64, 1), (200, 8), (256, 8), (4, 255), (0x104, 0x108)]


def fields(sign, width):
    ty = f"u{width}"
    special = [(value, pos, n) for pos, n in FIELDS for value in (0x80F0F0F0 << (width - 32), 0x7F0F0F0F)]
    extract = lambda a, pos, n: bfe(a, pos, n, width, sign == "s")
    yield Form(f"bfe.{sign}{width}", [ty, "u32", "u32"], ty, extract, special, 36)
    yield Form(f"bfind.{sign}{width}", [ty], "u32", lambda a: bfind(a, width, sign == "s", False), count=20)
    yield Form(f"bfind.shiftamt.{sign}{width}", [ty], "u32", lambda a: bfind(a, width, sign == "s", True), count=20)


def funnels():
    amounts = [0, 1, 31, 32, 33, 63, 64, 0x80000000, 0xFFFFFFFF]
    special = [(0x89ABCDEF, 0x01234567, by) for by in amounts] + [(0xFFFFFFFF, 0, by) for by in amounts]
    for mode in ("clamp", "wrap"):
        n = (lambda c: min(c, 32)) if mode == "clamp" else (lambda c: c & 31)
        left = lambda a, b, c, n=n: wrap((b << n(c)) | (a >> (32 - n(c))), 32)
        right = lambda a, b, c, n=n: wrap((b << (32 - n(c))) | (a >> n(c)), 32)
        yield Form(f"shf.l.{mode}.b32", ["u32"] * 3, "u32", left, special, 24)
        yield Form(f"shf.r.{mode}.b32", ["u32"] * 3, "u32", right, special, 24)


def bit(word, at):
    return (word >> at) & 1


def bfe(a, pos, n, width, is_signed):
    (pos, n), top = field_of(pos, n, width), width - 1
    sign = bit(a, min(pos + n - 1, top)) if is_signed and n != 0 else 0
    return sum((bit(a, pos + i) if i < n and pos + i <= top else sign) << i for i in range(width))


def field_of(pos, n, width):
    """The ISA takes both modulo 256; an H100 does so for 32 bits only."""
    return (pos & 0xFF, n & 0xFF) if width == 32 else (min(pos, 64), min(n, 64))


def bfi(a, b, pos, n, width):
    pos, n = field_of(pos, n, width)
    for i in range(n):
        if pos + i < width:
            b = b & ~(1 << (pos + i)) | bit(a, i) << (pos + i)
    return b


def bfind(a, width, is_signed, shiftamt):
    if is_signed and bit(a, width - 1):
        a = wrap(~a, width)
    if a == 0:
        return 0xFFFFFFFF
    at = a.bit_length() - 1
    return width - 1 - at if shiftamt else at


def lop3(a, b, c, table):
    return sum(bit(table, 4 * bit(a, i) + 2 * bit(b, i) + bit(c, i)) << i for i in range(32))


def logic_and_predicate(result, combine, q):
    return [result, combine(int(result != 0), q)]


def prmt(a, b, select):
    source = a | b << 32
    result = 0
    for i in range(4):
        nibble = select >> (4 * i) & 0xF
        byte = source >> (8 * (nibble & 7)) & 0xFF
        if nibble & 8:
            byte = 0xFF if byte & 0x80 else 0
        result |= byte << (8 * i)
    return result


def moves():
    for width, floats in ((16, ""), (32, "f"), (64, "f")):
        ty = f"u{width}"
        types = [f"{sign}{width}" for sign in "bus" + floats]
        yield Form([f"mov.{t}" for t in types], [ty], ty, lambda a: a, count=12)
        yield Form([f"selp.{t}" for t in types], [ty, ty, "pred"], ty, lambda a, b, p: a if p else b)
        by_sign = lambda a, b, c: a if signed(c, 32) >= 0 else b
        yield Form([f"slct.{t}.s32" for t in types], [ty, ty, "u32"], ty, by_sign)
        yield Form([f"slct.{t}.f32" for t in types], [ty, ty, "f32"], ty, slct_f32, SLCT, 20)
        flushed = lambda a, b, c: slct_f32(a, b, F32.flush(c))
        yield Form([f"slct.ftz.{t}.f32" for t in types], [ty, ty, "f32"], ty, flushed, SLCT, 20)
    yield Form("mov.pred", ["pred"], "pred", lambda a: a)
    yield Form("mov.b128", ["u128"], "u128", lambda a: a, count=12)


SLCT = [(1, 2, c) for c in (0, 0x80000000, 1, 0x80000001, 0x7FC00000, 0xFFC00000, 0x7F800000, 0xFF800000, 0x3F800000, 0xBF800000)]


def slct_f32(a, b, c):
    """Minus zero equals zero, and NaN selects b."""
    return a if not F32.is_nan(c) and key(F32, c) >= 0 else b


def key(fmt, bits):
    """An integer in the order of the numbers; both zeros are 0."""
    magnitude = bits & ~fmt.sign
    return -magnitude if fmt.is_negative(bits) else magnitude


def families():
    yield "integer_add", add_sub()
    yield "integer_mul", mul_mad()
    yield "extended", extended()
    yield "logic", logic()
    yield "bits", bits()
    yield "move", moves()
    yield "parts", oracle_parts.forms()
