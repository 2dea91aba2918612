//! Workers that do what they should not, with the shell as the worker.

use super::*;
use crate::protocol::FaultOrder;

/// What a batch of so many faults came to, with workers that run a script.
fn told(script: &str, faults: usize) -> Result<Vec<PoolEvent>, PoolError> {
    let script = format!(
        "ready() {{ echo '{{\"ready\":{{\"copies\":[]}}}}'; }}
         answer() {{ echo \"{{\\\"fault\\\":{{\\\"fault\\\":\\\"$1\\\",\\\"end\\\":{{\\\"kind\\\":\\\"not_fired\\\"}}}}}}\"; }}
         first() {{ echo \"$1\" | sed 's/.*\"faults\":\\[{{\"fault\":\"\\([^\"]*\\)\".*/\\1/'; }}
         read -r line; {script}"
    );
    let command = || {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &script]);
        command
    };
    let pool = Pool { command: &command, jobs: 1, limit: Duration::from_secs(1) };
    let fault = |number| FaultOrder { fault: format!("fault{number}"), occurrence: 0, strays: false };
    let faults = (0..faults).map(fault).collect();
    let batch = BatchOrder { module: 0, function: 0, pc: 0, register: 0, bits: 32, offset: 0, faults };
    let mut all = Vec::new();
    pool.run(vec![batch], &AtomicBool::new(false), |one| all.push(one)).map(|()| all)
}

fn ended(number: u32, end: HardwareEnd) -> PoolEvent {
    PoolEvent::Fault(format!("fault{number}"), end)
}

#[test]
fn a_fault_that_keeps_its_worker_hangs_and_another_worker_goes_on_behind_it() {
    let keeps = "fault0) answer fault0; sleep 1000";
    let script = format!("ready; case $(first \"$line\") in {keeps};; *) answer fault2; echo '\"done\"';; esac");
    let ready = || PoolEvent::FaultFree(Vec::new());
    let expected = [
        ready(),
        ended(0, HardwareEnd::NotFired),
        ended(1, HardwareEnd::Hang),
        ready(),
        ended(2, HardwareEnd::NotFired),
    ];
    assert_eq!(told(&script, 3).unwrap(), expected);
}

#[test]
fn a_worker_that_has_answered_all_and_does_not_say_that_it_is_done_is_let_go() {
    let all = told("ready; answer fault0; sleep 1000", 1).unwrap();
    assert_eq!(all[1..], [ended(0, HardwareEnd::NotFired)]);
}

#[test]
fn a_worker_that_ends_or_says_what_means_nothing_has_died_of_its_fault() {
    for spoilt in ["kill -KILL $$", "echo nonsense", "exit 0"] {
        let script =
            format!("ready; case $(first \"$line\") in fault0) {spoilt};; *) answer fault1; echo '\"done\"';; esac");
        let all = told(&script, 2).unwrap();
        assert_eq!(all[1], ended(0, HardwareEnd::Died), "{spoilt}");
        assert_eq!(all[3], ended(1, HardwareEnd::NotFired), "{spoilt}");
    }
}

#[test]
fn a_batch_that_is_refused_is_told_with_the_reason_and_a_renewal_is_no_hang() {
    let refused = "echo '{\"refused\":{\"reason\":\"load it\"}}'; read -r line";
    let all = told(refused, 2).unwrap();
    assert_eq!(all, [PoolEvent::Refused(vec!["fault0".into(), "fault1".into()], "load it".into())]);
    let renewed = "ready; answer fault0; echo '\"renewing\"'; sleep 1.5; ready; answer fault1; echo '\"done\"'";
    let all = told(renewed, 2).unwrap();
    assert_eq!(all.last(), Some(&ended(1, HardwareEnd::NotFired)));
}

#[test]
fn a_worker_that_ends_between_two_sessions_is_followed_by_another_however_often() {
    let all = told("ready; answer $(first \"$line\"); echo '\"renewing\"'", 6).unwrap();
    let ends = all.iter().filter(|one| matches!(one, PoolEvent::Fault(_, HardwareEnd::NotFired))).count();
    assert_eq!(ends, 6);
}

#[test]
fn workers_that_never_begin_and_workers_that_have_nothing_to_work_on_end_the_pool() {
    assert!(matches!(told("exit 1", 1), Err(PoolError::FalseStarts)));
    let lost = told("echo '{\"lost\":{\"reason\":\"find a GPU\"}}'", 1).unwrap_err();
    assert_eq!(lost.to_string(), "find a GPU");
}

#[test]
fn nothing_is_begun_after_the_flag_is_raised() {
    let command = || Command::new("/nonexistent");
    let pool = Pool { command: &command, jobs: 1, limit: Duration::from_secs(1) };
    let faults = vec![FaultOrder { fault: "fault0".into(), occurrence: 0, strays: false }];
    let batch = BatchOrder { module: 0, function: 0, pc: 0, register: 0, bits: 32, offset: 0, faults };
    let mut all = Vec::new();
    pool.run(vec![batch], &AtomicBool::new(true), |one| all.push(one)).unwrap();
    assert_eq!(all, []);
}
