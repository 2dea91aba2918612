//! The types of outputs that nobody declared, found out from what the program stores.

use capsule::{Capsule, ElementType};
use inject::{Golden, Typed, Unclear, buffer_elements, elements, variables};
use std::path::Path;
use std::sync::Arc;
use testkit::kernels::{capsule_of, read};

/// Registers and parameters of every kernel here: `%d0` is the address of the thread's element of 8 bytes in `out`.
const HEAD: &str = ".version 8.5\n.target sm_90\n.address_size 64\n
.visible .entry k(.param .u64 out) {
    .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %d<9>; .reg .f64 %g<9>; .reg .pred %p<3>;
    ld.param.u64 %d0, [out];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %d1, %r0, 8;
    add.s64 %d0, %d0, %d1;
";

/// What is found of the output of a kernel with this body, which 64 threads execute.
fn found(body: &str) -> Typed {
    of(untyped(&capsule(body)))[0]
}

/// A kernel with this body, which 64 threads execute.
fn capsule(body: &str) -> Arc<Capsule> {
    let text =
        format!("// buffer out: u64[64] = zero\n// run: k block=64,1,1\n// param: &out\n{HEAD}{body}\n ret;\n}}\n");
    let script = read(Path::new("elements.ptx"), &text).unwrap_or_else(|error| panic!("{error}"));
    capsule_of(&script).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_kernel_that_sums_floats_atomically_is_told() {
    let sums = |body: &str| Golden::run(capsule(body)).unwrap().float_sums();
    let told = sums("atom.global.add.f32 %f0, [%d0], 0f3F800000;");
    assert!(told.len() == 1 && told[0].starts_with("kernel k updates floating-point numbers"), "{told:?}");
    assert!(sums("atom.global.add.u32 %r1, [%d0], 1;").is_empty());
    assert!(sums("st.global.f32 [%d0], 0f3F800000;").is_empty());
}

fn untyped(capsule: &Capsule) -> Capsule {
    let mut capsule = capsule.clone();
    for output in &mut capsule.outputs {
        (output.element, output.shape) = (None, Vec::new());
    }
    capsule
}

fn of(capsule: Capsule) -> Vec<Typed> {
    elements(&Golden::run(Arc::new(capsule)).unwrap_or_else(|error| panic!("{error}")))
}

fn check(body: &str, expected: ElementType) {
    assert_eq!(found(body), Typed::Inferred(expected), "{body}");
}

#[test]
fn a_store_of_a_float_or_a_signed_integer_says_what_it_is() {
    check("mov.f32 %f0, 0f3f800000; st.global.f32 [%d0], %f0;", ElementType::F32);
    check("mov.f64 %g0, 0d3ff0000000000000; st.global.f64 [%d0], %g0;", ElementType::F64);
    check("st.global.v2.f32 [%d0], {%f0, %f1};", ElementType::F32);
    check("st.global.s32 [%d0+4], %r0;", ElementType::S32);
    check("cvt.u16.u32 %h0, %r0; st.global.u16 [%d0], %h0;", ElementType::U16);
    check("st.u32 [%d0], %r0;", ElementType::U32);
}

#[test]
fn bits_are_what_made_them() {
    check("cvt.rn.f32.u32 %f0, %r0; mov.b32 %r1, %f0; st.global.b32 [%d0], %r1;", ElementType::F32);
    check("cvt.rn.f32.u32 %r1, %r0; st.global.b32 [%d0], %r1;", ElementType::F32);
    check("ld.global.f32 %r1, [%d0]; st.global.b32 [%d0], %r1;", ElementType::F32);
    check("add.s32 %r1, %r0, 3; st.global.b32 [%d0], %r1;", ElementType::U32);
    check("min.s32 %r1, %r0, 3; add.s32 %r2, %r1, 1; st.global.b32 [%d0], %r2;", ElementType::S32);
    check("cvt.rn.f16.u32 %h0, %r0; st.global.b16 [%d0], %h0;", ElementType::F16);
    check("cvt.rn.f32.u32 %f0, %r0; mov.b64 %d2, {%f0, %f0}; st.global.b64 [%d0], %d2;", ElementType::F32);
    check("cvt.rn.f64.u32 %g0, %r0; mov.b64 %d2, %g0; st.global.b64 [%d0], %d2;", ElementType::F64);
}

#[test]
fn a_choice_and_a_changed_sign_are_of_what_they_are_made_of() {
    let choice =
        "cvt.rn.f32.u32 %r1, %r0; setp.gt.u32 %p0, %r0, 3; selp.b32 %r2, %r1, 0, %p0; xor.b32 %r3, %r2, 0x80000000;";
    check(&format!("{choice} st.global.b32 [%d0], %r3;"), ElementType::F32);
}

#[test]
fn a_conversion_to_an_integer_is_no_float() {
    check("cvt.rn.f32.u32 %f0, %r0; cvt.rzi.s32.f32 %r1, %f0; st.global.b32 [%d0], %r1;", ElementType::S32);
}

#[test]
fn integers_are_signed_where_the_golden_ones_are_small_and_negative() {
    check("sub.s32 %r1, %r0, 9; st.global.u32 [%d0], %r1;", ElementType::S32);
    check("mul.lo.s32 %r1, %r0, 0x9e3779b1; st.global.u32 [%d0], %r1;", ElementType::U32);
}

#[test]
fn the_last_store_to_a_byte_counts() {
    check("st.global.f64 [%d0], %g0; st.global.u32 [%d0], %r0; st.global.u32 [%d0+4], %r0;", ElementType::U32);
    check("red.global.add.f32 [%d0], 0f3f800000;", ElementType::F32);
    check("atom.global.exch.b32 %r1, [%d0], %r0; red.global.add.u32 [%d0], 5;", ElementType::U32);
}

#[test]
fn what_nothing_shows_stays_bytes_with_a_reason() {
    assert_eq!(found("ld.global.b32 %r1, [%d0]; st.global.b32 [%d0], %r1;"), Typed::Bytes(Unclear::Untyped));
    assert_eq!(found("st.global.f32 [%d0], %f0; st.global.s32 [%d0+4], %r0;"), Typed::Bytes(Unclear::Mixed));
    assert_eq!(found("add.f32 %f0, %f0, %f1;"), Typed::Bytes(Unclear::NoStore));
}

/// What kernels show of the elements of the buffer that 64 threads of a kernel with this body load from and store to.
fn accessed(body: &str) -> Result<ElementType, Unclear> {
    let text =
        format!("// buffer out: u64[64] = zero\n// run: k block=64,1,1\n// param: &out\n{HEAD}{body}\n ret;\n}}\n");
    let script = read(Path::new("accessed.ptx"), &text).unwrap_or_else(|error| panic!("{error}"));
    let capsule = untyped(&capsule_of(&script).unwrap_or_else(|error| panic!("{error}")));
    let golden = Golden::run(Arc::new(capsule)).unwrap_or_else(|error| panic!("{error}"));
    let buffers: Vec<(u64, u64)> = variables(&golden).iter().map(|it| (it.address, it.bytes)).collect();
    buffer_elements(&golden, &buffers)[0]
}

#[test]
fn a_load_says_what_it_loads_or_what_becomes_of_it_does() {
    for (body, expected) in [
        ("ld.global.f32 %f0, [%d0]; ld.global.f32 %f1, [%d0+4];", Ok(ElementType::F32)),
        ("ld.global.f64 %g0, [%d0];", Ok(ElementType::F64)),
        ("ld.global.nc.b64 %d2, [%d0]; mov.b64 %g0, %d2; add.f64 %g1, %g0, %g0;", Ok(ElementType::F64)),
        ("ld.global.b32 %r1, [%d0]; mov.b32 %r2, %r1; fma.rn.f32 %r3, %r2, %r2, %r2;", Ok(ElementType::F32)),
        ("ld.global.b32 %r1, [%d0]; cvt.rn.f32.s32 %f0, %r1;", Ok(ElementType::S32)),
        ("ld.global.u32 %r1, [%d0]; add.s32 %r2, %r1, 5;", Ok(ElementType::U32)),
        ("ld.global.b64 %d2, [%d0];", Err(Unclear::Untyped)),
        // Zeros are stored as integers; that sums are of floats is clearer.
        ("mov.b32 %r1, 0; st.global.u32 [%d0], %r1; ld.global.f32 %f0, [%d0];", Ok(ElementType::F32)),
        ("st.global.f64 [%d0], %g0; ld.global.b64 %d2, [%d0];", Ok(ElementType::F64)),
        ("ld.global.f32 %f0, [%d0]; ld.global.s32 %r1, [%d0+4];", Err(Unclear::Mixed)),
        ("add.f32 %f0, %f0, %f1;", Err(Unclear::NoAccess)),
    ] {
        assert_eq!(accessed(body), expected, "{body}");
    }
}

#[test]
fn the_outputs_of_the_workloads_are_found_to_be_what_they_are_declared_as() {
    let folder = testkit::filetests("..").join("workloads");
    let (mut outputs, mut wrong) = (0, Vec::new());
    for name in crate::workloads() {
        let capsule = Capsule::open(folder.join(&name).join(format!("{name}.capsule"))).unwrap();
        for (output, typed) in capsule.outputs.iter().zip(of(untyped(&capsule))) {
            outputs += 1;
            if typed.element() != output.element {
                wrong.push(format!("{name}, {}: {typed:?} instead of {:?}", output.name, output.element));
            }
        }
    }
    assert!(outputs > 6);
    // The minimum of the costs, which alone is signed, passes through shared memory; they are small and read the same.
    // Most of the sums are written two at a time. What cannot be reached is farther away than any signed number. Places in a tree,
    // numbers of groups and answers that are 0 or 1 are never negative. Zeros are written as integers where the other elements are sums.
    assert_eq!(
        wrong,
        [
            "btree, starts: Inferred(U32) instead of Some(S32)",
            "btree, counts: Inferred(U32) instead of Some(S32)",
            "gaussian, upper: Bytes(Mixed) instead of Some(F32)",
            "jmeint, intersects: Inferred(U32) instead of Some(S32)",
            "kmeans, membership: Inferred(U32) instead of Some(S32)",
            "pathfinder, cost: Inferred(U32) instead of Some(S32)",
            "sad, sums: Inferred(U32) instead of Some(U16)",
            "sssp, distances: Inferred(S32) instead of Some(U32)",
            "streamcluster, centres: Inferred(U32) instead of Some(S32)",
        ]
    );
}
