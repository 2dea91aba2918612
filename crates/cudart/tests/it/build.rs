//! Building the test application.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cudart::runner::Application;
use tempfile::TempDir;

/// Device code in every compression.
const PLAIN: &[u8] = include_bytes!("../../src/fatbin/samples/plain.fatbin");
pub(crate) const ZSTD: &[u8] = include_bytes!("../../src/fatbin/samples/zstd.fatbin");
pub(crate) const LZ4: &[u8] = include_bytes!("../../src/fatbin/samples/lz4.fatbin");

/// An application in a directory of its own.
pub(crate) struct App {
    pub(crate) directory: TempDir,
    pub(crate) program: PathBuf,
}

/// What an application printed and how it ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Printed {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl App {
    /// The application for CUDA 13 with plain device code.
    pub(crate) fn new() -> Self {
        Self::of("libcudart.so.13", PLAIN)
    }

    /// The application linked against a runtime of this name and version, as the linker knows it, with this device
    /// code.
    pub(crate) fn of(runtime: &str, fatbin: &[u8]) -> Self {
        Self::build("app.c", runtime, fatbin, "-Wall")
    }

    /// The application that calls what differs between versions, built for one.
    pub(crate) fn of_versions(version: u32) -> Self {
        Self::build("abi.c", &format!("libcudart.so.{version}"), PLAIN, &format!("-DCUDA={version}"))
    }

    fn build(source: &str, runtime: &str, fatbin: &[u8], option: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("my app");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it").join(source);
        let code = directory.path().join("fatbin.c");
        fs::write(&code, constant("fatbin", fatbin)).unwrap();
        let library = link_time_runtime(directory.path(), runtime);
        cc(&["-O1", "-g", option, "-o"], &[&program, &source, &code, &library]);
        fs::remove_file(library).unwrap();
        Self { directory, program }
    }

    /// A path beside the application.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Runs it, recording if a capsule is named.
    pub(crate) fn run(&self, what: &str, record: Option<&str>) -> Printed {
        self.run_with(what, record, false)
    }

    /// Runs it with its errors explained.
    pub(crate) fn run_explained(&self, what: &str) -> Printed {
        self.run_with(what, None, true)
    }

    fn run_with(&self, what: &str, record: Option<&str>, explain: bool) -> Printed {
        let run = Application {
            program: self.program.clone().into(),
            args: vec![what.into()],
            record: record.map(|name| self.path(name)),
            explain,
        };
        let output = run.command().unwrap().output().unwrap();
        Printed {
            status: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// A constant in C.
fn constant(name: &str, bytes: &[u8]) -> String {
    let mut text = format!("const unsigned char {name}[] __attribute__((aligned(8))) = {{");
    for byte in bytes {
        write!(text, "{byte},").unwrap();
    }
    text + "};\n"
}

/// A library to link against, with the symbols of the real one under its version.
pub(crate) fn link_time_runtime(directory: &Path, name: &str) -> PathBuf {
    let symbols = include_str!("symbols.txt").lines();
    let functions: String = symbols.map(|symbol| format!("int {symbol}(void) {{ return 999; }}\n")).collect();
    let (source, script) = (directory.join("runtime.c"), directory.join("runtime.map"));
    fs::write(&source, functions).unwrap();
    fs::write(&script, format!("{name} {{ global: *; }};\n")).unwrap();
    let library = directory.join("libcudart.so");
    let script = format!("-Wl,--version-script={}", script.display());
    cc(&["-w", "-shared", "-fPIC", &format!("-Wl,-soname,{name}"), &script, "-o"], &[&library, &source]);
    library
}

fn cc(options: &[&str], files: &[&Path]) {
    let status = Command::new("cc").args(options).args(files).status().unwrap();
    assert!(status.success(), "cc {options:?} {files:?}");
}
