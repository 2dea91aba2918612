//! Small kernels, protected.

use super::*;

const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n\
                    .reg .b64 %a;\n.reg .b32 %v, %w;\n.reg .f32 %f, %g, %h;\n.reg .pred %p;\n.reg .b16 %s;\n";

/// The body as it is printed, and the origins of its instructions.
fn protected(body: &str) -> (Vec<String>, Vec<Origin>) {
    protected_by(Scheme::Drdv, body)
}

fn protected_by(scheme: Scheme, body: &str) -> (Vec<String>, Vec<Origin>) {
    protected_with(scheme.into(), body)
}

fn protected_with(technique: Technique, body: &str) -> (Vec<String>, Vec<Origin>) {
    let module = ptx::parse("k.ptx", &format!("{HEAD}{body}\n}}\n")).unwrap();
    let mut made = protect_each(&module, &|_| technique, &|_, _| true).unwrap();
    let text = ptx::print(&made.module);
    assert_eq!(ptx::parse("again.ptx", &text).unwrap(), made.module, "{text}");
    let Protection::Written(origins) = made.functions.remove(0) else { panic!("{:?}", made.functions) };
    let lines = text.lines().map(|line| line.trim().to_owned());
    (lines.filter(|line| line.ends_with(';') && !line.starts_with('.')).collect(), origins)
}

/// The origins of instructions, a letter each.
fn kinds(origins: &[Origin]) -> String {
    let letter = |origin: &Origin| match origin {
        Origin::Original(_) => 'o',
        Origin::Duplicate(_) => 'd',
        Origin::Copy(_) => 'c',
        Origin::Check(_) => 'k',
        Origin::Notify => 'n',
        Origin::Entry => 'e',
    };
    origins.iter().map(letter).collect()
}

fn refused(body: &str) -> String {
    let module = ptx::parse("k.ptx", &format!("{HEAD}{body}\n}}\n")).unwrap();
    let made = protect(&module, Scheme::Drdv, &|_, _| true).unwrap();
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
    assert_eq!(kinds(&origins), "eeeeocknocodkknoo", "{lines:#?}");
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
fn registers_of_8_bits_are_refused_by_every_scheme() {
    let body = ".reg .u8 %c;\nld.param.u64 %a, [p];\nld.global.u8 %c, [%a];\nst.global.u8 [%a+1], %c;\nret;";
    let module = ptx::parse("k.ptx", &format!("{HEAD}{body}\n}}\n")).unwrap();
    for scheme in Scheme::all() {
        let made = protect(&module, scheme, &|_, _| true).unwrap();
        let [Protection::Refused(reason)] = &made.functions[..] else { panic!("{:?}", made.functions) };
        assert!(reason.to_string().contains("its register %c has 8 bits"), "{reason}");
        assert_eq!(made.module, module);
    }
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

const STORE: &str = "ld.param.u64 %a, [p];\nld.global.u32 %v, [%a];\nadd.u32 %w, %v, 1;\nst.global.u32 [%a], %w;\nret;";

#[test]
fn a_signature_is_tested_once_where_the_function_ends() {
    let (lines, origins) = protected_by(Scheme::FastsigDrdv, STORE);
    assert_eq!(kinds(&origins), "eeeeeeeockocodkkkokkno", "{lines:#?}");
    let (xors, compared) = (
        lines.iter().filter(|it| it.starts_with("xor.")),
        lines.iter().filter(|it| it.contains("b64 %") && it.starts_with("setp.ne.or")),
    );
    // The sum is compared by `xor`; the address, which a copy of a parameter holds, is not.
    assert_eq!((xors.count(), compared.count()), (1, 3), "{lines:#?}");
}

#[test]
fn results_of_logic_are_never_compared_by_logic() {
    let body = "ld.param.u64 %a, [p];\nld.global.u32 %v, [%a];\nand.b32 %w, %v, 7;\nst.global.u32 [%a], %w;\nret;";
    for scheme in [Scheme::FastsigDrdv, Scheme::FastsigSriv] {
        let (lines, _) = protected_by(scheme, body);
        assert!(lines.iter().all(|line| !line.starts_with("xor.") && !line.starts_with("lop3.")), "{lines:#?}");
    }
}

#[test]
fn the_guard_of_a_branch_is_compared_on_both_ways() {
    let (lines, _) = protected_by(Scheme::FastsigDrdv, "mov.u32 %v, %tid.x;\nL:\nsetp.eq.u32 %p, %v, 2;\n@!%p bra L;");
    let at = lines.iter().position(|line| line.ends_with("bra L;")).unwrap();
    assert!(lines[at - 1].starts_with("@!%p or.b32") && lines[at + 2].starts_with("or.b32"), "{lines:#?}");
    let words = |line: &str| line.split(", ").skip(1).map(str::to_owned).collect::<Vec<_>>();
    let (taken, other) = (words(&lines[at - 2]), words(&lines[at + 1]));
    assert_eq!((&taken[0], &taken[1]), (&other[1], &other[0]), "{lines:#?}");
    // Control comes to the end of the body: there is a test, and the end.
    assert!(lines[lines.len() - 2].ends_with("trap;") && lines[lines.len() - 1] == "ret;", "{lines:#?}");
}

#[test]
fn a_twin_stands_before_its_instruction_and_is_compared_behind_it() {
    let (lines, origins) = protected_by(Scheme::Sriv, STORE);
    assert_eq!(kinds(&origins), "eeeeooddoknoo", "{lines:#?}");
    let (lines, origins) = protected_by(Scheme::FastsigSriv, STORE);
    assert_eq!(kinds(&origins), "eeeeeeeooddokkokkno", "{lines:#?}");
}

#[test]
fn a_twin_reads_the_twin_of_what_was_just_written() {
    let body = "mov.u32 %v, %tid.x;\nadd.u32 %w, %v, 1;\nmul.lo.u32 %w, %w, %v;\nadd.u32 %w, %w, 3;\nret;";
    let (lines, _) = protected_by(Scheme::Sriv, body);
    assert_eq!(lines.iter().filter(|line| line.starts_with("prmt.b32")).count(), 1, "{lines:#?}");
}

#[test]
fn a_comparison_of_a_guarded_instruction_executes_under_its_guard_as_it_was() {
    let body = "mov.u32 %v, %tid.x;\nsetp.eq.u32 %p, %v, 2;\n@%p setp.eq.u32 %p, %v, 3;\n@%p add.u32 %w, %v, 1;\nret;";
    let (lines, _) = protected_by(Scheme::Sriv, body);
    let under = lines.iter().filter(|line| line.starts_with('@') && line.contains("setp.ne.or")).collect::<Vec<_>>();
    assert_eq!(under.len(), 2, "{lines:#?}");
    assert!(!under[0].starts_with("@%p ") && under[1].starts_with("@%p "), "{lines:#?}");
}

/// What is written where only these instructions are chosen, a letter for each instruction.
fn written_of(scheme: Scheme, body: &str, chosen: &[u32]) -> (Vec<String>, String) {
    let module = ptx::parse("k.ptx", &format!("{HEAD}{body}\n}}\n")).unwrap();
    let mut made = protect(&module, scheme, &|_, pc| chosen.contains(&pc.0)).unwrap();
    let text = ptx::print(&made.module);
    let lines = text.lines().map(|line| line.trim().to_owned());
    let lines = lines.filter(|line| line.ends_with(';') && !line.starts_with('.')).collect();
    match made.functions.remove(0) {
        Protection::Written(origins) => (lines, kinds(&origins)),
        Protection::Unchosen => (lines, String::new()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_chosen_sum_has_a_copy_of_what_it_reads_and_its_own_result_is_compared() {
    // The load's result is copied for the duplicate; the address has neither shadow nor comparison.
    let (lines, kinds) = written_of(Scheme::Drdv, STORE, &[2]);
    assert_eq!(kinds, "eeeeoocodknoo", "{lines:#?}");
    let compared = lines.iter().filter(|line| line.starts_with("setp.ne.")).collect::<Vec<_>>();
    assert!(compared.len() == 1 && compared[0].contains("b32"), "{lines:#?}");
    let (lines, kinds) = written_of(Scheme::Sriv, STORE, &[2]);
    assert_eq!(kinds, "eeeeooddoknoo", "{lines:#?}");
}

#[test]
fn what_is_protected_is_compared_where_it_comes_to_what_is_not() {
    let body = "mov.u32 %v, %tid.x;\nadd.u32 %w, %v, 1;\nmul.lo.u32 %w, %w, %v;\nst.shared.u32 [0], %w;\nret;";
    // The product reads the sum: it stands alone, and its result is copied into the shadow, which the sum has.
    let (lines, kinds) = written_of(Scheme::Drdv, body, &[1]);
    assert_eq!(kinds, "eeeeocodknocknoo", "{lines:#?}");
    let (lines, kinds) = written_of(Scheme::Drdv, body, &[2]);
    assert_eq!(kinds, "eeeeococodknoo", "{lines:#?}");
}

#[test]
fn an_unchosen_guard_is_not_compared_and_a_chosen_one_is() {
    let body = "mov.u32 %v, %tid.x;\nsetp.eq.u32 %p, %v, 2;\nmul.lo.u32 %w, %v, 3;\n@%p st.shared.u32 [0], %w;\nret;";
    let (lines, _) = written_of(Scheme::Drdv, body, &[2]);
    let compared = lines.iter().filter(|line| line.contains("setp.ne.or.b32")).collect::<Vec<_>>();
    assert!(compared.len() == 1 && compared[0].starts_with("@%p "), "{lines:#?}");
    assert!(lines.iter().all(|line| !line.contains(".pred")), "{lines:#?}");
    // The guard is looked at behind the store, under it and under the opposite; the stored value has no shadow.
    let (lines, kinds) = written_of(Scheme::FastsigDrdv, body, &[1]);
    assert!(kinds.contains("odookkkk"), "{kinds}: {lines:#?}");
    assert!(lines.iter().all(|line| !line.starts_with("mul") || !line.contains("beamline")), "{lines:#?}");
}

#[test]
fn nothing_chosen_leaves_the_function_as_it_is() {
    for scheme in Scheme::INSTRUCTIONS {
        let (lines, kinds) = written_of(scheme, STORE, &[]);
        assert_eq!((lines.len(), kinds.as_str()), (5, ""), "{lines:#?}");
    }
}

#[test]
fn only_what_can_be_executed_twice_is_named_so() {
    let module = ptx::parse("k.ptx", &format!("{HEAD}{STORE}\n}}\n")).unwrap();
    assert_eq!(executed_twice(&module.functions[0], false), [false, false, true, false, false]);
}

#[test]
fn predicates_are_compared_as_words_by_every_scheme() {
    let body = "mov.u32 %v, %tid.x;\nsetp.eq.u32 %p, %v, 2;\n@%p st.shared.u32 [0], %v;\n@%p bra L;\nL:\nret;";
    for scheme in Scheme::INSTRUCTIONS {
        let (lines, _) = protected_by(scheme, body);
        assert!(lines.iter().all(|line| !line.contains("xor.pred") && !line.contains("or.pred")), "{lines:#?}");
        assert!(lines.iter().filter(|line| line.starts_with("selp.b32")).count() >= 2, "{lines:#?}");
    }
}

#[test]
fn a_signature_gathers_by_or_or_by_exclusive_or() {
    for ([or, xor], count) in
        [([Scheme::FastsigDrdv, Scheme::XorsigDrdv], 3), ([Scheme::FastsigSriv, Scheme::XorsigSriv], 1)]
    {
        let [or, xor] = [or, xor].map(|scheme| protected_by(scheme, STORE).0);
        let differ: Vec<_> = or.iter().zip(&xor).filter(|(or, xor)| or != xor).collect();
        assert_eq!((or.len(), differ.len()), (xor.len(), count), "{or:#?} {xor:#?}");
        let gathers =
            |line: &str, by: &str| line.starts_with(&format!("{by}.")) || line.starts_with(&format!("setp.ne.{by}."));
        assert!(differ.iter().all(|(or, xor)| gathers(or, "or") && gathers(xor, "xor")), "{differ:#?}");
    }
}

#[test]
fn proxies_keep_duplicates_and_notify_of_nothing() {
    for scheme in Scheme::PROXIES {
        let (lines, origins) = protected_by(scheme, STORE);
        assert!(origins.iter().all(|origin| *origin != Origin::Notify), "{lines:#?}");
        assert!(origins.contains(&Origin::Duplicate(Pc(2))), "{lines:#?}");
        // The test at the end holds where a zero is not zero, whatever was gathered.
        let trap = lines.iter().position(|line| line.ends_with("trap;")).unwrap();
        assert!(lines[trap - 1].starts_with("setp.ne.and.b32"), "{lines:#?}");
    }
}

#[test]
fn hardware_that_compares_costs_one_operation_a_comparison_and_a_signature_beside_the_registers_none() {
    let body = "ld.param.u64 %a, [p];\nld.global.u32 %v, [%a];\nand.b32 %w, %v, 7;\nst.global.u32 [%a], %w;\nret;";
    let count = |lines: &[String], head: &str| lines.iter().filter(|line| line.starts_with(head)).count();
    let (lines, _) = protected_by(Scheme::HwNotify, body);
    // The address twice, and the value.
    assert_eq!((count(&lines, "xor.b64"), count(&lines, "xor.b32")), (2, 1), "{lines:#?}");
    let (lines, _) = protected_by(Scheme::HwSig, body);
    // The shadow of the address is a copy, which nobody keeps; that of the value ends a chain.
    assert_eq!((count(&lines, "xor.b64"), count(&lines, "xor.b32")), (0, 1), "{lines:#?}");
}

#[test]
fn of_a_chain_of_duplicates_its_end_is_kept_and_a_counter_that_only_goes_round() {
    let chain = "mov.u32 %v, %tid.x;\nadd.u32 %w, %v, 1;\nadd.u32 %w, %w, %v;\nst.shared.u32 [%v], %w;\nret;";
    let gathered = |body: &str| {
        let (lines, _) = protected_by(Scheme::HwSig, body);
        lines
            .iter()
            .filter(|line| line.starts_with("add.u32 %beamline") && line.matches("beamline").count() == 3)
            .count()
    };
    // Two instructions write %w, so that each of its shadows is kept.
    assert_eq!(gathered(chain), 2 + 1);
}

#[test]
fn in_pairs_of_lanes_the_even_one_writes_and_the_odd_one_notifies() {
    let body = "ld.param.u64 %a, [p];\nmov.u32 %v, %tid.x;\nsetp.eq.u32 %p, %v, 2;\n@%p st.global.u32 [%a], %v;\nret;";
    let (lines, origins) = protected_by(Scheme::Tld, body);
    // The guard, the value and two words of the address cross.
    assert_eq!(lines.iter().filter(|line| line.starts_with("shfl.sync.bfly.b32")).count(), 4, "{lines:#?}");
    let at = |head: &str| lines.iter().position(|line| line.contains(head)).unwrap();
    assert!(at("trap") < at("st.global") && at("st.global") < at("bar.warp.sync"), "{lines:#?}");
    assert!(lines[at("%tid.x") + 1].starts_with("shr.u32"), "{lines:#?}");
    assert!(!lines[at("st.global")].starts_with("@%p "), "{lines:#?}");
    let originals = origins.iter().filter(|origin| matches!(origin, Origin::Original(_))).count();
    assert_eq!((originals, origins.len()), (5, lines.len()));
    // With a signature there is one trap, where the kernel ends.
    let (lines, _) = protected_by(Scheme::TldSig, body);
    let trap = lines.iter().position(|line| line.ends_with("trap;")).unwrap();
    assert_eq!(trap, lines.len() - 2, "{lines:#?}");
}

#[test]
fn an_atomic_is_executed_once_and_its_result_crosses() {
    let body = "ld.param.u64 %a, [p];\natom.global.add.u32 %v, [%a], 1;\nst.global.u32 [%a], %v;\nret;";
    let (lines, _) = protected_by(Scheme::Tld, body);
    let at = lines.iter().position(|line| line.contains("atom.global")).unwrap();
    assert!(lines[at].starts_with('@') && lines[at + 2].starts_with("shfl.sync.idx.b32"), "{lines:#?}");
}

#[test]
fn what_names_lanes_counts_threads_or_calls_has_no_pair() {
    let said = |body: &str| {
        let module = ptx::parse("k.ptx", &format!("{HEAD}{body}\n}}\n")).unwrap();
        match &protect(&module, Scheme::Tld, &|_, _| true).unwrap().functions[0] {
            Protection::Refused(why) => why.to_string(),
            other => panic!("{other:?}"),
        }
    };
    assert!(said("mov.u32 %v, %laneid;\nret;").contains("lanes of its warp"));
    assert!(said("shfl.sync.idx.b32 %v, %w, 0, 31, -1;\nret;").contains("lanes of its warp"));
    assert!(said("bar.sync 0, 64;\nret;").contains("counts threads"));
    assert!(said("ld.volatile.global.u32 %v, [%a];\nret;").contains("between the loads"));
    assert!(said("mov.u32 %v, %clock;\nret;").contains("clock"));
}

#[test]
fn bounds_of_blocks_grow_with_the_blocks() {
    let text = format!("{HEAD}ret;\n}}\n").replace("p)\n{", "p)\n.maxntid 64, 4, 1\n{");
    let mut module = ptx::parse("k.ptx", &text).unwrap();
    let directives =
        |module: &Module, scheme| protect(module, scheme, &|_, _| true).unwrap().module.functions[0].directives.clone();
    assert_eq!(directives(&module, Scheme::Tld), [".maxntid 128, 4, 1"]);
    module.functions[0].directives = vec![".maxntid 1024, 1, 1".to_owned()];
    assert!(directives(&module, Scheme::Tld).is_empty());
}

/// The lines that load from global, shared or generic memory.
fn loads(lines: &[String]) -> Vec<&str> {
    let loads = lines.iter().filter(|line| line.contains("ld.") && !line.contains("ld.param"));
    loads.map(String::as_str).collect()
}

#[test]
fn a_second_load_stands_right_behind_the_first_and_is_volatile() {
    let technique = Technique { scheme: Scheme::Drdv, loads: true };
    let (lines, origins) = protected_with(technique, STORE);
    // The address of the load is not compared before it, and its result is not copied.
    assert_eq!(kinds(&origins), "eeeeocododkknoo", "{lines:#?}");
    let found = loads(&lines);
    assert!(found.len() == 2 && found[1].starts_with("ld.volatile.global.u32 %beamline"), "{found:#?}");
    assert!(found[1].contains("[%beamline"), "{found:#?}");
}

#[test]
fn a_second_load_of_sriv_stands_before_the_first_and_is_compared_behind_it() {
    for scheme in [Scheme::Sriv, Scheme::FastsigSriv] {
        let (lines, origins) = protected_with(Technique { scheme, loads: true }, STORE);
        let at = |origin| origins.iter().rposition(|found| *found == origin).unwrap();
        let (duplicate, original) = (at(Origin::Duplicate(Pc(1))), at(Origin::Original(Pc(1))));
        assert_eq!(original, duplicate + 1, "{lines:#?}");
        assert!(at(Origin::Check(Pc(1))) > original, "{lines:#?}");
        assert!(loads(&lines)[0].starts_with("ld.volatile.global.u32 %beamline"), "{lines:#?}");
    }
}

#[test]
fn a_second_load_has_no_cache_operator_and_no_policy() {
    let technique = Technique { scheme: Scheme::FastsigDrdv, loads: true };
    let body = "ld.param.u64 %a, [p];\nld.global.nc.L1::no_allocate.L2::cache_hint.v2.u32 {%v, %w}, [%a], %a;\n\
                ld.shared.f32 %f, [4];\nld.u16 %s, [%a];\nldu.global.f32 %g, [%a];\nst.global.u32 [%a], %v;\nret;";
    let (lines, _) = protected_with(technique, body);
    let found = loads(&lines);
    let seconds: Vec<&str> = found.iter().skip(1).step_by(2).filter_map(|line| line.split(' ').next()).collect();
    let expected = ["ld.volatile.global.v2.u32", "ld.volatile.shared.f32", "ld.volatile.u16"];
    assert_eq!(seconds[..3], expected, "{lines:#?}");
    assert!(found[1].ends_with("];"), "{lines:#?}");
    assert!(lines.iter().any(|line| line.starts_with("ld.volatile.global.f32")), "{lines:#?}");
}

#[test]
fn threads_share_memory_by_atomics_fences_and_strong_accesses_of_functions_that_call_each_other() {
    let shared = |body: &str| {
        let module = ptx::parse("k.ptx", &format!("{HEAD}{body}\n}}\n")).unwrap();
        sharing(&module).remove(0)
    };
    assert_eq!(shared(STORE), None);
    assert_eq!(shared("bar.sync 0;\nret;"), None);
    assert_eq!(shared("red.global.add.u32 [%a], 1;\nret;").as_deref(), Some("red.global.add.u32"));
    for instruction in ["atom.global.add.u32 %v, [%a], 1;", "membar.gl;", "ld.volatile.global.u32 %v, [%a];"] {
        assert!(shared(&format!("{instruction}\nret;")).is_some(), "{instruction}");
    }
    assert!(shared("st.release.gpu.global.u32 [%a], %v;\nret;").is_some());
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.func f()\n{\n.reg .b64 %a;\nred.global.add.u32 [%a], 1;\n\
                ret;\n}\n.func g()\n{\ncall f, ();\nret;\n}\n.visible .entry k()\n{\ncall g, ();\nret;\n}\n\
                .visible .entry other()\n{\nret;\n}\n";
    let found = sharing(&ptx::parse("k.ptx", text).unwrap());
    assert_eq!(found.iter().map(Option::is_some).collect::<Vec<_>>(), [true, true, true, false]);
}
