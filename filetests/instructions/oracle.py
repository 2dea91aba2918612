#!/usr/bin/env python3
"""The independent oracle of the instruction vectors.

    python3 oracle.py            writes the .vec files beside this one
    python3 oracle.py --check    says which of them differ from what it would write

What each instruction computes is written down here from the PTX ISA 9.0 (sections in the comments), in exact
arithmetic, and not from Beamline's Rust code. Inputs whose result the ISA leaves open, or that only hardware can tell,
are left out: a semantics returns None for them. They are: integer division by zero and of the least number by -1;
NaN operands of double-precision arithmetic and of abs, neg and copysign; payloads of a NaN that cvt passes on; -0 under
`.sat` and `.relu`; the sign of one NaN under `.xorsign`; results that round up to the smallest normal number under `.ftz`; approximations where the ISA gives no bound.
"""

import os
import sys

import oracle_approx
import oracle_compare
import oracle_convert
import oracle_float_forms
import oracle_half
import oracle_integer_forms
from oracle_form import width_of
from oracle_inputs import rows

HERE = os.path.dirname(os.path.abspath(__file__))
HEAD = "# Written by oracle.py: change that, not this. Operands and results are bits in hexadecimal.\n"


def hexadecimal(kind, bits):
    if kind == "pred":
        return str(bits)
    return f"0x{bits:0{width_of(kind) // 4}x}"


def lines_of(form):
    """The lines of a form; its spellings take turns."""
    written = 0
    for row in rows(form.spellings[-1], form.sources, form.special, form.count):
        if written == form.count:
            return
        result = form.semantics(*row)
        if result is None:
            continue
        spelling = form.spellings[written % len(form.spellings)]
        operands = " ".join(hexadecimal(kind, bits) for kind, bits in zip(form.sources, row))
        yield f"{spelling} {operands} {expected(form, result)}\n"
        written += 1


def expected(form, result):
    """`= bits`, or `~ bits bound` for a result that is not exact."""
    if isinstance(result, tuple):
        bits, bound = result
        return f"~ {hexadecimal(form.results[0], bits)} {bound}"
    results = result if isinstance(result, list) else [result]
    return "= " + " ".join(hexadecimal(kind, bits) for kind, bits in zip(form.results, results))


def files():
    modules = (oracle_integer_forms, oracle_compare, oracle_float_forms, oracle_convert, oracle_approx, oracle_half)
    for module in modules:
        for name, forms in module.families():
            text = HEAD + "".join(line for form in forms for line in lines_of(form))
            yield os.path.join(HERE, name + ".vec"), text


def main():
    check = sys.argv[1:] == ["--check"]
    different = []
    for path, text in files():
        known = open(path).read() if os.path.exists(path) else None
        if known != text:
            different.append(os.path.basename(path))
            if not check:
                open(path, "w").write(text)
    if check and different:
        sys.exit("these differ from what the oracle writes: " + ", ".join(different))


if __name__ == "__main__":
    main()
