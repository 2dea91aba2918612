//! A second target system of a hundred lines, a 16-bit adder made of gates, goes through all that a capsule goes through: a
//! campaign, its continuation, the merge of its shards, a report, and a method that chooses its sites.

use campaign::{
    CampaignEnd, Choices, Config, Description, Engine, EngineOffer, Engines, GoldenSummary, Intent, Labels, Planner,
    Results, Row, RunFailure, RunIndex, SelectionWords, Site, Spot, Store, Subject, Sweep, SweptFault, SweptOperand,
    TargetError, TargetSystem, Worker, merge,
};
use outcome::{Class, Criteria, End, FirstUse, Landed, Observation, OutputDiff, Tier};
use report::{Context, Report};
use stats::Draws;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Bits of each operand.
const BITS: u32 = 16;
/// The gates of a full adder: two exclusive ors, two ands, an or.
const GATES: [&str; 5] = ["xor", "xor", "and", "and", "or"];

/// Adds two numbers with a ripple-carry adder; the output of one gate may be inverted. A watchdog compares the carry that
/// leaves the adder with that of the processor, and stops the circuit.
struct Adder {
    operands: [u32; 2],
}

impl Adder {
    /// The sum with its carry, and the value of the inverted gate before.
    fn sum(&self, inverted: Option<u32>) -> (u32, u32) {
        let (mut carry, mut sum, mut hit) = (0, 0, 0);
        for bit in 0..BITS {
            let mut gate = |number: u32, value: u32| match inverted {
                Some(at) if at == bit * GATES.len() as u32 + number => {
                    hit = value;
                    value ^ 1
                }
                _ => value,
            };
            let [a, b] = self.operands.map(|operand| operand >> bit & 1);
            let half = gate(0, a ^ b);
            sum |= gate(1, half ^ carry) << bit;
            let (both, through) = (gate(2, a & b), gate(3, half & carry));
            carry = gate(4, both | through);
        }
        (sum | carry << BITS, hit)
    }

    fn site(gate: u32) -> Site {
        let kind = GATES[gate as usize % GATES.len()];
        let spot = Spot {
            kernel: format!("bit {}", gate / GATES.len() as u32),
            pc: gate,
            target: "output".into(),
            group: kind.into(),
            opcode: kind.into(),
            file: None,
            line: None,
        };
        Site {
            intent: Intent::Fault(format!("gate={gate}")),
            spot,
            labels: Labels::default(),
            weight: 1,
            stratum: None,
        }
    }
}

impl Subject for Adder {
    fn name(&self) -> &str {
        "adder"
    }

    fn digest(&self) -> &str {
        "adder of 16 bits"
    }

    fn golden(&self) -> GoldenSummary {
        GoldenSummary {
            launches: 1,
            threads: 1,
            thread_instructions: u64::from(BITS) * GATES.len() as u64,
            seconds: 0.0,
        }
    }
}

impl Planner for Adder {
    fn plan(&self, runs: &[RunIndex], _: &SelectionWords, seed: u64) -> Result<Vec<Site>, TargetError> {
        let gates = u64::from(BITS) * GATES.len() as u64;
        Ok(runs.iter().map(|&run| Self::site((Draws::new(seed, run.0).draw(0) % gates) as u32)).collect())
    }
}

/// A method: the gates of the lower half of the operands; an exclusive or stands for four gates, others for themselves. A unit is
/// the gates of one bit.
struct LowerHalf;

impl LowerHalf {
    /// How many gates a gate stands for.
    fn weight(gate: u32) -> u64 {
        if GATES[gate as usize % GATES.len()] == "xor" { 4 } else { 1 }
    }
}

impl Planner for LowerHalf {
    fn plan(&self, _: &[RunIndex], _: &SelectionWords, _: u64) -> Result<Vec<Site>, TargetError> {
        Err(TargetError::new("draw gates: this method runs all that it has"))
    }

    fn sweep(&self, _: &SelectionWords) -> Result<Sweep, TargetError> {
        let gates = BITS / 2 * GATES.len() as u32;
        let operand =
            |gate| SweptOperand { spot: Adder::site(gate).spot, elements: 1, bits: 1, weight: Self::weight(gate) };
        let weights: u64 = (0..gates).map(Self::weight).sum();
        let unit_faults = vec![GATES.len() as u64; BITS as usize / 2];
        Ok(Sweep { operands: (0..gates).map(operand).collect(), unit_faults, members: weights })
    }

    fn unit(&self, _: &SelectionWords, unit: u64) -> Result<Option<Vec<SweptFault>>, TargetError> {
        let first = unit as u32 * GATES.len() as u32;
        let gates = first..first + GATES.len() as u32;
        Ok(Some(gates.map(|gate| SweptFault { site: Adder::site(gate), operand: gate, bit: 0 }).collect()))
    }
}

/// A method: carries alone, each in turn.
struct Carries;

impl Planner for Carries {
    fn plan(&self, runs: &[RunIndex], _: &SelectionWords, _: u64) -> Result<Vec<Site>, TargetError> {
        Ok(runs.iter().map(|&run| Adder::site((run.0 as u32 % BITS) * GATES.len() as u32 + 4)).collect())
    }
}

impl Engines for Adder {
    fn offered(&self) -> &[EngineOffer] {
        &[
            EngineOffer { word: "auto", about: "evaluates the gates in order" },
            EngineOffer { word: "lanes", about: "evaluates each gate for 64 faults at once, a bit each" },
        ]
    }

    fn worker(&self, engine: &Engine) -> Result<Box<dyn Worker + '_>, TargetError> {
        Ok(if engine.word() == "lanes" { Box::new(AdderLanes(self)) } else { Box::new(self) })
    }
}

impl Adder {
    /// What was seen of an inversion of a gate that had the value `hit`.
    fn observation(&self, found: u32, hit: u32) -> Observation {
        let (golden, _) = self.sum(None);
        let equal = OutputDiff::equal("sum", 1);
        let max_abs = f64::from(golden.abs_diff(found));
        let is_caught = (golden ^ found) >> BITS != 0;
        Observation {
            landed: Some(Landed { before: u128::from(hit), after: u128::from(hit ^ 1), threads: 1 }),
            first_use: FirstUse::Read { after: 1 },
            end: if is_caught { End::Detected { by: "the carry".to_owned() } } else { End::Completed },
            outputs: if is_caught {
                Vec::new()
            } else {
                vec![OutputDiff { differing: u64::from(golden != found), max_abs, ..equal }]
            },
            host_visible: false,
            strayed: 0,
            instructions: u64::from(BITS) * GATES.len() as u64,
            tier: Tier::Full,
            host: None,
        }
    }
}

fn gate_of(site: &Site) -> Result<u32, RunFailure> {
    let gate: Option<u32> = site.fault().and_then(|id| id.strip_prefix("gate=")?.parse().ok());
    gate.ok_or_else(|| RunFailure::new(format!("find the gate of {site:?}")))
}

impl Worker for &Adder {
    fn run(&mut self, site: &Site) -> Result<Observation, RunFailure> {
        let (found, hit) = self.sum(Some(gate_of(site)?));
        Ok(self.observation(found, hit))
    }
}

/// Runs 64 faults at a time.
struct AdderLanes<'a>(&'a Adder);

impl Worker for AdderLanes<'_> {
    fn run(&mut self, site: &Site) -> Result<Observation, RunFailure> {
        self.run_batch(std::slice::from_ref(site)).remove(0)
    }

    fn batch_size(&self) -> usize {
        u64::BITS as usize
    }

    fn run_batch(&mut self, sites: &[Site]) -> Vec<Result<Observation, RunFailure>> {
        let gates: Vec<_> = sites.iter().map(gate_of).collect();
        let (mut carry, mut sums, mut hits) = (0_u64, vec![0_u32; sites.len()], 0_u64);
        for bit in 0..BITS {
            let mut gate = |number: u32, value: u64| {
                let at = bit * GATES.len() as u32 + number;
                let hit = gates.iter().enumerate().filter(|(_, gate)| matches!(gate, Ok(gate) if *gate == at));
                let lanes = hit.fold(0, |lanes, (lane, _)| lanes | 1 << lane);
                hits |= value & lanes;
                value ^ lanes
            };
            let [a, b] = self.0.operands.map(|operand| if operand >> bit & 1 == 1 { u64::MAX } else { 0 });
            let half = gate(0, a ^ b);
            let sum = gate(1, half ^ carry);
            let (both, through) = (gate(2, a & b), gate(3, half & carry));
            carry = gate(4, both | through);
            for (lane, found) in sums.iter_mut().enumerate() {
                *found |= ((sum >> lane & 1) as u32) << bit;
            }
        }
        let found = |(lane, gate): (usize, Result<u32, RunFailure>)| {
            gate.map(|_| {
                let found = sums[lane] | ((carry >> lane & 1) as u32) << BITS;
                self.0.observation(found, (hits >> lane & 1) as u32)
            })
        };
        gates.into_iter().enumerate().map(found).collect()
    }
}

const ADDER: Adder = Adder { operands: [0x5a31, 0x70ff] };

fn config(runs: u64, shard: Option<&str>) -> Config {
    let shard = shard.map(|shard| shard.parse().unwrap());
    Choices { capsule: Some("adder".into()), runs: Some(runs), shard, ..Choices::default() }.settle().unwrap()
}

/// Runs what is left of a campaign.
fn run(store: &mut Store, target: TargetSystem<'_>) {
    let end = campaign::run(target, store, &AtomicBool::new(false), &mut |_| {}).unwrap();
    assert!(matches!(end, CampaignEnd::Finished(_)));
}

fn made(dir: &Path, target: TargetSystem<'_>, shard: Option<&str>) -> Results {
    let mut store = Store::create(dir, config(400, shard), target).unwrap();
    run(&mut store, target);
    Results::open(dir).unwrap()
}

fn rows(results: &Results) -> Vec<Row> {
    let mut rows = Vec::new();
    results.visit(&mut |row| rows.push(row)).unwrap();
    rows
}

#[test]
fn a_circuit_goes_through_a_campaign_its_shards_and_its_continuation() {
    let dir = tempfile::tempdir().unwrap();
    let of = |name: &str| dir.path().join(name);
    let target = TargetSystem::from(&ADDER);
    let whole = made(&of("whole"), target, None);
    let sums = rows(&whole).iter().filter(|row| row.site.spot.group == "xor").count();
    assert!(rows(&whole).len() == 400 && (100..220).contains(&sums), "two of five gates: {sums}");
    let shards = ["1/2", "2/2"].map(|shard| {
        let place = of(&shard.replace('/', "-"));
        made(&place, target, Some(shard));
        place
    });
    merge(&shards, &of("merged")).unwrap();
    assert_eq!(rows(&Results::open(&of("merged")).unwrap()), rows(&whole));
    let stop = AtomicBool::new(true);
    let mut store = Store::create(&of("stopped"), config(400, None), target).unwrap();
    campaign::run(target, &mut store, &stop, &mut |_| {}).unwrap();
    drop(store);
    run(&mut Store::resume(&of("stopped"), target).unwrap(), target);
    assert_eq!(rows(&Results::open(&of("stopped")).unwrap()), rows(&whole));
}

#[test]
fn a_method_chooses_gates_and_a_report_says_what_is_hit() {
    let dir = tempfile::tempdir().unwrap();
    let results = made(&dir.path().join("c"), TargetSystem::from(&ADDER).planned_by(&Carries), None);
    let rows = rows(&results);
    assert!(rows.iter().all(|row| row.site.spot.group == "or"));
    // The carry that leaves the adder is compared; those before reach the sum.
    let caught = |row: &Row| row.site.spot.kernel == format!("bit {}", BITS - 1);
    for row in &rows {
        let class = row.finding.class();
        assert!(!caught(row) || class == Class::Due, "{row:?}");
        assert_ne!(class, Class::Masked, "{row:?}");
    }
    let description = Description {
        faults: "The output of one gate is inverted.".to_owned(),
        not_hit: "Wires between gates are not hit.".to_owned(),
        machine: vec!["Gates have no delay.".to_owned()],
    };
    let report = Report::new(&results, Context { description: description.clone(), ..Context::default() }).unwrap();
    let text = report.to_markdown();
    for sentence in [description.faults.as_str(), &description.not_hit, &description.machine[0], "bit 15", "adder"] {
        assert!(text.contains(sentence), "{sentence}: {text}");
    }
    assert!(!text.contains("PTX") && !text.contains("CUDA"), "{text}");
}

#[test]
fn a_worker_that_takes_64_faults_at_once_gives_the_same_rows() {
    let dir = tempfile::tempdir().unwrap();
    let target = TargetSystem::from(&ADDER);
    let one_by_one = made(&dir.path().join("one"), target, None);
    let mut lanes = config(400, None);
    lanes.engine = Engine::named("lanes");
    let mut store = Store::create(&dir.path().join("lanes"), lanes, target).unwrap();
    run(&mut store, target);
    assert_eq!(rows(&Results::open(&dir.path().join("lanes")).unwrap()), rows(&one_by_one));
}

#[test]
fn a_method_hands_over_a_population_of_its_own_with_weights() {
    let dir = tempfile::tempdir().unwrap();
    let of = |name: &str| dir.path().join(name);
    let target = TargetSystem::from(&ADDER).planned_by(&LowerHalf);
    let swept = |name: &str, engine: &'static str, shard: Option<&str>| {
        let shard = shard.map(|shard| shard.parse().unwrap());
        let choices = Choices { capsule: Some("adder".into()), exhaustive: true, shard, ..Choices::default() };
        let mut config = choices.settle().unwrap();
        config.engine = Engine::named(engine);
        run(&mut Store::create(&of(name), config, target).unwrap(), target);
        Results::open(&of(name)).unwrap()
    };
    let whole = swept("whole", "auto", None);
    // Each gate is run by itself, and counted by its weight.
    let (mut silent, mut all) = (0, 0);
    for gate in 0..BITS / 2 * GATES.len() as u32 {
        let outcome = outcome::classify(&(&ADDER).run(&Adder::site(gate)).unwrap(), &Criteria::default());
        all += LowerHalf::weight(gate);
        silent += if outcome.class() == Class::Sdc { LowerHalf::weight(gate) } else { 0 };
    }
    let summary = whole.summary().unwrap();
    assert_eq!((summary.runs.planned, all), (40, 8 * (2 * 4 + 3)));
    assert!((summary.outcomes.sdc.rate.unwrap() - silent as f64 / all as f64).abs() < 1e-12);
    let unweighted = summary.outcomes.sdc.count as f64 / 40.0;
    assert!((summary.outcomes.sdc.rate.unwrap() - unweighted).abs() > 1e-4, "weights change the rate: {unweighted}");
    // The report weighs as the summary does.
    let report = Report::new(&whole, Context::default()).unwrap().to_markdown();
    let rate = format!("{:.2} %", 100.0 * silent as f64 / all as f64);
    let unweighted = format!("{:.2} %", 100.0 * unweighted);
    assert!(report.matches(&rate).count() > 1 && !report.contains(&unweighted), "{rate}, {unweighted}: {report}");
    assert_eq!(whole.operands().unwrap(), LowerHalf.sweep(&SelectionWords::default()).unwrap().operands);
    // Workers that take 64 at once, shards and their merge change nothing.
    for (name, engine, shard) in [("lanes", "lanes", None), ("1", "auto", Some("1/2")), ("2", "auto", Some("2/2"))] {
        swept(name, engine, shard);
    }
    merge(&[of("1"), of("2")], &of("merged")).unwrap();
    for other in ["lanes", "merged"] {
        let other = Results::open(&of(other)).unwrap();
        assert_eq!(other.counts().unwrap(), whole.counts().unwrap());
        assert_eq!(other.summary().unwrap().outcomes, summary.outcomes);
    }
}
