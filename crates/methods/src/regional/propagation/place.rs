//! A source line that is named, and its instructions in the kernels of faults.

use fault::base_name;
use inject::Golden;
use simt::Program;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::kit::StudyError;
use crate::regional::copies::is_file;
use crate::regional::diagnosis::{sources, without_instructions};

/// A source line.
pub(super) struct LinePlace {
    /// The line, `FILE:LINE`.
    pub(super) name: String,
    /// By launch, the instructions of the line in its kernel; launches of a kernel share them.
    instructions: BTreeMap<u32, Arc<BTreeSet<u32>>>,
}

impl LinePlace {
    /// The line that `at` names, `FILE:LINE` or `LINE`, in the kernels of these launches.
    ///
    /// # Errors
    /// If it names none, or none of these kernels has an instruction of it.
    pub(super) fn of(golden: &Golden, launches: &BTreeSet<u32>, at: &str) -> Result<Self, StudyError> {
        let mut programs: Vec<(&Arc<Program>, Vec<u32>)> = Vec::new();
        for &launch in launches {
            let Some(program) = golden.launches().get(launch as usize).map(|it| &it.program) else { continue };
            match programs.iter_mut().find(|(known, _)| Arc::ptr_eq(known, program)) {
                Some((_, launches)) => launches.push(launch),
                None => programs.push((program, vec![launch])),
            }
        }
        let all = || programs.iter().flat_map(|(program, _)| sources(program));
        let places: BTreeSet<(String, u32)> = all().map(|(_, path, line)| (path.to_owned(), line)).collect();
        let (file, line) = named(at, &places, programs.first().map_or("", |(program, _)| own_file(program)))?;
        let name = format!("{}:{line}", file.rsplit('/').next().unwrap_or_default());
        if let Some(why) = without_instructions(&places, &file, [line, line], &name) {
            let kernels: BTreeSet<&str> = programs.iter().map(|(program, _)| base_name(&program.name)).collect();
            let kernels: Vec<&str> = kernels.into_iter().collect();
            let whose = if let [_] = kernels[..] { "the kernel of the fault" } else { "the kernels of the faults" };
            return Err(StudyError::Words(format!("stop at {at} in {}, {whose}: {why}", kernels.join(", "))));
        }
        let on_line = |program: &Program| {
            let here = sources(program).filter(|(_, path, of)| is_file(path, &file) && *of == line);
            Arc::new(here.map(|(at, ..)| at as u32).collect::<BTreeSet<u32>>())
        };
        let of_program = |(program, launches): &(&Arc<Program>, Vec<u32>)| {
            let instructions = on_line(program);
            launches.iter().map(|&launch| (launch, Arc::clone(&instructions))).collect::<Vec<_>>()
        };
        let instructions = programs.iter().flat_map(of_program).collect();
        Ok(Self { name, instructions })
    }

    /// The instructions of the line in the kernel of a launch, if it has some.
    pub(super) fn instructions(&self, launch: u32) -> Option<&BTreeSet<u32>> {
        self.instructions.get(&launch).map(|it| &**it).filter(|it| !it.is_empty())
    }
}

/// The file of a kernel: its first instruction is of the kernel itself, by its outermost place.
fn own_file(program: &Program) -> &str {
    let first = sources(program).next().map_or(0, |(at, ..)| at);
    sources(program).take_while(|(at, ..)| *at == first).last().map_or("", |(_, path, _)| path)
}

/// The file and the line that are named; without a file, that which has the line among these places, or else `own`.
fn named(at: &str, places: &BTreeSet<(String, u32)>, own: &str) -> Result<(String, u32), StudyError> {
    let (file, line) = at.rsplit_once(':').map_or((None, at), |(file, line)| (Some(file), line));
    let line: Option<u32> = line.parse().ok().filter(|&line| line > 0);
    let Some(line) = line.filter(|_| file != Some("")) else {
        return Err(StudyError::Words(format!("stop at `{at}`: expected FILE:LINE or LINE, a line from 1 on")));
    };
    if let Some(file) = file {
        return Ok((file.to_owned(), line));
    }
    let files: Vec<&str> = places.iter().filter(|(_, of)| *of == line).map(|(path, _)| path.as_str()).collect();
    match files[..] {
        [] => Ok((own.to_owned(), line)),
        [file] => Ok((file.to_owned(), line)),
        _ => Err(StudyError::Words(format!(
            "stop at line {line}: {} have one; say which with FILE:{line}",
            files.join(" and ")
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_a_file_is_of_the_file_that_has_it() {
        let places = BTreeSet::from([("/a/k.cu", 3), ("/a/k.cu", 7), ("/a/k.cuh", 7), ("/a/k.cuh", 9)]);
        let places = places.into_iter().map(|(path, line)| (path.to_owned(), line)).collect();
        let named = |at| named(at, &places, "/a/k.cu").map_err(|error| error.to_string());
        let found = |file: &str, line| Ok((file.to_owned(), line));
        assert_eq!(named("3"), found("/a/k.cu", 3));
        assert_eq!(named("9"), found("/a/k.cuh", 9));
        assert_eq!(named("5"), found("/a/k.cu", 5));
        assert_eq!(named("k.cuh:7"), found("k.cuh", 7));
        let several = named("7").unwrap_err();
        assert!(several.contains("/a/k.cu and /a/k.cuh have one; say which with FILE:7"), "{several}");
        for at in ["", ":3", "k.cu:", "0", "-1", "3-4", "k.cu"] {
            assert!(named(at).unwrap_err().contains("expected FILE:LINE or LINE"), "{at}");
        }
    }
}
