//! Accesses that miss what a program was given end as on an H200, answer by answer.

use capsule::{Launch, ModuleId};
use device::{Device, Image, LaunchEnd};
use simt::TrapKind;

/// Each kernel accesses four bytes at a distance from something.
const KERNELS: &str = ".version 8.5
.target sm_90
.address_size 64
.const .align 4 .b8 constants[256];

.visible .entry global_read(.param .u64 at) {
    .reg .b64 %a; .reg .b32 %v;
    ld.param.u64 %a, [at];
    ld.global.u32 %v, [%a];
    ret;
}
.visible .entry global_write(.param .u64 at) {
    .reg .b64 %a;
    ld.param.u64 %a, [at];
    st.global.u32 [%a], 7;
    ret;
}
.visible .entry const_read(.param .u64 distance) {
    .reg .b64 %a, %d; .reg .b32 %v;
    ld.param.u64 %d, [distance];
    mov.u64 %a, constants;
    add.u64 %a, %a, %d;
    ld.const.u32 %v, [%a];
    ret;
}
.visible .entry shared_read(.param .u64 distance) {
    .shared .align 4 .b8 m[4100];
    .reg .b64 %d; .reg .b32 %v, %a, %e;
    ld.param.u64 %d, [distance];
    cvt.u32.u64 %e, %d;
    mov.u32 %a, m;
    add.u32 %a, %a, %e;
    ld.shared.u32 %v, [%a];
    ret;
}
.visible .entry shared_write(.param .u64 distance) {
    .shared .align 4 .b8 m[4100];
    .reg .b64 %d; .reg .b32 %a, %e;
    ld.param.u64 %d, [distance];
    cvt.u32.u64 %e, %d;
    mov.u32 %a, m;
    add.u32 %a, %a, %e;
    st.shared.u32 [%a], 7;
    ret;
}
.visible .entry generic_shared_read(.param .u64 distance) {
    .shared .align 4 .b8 m[4096];
    .reg .b64 %d, %a; .reg .b32 %v;
    ld.param.u64 %d, [distance];
    mov.u64 %a, m;
    cvta.shared.u64 %a, %a;
    add.u64 %a, %a, %d;
    ld.u32 %v, [%a];
    ret;
}
.visible .entry generic_shared_write(.param .u64 distance) {
    .shared .align 4 .b8 m[4096];
    .reg .b64 %d, %a;
    ld.param.u64 %d, [distance];
    mov.u64 %a, m;
    cvta.shared.u64 %a, %a;
    add.u64 %a, %a, %d;
    st.u32 [%a], 7;
    ret;
}
.visible .entry local_read(.param .u64 distance) {
    .local .align 16 .b8 m[256];
    .reg .b64 %d, %a; .reg .b32 %v;
    ld.param.u64 %d, [distance];
    mov.u64 %a, m;
    add.u64 %a, %a, %d;
    ld.local.u32 %v, [%a];
    ret;
}
.visible .entry local_write(.param .u64 distance) {
    .local .align 16 .b8 m[256];
    .reg .b64 %d, %a;
    ld.param.u64 %d, [distance];
    mov.u64 %a, m;
    add.u64 %a, %a, %d;
    st.local.u32 [%a], 7;
    ret;
}
.visible .entry generic_local_read(.param .u64 distance) {
    .local .align 16 .b8 m[256];
    .reg .b64 %d, %a; .reg .b32 %v;
    ld.param.u64 %d, [distance];
    mov.u64 %a, m;
    cvta.local.u64 %a, %a;
    add.u64 %a, %a, %d;
    ld.u32 %v, [%a];
    ret;
}
.visible .entry generic_local_write(.param .u64 distance) {
    .local .align 16 .b8 m[256];
    .reg .b64 %d, %a;
    ld.param.u64 %d, [distance];
    mov.u64 %a, m;
    cvta.local.u64 %a, %a;
    add.u64 %a, %a, %d;
    st.u32 [%a], 7;
    ret;
}
";

const ANSWERS: &str = include_str!("../../../../profiles/addresses/h200.csv");

/// The error of the driver that a trap becomes, or 0.
fn code(end: &LaunchEnd) -> u32 {
    match end {
        LaunchEnd::Completed { .. } => 0,
        LaunchEnd::Trapped(report) => match report.trap.kind {
            TrapKind::IllegalAddress | TrapKind::OutOfRangeAddress => 700,
            TrapKind::IllegalInstruction => 715,
            TrapKind::MisalignedAddress => 716,
            TrapKind::InvalidAddressSpace => 717,
            other => panic!("{other:?} is no answer to an access"),
        },
    }
}

/// What the machine answers to an access at a distance.
fn answer(memory: &str, access: &str, distance: i64) -> u32 {
    answer_at(memory, access, |start| start.wrapping_add_signed(distance))
}

/// What the machine answers to an access at what is made of the start of the first allocation, or of 0.
fn answer_at(memory: &str, access: &str, address: impl FnOnce(u64) -> u64) -> u32 {
    let mut device = Device::new();
    let module = ModuleId(0);
    device.load(module, "accesses", Image::ptx(KERNELS)).unwrap();
    let base = device.allocate(336_000).unwrap();
    for bytes in [8000, 8000] {
        device.allocate(bytes).unwrap();
    }
    let (memory, shared_bytes) = memory.strip_suffix("+1000").map_or((memory, 0), |memory| (memory, 1000));
    let from = if memory == "global" { base } else { 0 };
    let launch = Launch {
        module,
        kernel: format!("{}_{access}", memory.replace(' ', "_")),
        grid: [1; 3],
        block: [1; 3],
        shared_bytes,
        params: address(from).to_le_bytes().to_vec(),
        cooperative: false,
    };
    code(&device.launch(&launch).unwrap())
}

#[test]
fn every_answer_of_an_h200_is_given() {
    let mut wrong = Vec::new();
    let mut asked = 0;
    for line in ANSWERS.lines().filter(|line| !line.starts_with('#')).skip(1) {
        let [memory, access, distance, expected] = line.split(',').collect::<Vec<_>>()[..] else {
            panic!("{line}: expected four fields")
        };
        let found = answer(memory, access, distance.parse().unwrap());
        asked += 1;
        if found != expected.parse::<u32>().unwrap() {
            wrong.push(format!("{line}: found {found}"));
        }
    }
    assert!(asked > 600, "{asked} answers");
    assert!(wrong.is_empty(), "{} of {asked} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Which bits of a pointer and of an index a program on an H200 can lose without an error: one process for each bit.
#[test]
fn a_flipped_bit_of_a_pointer_or_an_index_leads_where_it_does_on_an_h200() {
    let pointer = |access: &str, bit: u32| answer_at("global", access, |start| start ^ (1 << bit)) == 0;
    let index = |bit: u32| {
        let flipped = 5 ^ (1 << bit);
        answer_at("global", "read", |start| start.wrapping_add_signed(i64::from(flipped) * 4)) == 0
    };
    assert_eq!((2..64).filter(|&bit| pointer("read", bit)).collect::<Vec<u32>>(), (2..28).collect::<Vec<u32>>());
    // Writes were tried from bit 18 to bit 40; that of bit 28 succeeded once.
    let writes = (18..41).filter(|&bit| bit != 28 && pointer("write", bit));
    assert_eq!(writes.collect::<Vec<u32>>(), (18..28).collect::<Vec<u32>>());
    assert_eq!((0..32).filter(|&bit| index(bit)).collect::<Vec<u32>>(), (0..25).collect::<Vec<u32>>());
}
