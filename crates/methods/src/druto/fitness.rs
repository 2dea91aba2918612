//! The fitness of an input (Equation 1): dynamic instructions of the dominant threads of one launch.

use inject::Golden;

/// The fitness of a kernel in a golden run: in the middle one of its launches (kernel-trace pruning, Section IV-B3), the
/// instructions of all threads that execute as many as any. None if it is never launched.
pub(super) fn fitness(golden: &Golden, kernel: &str) -> Option<f64> {
    let launches: Vec<_> = golden.launches().iter().filter(|launch| launch.program.name == kernel).collect();
    let launch = launches.get(launches.len() / 2)?;
    let most = launch.counts().iter().max()?;
    let dominant = launch.counts().iter().filter(|&count| count == most).count();
    Some(f64::from(most) * dominant as f64)
}

/// The kernel that executes the most instructions.
pub(super) fn main_kernel(golden: &Golden) -> Option<String> {
    let mut counts: Vec<(u64, &str)> = Vec::new();
    for launch in golden.launches() {
        let name = launch.program.name.as_str();
        match counts.iter_mut().find(|(_, known)| *known == name) {
            Some((count, _)) => *count += launch.thread_instructions(),
            None => counts.push((launch.thread_instructions(), name)),
        }
    }
    let most = counts.iter().map(|(count, _)| *count).max()?;
    counts.iter().find(|(count, _)| *count == most).map(|(_, name)| (*name).to_owned())
}
