//! A machine that does as it is told: each fault's bit says what becomes of its run.

use super::*;
use crate::protocol::MachineInfo;
use capsule::{Capsule, Event, RecordedModule};
use rewrite::{BYTES, VARIABLE};
use std::collections::{BTreeMap, VecDeque};

const PTX: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %v;\n\
                   mov.u32 %v, 1;\nret;\n}\n";

/// What a run does.
#[derive(Clone, Copy)]
enum Does {
    Completes(u8),
    Fails,
    NothingFires,
}

/// How each run with a fault ends, in order; runs without one give a zero.
struct Scripted {
    runs: VecDeque<Does>,
    sessions: u32,
    /// Sessions that there are.
    most: u32,
}

impl Machine for Scripted {
    fn session(&mut self, serve: &mut dyn FnMut(&MachineInfo, &mut dyn Session) -> Next) -> Result<Next, String> {
        self.sessions += 1;
        if self.sessions > self.most {
            return Err("find a GPU".to_owned());
        }
        Ok(serve(&MachineInfo::default(), self))
    }
}

impl Session for Scripted {
    fn load(&mut self, texts: &BTreeMap<ModuleId, String>) -> Result<(), String> {
        assert!(texts[&ModuleId(0)].contains(VARIABLE));
        Ok(())
    }

    fn repeat(&mut self, armed: Option<&Armed<'_>>) -> Repeated {
        let does = if armed.is_none() { Does::NothingFires } else { self.runs.pop_front().unwrap() };
        let mut record = vec![0; BYTES as usize];
        let ended = match does {
            Does::Completes(byte) => {
                record[64] = 0x2a;
                record[80] = 1;
                Ended::Completed(vec![vec![byte]])
            }
            Does::NothingFires => Ended::Completed(vec![vec![0]]),
            Does::Fails => Ended::Failed("CUDA_ERROR_ILLEGAL_ADDRESS".to_owned()),
        };
        Repeated { ended, record: Some(record) }
    }
}

fn texts() -> Texts {
    let mut capsule = Capsule::new("scripted");
    let ptx = Some(capsule.blobs.add(PTX));
    capsule.modules.push(RecordedModule {
        id: ModuleId(0),
        ptx,
        binaries: Vec::new(),
        globals: Vec::new(),
        hardened: Vec::new(),
    });
    capsule.events.push(Event::Load { module: ModuleId(0) });
    Texts::of(&capsule).unwrap()
}

fn order(strays: &[bool]) -> BatchOrder {
    let fault = |(at, &strays): (usize, &bool)| FaultOrder {
        fault: format!("isa=ptx,launch=0,cta=0,thread=0,dyn=0,target=dst0,model=flip,bits={at}"),
        occurrence: 0,
        strays,
    };
    let faults = strays.iter().enumerate().map(fault).collect();
    BatchOrder { module: 0, function: 0, pc: 0, register: 0, bits: 32, offset: 0, faults }
}

/// What a worker says to batches, each answer in a word.
fn said(machine: &mut Scripted, orders: &[BatchOrder]) -> (Vec<String>, io::Result<()>) {
    let lines: Vec<String> = orders.iter().map(|order| serde_json::to_string(order).unwrap() + "\n").collect();
    let (mut said, outputs) = (Vec::new(), [Output::untyped(0)]);
    let done = work(machine, &texts(), &outputs, &mut lines.concat().as_bytes(), &mut said);
    let word = |line: &str| match serde_json::from_str(line).unwrap() {
        Answer::Started(_) => "started".to_owned(),
        Answer::Ready { copies } => format!("ready {}", copies.len()),
        Answer::Refused { reason } | Answer::Lost { reason } => reason,
        Answer::Renewing => "renewing".to_owned(),
        Answer::Done => "done".to_owned(),
        Answer::Fault { fault, end } => {
            let bit = fault.rsplit('=').next().unwrap_or_default().to_owned();
            match end {
                HardwareEnd::Completed { outputs, before, .. } => {
                    format!("{bit}: {} differ, hit {before}", outputs[0].differing)
                }
                HardwareEnd::NotFired => format!("{bit}: not fired"),
                HardwareEnd::Failed { name } => format!("{bit}: {name}"),
                other => format!("{bit}: {other:?}"),
            }
        }
    };
    (String::from_utf8(said).unwrap().lines().map(word).collect(), done)
}

#[test]
fn a_failure_costs_the_session_and_the_batch_goes_on_behind_it() {
    let runs = [Does::Completes(0), Does::Fails, Does::Completes(7), Does::NothingFires].into();
    let mut machine = Scripted { runs, sessions: 0, most: 9 };
    let (said, done) = said(&mut machine, &[order(&[false; 4])]);
    let expected = [
        "started",
        "ready 1",
        "0: 0 differ, hit 0x2a",
        "1: CUDA_ERROR_ILLEGAL_ADDRESS",
        "renewing",
        "started",
        "ready 1",
        "2: 1 differ, hit 0x2a",
        "3: not fired",
        "done",
    ];
    assert_eq!(said, expected);
    done.unwrap();
}

#[test]
fn a_fault_that_strays_is_the_last_of_its_session_and_of_a_batch_that_is_done_nothing_is_left() {
    let runs = [Does::Completes(0), Does::Completes(0)].into();
    let mut machine = Scripted { runs, sessions: 0, most: 9 };
    let (said, _) = said(&mut machine, &[order(&[true]), order(&[false])]);
    let run = "0: 0 differ, hit 0x2a";
    assert_eq!(said, ["started", "ready 1", run, "done", "started", "ready 1", run, "done"]);
}

#[test]
fn a_machine_that_is_not_there_is_told_and_one_that_is_gone_ends_the_process() {
    let mut absent = Scripted { runs: VecDeque::new(), sessions: 0, most: 0 };
    let (words, done) = said(&mut absent, &[order(&[false])]);
    assert_eq!(words, ["find a GPU"]);
    done.unwrap();
    let mut gone = Scripted { runs: [Does::Fails].into(), sessions: 0, most: 1 };
    let (words, done) = said(&mut gone, &[order(&[false; 2])]);
    assert_eq!(words.last().map(String::as_str), Some("renewing"));
    assert_eq!(done.unwrap_err().to_string(), "find a GPU");
}

#[test]
fn what_cannot_be_written_is_refused_and_what_means_nothing_ends_the_worker() {
    let mut machine = Scripted { runs: VecDeque::new(), sessions: 0, most: 9 };
    let nowhere = BatchOrder { pc: 1, ..order(&[false]) };
    let (words, _) = said(&mut machine, &[nowhere]);
    assert!(words[1].contains("ret has no operand dst0"), "{words:?}");
    let mut output = Vec::new();
    let done = work(&mut machine, &texts(), &[], &mut &b"nonsense\n"[..], &mut output);
    assert!(done.is_err());
}
