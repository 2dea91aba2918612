//! Modules of which some functions are refused.

use isa::FunctionId;

const HEAD: &str = ".version 9.0 .target sm_90a .address_size 64\n";

/// The names of the functions that are refused, each with its first mistake.
fn refused(text: &str) -> Vec<(String, String)> {
    let reading = ptx::parse_parts("a.ptx", text).unwrap_or_else(|errors| panic!("{errors}"));
    let first = |(id, errors): (&FunctionId, &ptx::Errors)| {
        let function = reading.module.function(*id);
        assert!(function.body.is_empty());
        (function.name.clone(), errors.first_in_a_line())
    };
    reading.refused.iter().map(first).collect()
}

#[test]
fn a_function_with_an_unsupported_instruction_is_refused_alone_and_every_one_with_it() {
    let text = format!(
        "{HEAD}.entry a() {{ wgmma.fence.sync.aligned; ret; }}\n.entry b() {{ ret; }}\n\
         .func c() {{ ret;\nwgmma.fence.sync.aligned; wgmma.fence.sync.aligned; }}\n"
    );
    let found = refused(&text);
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["a", "c"]);
    for ((_, mistake), line) in found.iter().zip([2, 5]) {
        assert!(mistake.starts_with(&format!("line {line} of a.ptx, `")), "{mistake}");
        assert!(mistake.contains("the instruction `wgmma.fence.sync.aligned` is not supported; "), "{mistake}");
    }
    let all = ptx::parse("a.ptx", &text).unwrap_err();
    assert_eq!(all.diagnostics().len(), 1, "the first place stands for all");
}

#[test]
fn syntax_operands_and_stray_characters_of_a_body_refuse_its_function_alone() {
    for body in ["add.u32 ;", "bra nowhere;", "é ret;", ".reg .b32 %r<2>; add.u64 %r0, %r1, 1;", "{ ret;", "bra"] {
        let closed = if body.starts_with('{') { "}}" } else { "}" };
        let text = format!("{HEAD}.entry a() {{ {body} {closed}\n.entry b() {{ ret; }}\n");
        let found = refused(&text);
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        let expect: &[&str] = if body == "{ ret;" { &[] } else { &["a"] };
        assert_eq!(names, expect, "{body}");
    }
}

#[test]
fn what_is_wrong_outside_of_bodies_refuses_the_module_and_all_of_it_is_told() {
    let body = ".entry a() { wgmma.fence.sync.aligned; }\n";
    let outside = [".global .u33 x;\n", "é\n", ".entry b() { ret;\n", ".entry a() { ret; }\n"];
    for outside in outside {
        let text = format!("{HEAD}{body}{outside}");
        let errors = ptx::parse_parts("a.ptx", &text).unwrap_err();
        assert_eq!(errors, ptx::parse("a.ptx", &text).unwrap_err());
        assert!(errors.diagnostics().len() > 1, "{errors}");
    }
}
