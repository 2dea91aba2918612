//! Device code, and what it says about where it came from: its compiler, and the source files that its line tables name.

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use capsule::BinaryKind;

/// Device code as an application brought it.
#[derive(Debug, Default)]
pub(crate) struct DeviceCode<'a> {
    /// What to call it in errors.
    pub(crate) name: String,
    /// The PTX that runs.
    pub(crate) ptx: String,
    /// All else that came with it.
    pub(crate) binaries: Vec<(u32, BinaryKind, Cow<'a, [u8]>)>,
}

/// How compilers identify themselves, in comments of PTX and notes of cubins.
const TOOLS: &str = "Cuda compilation tools, release ";
/// Larger files are no sources.
const SOURCE_BYTES: u64 = 16 << 20;

/// The compiler that made the code. nvcc removes comments from the PTX that it embeds, but cubins beside it still tell.
pub(super) fn compiler(code: &DeviceCode<'_>) -> Option<String> {
    let cubins = code.binaries.iter().map(|(_, _, bytes)| bytes.as_ref());
    let texts = [code.ptx.as_bytes()].into_iter().chain(cubins);
    texts.into_iter().find_map(identification).or_else(|| version(&code.ptx))
}

/// The identification in some bytes.
fn identification(bytes: &[u8]) -> Option<String> {
    let start = bytes.windows(TOOLS.len()).position(|window| window == TOOLS.as_bytes())?;
    let rest = &bytes[start..];
    let end = rest.iter().position(|byte| !(b' '..=b'~').contains(byte)).unwrap_or(rest.len());
    Some(String::from_utf8_lossy(&rest[..end.min(200)]).trim().to_owned())
}

/// The version of PTX, if there is nothing better.
fn version(ptx: &str) -> Option<String> {
    let directive = |name: &str| ptx.lines().find_map(|line| line.trim().strip_prefix(name)).map(str::trim);
    Some(format!("PTX ISA {} for {}", directive(".version")?, directive(".target")?))
}

/// The source files that the line table names, each once.
pub(super) fn files(ptx: &str) -> Vec<String> {
    let mut files = Vec::new();
    for line in ptx.lines() {
        let Some(rest) = line.trim_start().strip_prefix(".file") else { continue };
        let mut quoted = rest.split('"');
        if let (Some(_), Some(path)) = (quoted.next(), quoted.next())
            && !path.is_empty()
            && !files.iter().any(|known| known == path)
        {
            files.push(path.to_owned());
        }
    }
    files
}

/// The text of a source file, if it can be read and belongs to the application. Headers of the system and of the CUDA
/// toolkit are left out: they are large, the same everywhere, and not the application's to give away.
pub(super) fn read(path: &Path) -> Option<Vec<u8>> {
    let system = ["/usr/include", "/usr/lib", "/usr/local/cuda", "/opt/nvidia"];
    let toolkit = |directory: &Path| directory.join("cuda_runtime_api.h").exists();
    if system.iter().any(|prefix| path.starts_with(prefix)) || path.ancestors().skip(1).any(toolkit) {
        return None;
    }
    let metadata = fs::metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > SOURCE_BYTES {
        return None;
    }
    fs::read(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsule::BinaryKind;

    #[test]
    fn the_compiler_is_found_in_ptx_or_beside_it() {
        let check = |code: &DeviceCode<'_>, expect: &str| assert_eq!(compiler(code).as_deref(), Some(expect));
        let ptx = "//\n// Cuda compilation tools, release 12.4, V12.4.131\n.version 8.4\n.target sm_80\n";
        check(
            &DeviceCode { ptx: ptx.to_owned(), ..DeviceCode::default() },
            "Cuda compilation tools, release 12.4, V12.4.131",
        );
        let mut code = DeviceCode { ptx: ".version 9.0\n.target sm_80\n".to_owned(), ..DeviceCode::default() };
        check(&code, "PTX ISA 9.0 for sm_80");
        let note = b"nvlink\0Cuda compilation tools, release 13.0, V13.0.88\0Build".as_slice();
        code.binaries.push((80, BinaryKind::Cubin, note.into()));
        check(&code, "Cuda compilation tools, release 13.0, V13.0.88");
    }

    #[test]
    fn files_of_a_line_table_are_listed_once() {
        let ptx = ".file 1 \"/a/k.cu\"\n  .file\t2 \"/a/b c.h\", 123, 4\n.file 3 \"/a/k.cu\"\n.file 4\n.loc 1 2 3\n";
        assert_eq!(files(ptx), ["/a/k.cu", "/a/b c.h"]);
    }

    #[test]
    fn headers_of_system_and_toolkit_are_left_out() {
        let directory = tempfile::tempdir().unwrap();
        let own = directory.path().join("own.cu");
        fs::write(&own, "own").unwrap();
        assert_eq!(read(&own).as_deref(), Some(b"own".as_slice()));
        fs::write(directory.path().join("cuda_runtime_api.h"), "").unwrap();
        assert_eq!(read(&own), None);
        assert_eq!(read(Path::new("/no/such/file.cu")), None);
    }
}
