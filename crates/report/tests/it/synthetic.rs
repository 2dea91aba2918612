//! Campaigns on a target that makes its outcomes up, the same every time, written through the public interface of
//! `campaign`.

use campaign::{
    CampaignEnd, Choices, DataRace, Engine, EngineOffer, Engines, GoldenSummary, Label, LabelColumn, Labels, Planner,
    RacedMemory, Racers, RacingAccess, Results, RunFailure, RunIndex, SelectionWords, Site, Spot, Store, Subject,
    Sweep, Sweeper, SweptCount, SweptOperand, SweptTiers, SweptUnit, TargetError, Worker,
};
use outcome::{
    Criteria, Due, End, FirstUse, Landed, Masked, Observation, Outcome, OutputDiff, ProgramPoint, Sdc, Tier, TrapKind,
};
use stats::Draws;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What is made up.
#[derive(Debug)]
pub struct Synthetic {
    /// The kernels.
    pub kernels: Vec<String>,
    /// The source file.
    pub file: String,
    /// The name of the output.
    pub output: String,
    /// Of 1000 runs, how many are masked, silently corrupted, dead, and hit nothing; the others fail.
    pub shares: [u64; 4],
    /// Static instructions of each kernel.
    pub instructions: u64,
    /// Launches of each kernel.
    pub launches: u64,
    /// Data races of the fault-free run.
    pub races: u32,
    /// Whether runs die of every trap, and not of two alone.
    pub every_trap: bool,
    /// Raises the flag after so many runs.
    pub stop_after: AtomicU64,
    /// The flag.
    pub stop: AtomicBool,
}

impl Default for Synthetic {
    fn default() -> Self {
        Self {
            kernels: vec!["_Z4loopPf".into(), "_Z6finishPf".into()],
            file: "/src/synthetic.cu".into(),
            output: "out".into(),
            shares: [550, 250, 150, 30],
            instructions: 40,
            launches: 4,
            races: 1,
            every_trap: false,
            stop_after: AtomicU64::new(u64::MAX),
            stop: AtomicBool::new(false),
        }
    }
}

const GROUPS: [&str; 6] = ["int_add", "fp32_fma", "load_global", "compare", "move", "convert"];

impl Subject for Synthetic {
    fn name(&self) -> &str {
        &self.kernels[0]
    }

    fn digest(&self) -> &str {
        "5e17"
    }

    fn golden(&self) -> GoldenSummary {
        GoldenSummary { launches: 8, threads: 4096, thread_instructions: 1 << 20, seconds: 0.5 }
    }

    fn races(&self) -> Vec<DataRace> {
        let access = |pc, line| RacingAccess { pc, file: Some(self.file.clone()), line: Some(line) };
        let (between, memory) = (Racers::Warps, RacedMemory::Shared);
        let race = |number: u32| {
            let accesses = [access(4, 12), access(6 + number, 14 + number)];
            DataRace { kernel: self.kernels[0].clone(), between, memory, accesses, words: 1096 }
        };
        (0..self.races).map(race).collect()
    }

    fn races_unsearched(&self) -> Option<String> {
        Some("looked for in 1 of 2 launches".into())
    }
}

impl Planner for Synthetic {
    fn labels(&self) -> &[LabelColumn] {
        &LABELS
    }

    fn plan(&self, runs: &[RunIndex], _: &SelectionWords, seed: u64) -> Result<Vec<Site>, TargetError> {
        Ok(runs.iter().map(|run| self.site(Draws::new(seed, run.0))).collect())
    }

    fn sweep(&self, _: &SelectionWords) -> Result<Sweep, TargetError> {
        let operand = |pc: u32| {
            let spot = Spot {
                kernel: self.kernels[0].clone(),
                pc,
                target: "dst0".into(),
                group: GROUPS[pc as usize % 6].into(),
                opcode: "op".into(),
                file: Some(self.file.clone()),
                line: Some(10 + pc / 2),
            };
            SweptOperand { spot, elements: 1 + pc % 2, bits: [32, 1, 64][pc as usize % 3], weight: 1 }
        };
        let operands: Vec<SweptOperand> = (0..6).map(operand).collect();
        let faults = operands.iter().map(|operand| u64::from(operand.bits)).sum();
        Ok(Sweep { operands, unit_faults: vec![faults; 8], members: 48 })
    }
}

/// The engines of every target: what they make up is the same.
static OFFERED: [EngineOffer; 5] =
    [made_up("auto"), made_up("full"), made_up("delta"), made_up("lanes"), made_up("cuda-gdb")];

const fn made_up(word: &'static str) -> EngineOffer {
    EngineOffer { word, about: "makes them up" }
}

impl Engines for Synthetic {
    fn offered(&self) -> &[EngineOffer] {
        &OFFERED
    }

    fn worker(&self, _: &Engine) -> Result<Box<dyn Worker + '_>, TargetError> {
        Ok(Box::new(Runs(self)))
    }

    fn sweeper(&self, _: &Engine, words: &SelectionWords, _: &Criteria) -> Result<Box<dyn Sweeper + '_>, TargetError> {
        Ok(Box::new(Sweeps(self, self.sweep(words)?)))
    }
}

impl Synthetic {
    fn site(&self, mut draws: Draws) -> Site {
        let mut below = |n: u64| draws.below(n).unwrap_or(0);
        let (pc, kernel) = (below(self.instructions) as u32, below(self.kernels.len() as u64) as usize);
        let bit = below(if pc % 7 == 3 { 64 } else { 32 });
        let launch = (kernel as u64 + self.kernels.len() as u64 * below(self.launches)) as u32;
        let (cta, thread, dynamic) = (below(16), below(256) as u32, u64::from(pc) + 40 * below(50));
        let spot = Spot {
            kernel: self.kernels[kernel].clone(),
            pc,
            target: "dst0".into(),
            group: GROUPS[pc as usize % 6].into(),
            opcode: "op.f32".into(),
            file: (pc % 9 != 8).then(|| self.file.clone()),
            line: (pc % 9 != 8).then_some(10 + pc / 2),
        };
        let id = format!("launch={launch},cta={cta},thread={thread},dyn={dynamic},target=dst0,model=flip,bits={bit}");
        let labels: Vec<Label> =
            vec![launch.into(), cta.into(), thread.into(), dynamic.into(), "flip".into(), bit.to_string().into()];
        Site::new(id, spot, Labels::new(labels))
    }
}

/// The labels of programs on a GPU.
static LABELS: [LabelColumn; 6] = [
    LabelColumn::number("launch", ""),
    LabelColumn::number("cta", ""),
    LabelColumn::number("thread", ""),
    LabelColumn::number("dynamic", ""),
    LabelColumn::text("model", ""),
    LabelColumn::text("bits", ""),
];

struct Runs<'a>(&'a Synthetic);

impl Worker for Runs<'_> {
    fn run(&mut self, site: &Site) -> Result<Observation, RunFailure> {
        let of = self.0;
        if of.stop_after.fetch_sub(1, Ordering::Relaxed) == 1 {
            of.stop.store(true, Ordering::Relaxed);
        }
        let seed =
            site.fault().unwrap().bytes().fold(7_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
        let draws = Draws::new(seed, 1);
        let (roll, after) = (draws.draw(0) % 1000, draws.draw(1) % (1 << (draws.draw(2) % 14)));
        let [masked, sdc, due, none] = of.shares;
        let at = ProgramPoint { kernel: site.spot.kernel.clone(), pc: site.spot.pc ^ 1, line: site.spot.line, after };
        let class = if roll < masked {
            0
        } else if roll < masked + sdc {
            1
        } else if roll < masked + sdc + due {
            2
        } else if roll < masked + sdc + due + none {
            3
        } else {
            return Err(RunFailure::new("replay the run: <out of luck>"));
        };
        let end = match draws.draw(3) % 4 {
            _ if class != 2 => End::Completed,
            0 => End::Hang { at, endless: true },
            1 => End::Detected { by: "a check".into() },
            _ if of.every_trap => {
                let trap = TrapKind::ALL[draws.draw(10) as usize % TrapKind::ALL.len()];
                End::Trapped { trap, at, address: None }
            }
            kind => End::Trapped { trap: TrapKind::ALL[kind as usize - 2], at, address: None },
        };
        let error = 10_f64.powi((draws.draw(4) % 12) as i32 - 6) * (1.0 + (draws.draw(5) % 80) as f64 / 10.0);
        let error = match draws.draw(6) % 20 {
            0 => f64::INFINITY,
            1 => f64::NAN,
            _ => error,
        };
        let output = OutputDiff {
            name: of.output.clone(),
            elements: 1000,
            differing: if class == 1 { 1 + draws.draw(7) % 1000 } else { 0 },
            max_abs: error,
            sum_abs: Some(error),
            max_rel: error,
            rel_l2: error / 8.0,
            nan: u64::from(class == 1 && error.is_nan()),
            inf: 0,
            out_of_range: 0,
        };
        Ok(Observation {
            landed: (class != 3).then_some(Landed { before: 1, after: 3, threads: 1 }),
            first_use: match draws.draw(8) % 5 {
                0 => FirstUse::Never,
                1 => FirstUse::Overwritten { after },
                _ => FirstUse::Read { after },
            },
            outputs: if end == End::Completed { vec![output] } else { Vec::new() },
            end,
            host_visible: false,
            strayed: 0,
            instructions: after,
            host: None,
            tier: Tier::Delta,
        })
    }
}

struct Sweeps<'a>(&'a Synthetic, Sweep);

impl Sweeper for Sweeps<'_> {
    fn unit(&mut self, unit: u64, _: &dyn Fn() -> bool) -> Result<Option<SweptUnit>, RunFailure> {
        if self.0.stop_after.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.0.stop.store(true, Ordering::Relaxed);
        }
        let mut swept = SweptUnit::default();
        let draws = Draws::new(unit, 2);
        for (operand, of) in (0..).zip(&self.1.operands) {
            for bit in 0..of.bits {
                let outcome = match draws.draw(u64::from(operand * 128 + bit)) % 5 {
                    0 => Outcome::Sdc(Sdc::Bad),
                    1 => Outcome::Due(Due::Hang),
                    2 => Outcome::Masked(Masked::NeverRead),
                    _ => Outcome::Masked(Masked::Logical),
                };
                swept.outcomes.push(outcome.code());
                swept.counts.push(SweptCount { operand, bit, outcome, count: 1 });
            }
        }
        swept.counts.sort();
        swept.tiers = SweptTiers { lanes: swept.outcomes.len() as u64, ..SweptTiers::default() };
        Ok(Some(swept))
    }
}

/// The choices of so many runs.
pub fn runs(runs: u64) -> Choices {
    Choices { capsule: Some("synthetic".into()), runs: Some(runs), seed: Some(7), jobs: Some(1), ..Choices::default() }
}

/// The choices of so many runs whose output is judged, as `--quality` says it.
pub fn judged(count: u64, quality: &str) -> Choices {
    let quality = [outcome::Quality::parse(quality).unwrap()].into();
    Choices { criteria: Criteria { quality, ..Criteria::default() }, ..runs(count) }
}

/// The choices of an exhaustive campaign.
pub fn exhaustive() -> Choices {
    Choices { runs: None, exhaustive: true, ..runs(0) }
}

/// Makes a campaign in `dir` and runs it, to its end or until the target raises its flag.
pub fn campaign(dir: &Path, choices: Choices, target: &Synthetic) -> Results {
    let mut store = Store::create(dir, choices.settle().unwrap(), target).unwrap();
    let ended = campaign::run(target, &mut store, &target.stop, &mut |_| {}).unwrap();
    assert_eq!(matches!(ended, CampaignEnd::Interrupted(_)), target.stop.load(Ordering::Relaxed));
    drop(store);
    Results::open(dir).unwrap()
}
