//! Ends of processes, with the shell as the application.

use super::*;
use std::path::Path;

fn reaper() -> Reaper {
    Reaper::new().unwrap()
}

fn shell(script: &str, seconds: f64, reaper: &Reaper) -> ProcessEnd {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]);
    let limits = Limits { time: Duration::from_secs_f64(seconds), file_bytes: 1 << 20, files: &[] };
    run(command, &limits, reaper).unwrap()
}

/// Whether a process is there and has not ended.
fn lives(number: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/stat", number.trim()));
    // The state follows the name, which is in parentheses.
    status.is_ok_and(|status| !status.rsplit(')').next().unwrap_or_default().trim_start().starts_with(['Z', 'X']))
}

/// Waits until a process has ended.
fn gone(number: &str) {
    let Ok(handle) = system::process_handle(number.trim().parse().unwrap()) else { return };
    // SAFETY: it was opened for us.
    let handle = unsafe { OwnedFd::from_raw_fd(handle) };
    #[expect(clippy::disallowed_methods, reason = "a test that fails rather than waits for ever")]
    let end = Instant::now() + Duration::from_secs(20);
    assert!(system::wait(handle.as_raw_fd(), Some(end)).unwrap(), "process {number} is still there");
}

#[test]
fn codes_signals_and_outputs_are_told() {
    let reaper = reaper();
    let ended = shell("echo out; echo err >&2; exit 3", 20.0, &reaper);
    assert_eq!((ended.code(), ended.signal()), (Some(3), None));
    assert_eq!((&ended.stdout[..], &ended.stderr[..]), (&b"out\n"[..], &b"err\n"[..]));
    let ended = shell("kill -SEGV $$", 20.0, &reaper);
    assert_eq!((ended.code(), ended.signal()), (None, Some(11)));
}

#[test]
fn time_that_is_over_ends_grandchildren_that_ignore_being_asked() {
    let reaper = reaper();
    let script = "trap '' TERM; (trap '' TERM; sleep 1000) & echo $!; sleep 1000";
    let ended = shell(script, 0.2, &reaper);
    assert!(ended.status.is_none());
    assert!(ended.seconds < 15.0, "{}", ended.seconds);
    gone(std::str::from_utf8(&ended.stdout).unwrap());
}

#[test]
fn a_group_that_ends_when_it_is_asked_is_not_waited_for() {
    let ended = shell("sleep 1000", 0.1, &reaper());
    assert!(ended.status.is_none() && ended.seconds < 1.0, "{}", ended.seconds);
}

#[test]
fn what_is_left_of_a_group_ends_with_its_leader() {
    let ended = shell("sleep 1000 & echo $!", 20.0, &reaper());
    assert_eq!(ended.code(), Some(0));
    gone(std::str::from_utf8(&ended.stdout).unwrap());
}

#[test]
fn outputs_and_files_are_bounded() {
    let reaper = reaper();
    let ended = shell("exec cat /dev/zero", 20.0, &reaper);
    assert_eq!(ended.signal(), Some(25));
    assert_eq!(ended.stdout.len(), 1 << 20);
}

#[test]
fn only_files_that_are_named_are_inherited() {
    let reaper = reaper();
    let (named, other) = (sealed_file(b"hello").unwrap(), sealed_file(b"no").unwrap());
    assert!(io::Write::write_all(&mut &named, b"x").is_err());
    let mut command = Command::new("/bin/sh");
    let read = |file: &File| format!("cat /proc/self/fd/{} 2>/dev/null", file.as_raw_fd());
    command.args(["-c", &format!("{}; {}; true", read(&named), read(&other))]);
    let limits = Limits { time: Duration::from_secs(20), file_bytes: 1 << 20, files: &[&named] };
    assert_eq!(run(command, &limits, &reaper).unwrap().stdout, b"hello");
}

#[test]
fn a_process_whose_addresses_are_fixed_has_its_memory_where_every_other_has_it_if_the_system_allows_that() {
    let reaper = reaper();
    let allowed = system::fix_addresses().is_ok();
    let told = || {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "exec cat /proc/self/maps"]);
        fix_addresses(&mut command);
        let limits = Limits { time: Duration::from_secs(20), file_bytes: 1 << 20, files: &[] };
        run(command, &limits, &reaper).unwrap().stdout
    };
    let (one, other) = (told(), told());
    assert!(!one.is_empty() && (one == other || !allowed));
}

#[test]
fn a_guard_whose_owner_is_gone_kills_the_groups_that_are_left_and_removes_the_directory() {
    let mut reaper = reaper();
    let directory = reaper.directory().to_owned();
    std::fs::write(directory.join("file"), "").unwrap();
    std::fs::create_dir(directory.join("sub")).unwrap();
    let mut left = Command::new("/bin/sleep").arg("1000").process_group(0).spawn().unwrap();
    let mut kept = Command::new("/bin/sleep").arg("1000").process_group(0).spawn().unwrap();
    let mut line = reaper.line.take().unwrap();
    let groups = [left.id(), kept.id()];
    io::Write::write_all(&mut line, format!("+1\n-1\n+{}\n+{}\n-{}\n", groups[0], groups[1], groups[1]).as_bytes())
        .unwrap();
    drop(line);
    reaper.shell.wait().unwrap();
    assert_eq!(left.wait().unwrap().signal(), Some(9));
    assert!(lives(&kept.id().to_string()) && !directory.exists());
    kept.kill().unwrap();
    kept.wait().unwrap();
}

#[test]
fn nothing_is_left_when_all_is_done() {
    let reaper = reaper();
    let directory = reaper.directory().to_owned();
    let shell = reaper.shell.id().to_string();
    drop(reaper);
    assert!(!directory.exists() && !Path::new(&format!("/proc/{shell}")).exists());
}

#[test]
fn a_dialogue_is_heard_line_by_line_and_never_longer_than_is_waited() {
    #[expect(clippy::disallowed_methods, reason = "how long there is to wait")]
    let soon = |seconds| Instant::now() + Duration::from_secs_f64(seconds);
    let reaper = reaper();
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "sleep 1000 & echo $!; while read -r line; do echo \"got $line\"; done; printf 'no end'"]);
    let limits = Limits { time: Duration::from_secs(20), file_bytes: 1 << 20, files: &[] };
    let mut dialogue = Dialogue::start(command, &limits, &reaper).unwrap();
    let ChildOutput::Line(sleeper) = dialogue.hear(soon(20.0)).unwrap() else { panic!("a number was to be said") };
    dialogue.say("this").unwrap();
    assert_eq!(dialogue.hear(soon(20.0)).unwrap(), ChildOutput::Line("got this".to_owned()));
    assert_eq!(dialogue.hear(soon(0.05)).unwrap(), ChildOutput::Late);
    assert!(lives(&sleeper));
    drop(dialogue);
    gone(&sleeper);
}

#[test]
fn a_dialogue_ends_when_the_process_does() {
    let reaper = reaper();
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "echo last"]);
    let limits = Limits { time: Duration::from_secs(20), file_bytes: 1 << 20, files: &[] };
    let mut dialogue = Dialogue::start(command, &limits, &reaper).unwrap();
    #[expect(clippy::disallowed_methods, reason = "how long there is to wait")]
    let end = Instant::now() + Duration::from_secs(20);
    assert_eq!(dialogue.hear(end).unwrap(), ChildOutput::Line("last".to_owned()));
    assert_eq!(dialogue.hear(end).unwrap(), ChildOutput::Closed);
}

/// A process of its own, which [`what_is_printed_by_others_does_not_reach_a_standard_output_that_is_taken`] starts.
#[test]
#[ignore = "takes the standard output of its process"]
#[expect(clippy::print_stdout, reason = "this is what must not be seen")]
fn prints_beside_its_answers() {
    use std::io::Write;
    let mut answers = take_standard_output().unwrap();
    println!("printed by a kernel");
    Command::new("/bin/sh").args(["-c", "echo printed by a driver"]).status().unwrap();
    answers.write_all(b"the answer\n").unwrap();
}

#[test]
fn what_is_printed_by_others_does_not_reach_a_standard_output_that_is_taken() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "tests::prints_beside_its_answers", "--ignored", "--nocapture"]);
    let output = command.output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("the answer\n") && !text.contains("printed by"), "{text}");
}
