//! Small kernels, protected.

use super::*;

const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n\
                    .reg .b64 %a;\n.reg .b32 %v, %w;\n.reg .f32 %f, %g, %h;\n.reg .pred %p;\n.reg .b16 %s;\n";

/// The body as it is printed, and the origins of its instructions.
fn protected(body: &str) -> (Vec<String>, Vec<Origin>) {
    let module = ptx::parse("k.ptx", &format!("{HEAD}{body}\n}}\n")).unwrap();
    let mut made = protect(&module, Scheme::Drdv).unwrap();
    let text = ptx::print(&made.module);
    assert_eq!(ptx::parse("again.ptx", &text).unwrap(), made.module, "{text}");
    let Protection::Written(origins) = made.functions.remove(0) else { panic!("{:?}", made.functions) };
    let lines = text.lines().map(|line| line.trim().to_owned());
    (lines.filter(|line| line.ends_with(';') && !line.starts_with('.')).collect(), origins)
}

fn refused(body: &str) -> String {
    let module = ptx::parse("k.ptx", &format!("{HEAD}{body}\n}}\n")).unwrap();
    let made = protect(&module, Scheme::Drdv).unwrap();
    assert_eq!(made.module, module);
    match &made.functions[0] {
        Protection::Refused(why) => why.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_store_is_checked_and_what_it_stores_is_computed_twice() {
    let (lines, origins) =
        protected("ld.param.u64 %a, [p];\nld.global.u32 %v, [%a];\nadd.u32 %w, %v, 1;\nst.global.u32 [%a], %w;\nret;");
    let kinds: Vec<char> = origins
        .iter()
        .map(|origin| match origin {
            Origin::Original(_) => 'o',
            Origin::Duplicate(_) => 'd',
            Origin::Copy(_) => 'c',
            Origin::Check(_) => 'k',
            Origin::Notify => 'n',
            Origin::Entry => 'e',
        })
        .collect();
    assert_eq!(kinds.iter().collect::<String>(), "eeeeocknocodkknoo", "{lines:#?}");
    assert_eq!(lines.len(), origins.len());
}

#[test]
fn a_loop_goes_back_to_what_stands_before_its_first_instruction() {
    let (lines, origins) = protected("L:\nmov.u32 %v, %tid.x;\nsetp.eq.u32 %p, %v, 2;\n@%p bra L;\nret;");
    let first = origins.iter().position(|origin| *origin == Origin::Original(Pc(0))).unwrap();
    assert!(origins[..first].iter().all(|origin| *origin == Origin::Entry), "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains("bra L")));
}

#[test]
fn a_product_that_is_joined_with_a_sum_is_written_so() {
    let (lines, _) = protected(
        "ld.param.u64 %a, [p];\nld.global.f32 %f, [%a];\nmul.f32 %g, %f, %f;\nsub.f32 %h, %f, %g;\nst.global.f32 [%a], %h;\nret;",
    );
    assert_eq!(lines.iter().filter(|line| line.starts_with("fma.rn.f32")).count(), 2, "{lines:#?}");
    assert!(!lines.iter().any(|line| line.starts_with("mul.f32") || line.starts_with("sub.f32")), "{lines:#?}");
}

#[test]
fn what_hands_on_the_carry_flag_stays_together() {
    let (lines, origins) = protected("mov.u32 %v, %tid.x;\nadd.cc.u32 %v, %v, %v;\naddc.u32 %w, %v, 0;\nret;");
    let at = |origin| origins.iter().position(|found| *found == origin).unwrap();
    assert_eq!(at(Origin::Original(Pc(2))), at(Origin::Original(Pc(1))) + 1, "{lines:#?}");
    assert_eq!(at(Origin::Duplicate(Pc(2))), at(Origin::Duplicate(Pc(1))) + 1);
}

#[test]
fn clocks_and_flags_from_elsewhere_are_refused() {
    assert!(refused("mov.u32 %v, %clock;\nret;").contains("clock"));
    assert!(refused("addc.u32 %v, %v, 0;\nret;").contains("carry flag"));
}

#[test]
fn registers_that_are_read_before_they_are_written_begin_as_zero() {
    let (_, origins) = protected("@%p mov.u32 %v, 1;\nst.shared.u32 [0], %v;\nret;");
    let entry = origins.iter().filter(|origin| **origin == Origin::Entry).count();
    assert_eq!(entry, 4 + 2 * 2);
}
