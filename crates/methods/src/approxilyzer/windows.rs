//! The next branch decisions from every step of a path, as hashes of 122 bits.

use facts::Control;
use inject::GoldenLaunch;
use inject::threads::TraceStep;

use super::settings::Settings;

/// A Mersenne prime: residues are words of 61 bits.
const PRIME: u64 = (1 << 61) - 1;

/// The bases of the two polynomials; any numbers below the prime.
const BASES: [u64; 2] = [0x0f3d_91ab_4c2e_7715, 0x1b56_c4e9_3f08_a2d3];

/// What stands for the end of a thread.
const END: u64 = 0x1e5d_0000_0000_0001;

/// The decisions of a path.
pub(super) struct Windows {
    /// By step, the first decision that is made there or later.
    first: Vec<u32>,
    /// By decision, the hash of all from it on; behind the last one that of the end.
    suffixes: Vec<[u64; 2]>,
    /// How many decisions a window has, and the bases to that power; none if it has all.
    length: Option<(usize, [u64; 2])>,
}

impl Windows {
    /// Those of a thread of a launch.
    pub(super) fn of(launch: &GoldenLaunch, path: &[TraceStep], settings: &Settings) -> Self {
        let mut symbols = Vec::new();
        let mut first = Vec::with_capacity(path.len());
        for (step, at) in path.iter().enumerate() {
            first.push(symbols.len() as u32);
            let next = path.get(step + 1).map_or(u32::MAX, |next| next.instruction);
            symbols.extend(decision(launch, *at, next, settings.guards));
        }
        let mut suffixes = vec![[END; 2]; symbols.len() + 1];
        for (at, &symbol) in symbols.iter().enumerate().rev() {
            let behind = suffixes[at + 1];
            suffixes[at] = [0, 1].map(|of| (multiply(behind[of], BASES[of]) + symbol % PRIME) % PRIME);
        }
        let length = settings.decisions.map(|length| (length as usize, BASES.map(|base| power(base, length))));
        Self { first, suffixes, length }
    }

    /// The hash of the decisions of a step and behind it.
    pub(super) fn from(&self, step: u32) -> u128 {
        let first = self.first[step as usize] as usize;
        let all = self.suffixes[first];
        let [low, high] = match self.length {
            Some((length, powers)) if first + length < self.suffixes.len() => {
                let behind = self.suffixes[first + length];
                [0, 1].map(|of| (all[of] + PRIME - multiply(behind[of], powers[of])) % PRIME)
            }
            _ => all,
        };
        u128::from(high) << 64 | u128::from(low)
    }
}

/// What an instruction decides, if it decides something: whether it executes, and where control goes.
fn decision(launch: &GoldenLaunch, at: TraceStep, next: u32, guards: bool) -> Option<u64> {
    let facts = launch.program.facts(at.instruction)?;
    let guarded = facts.guard.is_some();
    let decides = match &facts.control {
        Control::Jump(targets) => guarded || targets.len() > 1,
        // Where a return goes depends on the call.
        Control::Return => guarded || next != u32::MAX,
        Control::End | Control::Trap | Control::Call => guarded,
        Control::Next => guarded && guards,
    };
    let goes = if matches!(facts.control, Control::Next) { 0 } else { next };
    let word = u64::from(at.instruction) << 33 | u64::from(goes) << 1 | u64::from(at.executed);
    decides.then(|| mix(word))
}

/// Spreads the bits of a word (the finaliser of MurmurHash3).
fn mix(word: u64) -> u64 {
    let word = (word ^ word >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let word = (word ^ word >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    word ^ word >> 33
}

fn multiply(first: u64, second: u64) -> u64 {
    (u128::from(first) * u128::from(second) % u128::from(PRIME)) as u64
}

fn power(base: u64, exponent: u32) -> u64 {
    let mut result = 1;
    let (mut base, mut left) = (base, exponent);
    while left > 0 {
        if left & 1 == 1 {
            result = multiply(result, base);
        }
        base = multiply(base, base);
        left >>= 1;
    }
    result
}
