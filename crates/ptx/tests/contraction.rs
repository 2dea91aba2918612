//! What ptxas 13.0.88 makes of small kernels: each was assembled and looked at, and many thousands of random ones are by
//! `cargo xtask contraction`.

use isa::{Contraction, Pc};

/// The joined pairs of a body: indices of products and of sums, the first instruction of the body being 0.
fn joined(body: &str) -> Vec<(u32, u32)> {
    let text = format!(
        ".version 8.5\n.target sm_90\n.address_size 64\n.extern .func other;\n.visible .entry k() {{\n.reg .pred %p<4>;\n\
         .reg .b32 %r<8>;\n.reg .b64 %a;\n.reg .f32 %f<16>;\n.reg .f64 %d<16>;\n.reg .b32 %h<16>;\n.reg .b16 %s<16>;\n{body}\nret;\n}}\n"
    );
    let module = ptx::parse("k.ptx", &text).unwrap_or_else(|errors| panic!("{errors}"));
    let (_, function) = module.kernel("k").unwrap();
    let found = Contraction::of(function);
    assert!(found.sums.values().all(|join| found.products.contains_key(&join.product)));
    found.sums.into_iter().map(|(Pc(sum), join)| (join.product.0, sum)).collect()
}

/// `p = a · b` before what a test has, and stores of both results behind it.
fn with_product(body: &str) -> Vec<(u32, u32)> {
    joined(&format!("mul.f32 %f0, %f1, %f2;\n{body}\nst.global.f32 [%a], %f8;\nst.global.f32 [%a+4], %f9;"))
}

#[test]
fn a_product_is_joined_with_all_sums_that_read_it_if_nothing_else_does() {
    assert_eq!(with_product("add.f32 %f8, %f0, %f3;"), [(0, 1)]);
    assert_eq!(with_product("sub.f32 %f8, %f3, %f0;\nadd.sat.f32 %f9, %f0, 0f3F800000;"), [(0, 1), (0, 2)]);
    for other in ["st.global.f32 [%a], %f0;", "mul.f32 %f9, %f0, %f3;", "fma.rn.f32 %f9, %f3, %f4, %f0;"] {
        assert_eq!(with_product(&format!("add.f32 %f8, %f0, %f3;\n{other}")), [], "{other}");
    }
    // What makes nothing that is needed does not count.
    assert_eq!(with_product("add.f32 %f8, %f0, %f3;\nmul.f32 %f7, %f0, %f3;"), [(0, 1)]);
    assert_eq!(with_product("add.f32 %f8, %f0, %f0;"), []);
}

#[test]
fn roundings_saturation_and_flushing_keep_products_apart() {
    assert_eq!(with_product("add.rn.f32 %f8, %f0, %f3;"), []);
    assert_eq!(with_product("add.ftz.f32 %f8, %f0, %f3;"), []);
    for product in ["mul.rn.f32", "mul.sat.f32", "mul.ftz.f32", "min.f32"] {
        assert_eq!(joined(&format!("{product} %f0, %f1, %f2;\nadd.f32 %f8, %f0, %f3;\nst.global.f32 [%a], %f8;")), []);
    }
    let flushed = "mul.ftz.f32 %f0, %f1, %f2;\nsub.ftz.f32 %f8, %f0, %f3;\nst.global.f32 [%a], %f8;";
    assert_eq!(joined(flushed), [(0, 1)]);
}

#[test]
fn of_two_products_the_one_that_is_read_less_is_joined_and_of_equals_the_first_term() {
    let two = "mul.f32 %f0, %f1, %f2;\nmul.f32 %f5, %f3, %f4;\n";
    let stored = "st.global.f32 [%a], %f8;\nst.global.f32 [%a+4], %f9;";
    assert_eq!(joined(&format!("{two}sub.f32 %f8, %f5, %f0;\n{stored}")), [(1, 2)]);
    // The other one is a term of a fused sum then, which keeps it from being joined with what follows.
    assert_eq!(joined(&format!("{two}add.f32 %f8, %f5, %f0;\nadd.f32 %f9, %f5, %f1;\n{stored}")), [(0, 2)]);
    // Also where that comes first: what is read once is joined before anything else.
    assert_eq!(joined(&format!("{two}add.f32 %f9, %f5, %f1;\nadd.f32 %f8, %f5, %f0;\n{stored}")), [(0, 3)]);
    // Pairs of halves do without that, halves do not.
    let halves = two.replace("f32", "f16x2").replace("%f", "%h");
    let sums = "add.f16x2 %h9, %h5, %h1;\nadd.f16x2 %h8, %h5, %h0;\nst.global.b32 [%a], %h8;\nst.global.b32 [%a], %h9;";
    assert_eq!(joined(&format!("{halves}{sums}")), [(1, 2), (0, 3)]);
    let halves = format!("{halves}{sums}").replace("f16x2", "f16").replace("b32", "b16").replace("%h", "%s");
    assert_eq!(joined(&halves), [(0, 3)]);
}

#[test]
fn copies_and_negations_are_looked_through_where_nothing_guards_them() {
    assert_eq!(with_product("mov.f32 %f7, %f0;\nadd.f32 %f8, %f7, %f3;"), [(0, 2)]);
    assert_eq!(with_product("neg.f32 %f7, %f0;\nadd.f32 %f8, %f3, %f7;"), [(0, 2)]);
    assert_eq!(with_product("neg.f32 %f7, %f0;\nadd.f32 %f8, %f3, %f7;\nst.global.f32 [%a], %f7;"), []);
    assert_eq!(with_product("neg.ftz.f32 %f7, %f0;\nadd.f32 %f8, %f3, %f7;"), []);
    assert_eq!(with_product("abs.f32 %f7, %f0;\nadd.f32 %f8, %f3, %f7;"), []);
    assert_eq!(with_product("mov.f32 %f7, %f3;\n@%p1 mov.f32 %f7, %f0;\nadd.f32 %f8, %f3, %f7;"), []);
}

#[test]
fn sums_may_be_guarded_and_products_not() {
    assert_eq!(with_product("mov.f32 %f8, %f3;\n@%p1 add.f32 %f8, %f0, %f3;"), [(0, 2)]);
    assert_eq!(with_product("@%p1 add.f32 %f0, %f0, %f3;\nmov.f32 %f8, %f0;"), []);
    assert_eq!(joined("@%p1 mul.f32 %f0, %f1, %f2;\nadd.f32 %f8, %f0, %f3;\nst.global.f32 [%a], %f8;"), []);
}

#[test]
fn nothing_is_joined_across_what_the_assembler_makes_branches_of() {
    let sum = "add.f32 %f8, %f0, %f3;";
    for apart in [
        "@%p1 bra L;\nst.global.f32 [%a], %f3;\nL:",
        "@%p1 st.global.f32 [%a], %f3;",
        "@%p1 ld.global.f32 %f9, [%a];",
        "@%p1 bar.sync 0;",
        "@%p1 ret;",
        "membar.gl;",
        "fence.acq_rel.cta;",
        "call other;",
        "div.rn.f32 %f9, %f3, %f4;",
        "div.s32 %r1, %r2, %r3;",
        "sqrt.rn.f64 %d1, %d2;",
    ] {
        assert_eq!(with_product(&format!("{apart}\n{sum}")), [], "{apart}");
    }
    for (within, at) in [
        ("bar.sync 0;", 2),
        ("st.global.f32 [%a], %f3;", 2),
        ("L:", 1),
        ("bra L;\nL:", 2),
        ("bra L;\nM: ret;\nL:", 3),
        ("@%p1 mov.f32 %f9, %f3;", 2),
        ("div.u32 %r1, %r2, %r3;", 2),
        ("fence.proxy.async;", 2),
        ("div.full.f32 %f9, %f3, %f4;", 2),
    ] {
        assert_eq!(with_product(&format!("{within}\n{sum}")), [(0, at)], "{within}");
    }
}

#[test]
fn quotients_and_scaled_reciprocals_end_in_products() {
    let sum = |product: &str, flush: &str| {
        joined(&format!("{product};\nadd{flush}.f32 %f8, %f0, %f3;\nst.global.f32 [%a], %f8;"))
    };
    for head in ["div.approx", "div.full"] {
        assert_eq!(sum(&format!("{head}.f32 %f0, %f1, %f2"), ""), [(0, 1)]);
        assert_eq!(sum(&format!("{head}.ftz.f32 %f0, %f1, %f2"), ".ftz"), [(0, 1)]);
        assert_eq!(sum(&format!("{head}.ftz.f32 %f0, %f1, %f2"), ""), []);
    }
    assert_eq!(sum("rcp.approx.f32 %f0, %f1", ""), [(0, 1)]);
    assert_eq!(sum("rcp.approx.ftz.f32 %f0, %f1", ".ftz"), []);
    assert_eq!(sum("div.rn.f32 %f0, %f1, %f2", ""), []);
}
