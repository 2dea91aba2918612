//! Sessions of cuda-gdb 13.0 on an H200, recorded and replayed: a shell says what the debugger said, as long as it is asked what
//! the debugger was asked. `records/cuda_gdb.md` says how they were recorded.

use crate::inject::{Discarded, Injection};
use crate::mi::{Session, Stop, address};
use crate::profile::{Code, Trace, TraceStep, listing, walk};
use crate::thread::{Entered, Thread};
use fault::Fault;
use outcome::{End, FirstUse, Observation};
use process::Reaper;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// Says the lines `< …` of a file, and expects the lines `> …` in between; at the end it is silent.
const REPLAY: &str = r#"
exec 3<"$1"
while IFS= read -r line <&3; do
    case $line in
    '> '*) IFS= read -r said || exit 0
        if [ "$said" != "${line#> }" ]; then
            printf '&"expected %s, and was told %s"\n' "${line#> }" "$said" | tr -d '"' | sed 's/^&\(.*\)$/\&"\1"/'
            exit 1
        fi ;;
    '< '*) printf '%s\n' "${line#< }" ;;
    esac
done
[ "$2" = silent ] && read -r said && cat >/dev/null
"#;

fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts").join(name)
}

/// A session in which the application's arguments are set.
fn session<'g>(reaper: &'g Reaper, transcript: &str, end: &str) -> Session<'g> {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(REPLAY).arg("replay").arg(data(transcript)).arg(end);
    Session::open(command, 1 << 20, reaper, None).unwrap()
}

/// The code of a kernel, and where it begins.
fn code(name: &str) -> (Code, u64) {
    let text = fs::read_to_string(data(&format!("{name}.code"))).unwrap();
    let base = address(text.split_whitespace().next().unwrap()).unwrap();
    (listing(&text, base), base)
}

/// The code of a kernel and the way of a thread, as they were recorded.
fn kernel(name: &str) -> (Code, Trace) {
    let (code, _) = code(name);
    let trace = fs::read_to_string(data(&format!("{name}.trace"))).unwrap();
    let steps = trace.lines().map(|line| {
        let (offset, executed) = line.split_once(' ').unwrap();
        TraceStep { offset: offset.parse().unwrap(), executed: executed == "1" }
    });
    (code, Trace { steps: steps.collect(), first: 1 })
}

/// What a recorded session comes to for a fault.
fn replayed(transcript: &str, id: &str, mangled: &str, shape: [[u32; 3]; 2]) -> Result<Observation, Discarded> {
    let way = kernel(transcript.split('-').next().unwrap());
    followed(transcript, id, mangled, shape, way)
}

/// The same, where the thread's group goes some way.
fn followed(
    transcript: &str,
    id: &str,
    mangled: &str,
    shape: [[u32; 3]; 2],
    (code, trace): (Code, Trace),
) -> Result<Observation, Discarded> {
    let reaper = Reaper::new().unwrap();
    let fault: Fault = id.parse().unwrap();
    let step = trace.step_of(fault.dynamic).unwrap();
    let operand = fault::operand(fault.target, &code[&trace.steps[step].offset].instruction.facts()).unwrap();
    let thread = Thread::new(fault.launch, mangled, fault.cta, fault.thread, shape[0], shape[1]);
    let mut session = session(&reaper, transcript, "silent");
    let arguments = "-exec-arguments  </dev/null >'/room/stdout' 2>'/room/stderr'";
    session.command(arguments).unwrap();
    let (fault, thread, code, trace, operand) = (&fault, &thread, &code, &trace, &operand);
    let time = Duration::from_millis(300);
    Injection { fault, thread, code, trace, step, operand, time }.observe(&mut session)
}

const GEMM: (&str, [[u32; 3]; 2]) = ("_Z4gemmILi16ELb1EEviiifPKfS1_fPf", [[6, 7, 1], [16, 16, 1]]);
const BLACKSCHOLES: (&str, [[u32; 3]; 2]) = ("_Z5pricePKfS0_S0_PfS1_iff", [[20, 1, 1], [128, 1, 1]]);
/// The last step of a reciprocal, at 0x750, before the `BSYNC` at 0x760.
const BEFORE_BSYNC: &str = "launch=0,cta=6,thread=105,dyn=88,target=dst0,model=flip,bits=13";
const PATHFINDER: (&str, [[u32; 3]; 2]) = ("_Z12advance_rowsPKiS0_Piiii", [[17, 1, 1], [128, 1, 1]]);

#[test]
fn a_flip_in_an_address_raises_an_exception() {
    let id = "launch=0,cta=32,thread=144,dyn=41,target=dst0,model=flip,bits=31";
    let seen = replayed("gemm-exception.mi", id, GEMM.0, GEMM.1).unwrap();
    let landed = seen.landed.unwrap();
    assert_eq!((landed.before, landed.after), (0x7ffd, 0x8000_7ffd));
    assert_eq!(seen.first_use, FirstUse::Read { after: 0 });
    let End::Trapped { trap, at, .. } = seen.end else { panic!("{:?}", seen.end) };
    assert_eq!((trap.word(), at.pc, at.line, at.after), ("out_of_range_address", 43, Some(41), 0));
    let debugged = seen.host.unwrap().debugged.unwrap();
    assert_eq!(debugged.exception.as_deref(), Some("CUDA_EXCEPTION_5"));
    assert_eq!((debugged.activated, debugged.steps, debugged.stops), (true, 1, 1));
}

#[test]
fn a_fault_in_a_later_launch_is_waited_for_until_it_is_used() {
    let id = "launch=7,cta=11,thread=62,dyn=121,target=dst0,model=flip,bits=5";
    let seen = replayed("pathfinder-detected.mi", id, PATHFINDER.0, PATHFINDER.1).unwrap();
    assert_eq!(seen.first_use, FirstUse::Read { after: 7 });
    assert_eq!(seen.end, End::Exited { code: 1 });
    let host = seen.host.unwrap();
    let debugged = host.debugged.unwrap();
    assert_eq!((host.status, debugged.activated, debugged.steps, debugged.stops), (Some(1), true, 1, 2));
}

#[test]
fn a_kernel_that_does_not_end_is_a_hang_when_its_time_is_over() {
    let id = "launch=3,cta=2,thread=45,dyn=26,target=dst0,model=flip,bits=18";
    let seen = replayed("pathfinder-hang.mi", id, PATHFINDER.0, PATHFINDER.1).unwrap();
    assert_eq!(seen.end, End::TimedOut);
    assert_eq!(seen.landed.unwrap().after, 0x40001);
}

#[test]
fn a_listing_that_counts_from_zero_in_each_slow_path_says_every_instruction_once() {
    let (code, _) = code("blackscholes");
    let opcode = |offset: u32| code[&offset].instruction.opcode.as_str();
    assert_eq!((code.len(), code.keys().next_back()), (400, Some(&0x18f0)));
    assert!(code.keys().enumerate().all(|(at, &offset)| offset == 16 * at as u32));
    // In the kernel, and as far into the slow path of the division.
    assert_eq!((opcode(0x260), opcode(0x11c0 + 0x260)), ("BRA", "MUFU.RCP"));
    assert_eq!((opcode(0x510), opcode(0x11c0 + 0x510)), ("FFMA", "LOP3.LUT"));
    // The slow paths of the reciprocal, the root and the division end by going back.
    assert_eq!([opcode(0x1030), opcode(0x11b0), opcode(0x1810)], ["RET.REL.NODEC"; 3]);
}

#[test]
fn the_way_of_a_thread_has_no_step_where_lanes_come_together() {
    let reaper = Reaper::new().unwrap();
    let (code, base) = code("blackscholes");
    let thread = Thread::new(0, BLACKSCHOLES.0, 6, 105, BLACKSCHOLES.1[0], BLACKSCHOLES.1[1]);
    let mut session = session(&reaper, "blackscholes-profile.mi", "silent");
    session.command("-exec-arguments  </dev/null >'/room/stdout' 2>'/room/stderr'").unwrap();
    // It is stepped from 0x750 over the `BSYNC` at 0x760, and then gone.
    let trace = walk(&mut session, &thread, &Entered { base, entry: 0x750 }, &code).unwrap().unwrap();
    let offsets: Vec<u32> = trace.steps.iter().map(|step| step.offset).collect();
    assert_eq!(offsets[trace.first..], [0x750, 0x770]);
    assert!(!offsets.contains(&0x2c0) && !offsets.contains(&0x660));
}

#[test]
fn a_step_may_end_where_lanes_come_together_or_go_on_over_it() {
    for (transcript, steps) in [("blackscholes-stops.mi", 2), ("blackscholes-passes.mi", 1)] {
        let seen = replayed(transcript, BEFORE_BSYNC, BLACKSCHOLES.0, BLACKSCHOLES.1).unwrap();
        assert_eq!(seen.first_use, FirstUse::Read { after: 15 });
        assert_eq!((seen.end, seen.landed.unwrap().after), (End::Exited { code: 1 }, 0x3f5b_3d42));
        let debugged = seen.host.unwrap().debugged.unwrap();
        assert_eq!((debugged.activated, debugged.steps, debugged.stops), (true, steps, 2), "{transcript}");
        assert!(debugged.latency.is_some());
    }
}

#[test]
fn a_thread_that_goes_another_way_behind_it_is_not_taken_for_one_of_the_group() {
    let (code, mut trace) = kernel("blackscholes");
    trace.steps.retain(|step| step.offset != 0x770);
    let seen = followed("blackscholes-stops.mi", BEFORE_BSYNC, BLACKSCHOLES.0, BLACKSCHOLES.1, (code, trace));
    let Err(Discarded::Unreached(reason)) = seen else { panic!("{seen:?}") };
    assert_eq!(reason, "follow the thread: it goes another way than its group, to +1904");
}

#[test]
fn a_crash_before_the_first_use_has_no_latency() {
    let seen = replayed("blackscholes-before-use.mi", BEFORE_BSYNC, BLACKSCHOLES.0, BLACKSCHOLES.1).unwrap();
    let End::Trapped { trap, .. } = seen.end else { panic!("{:?}", seen.end) };
    let debugged = seen.host.unwrap().debugged.unwrap();
    assert_eq!((trap.word(), debugged.activated, debugged.latency), ("illegal_address", false, None));
    assert_eq!(debugged.exception.as_deref(), Some("CUDA_ERROR_ILLEGAL_ADDRESS"));
}

#[test]
fn a_debugger_that_is_asked_something_else_is_no_outcome() {
    // Another thread than the one of the session.
    let id = "launch=0,cta=32,thread=145,dyn=41,target=dst0,model=flip,bits=31";
    match replayed("gemm-exception.mi", id, GEMM.0, GEMM.1) {
        Err(Discarded::Debugger(reason)) => assert!(reason.contains("cuda-gdb"), "{reason}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_error_of_the_driver_is_the_end_of_a_run() {
    let reaper = Reaper::new().unwrap();
    let mut session = session(&reaper, "driver-error.mi", "silent");
    let stop = session.resume("-exec-continue", Duration::from_secs(20)).unwrap();
    assert_eq!(stop, Stop::Driver { code: 700, name: "CUDA_ERROR_ILLEGAL_ADDRESS".to_owned() });
}

#[test]
fn an_internal_error_of_the_debugger_is_told_and_not_taken_for_the_programs() {
    let reaper = Reaper::new().unwrap();
    let mut session = session(&reaper, "internal-error.mi", "ends");
    let stop = session.resume("-exec-continue", Duration::from_secs(20)).unwrap();
    let Stop::Gone { said } = stop else { panic!("{stop:?}") };
    assert!(said.contains("internal-error: cuda_sstep_execute"), "{said}");
}
