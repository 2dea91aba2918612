//! Whether stores are joined by the loads that read them, against lists made thread by thread.

use super::approxilyzer::{all_sites, estimated, kernel, method};
use inject::threads::StoreLists;
use inject::{CapsuleTarget, Golden};
use outcome::Class;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use testkit::kernels::{capsule_of, read};

/// Thread i of `put` stores a word that a thread of the next block of `get` loads once, twice, or never.
const PUT_AND_GET: &str = "\
// Stores that are read once, twice and never.
// buffer mid: u32[16] = zero
// buffer out: u32[16] = zero
// run: put grid=2,1,1 block=8,1,1
// param: &mid
// run: get grid=2,1,1 block=8,1,1
// param: &mid &out
// run: put grid=2,1,1 block=8,1,1
// param: &mid
.version 8.5
.target sm_90
.address_size 64

.visible .entry put(.param .u64 mid)
{
    .reg .b32 %b, %t, %v;
    .reg .b64 %m, %d;
    ld.param.u64 %m, [mid];
    mov.u32 %b, %ctaid.x;
    mov.u32 %t, %tid.x;
    mad.lo.u32 %t, %b, 8, %t;
    mul.wide.u32 %d, %t, 4;
    add.u64 %m, %m, %d;
    mad.lo.u32 %v, %t, 3, 1;
    st.global.u32 [%m], %v;
    ret;
}

.visible .entry get(.param .u64 mid, .param .u64 out)
{
    .reg .pred %p, %q;
    .reg .b32 %b, %t, %s, %k, %v, %w;
    .reg .b64 %m, %o, %d;
    ld.param.u64 %m, [mid];
    ld.param.u64 %o, [out];
    mov.u32 %b, %ctaid.x;
    mov.u32 %t, %tid.x;
    mad.lo.u32 %t, %b, 8, %t;
    rem.u32 %k, %t, 3;
    add.u32 %s, %t, 8;
    and.b32 %s, %s, 15;
    mul.wide.u32 %d, %s, 4;
    add.u64 %m, %m, %d;
    mul.wide.u32 %d, %t, 4;
    add.u64 %o, %o, %d;
    mov.u32 %v, 0;
    mov.u32 %w, 0;
    setp.lt.u32 %p, %k, 2;
    setp.eq.u32 %q, %k, 1;
    @%p ld.global.u32 %v, [%m];
    @%q ld.global.u32 %w, [%m];
    add.u32 %v, %v, %w;
    st.global.u32 [%o], %v;
    ret;
}
";

pub(super) fn put_and_get() -> Arc<CapsuleTarget> {
    let script = read("put_and_get.ptx".as_ref(), PUT_AND_GET).unwrap();
    Arc::new(CapsuleTarget::new(Golden::run(capsule_of(&script).unwrap()).unwrap()))
}

/// How often the word that a thread of `put` stores is loaded.
fn loads(thread: usize) -> usize {
    let reader = (thread + 8) % 16;
    [1, 2, 0][reader % 3]
}

#[test]
fn stores_have_one_list_if_the_same_loads_read_them() {
    let capsule = put_and_get();
    let golden = capsule.golden_run();
    let lists = StoreLists::of(golden, &[true; 3], (1_000, 1_000));
    assert!(!lists.is_cut());
    let [put, get, again] = [0, 1, 2].map(|launch| {
        let lists = lists.of_launch(launch, 16).unwrap();
        (0..16).map(|thread| lists.of(thread).to_vec()).collect::<Vec<_>>()
    });
    assert!([&put, &get, &again].iter().all(|lists| lists.iter().all(|of_thread| of_thread.len() == 1)));
    let mut by_loads: BTreeMap<usize, BTreeSet<u128>> = BTreeMap::new();
    (0..16).for_each(|thread| by_loads.entry(loads(thread)).or_default().extend(&put[thread]));
    assert!(by_loads.len() == 3 && by_loads.values().all(|lists| lists.len() == 1));
    let different: BTreeSet<u128> = by_loads.into_values().flatten().collect();
    assert_eq!(different.len(), 3);
    // What nothing but the same copies to the host reads has one list.
    assert!([get, again].iter().all(|lists| lists.iter().all(|of_thread| *of_thread == lists[0])));
}

#[test]
fn launches_with_more_stores_than_are_kept_have_no_lists() {
    let capsule = put_and_get();
    let golden = capsule.golden_run();
    let lists = StoreLists::of(golden, &[true; 3], (20, 1_000));
    assert!(lists.is_cut());
    assert_eq!([0, 1, 2].map(|launch| lists.of_launch(launch, 16).is_some()), [true, false, false]);
    assert!(StoreLists::of(golden, &[true; 3], (1_000, 0)).is_cut());
}

#[test]
fn classes_of_stored_values_are_those_of_the_lists() {
    let capsule = put_and_get();
    let json = estimated(&capsule, "coverage=1");
    let put = json["by_kernel"].as_array().unwrap().iter().find(|it| it["kernel"] == "put").unwrap();
    let stores = &put["sites"]["heuristics"]["stores"];
    let count = |key: &str| stores[key].as_u64().unwrap();
    // The second launch of the kernel has a list of its own, or that of words that are never loaded.
    let by_control = count("classes_by_control");
    assert!(by_control > 0 && (3 * by_control..=4 * by_control).contains(&count("classes")), "{stores}");
    let without = estimated(&capsule, "coverage=1,stores=false");
    assert_eq!(without["sites"]["heuristics"]["stores"]["sites"], 0);
    assert_eq!(without["sites"]["all"], json["sites"]["all"]);
    // Every member is drawn as the pilot of its class, and of no other one.
    let method = method(&capsule, "coverage=1");
    let mut members: Vec<BTreeSet<String>> = vec![BTreeSet::new(); method.runs() as usize];
    let mut weights = vec![0; members.len()];
    for seed in 0..400 {
        for (run, site) in all_sites(&method, seed).iter().enumerate() {
            members[run].insert(site.fault().unwrap().to_owned());
            weights[run] = site.weight;
        }
    }
    assert!(members.iter().zip(&weights).all(|(members, weight)| members.len() as u64 <= *weight));
    let all: BTreeSet<&String> = members.iter().flatten().collect();
    assert_eq!(all.len(), members.iter().map(BTreeSet::len).sum::<usize>());
}

#[test]
fn store_equivalence_changes_no_rate_where_every_site_is_a_class_of_its_own() {
    for capsule in ["inject_destinations", "guards"].map(kernel) {
        let of = |stores: &str| {
            estimated(&capsule, &format!("coverage=1,decisions=all,apart=threads+blocks+launches,stores={stores}"))
        };
        let (with, without) = (of("true"), of("false"));
        for class in [Class::Masked, Class::Sdc, Class::Due] {
            assert_eq!(with["outcomes"][class.word()]["count"], without["outcomes"][class.word()]["count"]);
        }
    }
}
