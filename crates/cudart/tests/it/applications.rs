//! What applications see, and what is recorded of them.

use std::fs;

use capsule::{AllocKind, Capsule, Event};

use crate::build::{App, LZ4, Printed, ZSTD};

fn printed(status: i32, stdout: &str, stderr: &str) -> Printed {
    Printed { status: Some(status), stdout: stdout.to_owned(), stderr: stderr.to_owned() }
}

const DOUBLED: &str = "launch: cudaSuccess\n6 80\n";

#[test]
fn an_application_runs_and_nothing_else_is_printed() {
    assert_eq!(App::new().run("", None), printed(0, DOUBLED, ""));
}

#[test]
fn applications_of_both_versions_and_all_compressions_run() {
    for runtime in ["libcudart.so.12", "libcudart.so.13"] {
        for fatbin in [LZ4, ZSTD] {
            assert_eq!(App::of(runtime, fatbin).run("", None), printed(0, DOUBLED, ""));
        }
    }
}

#[test]
fn an_application_that_opens_the_runtime_itself_finds_it() {
    assert_eq!(App::new().run("opened", None), printed(0, "0 1\n", ""));
}

#[test]
fn memory_of_both_sides_is_seen_by_both() {
    let app = App::new();
    let expect = "allocate: cudaSuccess\n6 80\n10 160\nfree: cudaSuccess\n";
    assert_eq!(app.run("managed", None), printed(0, expect, ""));
    assert_eq!(app.run("pinned", None), printed(0, expect, ""));
}

#[test]
fn what_the_host_has_no_memory_for_is_an_error_and_the_rest_goes_on() {
    let expect = "allocate: cudaSuccess\nfill all: cudaErrorMemoryAllocation\nfill a part: cudaSuccess\n\
        copy too much: cudaErrorMemoryAllocation\nclear all: cudaSuccess\ncopy a part: cudaSuccess\n2 0\n";
    assert_eq!(App::new().run("filled", None), printed(0, expect, ""));
}

#[test]
fn a_heap_of_device_code_is_rounded_up_and_no_larger_than_the_device_can_give() {
    let rest = "a little: cudaSuccess, some\nset again: cudaErrorInvalidValue\nall but 1 MiB: cudaSuccess, some\n";
    let asked = |bytes: &str| App::new().run(&format!("heap {bytes}"), None);
    assert_eq!(asked("1099511627776"), printed(0, &format!("set: cudaSuccess\n8589934592\n{rest}"), ""));
    assert_eq!(asked("16777217"), printed(0, &format!("set: cudaSuccess\n16842752\n{rest}"), ""));
    let none = "set: cudaSuccess\n0\na little: cudaSuccess, none\nset again: cudaErrorInvalidValue\n\
        all but 1 MiB: cudaSuccess, none\n";
    assert_eq!(asked("18446744073709551615"), printed(0, none, ""));
}

#[test]
fn device_code_that_uses_more_than_the_host_has_is_an_error_of_its_launch() {
    let Printed { status, stdout, stderr } = App::new().run("crowded", None);
    let expect = "a little: cudaSuccess, some\n4 GiB, all of it used: cudaErrorMemoryAllocation, some\n\
        synchronize: cudaSuccess\nallocate: cudaSuccess\nread: cudaSuccess\n";
    assert_eq!((status, stdout.as_str()), (Some(0), expect), "{stderr}");
    assert!(stderr.starts_with("beamline: failed to launch `take`: hold "), "{stderr}");
    assert!(stderr.contains("this machine has not so much left"), "{stderr}");
}

#[test]
fn the_error_of_a_kernel_is_told_later_and_stays() {
    let Printed { status, stdout, stderr } = App::new().run("trap", None);
    let expect = "launch: cudaSuccess\nlast error: cudaSuccess\n\
        synchronize: cudaErrorIllegalAddress\nallocate: cudaErrorIllegalAddress\n";
    assert_eq!((status, stdout.as_str()), (Some(0), expect));
    assert!(stderr.starts_with("beamline: illegal address in kernel twice"), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}

#[test]
fn a_call_that_is_not_supported_is_named_once() {
    let expect = "first: cudaErrorNotSupported\nsecond: cudaErrorNotSupported\n";
    let named = "beamline: cudaImportExternalMemory is not supported; it returned cudaErrorNotSupported\n";
    assert_eq!(App::new().run("unsupported", None), printed(0, expect, named));
}

#[test]
fn a_kernel_that_is_not_supported_is_refused_when_it_is_launched() {
    let app = App::new();
    let expect = "load: cudaSuccess\nkernel: cudaSuccess\nother: cudaSuccess\nlaunch: cudaSuccess\n9\n";
    assert_eq!(app.run("refused", Some("out.capsule")), printed(0, expect, ""));
    assert_eq!(Capsule::open(app.path("out.capsule")).unwrap().summary().launches, 1);
    let Printed { stdout, stderr, .. } = app.run("refused and launched", Some("none.capsule"));
    assert_eq!(stdout, format!("{expect}launch the other: cudaErrorInvalidPtx\nattributes: cudaErrorInvalidPtx\n"));
    let first = stderr.lines().next().unwrap_or_default();
    assert!(first.starts_with("beamline: failed to load the code of kernel `other`: line 2 of "), "{stderr}");
    assert!(first.contains("the instruction `wgmma.fence.sync.aligned` is not supported"), "{stderr}");
    assert_eq!(stderr.matches("wgmma").count(), 2, "{stderr}");
    assert!(!app.path("none.capsule").exists());
}

#[test]
fn a_recording_holds_what_the_application_asked_for() {
    let app = App::new();
    assert_eq!(app.run("copied", Some("out.capsule")), printed(0, DOUBLED, ""));
    let capsule = Capsule::open(app.path("out.capsule")).unwrap();
    assert_eq!((capsule.name.as_str(), capsule.modules.len()), ("my app", 1));
    assert_eq!(capsule.provenance.command, ["my app", "copied"]);
    let [
        Event::Alloc { address, bytes: 8, kind: AllocKind::Device },
        Event::CopyIn { to, data },
        Event::Load { .. },
        Event::Launch(launch),
        Event::CopyOut { from, .. },
        Event::Free { address: freed },
    ] = capsule.events.as_slice()
    else {
        panic!("{:?}", capsule.events)
    };
    assert_eq!((to.address, from.address, freed), (*address, *address, address));
    assert_eq!(capsule.blobs.get(*data).unwrap()[..], [3, 0, 0, 0, 40, 0, 0, 0]);
    assert_eq!((launch.kernel.as_str(), launch.params.as_slice()), ("twice", &address.to_le_bytes()[..]));
}

#[test]
fn the_same_run_gives_the_same_recording() {
    let app = App::new();
    for what in ["copied", "managed", "pinned"] {
        let [first, second] = ["first.capsule", "second.capsule"].map(|name| {
            app.run(what, Some(name));
            fs::read(app.path(name)).unwrap()
        });
        assert!(first == second, "{what}");
    }
}

#[test]
fn what_the_host_writes_to_shared_memory_is_recorded() {
    let app = App::new();
    app.run("managed", Some("out.capsule"));
    let capsule = Capsule::open(app.path("out.capsule")).unwrap();
    let written = capsule.events.iter().filter_map(|event| match event {
        Event::CopyIn { data, .. } => Some(capsule.blobs.get(*data).unwrap()[..].to_vec()),
        _ => None,
    });
    let expect = [[3, 0, 0, 0, 40, 0, 0, 0], [5, 0, 0, 0, 80, 0, 0, 0]];
    assert_eq!(written.collect::<Vec<_>>(), expect);
    assert_eq!(capsule.copies_out().count(), 2);
}

#[test]
fn what_the_host_could_see_in_pinned_memory_between_launches_is_recorded() {
    let app = App::new();
    assert_eq!(app.run("polled", Some("out.capsule")).stdout, "allocate: cudaSuccess\n42\n");
    let capsule = Capsule::open(app.path("out.capsule")).unwrap();
    let order: String = capsule
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Launch(_) => Some('L'),
            Event::CopyOut { .. } => Some('o'),
            _ => None,
        })
        .collect();
    assert_eq!(order, "LoLoLo");
    assert_eq!(capsule.default_outputs().len(), 1);
}

#[test]
fn the_lines_that_copy_to_the_host_are_recorded() {
    let app = App::new();
    app.run("exit", Some("out.capsule"));
    let capsule = Capsule::open(app.path("out.capsule")).unwrap();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/app.c");
    let text = fs::read_to_string(source).unwrap();
    let lines = &capsule.provenance.copy_lines;
    let copies: Vec<u32> = lines.iter().flat_map(|line| line.copies.clone()).collect();
    assert_eq!(copies, (0..capsule.copies_out().count() as u32).collect::<Vec<_>>());
    for known in lines {
        let (file, line) = known.line.rsplit_once(':').unwrap();
        let line = text.lines().nth(line.parse::<usize>().unwrap() - 1).unwrap();
        assert!(file == source && line.contains("cudaMemcpy("), "{known:?}: {line}");
    }
}

#[test]
fn a_recording_is_written_at_every_exit_but_abort_and_those_of_handlers() {
    let app = App::new();
    assert_eq!(app.run("exit", Some("exit.capsule")), printed(3, DOUBLED, ""));
    assert!(Capsule::open(app.path("exit.capsule")).is_ok());
    for way in ["_exit", "_Exit", "quick_exit"] {
        let name = format!("{way}.capsule");
        assert_eq!(app.run(way, Some(&name)), printed(0, DOUBLED, ""));
        assert_eq!(Capsule::open(app.path(&name)).unwrap().copies_out().count(), 1, "{way}");
    }
    for way in ["_exit3", "quick_exit3"] {
        let name = format!("{way}.capsule");
        assert_eq!(app.run(way, Some(&name)), printed(3, DOUBLED, ""));
        assert_eq!(Capsule::open(app.path(&name)).unwrap().copies_out().count(), 1, "{way}");
    }
    assert_eq!(app.run("handler", Some("handler.capsule")), printed(4, DOUBLED, ""));
    assert!(!app.path("handler.capsule").exists());
    assert_eq!(app.run("abort", Some("abort.capsule")).status, None);
    assert!(!app.path("abort.capsule").exists());
}

#[test]
fn launches_of_several_threads_are_recorded_in_one_of_several_orders_and_that_is_told() {
    let app = App::new();
    assert_eq!(app.run("threads", None), printed(0, "0\n", ""));
    let Printed { status, stdout, stderr } = app.run("threads", Some("out.capsule"));
    assert_eq!((status, stdout.as_str(), stderr.lines().count()), (Some(0), "0\n", 1), "{stderr}");
    assert!(stderr.starts_with("beamline: 2 threads of the application launched kernels"), "{stderr}");
    let capsule = Capsule::open(app.path("out.capsule")).unwrap();
    assert_eq!(capsule.summary().launches, 2);
    assert!(capsule.provenance.order_note().is_some_and(|note| stderr.contains(&note)));
}

#[test]
fn a_child_of_the_recorded_process_says_that_it_is_left_out() {
    let app = App::new();
    let Printed { status, stdout, stderr } = app.run("family", Some("out.capsule"));
    assert_eq!((status, stdout.as_str(), stderr.lines().count()), (Some(0), "0\n0\n", 1), "{stderr}");
    assert!(stderr.starts_with("beamline: what this process gives to the GPU is left out"), "{stderr}");
    assert_eq!(Capsule::open(app.path("out.capsule")).unwrap().summary().launches, 1);
    assert_eq!(app.run("family", None), printed(0, "0\n0\n", ""));
}

#[test]
fn a_recording_that_cannot_be_written_is_one_line() {
    let app = App::new();
    fs::create_dir(app.path("taken.capsule")).unwrap();
    let Printed { status, stdout, stderr } = app.run("", Some("taken.capsule"));
    assert_eq!((status, stdout.as_str()), (Some(0), DOUBLED));
    assert!(stderr.starts_with("beamline: failed to write capsule"), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}
