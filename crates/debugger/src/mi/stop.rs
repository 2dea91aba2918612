//! Why a program in the debugger stands still.

use crate::mi::record::Results;

/// A thread of the GPU, by the coordinates of its block and its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Focus {
    pub(crate) block: [u64; 3],
    pub(crate) thread: [u64; 3],
}

/// Why everything stands still.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// On the GPU, before an instruction: at a breakpoint, at the start of a kernel, after a step.
    Device { focus: Focus, pc: u64, function: String },
    /// The hardware reports an exception.
    Exception { name: String, meaning: String, pc: Option<u64>, line: Option<u32> },
    /// The driver reports an error that ends all work of the application on the GPU; the application still runs.
    Driver { code: u32, name: String },
    /// The application ended itself.
    Exited { code: i32 },
    /// A signal stopped or ended the application.
    Signalled { name: String },
    /// On the host.
    Host,
    /// Nothing happened in time; everything runs.
    Late,
    /// The debugger itself is gone.
    Gone { said: String },
}

impl Stop {
    /// Reads the results of `*stopped`.
    pub(crate) fn of(results: &Results) -> Self {
        let reason = results.text("reason").unwrap_or_default();
        let signal = results.text("signal-name").unwrap_or_default();
        let frame = results.tuple("frame");
        match reason {
            "exited-normally" => Self::Exited { code: 0 },
            "exited" => {
                // The machine interface writes the code in octal.
                let code = results.text("exit-code").and_then(|code| i32::from_str_radix(code, 8).ok());
                Self::Exited { code: code.unwrap_or(-1) }
            }
            "exited-signalled" => Self::Signalled { name: signal.to_owned() },
            _ if signal.starts_with("CUDA_EXCEPTION") => Self::Exception {
                name: signal.to_owned(),
                meaning: results.text("signal-meaning").unwrap_or_default().to_owned(),
                pc: results.text("pc").and_then(address),
                line: results.text("line").and_then(|line| line.parse().ok()),
            },
            "signal-received" => Self::Signalled { name: signal.to_owned() },
            _ => {
                let focus = results.tuple("CudaFocus").and_then(Focus::of);
                let pc = frame.and_then(|frame| frame.text("addr")).and_then(address);
                let function = frame.and_then(|frame| frame.text("func")).unwrap_or_default().to_owned();
                match (focus, pc) {
                    (Some(focus), Some(pc)) => Self::Device { focus, pc, function },
                    _ => Self::Host,
                }
            }
        }
    }

    /// What happened, in words that follow "it" or the name of the application.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Device { pc, .. } => format!("stopped on the GPU at {pc:#x}"),
            Self::Exception { name, meaning, .. } => format!("raised {name} ({meaning})"),
            Self::Driver { code, name } => format!("got error {code} ({name}) from the driver"),
            Self::Exited { code } => format!("ended with code {code}"),
            Self::Signalled { name } => format!("got the signal {name}"),
            Self::Host => "stopped on the host".to_owned(),
            Self::Late => "did not stop in time".to_owned(),
            Self::Gone { said } if said.is_empty() => "was lost: cuda-gdb ended".to_owned(),
            Self::Gone { said } => format!("was lost: cuda-gdb ended after `{said}`"),
        }
    }
}

impl Focus {
    fn of(results: &Results) -> Option<Self> {
        Some(Self { block: triple(results.text("blockIdx")?)?, thread: triple(results.text("threadIdx")?)? })
    }
}

/// `(1,2,3)`.
fn triple(text: &str) -> Option<[u64; 3]> {
    let inner = text.strip_prefix('(')?.strip_suffix(')')?;
    let numbers: Vec<u64> = inner.split(',').map(|part| part.trim().parse().ok()).collect::<Option<_>>()?;
    numbers.try_into().ok()
}

/// `0x7ffd…`.
pub(crate) fn address(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

/// The errors of the driver after which a context is of no use, as `cuda.h` numbers them: an illegal address, a launch
/// that took too long, an assertion, and 714 to 719: the stack, an illegal instruction, a misaligned address, an address
/// space, a program counter, an unspecified failure.
const FATAL: [u32; 9] = [700, 702, 710, 714, 715, 716, 717, 718, 719];

/// The error in what the debugger says when the driver returns one, if it is one that nothing comes after.
pub(crate) fn driver_error(text: &str) -> Option<Stop> {
    let (_, rest) = text.split_once("Cuda Driver error detected: Returning ")?;
    let (code, rest) = rest.split_once(' ')?;
    let name = rest.strip_prefix('(')?.split(')').next()?;
    let code = code.parse().ok().filter(|code| FATAL.contains(code))?;
    Some(Stop::Driver { code, name: name.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mi::record::Record;

    fn stop(line: &str) -> Stop {
        let Record::Notice { results, .. } = Record::parse(line) else { panic!("a notice: {line}") };
        Stop::of(&results)
    }

    #[test]
    fn every_stop_that_was_seen_is_told_apart() {
        let focus = r#"CudaFocus={blockIdx="(3,1,0)",threadIdx="(40,0,2)"}"#;
        assert_eq!(
            stop(&format!(r#"*stopped,{focus},reason="breakpoint-hit",frame={{addr="0x0010",func="k",args=[]}}"#)),
            Stop::Device { focus: Focus { block: [3, 1, 0], thread: [40, 0, 2] }, pc: 16, function: "k".into() }
        );
        assert_eq!(stop(r#"*stopped,reason="exited",exit-code="021""#), Stop::Exited { code: 17 });
        assert_eq!(stop(r#"*stopped,reason="exited-normally""#), Stop::Exited { code: 0 });
        let killed = Stop::Signalled { name: "SIGKILL".into() };
        assert_eq!(stop(r#"*stopped,reason="exited-signalled",signal-name="SIGKILL""#), killed);
        let raised = r#"*stopped,pc="0x20",line="53",reason="signal-received",signal-name="CUDA_EXCEPTION_6",signal-meaning="Warp Misaligned Address""#;
        let (name, meaning) = ("CUDA_EXCEPTION_6".to_owned(), "Warp Misaligned Address".to_owned());
        assert_eq!(stop(raised), Stop::Exception { name, meaning, pc: Some(32), line: Some(53) });
        assert_eq!(stop(r#"*stopped,reason="end-stepping-range",frame={addr="0x1",func="main"}"#), Stop::Host);
    }

    #[test]
    fn errors_of_the_driver_end_a_run_if_nothing_comes_after_them() {
        let text =
            "warning: Cuda Driver error detected: Returning 700 (CUDA_ERROR_ILLEGAL_ADDRESS) from cuMemcpyDtoH_v2\n";
        assert_eq!(driver_error(text), Some(Stop::Driver { code: 700, name: "CUDA_ERROR_ILLEGAL_ADDRESS".into() }));
        assert_eq!(driver_error(&text.replace("700", "100")), None);
        assert_eq!(driver_error("warning: something else"), None);
    }
}
