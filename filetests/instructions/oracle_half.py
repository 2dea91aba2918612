"""Half precision, bfloat16, pairs of them, TF32 and floats of 8 bits (PTX ISA 9.0, §9.7.4, §9.7.9)."""

import oracle_floats as exact
from fractions import Fraction
from oracle_convert import INTEGERS, INTEGRAL, around, integer, number, rounded, saturated, width
from oracle_float_forms import extreme, xorsign
from oracle_floats import BF16, F16, F32, F64, Format
from oracle_form import Form, wrap
from oracle_inputs import float_edges

HALVES = {"f16": F16, "bf16": BF16}


def relu(fmt, bits):
    """The ISA does not say what -0 becomes."""
    if bits == fmt.sign:
        return None
    return 0 if not fmt.is_nan(bits) and fmt.is_negative(bits) else bits


def modified(fmt, operation, ftz="", after=""):
    def semantics(*operands):
        if ftz:
            operands = [fmt.flush(bits) for bits in operands]
        result = operation(*operands)
        if ftz and result is not None:
            # See oracle_float_forms: when tininess is noticed decides.
            if result & ~fmt.sign == fmt.smallest_normal:
                return None
            result = fmt.flush(result)
        if result is None or not after:
            return result
        return saturated(fmt, result) if after == ".sat" else relu(fmt, result)

    return semantics


def each(semantics):
    """What an instruction on pairs computes: the same of each half."""

    def both(*operands):
        low, high = [semantics(*[word >> at & 0xFFFF for word in operands]) for at in (0, 16)]
        if low is None or high is None:
            return None
        if isinstance(low, tuple) or isinstance(high, tuple):
            (low, low_bound), (high, high_bound) = [half if isinstance(half, tuple) else (half, None) for half in (low, high)]
            return low | high << 16, low_bound or high_bound
        return low | high << 16

    return both


def single_and_pair(name, ty, arity, semantics, special=(), count=40, spellings=None):
    """An instruction and its like on pairs."""
    spell = lambda to: [f"{spelled}.{to}" for spelled in spellings or [name]]
    yield Form(spell(ty), [ty] * arity, ty, semantics, special, count)
    special = list(special)
    pairs = [tuple(a | b << 16 for a, b in zip(low, high)) for low, high in zip(special, special[1:] + special[:1])]
    yield Form(spell(ty + "x2"), [ty + "x2"] * arity, ty + "x2", each(semantics), pairs, count)


def edge_cases(fmt):
    """Sums, products and products with a term, where rounding and its exceptions are."""
    one, sign, top, inf = fmt.one, fmt.sign, fmt.largest, fmt.infinity
    power = lambda n: fmt.round(Fraction(2) ** n)
    tie, below = power(-fmt.fraction_bits - 1), power(-fmt.fraction_bits - 2)
    unit_of_top = power(fmt.bias - fmt.fraction_bits)
    sums = [
        (one, tie), (one + 1, tie), (one, tie + 1), (one, tie - 1), (one, sign | below), (one, sign | below + 1), (top, top),
        (top, unit_of_top - fmt.smallest_normal), (top, unit_of_top - fmt.smallest_normal - 1), (one, sign | one), (0, sign),
        (sign, sign), (1, sign | 1), (1, 1), (inf, sign | inf), (inf, one), (one, 1), (top, 1), (inf | 1, one),
        (fmt.smallest_normal, sign | 1), (fmt.smallest_normal - 1, 1), (one, one), (0x0001, sign | top),
    ]
    half, odd = power(-1), one | fmt.smallest_normal >> 1
    products = [
        (one + 1, one + 1), (one + 1, odd), (one + 3, odd), (top, power(1)), (top, one + 1), (1, half), (3, half), (1, half - 1),
        (fmt.smallest_normal, half), (fmt.smallest_normal + 1, half), (1, 1), (inf, 0), (inf, sign | one), (sign, one),
        (power(-fmt.bias // 2), power(-fmt.bias // 2 - 3)), (odd, sign | odd), (0, sign | one),
    ]
    # A product that lies between two numbers, and a term that is far too small for a double to hold both.
    terms = [(one + 1, odd, low | s) for low in (1, fmt.smallest_normal, 2) for s in (0, sign)]
    terms += [(one + 3, odd, 1), (one + 3, odd, sign | 1), (odd, one + 1, 0), (one, one, tie), (one, one, sign | below)]
    terms += [(one + 1, one + 1, sign | one + 2), (top, power(1), sign | top), (1, 1, one), (1, sign | 1, one), (1, 1, 0)]
    terms += [(one, sign | one, one), (0, sign | one, 0), (0, sign | one, sign), (inf, 0, one), (inf, one, sign | inf)]
    terms += [(1, half, 1), (1, half, 2), (3, half, sign | 1), (one, one, inf | 1), (top, one, unit_of_top - fmt.smallest_normal)]
    return sums, products, terms


def arithmetic():
    for ty, fmt in HALVES.items():
        half = ty == "f16"
        sums, products, terms = edge_cases(fmt)
        negated = lambda b, fmt=fmt: b if fmt.is_nan(b) else b ^ fmt.sign
        add = lambda a, b, fmt=fmt: exact.add(fmt, "rn", a, b)
        sub = lambda a, b, fmt=fmt, negated=negated: exact.add(fmt, "rn", a, negated(b))
        mul = lambda a, b, fmt=fmt: exact.mul(fmt, "rn", a, b)
        fma = lambda a, b, c, fmt=fmt: exact.fma(fmt, "rn", a, b, c)
        for ftz in ("", ".ftz") if half else ("",):
            for sat in ("", ".sat") if half else ("",):
                for name, operation, special in (("add", add, sums), ("sub", sub, sums), ("mul", mul, products)):
                    spelled = [f"{name}{ftz}{sat}", f"{name}.rn{ftz}{sat}"]
                    yield from single_and_pair(name, ty, 2, modified(fmt, operation, ftz, sat), special, 48, spelled)
            for after in ("", ".sat", ".relu") if half else ("", ".relu"):
                yield from single_and_pair(f"fma.rn{ftz}{after}", ty, 3, modified(fmt, fma, ftz, after), terms, 60)


def signs_and_extremes():
    for ty, fmt in HALVES.items():
        for ftz in ("", ".ftz") if ty == "f16" else ("",):
            flush = fmt.flush if ftz else (lambda bits: bits)
            magnitude = lambda a, fmt=fmt, flush=flush: None if fmt.is_nan(a) else flush(a) & ~fmt.sign
            negated = lambda a, fmt=fmt, flush=flush: None if fmt.is_nan(a) else flush(a) ^ fmt.sign
            yield from single_and_pair(f"abs{ftz}", ty, 1, magnitude, count=24)
            yield from single_and_pair(f"neg{ftz}", ty, 1, negated, count=24)
            special = [(0, fmt.sign), (fmt.sign, 0), (fmt.nan, fmt.one), (fmt.one, fmt.infinity | 1), (fmt.nan, fmt.nan), (1, fmt.sign)]
            for name, better in (("min", lambda a, b: a < b), ("max", lambda a, b: a > b)):
                for nan in ("", ".NaN"):
                    choose = lambda a, b, f=fmt, g=flush, better=better, nan=nan: extreme(f, g(a), g(b), better, nan)
                    yield from single_and_pair(f"{name}{ftz}{nan}", ty, 2, choose, special, 30)
                    signed = lambda a, b, f=fmt, g=flush, better=better, nan=nan: xorsign(f, g(a), g(b), better, nan)
                    yield from single_and_pair(f"{name}{ftz}{nan}.xorsign.abs", ty, 2, signed, special, 30)


def approximate():
    # The ISA's bound of ex2 for f16 is 2^-9.9, relative; of subnormal results an H100 misses the last bit.
    bounds = {"f16": ("2ulp", "2^-10.987abs"), "bf16": ("2^-7rel", "2^-8abs")}
    for ty, fmt in HALVES.items():
        ftz = ".ftz" if ty == "bf16" else ""
        for name, function, bound in (("ex2", ex2, bounds[ty][0]), ("tanh", tanh, bounds[ty][1])):
            flush = fmt.flush if ftz and name == "ex2" else (lambda bits: bits)

            def semantics(bits, fmt=fmt, flush=flush, function=function, bound=bound, name=name):
                if fmt.is_nan(bits):
                    return fmt.nan
                result, is_exact = function(fmt, flush(bits))
                # The hardware's own result may be on the other side of the smallest normal number.
                if flush(1) == 0 and name == "ex2" and result < fmt.smallest_normal + 4:
                    return None if not is_exact and result + 4 > fmt.smallest_normal else (0 if not is_exact else result)
                return result if is_exact else (result, bound)

            spelled = f"{name}.approx{ftz if name == 'ex2' else ''}"
            yield from single_and_pair(spelled, ty, 1, semantics, count=60)


def ex2(fmt, bits):
    if fmt.is_zero(bits):
        return fmt.one, True
    if fmt.is_infinite(bits):
        return (0 if fmt.is_negative(bits) else bits), True
    value = min(max(fmt.value(bits), Fraction(-400)), Fraction(200))
    return fmt.round(exact.exp2(value)), False


def tanh(fmt, bits):
    if fmt.is_zero(bits):
        return bits, True
    if fmt.is_infinite(bits):
        return fmt.one | bits & fmt.sign, True
    return fmt.round(exact.tanh(fmt.value(bits)), "rn", fmt.is_negative(bits)), False


def to_format(source, fmt, bits, mode, finite=False):
    """A float in another format."""
    if source.is_nan(bits):
        return fmt.nan
    sign = fmt.sign if source.is_negative(bits) else 0
    result = sign | fmt.infinity if source.is_infinite(bits) else fmt.round(source.value(bits), mode, sign)
    return sign | fmt.largest if finite and fmt.is_infinite(result) else result


def around_format(source, fmt):
    """Numbers of a wider format beside the edges of a narrower one: itself, ties, and what is next to them."""
    rows = []
    for edge in float_edges(fmt):
        if fmt.is_infinite(edge):
            rows.append(source.infinity | (source.sign if fmt.is_negative(edge) else 0))
            continue
        near = source.round(fmt.value(edge), "rz", fmt.is_negative(edge))
        tie = near + (1 << (source.fraction_bits - fmt.fraction_bits - 1))
        rows += [near, tie, tie + 1, tie - 1]
    return [(bits,) for bits in rows]


MODES = ("rn", "rz", "rm", "rp")


def finishing(fmt, ending):
    """`.relu`, `.satfinite`, `.sat` after the rounding."""
    def finish(bits):
        if bits is None:
            return None
        if "sat" in ending and "satfinite" not in ending:
            return saturated(fmt, bits)
        return relu(fmt, bits) if "relu" in ending else bits
    return finish


ENDINGS = (([""], ""), ([".relu"], "relu"), ([".satfinite"], "satfinite"), ([".relu.satfinite", ".satfinite.relu"], "relu satfinite"))


def from_floats():
    for ty, fmt in HALVES.items():
        special = around_format(F32, fmt) + [(F32.nan,), (F32.infinity | 1,)]
        for mode in MODES:
            for ftz in ("", ".ftz"):
                for sat in ("", ".sat") if ty == "f16" else ("",):
                    finish = finishing(fmt, sat)
                    whole = lambda bits, fmt=fmt, mode=mode, ftz=ftz, finish=finish: finish(
                        to_format(F32, fmt, F32.flush(bits) if ftz and fmt is not HALVES["f16"] else bits, mode))
                    # To f16, an H100 rounds subnormals up and down although the ISA says that they are flushed.
                    yield Form(f"cvt.{mode}{ftz}{sat}.{ty}.f32", ["f32"], ty, whole, special, 110 if not ftz and not sat else 40)
            for sat in ("", ".sat") if ty == "f16" else ("",):
                finish = finishing(fmt, sat)
                whole = lambda bits, fmt=fmt, mode=mode, finish=finish: finish(to_format(F64, fmt, bits, mode))
                yield Form(f"cvt.{mode}{sat}.{ty}.f64", ["f64"], ty, whole, around_format(F64, fmt), 110 if not sat else 40)
            other = "bf16" if ty == "f16" else "f16"
            whole = lambda bits, fmt=fmt, mode=mode, source=HALVES[other]: to_format(source, fmt, bits, mode)
            yield Form(f"cvt.{mode}.{ty}.{other}", [other], ty, whole, count=56)
        for mode in ("rn", "rz"):
            for spelled, ending in ENDINGS:
                finish = finishing(fmt, ending)
                whole = lambda bits, fmt=fmt, mode=mode, ending=ending, finish=finish: finish(
                    to_format(F32, fmt, bits, mode, "satfinite" in ending))
                if ending:
                    yield Form([f"cvt.{mode}{s}.{ty}.f32" for s in spelled], ["f32"], ty, whole, special, 60)
                rows = [(a, b) for (a,), (b,) in zip(special, special[7:] + special[:7])]
                both = pair_of(whole, 16)
                yield Form([f"cvt.{mode}{s}.{ty}x2.f32" for s in spelled], ["f32"] * 2, f"{ty}x2", both, rows, 60)


def pair_of(whole, bits):
    """`d, a, b`: a becomes the upper half."""
    def semantics(a, b):
        high, low = whole(a), whole(b)
        return None if high is None or low is None else high << bits | low
    return semantics


def to_floats():
    for ty, fmt in HALVES.items():
        # A NaN is for hardware to say.
        def widened(bits, to, fmt=fmt):
            return None if fmt.is_nan(bits) else to_format(fmt, to, bits, "rn")
        rounding = [""] if ty == "f16" else ["", ".rn", ".rz", ".rm", ".rp"]
        single, double = lambda a, w=widened: w(a, F32), lambda a, w=widened: w(a, F64)
        yield Form([f"cvt{r}.f64.{ty}" for r in rounding], [ty], "f64", double, count=56)
        if ty == "f16":
            yield Form(["cvt.f32.f16", "cvt.ftz.f32.f16"], [ty], "f32", single, count=56)
            clamped = lambda a, w=widened: None if w(a, F32) is None else saturated(F32, w(a, F32))
            yield Form(["cvt.sat.f32.f16", "cvt.ftz.sat.f32.f16"], [ty], "f32", clamped, count=56)
            clamped = lambda a, w=widened: None if w(a, F64) is None else saturated(F64, w(a, F64))
            yield Form("cvt.sat.f64.f16", [ty], "f64", clamped, count=56)
        else:
            yield Form([f"cvt{r}.f32.{ty}" for r in rounding], [ty], "f32", single, count=56)
            flushed = lambda a, w=widened: None if w(a, F32) is None else F32.flush(w(a, F32))
            yield Form([f"cvt{r}.ftz.f32.{ty}" for r in rounding], [ty], "f32", flushed, count=56)
        yield from integral(ty, fmt)


def integral(ty, fmt):
    """To integral numbers of the same format."""
    same = lambda a: None if fmt.is_nan(a) else a
    clamped = lambda a: None if same(a) is None else saturated(fmt, a)
    halves = [(sign | fmt.round(Fraction(n, 2)),) for n in (1, 2, 3, 4, 5, 7, 255, 257) for sign in (0, fmt.sign)]
    yield Form(f"cvt.{ty}.{ty}", [ty], ty, same, count=24)
    if ty == "f16":
        yield Form(f"cvt.sat.{ty}.{ty}", [ty], ty, clamped, count=24)
    for name, mode in INTEGRAL.items():
        whole = lambda a, mode=mode: rounded(fmt, a, mode)
        yield Form(f"cvt.{name}.{ty}.{ty}", [ty], ty, whole, halves, 48)
        if ty == "f16":
            clamped = lambda a, whole=whole: None if whole(a) is None else saturated(fmt, whole(a))
            yield Form(f"cvt.{name}.sat.{ty}.{ty}", [ty], ty, clamped, halves, 48)


def integers():
    for ty, fmt in HALVES.items():
        for other in INTEGERS:
            if ty == "bf16" and width(other) == 8:
                continue
            ties = [2049, 2051, 4098, 65504, 65519, 65520, 65536, 257, 259, (1 << 62) + (1 << 54), (1 << 62) + (1 << 54) + 1, (1 << 61) + 1, (1 << 54) + 1]
            special = [(wrap(sign * tie, width(other)),) for tie in ties for sign in (1, -1)] if width(other) > 8 else []
            for mode in MODES:
                whole = lambda bits, fmt=fmt, mode=mode, other=other: fmt.round(Fraction(number(other, bits)), mode)
                yield Form(f"cvt.{mode}.{ty}.{other}", [f"u{width(other)}"], ty, whole, special, 40 if special else 12)
            for name, mode in INTEGRAL.items():
                whole = lambda bits, fmt=fmt, mode=mode, other=other: to_integer(fmt, bits, mode, other)
                spelled = [f"cvt.{name}{sat}.{other}.{ty}" for sat in (("", ".sat") if ty == "f16" else ("",))]
                yield Form(spelled, [ty], f"u{width(other)}", whole, around(fmt, other), 30)


def to_integer(fmt, bits, mode, to):
    if fmt.is_nan(bits):
        # Zero unless a side has 64 bits.
        return 1 << 63 if width(to) == 64 else 0
    return integer(fmt, bits, mode, to)


# The exponent of a single and the fraction of a half, in the upper bits of a single.
TF32 = Format(8, 10, 0)


def tf32():
    for mode in ("rna", "rn", "rz"):
        for spelled, ending in ENDINGS:
            if mode == "rna" and "relu" in ending:
                continue
            finish = finishing(TF32, ending)

            def whole(bits, mode=mode, ending=ending, finish=finish):
                # Which NaN comes out is for hardware to say.
                result = None if F32.is_nan(bits) else finish(to_format(F32, TF32, bits, mode, "satfinite" in ending))
                return None if result is None else result << 13

            yield Form([f"cvt.{mode}{s}.tf32.f32" for s in spelled], ["f32"], "u32", whole, around_format(F32, TF32), 100)


class Byte:
    """A float of 8 bits by the list of its numbers."""

    def __init__(self, exponent_bits, largest):
        fmt = Format(exponent_bits, 7 - exponent_bits, 0x7F)
        # `.e4m3` goes on where others have infinities: the top exponent is one like the others.
        fmt.top = (1 << exponent_bits) if exponent_bits == 4 else fmt.top
        self.values = [fmt.value(bits) for bits in range(largest + 1)]
        self.largest, self.nan = largest, 0x7F
        self.infinity = None if exponent_bits == 4 else 0x7C

    def round(self, source, bits):
        """To nearest, ties to even, `.satfinite`."""
        if source.is_nan(bits):
            return self.nan
        sign = 0x80 if source.is_negative(bits) else 0
        if source.is_infinite(bits):
            return sign | self.largest
        value = abs(source.value(bits))
        distance = lambda at: (abs(self.values[at] - value), at & 1)
        return sign | min(range(self.largest + 1), key=distance)

    def half(self, byte):
        magnitude, sign = byte & 0x7F, F16.sign if byte & 0x80 else 0
        if magnitude == self.infinity:
            return sign | F16.infinity
        return F16.nan if magnitude > self.largest else F16.round(self.values[magnitude], "rn", sign) | sign


BYTES = {"e4m3x2": Byte(4, 0x7E), "e5m2x2": Byte(5, 0x7B)}


def bytes_and_back():
    for ty, fmt in BYTES.items():
        ties = [(a + b) / 2 for a, b in zip(fmt.values, fmt.values[1:])][::5] + fmt.values[::9] + [fmt.values[-1] * 2, Fraction(464), Fraction(465)]
        for relu_word in ("", ".relu"):
            positive = lambda byte, r=relu_word: None if r and byte == 0x80 else 0 if r and byte & 0x80 and byte != 0xFF else byte
            spelled = [f"cvt.rn{relu_word}.satfinite.{ty}", f"cvt.rn.satfinite{relu_word}.{ty}"][:2 if relu_word else 1]
            for source, name in ((F32, "f32"), (F16, "f16")):
                near = [source.round(tie) for tie in ties if source.round(tie) != source.infinity]
                near = [sign | bits + step for bits in near for step in (0, 1) for sign in (0, source.sign)]
                near += [source.infinity, source.infinity | source.sign, source.nan, source.largest, 1, 0]
                byte = lambda bits, fmt=fmt, source=source, positive=positive: positive(fmt.round(source, bits))
                rows = list(zip(near, near[5:] + near[:5]))
                if name == "f32":
                    yield Form([f"{s}.f32" for s in spelled], ["f32"] * 2, "u16", pair_of(byte, 8), rows, 120)
                else:
                    both = lambda word, byte=byte: pair_of(byte, 8)(word >> 16, word & 0xFFFF)
                    yield Form([f"{s}.f16x2" for s in spelled], ["f16x2"], "u16", both, [(a << 16 | b,) for a, b in rows], 120)
            halves = lambda word, fmt=fmt, r=relu_word: widened_bytes(fmt, word, r)
            every = [(low | (low * 37 + 11 & 0xFF) << 8,) for low in range(256)]
            yield Form(f"cvt.rn{relu_word}.f16x2.{ty}", ["u16"], "f16x2", halves, every, 256)


def widened_bytes(fmt, word, relu_word):
    halves = [fmt.half(word >> at & 0xFF) for at in (0, 8)]
    if relu_word:
        halves = [relu(F16, half) for half in halves]
    return None if None in halves else halves[0] | halves[1] << 16


def families():
    yield "half_arithmetic", arithmetic()
    yield "half_extremes", signs_and_extremes()
    yield "half_approximate", approximate()
    yield "half_convert", [*from_floats(), *to_floats()]
    yield "half_integers", integers()
    yield "tf32_and_bytes", [*tf32(), *bytes_and_back()]
