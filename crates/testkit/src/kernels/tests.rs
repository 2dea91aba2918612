//! Reading kernel tests, and that checks can fail.

use super::*;
use std::path::Path;

fn error(head: &str) -> String {
    read(Path::new("t.ptx"), head).unwrap_err().to_string()
}

#[test]
fn directives_that_are_not_understood_are_errors_with_their_place() {
    assert_eq!(error("// Prose.\n// rnu: k"), "t.ptx:2: `rnu:` is no directive");
    assert_eq!(error("// run: k gird=1,1,1"), "t.ptx:1: `gird` is no key of `run`: grid, block, shared, fuel");
    assert_eq!(error("// run: k grid=1,1"), "t.ptx:1: `1,1` is no extent: expected x,y,z");
    assert_eq!(error("// param: 5u32"), "t.ptx:1: no `run` before it");
    assert_eq!(error("// buffer b: u32[3] = 1 2"), "t.ptx:1: 2 values where 3 belong");
    assert_eq!(error("// expect b = 1"), "t.ptx:1: no buffer `b` before it; a variable of the module needs its type");
    assert_eq!(
        error("// trap: illegal_address lane=4"),
        "t.ptx:1: `lane` is no key of `trap`: line, pc, thread, block, function, address"
    );
    assert_eq!(error("// run: k\n// param: 5q7"), "t.ptx:2: `5q7` is no argument: expected &NAME, 5u32 or {u8 1 2}");
    assert!(error("// inject: launch=0 => sdc").contains("`cta` is missing"));
    assert!(error("// buffer b: u32 = 1").contains("tests nothing"));
    assert_eq!(error("// 1 2 3"), "t.ptx:1: neither a directive nor prose, which begins with a capital letter");
    assert_eq!(error("// buffer b: u32 = 1 \\\n.version 8.0"), "t.ptx:1: the directive does not end");
    assert!(error("// run: k\n.version 8.0\n// counts: 1 2").contains("after the head"));
}

/// A kernel that adds a parameter to every element of a buffer, with more lines in its head.
fn adding(more: &str) -> Script {
    let text = format!(
        "// Adds.
// buffer b: u32 = iota 4
// run: k block=4,1,1
// param: &b 10u32
{more}
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n)
{{
    .reg .b32 %r<4>;
    .reg .b64 %d<4>;
    ld.param.u64 %d1, [p];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d2, %r1, 4;
    add.u64 %d1, %d1, %d2;
    ld.global.u32 %r2, [%d1];
    ld.param.u32 %r3, [n];
    add.u32 %r2, %r2, %r3;
    st.global.u32 [%d1], %r2;
    ret;
}}
"
    );
    read(Path::new("adding.ptx"), &text).unwrap()
}

fn failure(more: &str) -> String {
    check(&adding(more), false).first().cloned().unwrap_or_default()
}

#[test]
fn what_is_expected_is_compared() {
    let good = "// expect b = 10 11 \\\n// 12 13\n// counts: 4 of 9\n// strayed: 0";
    assert_eq!(check(&adding(good), false), [""; 0]);
    assert!(failure("// expect b = 10 11 12 14").contains("b[3] is 13 (0xd), expected 14 (0xe) (1 differ)"));
    assert!(failure("// counts: 3 of 9, 8").contains("thread 3 of launch 0 executed Some(9) instructions"));
    assert!(failure("// strayed: 1").contains("0 strayed accesses, expected 1"));
    assert!(failure("// trap: illegal_address").contains("ran to its end"));
    assert!(failure("// error: k").contains("was accepted"));
    assert!(failure("// param: 7u32").contains("3 arguments, k has 2"));
}

#[test]
fn faults_are_compared() {
    let of = |expected: &str| {
        failure(&format!("// inject: launch=0,cta=0,thread=1,dyn=6,target=dst0,model=flip,bits=4 => {expected}"))
    };
    assert_eq!(of("sdc landed=0xb->0x1b use=read@1 differing=1"), "");
    assert!(of("masked/logical").contains("the outcome is sdc, expected masked/logical"));
    assert!(of("sdc landed=0xb->0x1c").contains("landed is 0xb->0x1b"));
    assert!(of("sdc use=never").contains("use is read@1"));
    assert!(of("sdc line=7").contains("line is nowhere"));
}
