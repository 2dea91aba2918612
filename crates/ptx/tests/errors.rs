//! Mistakes, as they are shown.

use expect_test::{Expect, expect};

fn rendered(text: &str) -> String {
    match ptx::parse("a.ptx", text) {
        Ok(_) => "no error".to_owned(),
        Err(errors) => errors.render(),
    }
}

/// Shows what is wrong with a whole module.
fn check_module(text: &str, expected: Expect) {
    expected.assert_eq(&rendered(text));
}

/// Shows what is wrong with the body of a kernel.
fn check(body: &str, expected: Expect) {
    const HEAD: &str = ".version 8.0 .target sm_80 .address_size 64
.global .u32 gg; .extern .func (.param .b32 r) f(.param .b64 a, .param .align 4 .b8 b[8]); .extern .func g();
.visible .entry k(.param .u64 p) { .reg .pred %p<3>; .reg .b16 %h<3>; .reg .b32 %r<5>; .reg .b64 %rd<5>; .reg .f32 %f<5>;
";
    expected.assert_eq(&rendered(&format!("{HEAD}{body}\n}}")));
}

#[test]
fn an_unknown_instruction_is_refused_by_name_and_once() {
    check(
        "wgmma.fence.sync.aligned;\nwgmma.fence.sync.aligned;\ntxq.width.b32 %r1, [%rd1];",
        expect![[r#"
            error: the instruction `wgmma.fence.sync.aligned` is not supported
             --> a.ptx:4:1
              |
            4 | wgmma.fence.sync.aligned;
              | ^^^^^^^^^^^^^^^^^^^^^^^^
              |
              = help: Beamline refuses what it cannot execute faithfully; docs/supported.md lists what it can

            error: the instruction `txq.width.b32` is not supported
             --> a.ptx:6:1
              |
            6 | txq.width.b32 %r1, [%rd1];
              | ^^^^^^^^^^^^^
              |
              = help: Beamline refuses what it cannot execute faithfully; docs/supported.md lists what it can"#]],
    );
}

#[test]
fn an_unknown_modifier_is_answered_with_the_nearest_spelling() {
    check(
        "ld.globl.u32 %r1, [%rd1];\nadd.s33 %r1, %r1, 1;\natom.global.add.s64 %rd1, [%rd1], 1;",
        expect![[r#"
        error: the instruction `ld.globl.u32` is not supported
         --> a.ptx:4:1
          |
        4 | ld.globl.u32 %r1, [%rd1];
          | ^^^^^^^^^^^^ the nearest supported is `ld.global.u32`
          |
          = help: Beamline refuses what it cannot execute faithfully; docs/supported.md lists what it can

        error: the instruction `add.s33` is not supported
         --> a.ptx:5:1
          |
        5 | add.s33 %r1, %r1, 1;
          | ^^^^^^^ the nearest supported is `add.s32`
          |
          = help: Beamline refuses what it cannot execute faithfully; docs/supported.md lists what it can

        error: the instruction `atom.global.add.s64` is not supported
         --> a.ptx:6:1
          |
        6 | atom.global.add.s64 %rd1, [%rd1], 1;
          | ^^^^^^^^^^^^^^^^^^^ the nearest supported is `atom.global.add.f64`
          |
          = help: Beamline refuses what it cannot execute faithfully; docs/supported.md lists what it can"#]],
    );
}

#[test]
fn registers_must_be_declared_and_as_wide_as_the_instruction_needs() {
    check(
        "add.s32 %r9, %x, %rd1;\nst.global.u64 [%rd1], %r1;\nmov.u32 %h1, 1;\nselp.u32 %r1, %r2, %r3, %r4;\nand.pred %p1, %p2, %r1;",
        expect![[r#"
            error: `%r9` is not declared
             --> a.ptx:4:9
              |
            4 | add.s32 %r9, %x, %rd1;
              |         ^^^
              |
              = help: `%r<5>` declares `%r0` to `%r4`

            error: `%x` is not declared
             --> a.ptx:4:14
              |
            4 | add.s32 %r9, %x, %rd1;
              |              ^^
              |
              = help: declare the register with `.reg`

            error: `%rd1` is .b64 but `add.s32` reads .s32 here
             --> a.ptx:4:18
              |
            4 | add.s32 %r9, %x, %rd1;
              |                  ^^^^ declared .b64
              |
              = help: use a register of 32 bits, or `cvt` first

            error: `%r1` is .b32 but `st.global.u64` reads .u64 here
             --> a.ptx:5:23
              |
            5 | st.global.u64 [%rd1], %r1;
              |                       ^^^ declared .b32
              |
              = help: here the register may be wider than the value, but not narrower

            error: `%h1` is .b16 but `mov.u32` writes .u32 here
             --> a.ptx:6:9
              |
            6 | mov.u32 %h1, 1;
              |         ^^^ declared .b16
              |
              = help: use a register of 32 bits, or `cvt` first

            error: `%r4` is .b32 but `selp.u32` reads .pred here
             --> a.ptx:7:25
              |
            7 | selp.u32 %r1, %r2, %r3, %r4;
              |                         ^^^ declared .b32
              |
              = help: turn a number into a predicate with `setp`

            error: `%r1` is .b32 but `and.pred` reads .pred here
             --> a.ptx:8:20
              |
            8 | and.pred %p1, %p2, %r1;
              |                    ^^^ declared .b32
              |
              = help: turn a number into a predicate with `setp`"#]],
    );
}

#[test]
fn special_registers_that_are_not_supported_are_named() {
    check(
        "mov.u32 %r1, %pm3;\nmov.u32 %r1, %tid;\nadd.s32 %r1, %tid.x, 1;\nmov.u64 %rd1, %tid.x;",
        expect![[r#"
        error: the special register `%pm3` is not supported
         --> a.ptx:4:14
          |
        4 | mov.u32 %r1, %pm3;
          |              ^^^^
          |
          = help: Beamline refuses what it cannot execute faithfully; docs/supported.md lists what it can

        error: the special register `%tid` is not supported
         --> a.ptx:5:14
          |
        5 | mov.u32 %r1, %tid;
          |              ^^^^
          |
          = help: Beamline refuses what it cannot execute faithfully; docs/supported.md lists what it can

        error: `add.s32` cannot read a special register
         --> a.ptx:6:14
          |
        6 | add.s32 %r1, %tid.x, 1;
          |              ^^^^^^
          |
          = help: read it first: `mov.u32 %r, %tid.x`

        error: `%tid.x` has 32 bits but `mov.u64` reads .u64 here
         --> a.ptx:7:15
          |
        7 | mov.u64 %rd1, %tid.x;
          |               ^^^^^^
          |
          = help: use `mov.u32`"#]],
    );
}

#[test]
fn labels_must_be_defined_once() {
    check(
        "bra nowhere;\nL: ret;\nL: ret;\n{ INNER: ret; }\nbra INNER;\nbrx.idx %r1, L;",
        expect![[r#"
        error: the label `nowhere` is not defined
         --> a.ptx:4:5
          |
        4 | bra nowhere;
          |     ^^^^^^^
          |
          = help: a label is seen in its own scope and in the scopes inside it

        error: `L` is declared twice in this scope
         --> a.ptx:6:1
          |
        6 | L: ret;
          | ^
          |
          = help: rename one of them

        error: the label `INNER` is not defined
         --> a.ptx:8:5
          |
        8 | bra INNER;
          |     ^^^^^
          |
          = help: a label is seen in its own scope and in the scopes inside it

        error: the label `L` is not defined
         --> a.ptx:9:14
          |
        9 | brx.idx %r1, L;
          |              ^
          |
          = help: declare the list: `targets: .branchtargets L0, L1;`"#]],
    );
}

#[test]
fn a_missing_semicolon_loses_nothing() {
    check(
        "mov.u32 %r1, 5\nmov.u32 %r2, %unknown;\nret\nadd.s32 %r1, %r2;\nbra 5",
        expect![[r#"
        error: a `;` is missing
         --> a.ptx:4:15
          |
        4 | mov.u32 %r1, 5
          |               ^
          |
          = help: every statement ends with `;`

        error: `%unknown` is not declared
         --> a.ptx:5:14
          |
        5 | mov.u32 %r2, %unknown;
          |              ^^^^^^^^
          |
          = help: declare the register with `.reg`

        error: a `;` is missing
         --> a.ptx:6:4
          |
        6 | ret
          |    ^
          |
          = help: every statement ends with `;`

        error: `add.s32` takes 3 operands, found 2
         --> a.ptx:7:1
          |
        7 | add.s32 %r1, %r2;
          | ^^^^^^^
          |
          = help: it is written `add.s32 d, a, b`

        error: a `;` is missing
         --> a.ptx:8:6
          |
        8 | bra 5
          |      ^
          |
          = help: every statement ends with `;`"#]],
    );
}

#[test]
fn operands_must_have_the_form_the_instruction_asks_for() {
    check(
        "mov.u32 %r1 6;\nld.global.v4.f32 {%f1, %f2}, [%rd1];\nld.global.f32 %f1, %rd1;\nld.global.f32 %f1, [%rd1+%rd2];\nadd.s32 _, %r1, 1;\nadd.s32 %r1, %r2, -%r3;\nmov.b64 {%r1, %r2, %r3}, %rd1;\nsetp.eq.s32 %p1|%r1, %r1, 0;\nadd.s32 %r1|%p1, %r1, 0;\nadd.s32 5, %r1, 0;",
        expect![[r#"
            error: expected `,` or `;`, found `6`
             --> a.ptx:4:13
              |
            4 | mov.u32 %r1 6;
              |             ^ expected `,` or `;`
              |
              = help: commas separate operands, and `;` ends the instruction

            error: `ld.global.v4.f32` needs a vector of 4 here
             --> a.ptx:5:18
              |
            5 | ld.global.v4.f32 {%f1, %f2}, [%rd1];
              |                  ^^^^^^^^^^
              |
              = help: a vector is, for example, `{%f1, %f2}`

            error: `ld.global.f32` needs an address here
             --> a.ptx:6:20
              |
            6 | ld.global.f32 %f1, %rd1;
              |                    ^^^^
              |
              = help: write the address in brackets, for example `[%rd1+8]`

            error: a register as the offset of an address is not supported
             --> a.ptx:7:26
              |
            7 | ld.global.f32 %f1, [%rd1+%rd2];
              |                          ^^^^
              |
              = help: add it to the base with an `add` instruction

            error: the result of `add.s32` cannot be dropped here
             --> a.ptx:8:9
              |
            8 | add.s32 _, %r1, 1;
              |         ^
              |
              = help: name a register

            error: only constants can be negated in an operand
             --> a.ptx:9:19
              |
            9 | add.s32 %r1, %r2, -%r3;
              |                   ^
              |
              = help: use a `neg` instruction

            error: `mov.b64` has no 3 parts
              --> a.ptx:10:9
               |
            10 | mov.b64 {%r1, %r2, %r3}, %rd1;
               |         ^^^^^^^^^^^^^^^
               |
               = help: 2 or 4 parts of equal width make up the whole

            error: `%r1` is .b32 but `setp.eq.s32` writes .pred here
              --> a.ptx:11:17
               |
            11 | setp.eq.s32 %p1|%r1, %r1, 0;
               |                 ^^^ declared .b32
               |
               = help: turn a number into a predicate with `setp`

            error: `add.s32` has one destination
              --> a.ptx:12:9
               |
            12 | add.s32 %r1|%p1, %r1, 0;
               |         ^^^^^^^
               |
               = help: name one register

            error: `add.s32` cannot write to this
              --> a.ptx:13:9
               |
            13 | add.s32 5, %r1, 0;
               |         ^
               |
               = help: the destination is a register"#]],
    );
}

#[test]
fn constants_must_fit_their_operand() {
    check(
        "add.f32 %f1, %f2, 1;\nadd.s32 %r1, %r2, 1.0;\nmov.u32 %r1, 99999999999999999999999;\nmov.u32 %r1, 1 << 64;\nmov.f32 %f1, 0f12;\nmov.u32 %r1, 0x;\nmov.u32 %r1, (1+;",
        expect![[r#"
            error: an integer constant stands where .f32 is read
             --> a.ptx:4:19
              |
            4 | add.f32 %f1, %f2, 1;
              |                   ^
              |
              = help: write a floating-point constant, for example `0f3F800000` or `1.0`

            error: a floating-point constant stands where .s32 is read
             --> a.ptx:5:19
              |
            5 | add.s32 %r1, %r2, 1.0;
              |                   ^^^
              |
              = help: write the bits as an integer

            error: `99999999999999999999999` is not an integer of 64 bits
             --> a.ptx:6:14
              |
            6 | mov.u32 %r1, 99999999999999999999999;
              |              ^^^^^^^^^^^^^^^^^^^^^^^
              |
              = help: integers are decimal, `0x…`, `0b…` or octal `0…`, with an optional `U` at the end

            error: the value of this expression does not fit 64 bits
             --> a.ptx:7:14
              |
            7 | mov.u32 %r1, 1 << 64;
              |              ^^^^^^^
              |
              = help: integer constants have 64 bits

            error: `0f12` is not a floating-point constant
             --> a.ptx:8:14
              |
            8 | mov.f32 %f1, 0f12;
              |              ^^^^
              |
              = help: write `0f` and 8 hexadecimal digits, `0d` and 16, or a decimal fraction

            error: `0x` is not an integer of 64 bits
             --> a.ptx:9:14
              |
            9 | mov.u32 %r1, 0x;
              |              ^^
              |
              = help: integers are decimal, `0x…`, `0b…` or octal `0…`, with an optional `U` at the end

            error: expected an integer, found `;`
              --> a.ptx:10:17
               |
            10 | mov.u32 %r1, (1+;
               |                 ^ expected an integer"#]],
    );
}

#[test]
fn calls_must_agree_with_the_callee() {
    check(
        ".param .b64 a; .param .align 4 .b8 b[4]; .param .b32 r;\ncall (r), f, (a);\ncall (r), f, (a, b);\ncall (%r1), f, (a, b);\ncall nobody, (a);\ncall %rd1, (a);\ncall %rd1, (a), proto;\ncall g, ();\ncall f;",
        expect![[r#"
            error: `f` takes 2 arguments, found 1
             --> a.ptx:5:11
              |
            5 | call (r), f, (a);
              |           ^^^^^^
              |
              = help: the call must agree with the declaration of the callee

            error: `b` has 4 bytes where the callee takes 8
             --> a.ptx:6:18
              |
            6 | call (r), f, (a, b);
              |                  ^
              |
              = help: declare it as the callee does

            error: a call that returns into a register is not supported
             --> a.ptx:7:7
              |
            7 | call (%r1), f, (a, b);
              |       ^^^
              |
              = help: return into a `.param` variable, and load it after the call

            error: the function `nobody` is not declared
             --> a.ptx:8:6
              |
            8 | call nobody, (a);
              |      ^^^^^^
              |
              = help: declare it before the first use, for example with `.extern .func`

            error: an indirect call needs a prototype
             --> a.ptx:9:6
              |
            9 | call %rd1, (a);
              |      ^^^^
              |
              = help: end it with the label of a `.callprototype` or `.calltargets`

            error: the prototype `proto` is not declared
              --> a.ptx:10:17
               |
            10 | call %rd1, (a), proto;
               |                 ^^^^^
               |
               = help: declare it before the call, for example `p: .callprototype _ (.param .b32 _);`

            error: `f` takes 1 return parameter, found 0
              --> a.ptx:12:6
               |
            12 | call f;
               |      ^
               |
               = help: the call must agree with the declaration of the callee"#]],
    );
}

#[test]
fn directives_of_a_body_that_are_not_supported_are_refused() {
    check(
        ".global .u32 x;\n.reg .v4 .f32 %v;\n.reg .u33 %q;\n.shared .u32 s = 5;\n.local .b8 l[];\n.section .x;\n.reg .b32 %r1;",
        expect![[r#"
            error: a .global variable inside a function is not supported
             --> a.ptx:4:1
              |
            4 | .global .u32 x;
              | ^^^^^^^
              |
              = help: declare it outside of the function

            error: registers of vector type are not supported
             --> a.ptx:5:6
              |
            5 | .reg .v4 .f32 %v;
              |      ^^^
              |
              = help: declare one register for each element

            error: `.u33` is not a type
             --> a.ptx:6:6
              |
            6 | .reg .u33 %q;
              |      ^^^^
              |
              = help: a type is, for example, `.f32`

            error: a .shared variable has no initial value
             --> a.ptx:7:16
              |
            7 | .shared .u32 s = 5;
              |                ^
              |
              = help: store the value when the kernel starts

            error: `l` has no size
             --> a.ptx:8:12
              |
            8 | .local .b8 l[];
              |            ^
              |
              = help: only an `.extern` array may leave out its bound

            error: the directive `.section` is not supported here
             --> a.ptx:9:1
              |
            9 | .section .x;
              | ^^^^^^^^
              |
              = help: Beamline refuses what it cannot execute faithfully; docs/supported.md lists what it can

            error: `%r1` is declared twice in this scope
              --> a.ptx:10:11
               |
            10 | .reg .b32 %r1;
               |           ^^^
               |
               = help: rename one of them"#]],
    );
}

#[test]
fn the_head_of_a_module_must_be_there() {
    check_module(
        "// nothing",
        expect![[r#"
        error: `.version` is missing
         --> a.ptx:1:1
          |
        1 | // nothing
          | ^
          |
          = help: a module begins with, for example, `.version 8.0`

        error: `.target` is missing
         --> a.ptx:1:1
          |
        1 | // nothing
          | ^
          |
          = help: name the target, for example `.target sm_80`

        error: `.address_size 64` is missing
         --> a.ptx:1:1
          |
        1 | // nothing
          | ^
          |
          = help: without it, PTX means addresses of 32 bits"#]],
    );
}

#[test]
fn versions_targets_and_address_sizes_must_be_supported() {
    check_module(
        ".version 12.1\n.target compute_80\n.address_size 32\n",
        expect![[r#"
            error: PTX version 12.1 is not supported
             --> a.ptx:1:10
              |
            1 | .version 12.1
              |          ^^^^ supported are 3.0 to 9.x
              |
              = help: compile with a toolkit whose PTX version is in that range

            error: `compute_80` is not a supported target
             --> a.ptx:2:9
              |
            2 | .target compute_80
              |         ^^^^^^^^^^
              |
              = help: a target is `sm_` and a number, for example `sm_80`

            error: addresses of 32 bits are not supported
             --> a.ptx:3:15
              |
            3 | .address_size 32
              |               ^^
              |
              = help: compile for 64-bit addresses: `.address_size 64`"#]],
    );
}

#[test]
fn variables_must_make_sense() {
    check_module(
        ".version 8.0 .target sm_80 .address_size 64
.global .u32 a[2] = {1, 2, 3};
.global .u32 b = sym;
.global .u64 c = nobody;
.global .u32 a;
.global .align 3 .u32 d;
.global .u32 e[2][2] = {1, 2};
.global .texref t;
.global .f32 f = 1;
.global .u32 h[4294967296][4294967296];
.global .u8 i[8] = {0xFF(a), 0xFF00(a)};
.local .u32 j;
.func f(.reg .u32 r) { ret; }
.func f(.param .u32 r, .param .u32 r) { ret; }
.entry k() .unknown 5 { ret; }
",
        expect![[r#"
            error: the initial value has more elements than the array
             --> a.ptx:2:28
              |
            2 | .global .u32 a[2] = {1, 2, 3};
              |                            ^
              |
              = help: give the array a larger bound

            error: an address does not fit a .u32 element
             --> a.ptx:3:18
              |
            3 | .global .u32 b = sym;
              |                  ^^^
              |
              = help: addresses have 64 bits: declare the variable `.u64`

            error: `nobody` is not declared
             --> a.ptx:4:18
              |
            4 | .global .u64 c = nobody;
              |                  ^^^^^^
              |
              = help: an initial value names a variable or a function of this module

            error: 3 is not an alignment
             --> a.ptx:6:16
              |
            6 | .global .align 3 .u32 d;
              |                ^
              |
              = help: alignments are powers of two

            error: expected `{`, found `1`
             --> a.ptx:7:25
              |
            7 | .global .u32 e[2][2] = {1, 2};
              |                         ^ expected `{`
              |
              = help: each dimension of an array has its own braces

            error: textures, samplers and surfaces are not supported
             --> a.ptx:8:9
              |
            8 | .global .texref t;
              |         ^^^^^^^
              |
              = help: Beamline refuses what it cannot execute faithfully; docs/supported.md lists what it can

            error: an integer constant stands where .f32 is read
             --> a.ptx:9:18
              |
            9 | .global .f32 f = 1;
              |                  ^
              |
              = help: write a floating-point constant, for example `0f3F800000` or `1.0`

            error: `h` is larger than any memory
              --> a.ptx:10:14
               |
            10 | .global .u32 h[4294967296][4294967296];
               |              ^
               |
               = help: use smaller bounds

            error: parts of an address in an initial value are not supported
              --> a.ptx:11:26
               |
            11 | .global .u8 i[8] = {0xFF(a), 0xFF00(a)};
               |                          ^
               |
               = help: all eight bytes of the address must stand in a row

            error: a .local variable outside of functions is not supported
              --> a.ptx:12:1
               |
            12 | .local .u32 j;
               | ^^^^^^
               |
               = help: Beamline refuses what it cannot execute faithfully; docs/supported.md lists what it can

            error: parameters in registers are not supported
              --> a.ptx:13:9
               |
            13 | .func f(.reg .u32 r) { ret; }
               |         ^^^^
               |
               = help: declare them `.param`

            error: the parameter `r` is declared twice
              --> a.ptx:14:36
               |
            14 | .func f(.param .u32 r, .param .u32 r) { ret; }
               |                                    ^
               |
               = help: rename one of them

            error: the directive `.unknown` is not supported here
              --> a.ptx:15:12
               |
            15 | .entry k() .unknown 5 { ret; }
               |            ^^^^^^^^
               |
               = help: Beamline refuses what it cannot execute faithfully; docs/supported.md lists what it can"#]],
    );
}

#[test]
fn comments_strings_and_braces_must_end() {
    check_module(
        ".version 8.0 .target sm_80 .address_size 64\n.file 1 \"abc\n.entry k() { ret; \u{e9} /* here\n",
        expect![[r#"
            error: a string does not end
             --> a.ptx:2:9
              |
            2 | .file 1 "abc
              |         ^^^^
              |
              = help: close it with `"` on the same line

            error: expected a string, found `.entry`
             --> a.ptx:3:1
              |
            3 | .entry k() { ret; é /* here
              | ^^^^^^ expected a string

            error: a `{` is not closed
             --> a.ptx:3:12
              |
            3 | .entry k() { ret; é /* here
              |            ^ opened here
              |
              = help: close it with `}`

            error: "é" does not belong in PTX
             --> a.ptx:3:19
              |
            3 | .entry k() { ret; é /* here
              |                   ^
              |
              = help: remove the character

            error: a comment does not end
             --> a.ptx:3:21
              |
            3 | .entry k() { ret; é /* here
              |                     ^^ begins here
              |
              = help: close it with `*/`"#]],
    );
}

#[test]
fn more_than_twenty_mistakes_are_counted() {
    let text = format!(".version 8.0 .target sm_80 .address_size 64\n.entry k() {{\n{}}}", "bra x;\n".repeat(30));
    let errors = ptx::parse("a.ptx", &text).unwrap_err();
    assert_eq!((errors.diagnostics().len(), errors.omitted()), (20, 10));
    assert!(errors.to_string().ends_with("error: 10 more mistakes are not shown"));
    assert_eq!(errors.position(&errors.diagnostics()[1]), (4, 5));
}
