//! `beamline nn filr`, `flr` and `ilr`: feature maps that are made twice, and inferences that are run again.

use crate::args;
use crate::commands::study::{failure, show};
use crate::failure::{Code, Coded, Failure};
use crate::interrupt::{NOTHING_KEPT, stop_on_interrupt};
use crate::out;
use methods::kit::StudyError;
use nn::NetworkSource;
use nn::filr::agreement::OracleAgreement;
use nn::filr::certainty::Criterion;
use nn::filr::choice::{FilrTechnique, TechniqueChoice};
use nn::filr::convergence::{Convergence, ExhaustiveComparison, InjectionsNeeded, SEEDS};
use nn::filr::deploy::DeployedPoint;
use nn::filr::flr::CurvePoint;
use nn::filr::share::Share;
use nn::filr::{Filr, FilrError, Order, Settings, analyse};
use session::networks;
use std::path::Path;
use std::thread::available_parallelism;
use study::{Cell, Table};

pub(crate) fn answer(args: &args::Filr, technique: FilrTechnique) -> Result<Code, Failure> {
    let stop = stop_on_interrupt(NOTHING_KEPT)?;
    let source = args.source.source();
    let target = networks::open(&source)?.integers().code(Code::Refused)?;
    if let Some(path) = &args.out {
        can_be_written(path)?;
    }
    if let Some(path) = &args.protected {
        can_be_protected(path, args.out.as_deref(), &source)?;
    }
    let cores = || available_parallelism().map_or(1, usize::from);
    let settings = Settings {
        injections_per_map: args.injections,
        seed: args.seed,
        analysis_share: args.analysis,
        target: args.target,
        exhaustive_images: args.exhaustive,
        fault: args.model,
        threads: args.jobs.unwrap_or_else(cores),
        ..Settings::default()
    };
    let found = analyse(&target, &settings, &stop, &mut |_, _| {}).map_err(|error| {
        let code = match error {
            FilrError::Setting { .. } => Code::Usage,
            FilrError::Stopped => Code::Interrupted,
            _ => Code::Refused,
        };
        Failure::new(code, error)
    })?;
    if let Some(path) = &args.out {
        out::file(path, serde_json::to_string_pretty(&found).code(Code::Bug)?)?;
    }
    if args.json {
        out::json(&found)?;
    } else {
        let of_maps = || {
            let exhaustive = found.exhaustive.iter().flat_map(|it| [convergence(it), needed(it)]);
            [maps(&found), orders(&found)].into_iter().chain(exhaustive).collect::<Vec<_>>()
        };
        let mut tables = match technique {
            FilrTechnique::Flr => of_maps().into_iter().chain([deployed(&found, technique)]).collect(),
            FilrTechnique::Ilr => vec![thresholds(&found), few(&found), deployed(&found, technique)],
            FilrTechnique::Filr => of_maps().into_iter().chain([protections(&found)]).collect(),
        };
        tables.push(choices(&found, technique));
        tables.push(costs(&found));
        if let Some(last) = tables.last_mut() {
            last.notes.extend(found.notes.iter().cloned());
        }
        show(tables)?;
    }
    if let Some(path) = &args.protected {
        let Some(it) = found.choices.iter().find(|it| it.technique == technique) else {
            let why = match found.injections.sdcs {
                0 => "no injection changed the class; make more with --injections",
                _ => "nothing that is chosen reaches the target; see the table of costs",
            };
            let message = format!("write {}: {why}", path.display());
            return Err(failure(StudyError::Refused(message)));
        };
        let layer = |name: &str| target.network().layer_named(name);
        let maps: Vec<_> =
            it.maps.iter().filter_map(|&map| Some((layer(&found.maps[map].layer)?, found.maps[map].channel))).collect();
        let file = nn::file::protected(&source.file().code(Code::Refused)?, &maps, it.threshold).code(Code::Refused)?;
        out::file(path, file)?;
        out::note(&format!("{}: {}", path.display(), sentence(it, found.maps.len())));
    }
    Ok(Code::Done)
}

/// A choice with its cost and its coverage, in a sentence.
fn sentence(it: &TechniqueChoice, maps: usize) -> String {
    let order = it.order.map_or_else(String::new, |order| format!(" by {}", order.word()));
    let margin = it.threshold.map_or_else(String::new, |margin| format!(", reruns where Top2Diff is below {margin}"));
    let percent = |share: f64| format!("{:.2} %", share * 100.0);
    let deployed = it.deployed.and_then(|deployed| {
        let ([low, high], share) = (deployed.by_images, deployed.covered.share?);
        Some(format!(
            "; on the deployment set it covers {} (95 % over images: {} to {}) for {}",
            percent(share),
            percent(low),
            percent(high),
            percent(deployed.overhead)
        ))
    });
    let twice = match it.maps.len() {
        0 => format!("no feature map is made twice{margin}"),
        count => format!("{count} of {maps} feature maps are made twice{order}{margin}"),
    };
    format!(
        "{twice}; on the analysis set it covers {} for {} more multiplications{}",
        percent(it.coverage),
        percent(it.overhead),
        deployed.unwrap_or_default()
    )
}

/// Refuses a path.
fn cannot_write(path: &Path, why: &str) -> Result<(), Failure> {
    Err(failure(StudyError::Words(format!("write {}: {why}", path.display()))))
}

/// Whether a file can be at a path: in a directory that there is, and not one itself.
fn can_be_written(path: &Path) -> Result<(), Failure> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    match !path.is_dir() && parent.is_none_or(Path::is_dir) {
        true => Ok(()),
        false => cannot_write(path, "expected a file in a directory that there is"),
    }
}

/// Whether a network can be written with protection to a path, before anything is analysed.
fn can_be_protected(path: &Path, document: Option<&Path>, source: &NetworkSource) -> Result<(), Failure> {
    let is_same = |other: &Path| {
        other == path || path.canonicalize().is_ok_and(|path| other.canonicalize().is_ok_and(|it| it == path))
    };
    if is_same(Path::new(&source.network)) {
        return cannot_write(path, "that is the network itself; name another file");
    }
    if document.is_some_and(is_same) {
        return cannot_write(path, "--out names the same file; name another one");
    }
    can_be_written(path)?;
    // Protection of nothing but a margin tells whether the form of the file is one that it is written into.
    nn::file::protected(&source.file().code(Code::Refused)?, &[], Some(1.0)).code(Code::Refused).map(|_| ())
}

/// The thresholds below which inferences are run again, for each coverage of the analysis set.
fn thresholds(found: &Filr) -> Table {
    let columns = ["criterion", "of", "coverage", "threshold", "inferences run again"];
    let mut table = Table::new(format!("{}: thresholds of reruns", found.network), &columns);
    for ilr in &found.ilr {
        let criterion = match ilr.criterion {
            Criterion::Top1Conf => "Top1Conf",
            Criterion::Top2Diff => "Top2Diff",
        };
        for target in [0.5, 0.9, 0.99, 1.0] {
            let Some(point) = ilr.points.iter().find(|point| point.coverage >= target) else { continue };
            table.rows.push(vec![
                Cell::text(criterion),
                Cell::text(ilr.reading.word()),
                Cell::Share(target),
                Cell::Number(point.threshold),
                Cell::Share(point.overhead),
            ]);
        }
    }
    table
}

/// Thresholds that few injections choose.
fn few(found: &Filr) -> Table {
    let columns =
        ["Top2Diff of", "injections", "SDCs", "threshold", "of all", "coverage of all", "inferences run again"];
    let mut table = Table::new("Thresholds of nine tenths that few injections choose", &columns);
    let row = |it: &nn::filr::document::FewInjections| {
        vec![
            Cell::text(it.reading.word()),
            Cell::Count(it.injections),
            Cell::Count(it.sdcs),
            Cell::Number(it.threshold),
            Cell::Number(it.threshold_of_all),
            Cell::Share(it.coverage),
            Cell::Share(it.overhead),
        ]
    };
    table.rows = found.few.iter().map(row).collect();
    table
}

/// The choice of a technique for the target; of both together those of each alone beside it.
fn choices(found: &Filr, technique: FilrTechnique) -> Table {
    let columns =
        ["technique", "maps", "by", "threshold", "coverage", "overhead", "deployment coverage", "deployment overhead"];
    let mut table = Table::new(format!("The choice for {:.2} % of the analysis set", found.target * 100.0), &columns);
    let row = |it: &TechniqueChoice| {
        vec![
            Cell::text(it.technique.word()),
            Cell::Count(it.maps.len() as u64),
            it.order.map_or(Cell::None, |order| Cell::text(order.word())),
            it.threshold.map_or(Cell::None, Cell::Number),
            Cell::Share(it.coverage),
            Cell::Share(it.overhead),
            it.deployed.map_or(Cell::None, |it| over_images(it.covered, it.by_images)),
            it.deployed.map_or(Cell::None, |it| Cell::Share(it.overhead)),
        ]
    };
    let is_shown = |it: &&TechniqueChoice| technique == FilrTechnique::Filr || it.technique == technique;
    table.rows = found.choices.iter().filter(is_shown).map(row).collect();
    table.notes.push(
        "Thresholds are of the faulty run, as a deployed check reads it; --protected writes this choice. The intervals of the \
         coverage are over images."
            .to_owned(),
    );
    table
}

/// Feature maps that are listed.
const LISTED: usize = 12;

/// The most vulnerable feature maps.
fn maps(found: &Filr) -> Table {
    let columns = ["layer", "map", "V_orig", "P_prop (mismatch)", "P_prop (ΔLoss)", "V_rel"];
    let mut table = Table::new(format!("{}: the most vulnerable feature maps", found.network), &columns);
    let mut order: Vec<usize> = (0..found.maps.len()).collect();
    order.sort_by(|&a, &b| found.maps[b].v_rel.total_cmp(&found.maps[a].v_rel).then(a.cmp(&b)));
    let row = |&map: &usize| {
        let it = &found.maps[map];
        let mismatch = it.p_mismatch;
        vec![
            Cell::text(&it.layer),
            Cell::Count(it.channel as u64),
            Cell::Share(it.v_orig),
            mismatch.share.map_or(Cell::None, |rate| Cell::Rate { rate, low: mismatch.low, high: mismatch.high }),
            Cell::Number(it.p_loss),
            Cell::Share(it.v_rel),
        ]
    };
    table.rows = order.iter().take(LISTED).map(row).collect();
    let left = found.maps.len().saturating_sub(LISTED);
    table.notes.extend((left > 0).then(|| format!("{left} more feature maps are left out here; --json has all.")));
    table.notes.push(format!(
        "{} injections into each of {} feature maps; {} changed the class.",
        found.injections.per_map,
        found.maps.len(),
        found.injections.sdcs
    ));
    table
}

/// How far each order of feature maps is from that of the oracle.
fn orders(found: &Filr) -> Table {
    let columns = ["order by", "from the oracle", "by its own shares", "Spearman", "overhead at 90 %"];
    let mut table = Table::new("Orders of feature maps held against the oracle", &columns);
    let injected = found.flr.iter().map(|it| (it.by.word(), &it.points, it.agreement));
    let heuristics = found.heuristics.iter().map(|it| (it.heuristic.word(), &it.points, it.agreement));
    let row = |(name, points, agreement): (&str, &Vec<CurvePoint>, Option<OracleAgreement>)| {
        let number = |of: fn(&OracleAgreement) -> f64| agreement.as_ref().map_or(Cell::None, |it| Cell::Number(of(it)));
        let spearman = agreement.and_then(|it| {
            let [low, high] = it.spearman_bounds;
            Some(Cell::Quantity { value: it.spearman?, low, high })
        });
        let reached = points.iter().find(|point| point.coverage >= 0.9);
        vec![
            Cell::text(name),
            number(|it| it.distance),
            number(|it| it.own_distance),
            spearman.unwrap_or(Cell::None),
            reached.map_or(Cell::None, |point| Cell::Share(point.overhead)),
        ]
    };
    table.rows = injected.chain(heuristics).map(row).collect();
    table.notes.push(
        "The oracle is the mismatches of these injections, so that the distance of mismatch is 0 by definition. From the oracle: the \
         mean difference of coverages, both by the oracle's mismatches. By its own shares: with the coverage that the order's own \
         measure says. ModGain is our reconstruction: the formula is missing from the text of the thesis."
            .to_owned(),
    );
    table
}

/// What each technique costs for a coverage of the analysis set.
fn costs(found: &Filr) -> Table {
    let columns =
        ["coverage", "FLR (mismatch)", "FLR (ΔLoss)", "ILR (Top1Conf)", "ILR (Top2Diff)", "FILR", "FILR (faulty)"];
    let mut table = Table::new("Least overhead for a coverage of the analysis set", &columns);
    let cell = |cost: Option<f64>| cost.map_or(Cell::None, Cell::Share);
    let row = |it: &nn::filr::document::Cost| {
        let all = [it.flr_mismatch, it.flr_loss, it.ilr_top1conf, it.ilr_top2diff, it.filr, it.filr_faulty];
        std::iter::once(Cell::Share(it.target)).chain(all.into_iter().map(cell)).collect()
    };
    table.rows = found.costs.iter().map(row).collect();
    table.notes.push(
        "Overhead is in multiplications: feature maps made twice (FLR), inferences run again (ILR), both (FILR). (faulty): the \
         difference of the two largest confidences is read from the faulty run, as a deployed check reads it. FLR takes feature \
         maps in their order until the coverage is reached; FILR leaves out those without an SDC that is left."
            .to_owned(),
    );
    table
}

/// How far orders by some injections are from that of every fault.
fn convergence(found: &ExhaustiveComparison) -> Table {
    let columns =
        ["injections per map", "mismatch", "ΔLoss", "V_rel error (mismatch)", "V_rel error (ΔLoss)", "margin"];
    let mut table = Table::new("Orders by some injections held against every fault", &columns);
    let of = |by: Order| found.estimates.iter().filter(move |it| it.by == by);
    let mean = |it: &Convergence| Cell::Quantity { value: it.mean, low: it.bounds[0], high: it.bounds[1] };
    let row = |(mismatch, loss): (&Convergence, &Convergence)| {
        let errors = [mismatch, loss].map(|it| Cell::Share(it.v_rel_error));
        let [first, second] = errors;
        vec![Cell::Count(mismatch.per_map), mean(mismatch), mean(loss), first, second, Cell::Share(mismatch.margin)]
    };
    table.rows = of(Order::Mismatch).zip(of(Order::Loss)).step_by(2).map(row).collect();
    table.notes.push(format!(
        "All {} faults of {}: the vulnerability of the network is {}. The distance is the mean difference of coverages over \
         {SEEDS} seeds, with its bounds at 95 %; the margin is that of a statistical campaign of this size into each map, at 99 %.",
        out::number(found.faults),
        if found.images == 1 { "one image".to_owned() } else { format!("{} images", found.images) },
        format_args!("{:.4} %", found.v_cnn * 100.0),
    ));
    table
}

/// How many injections an agreement needs.
fn needed(found: &ExhaustiveComparison) -> Table {
    let columns = ["agreement", "injections per map (mismatch)", "injections per map (ΔLoss)", "ratio"];
    let mut table = Table::new("Injections that an agreement needs", &columns);
    let numbers = |all: &[Option<u64>]| {
        let (Some(least), Some(most)) = (all.iter().flatten().min(), all.iter().flatten().max()) else {
            return "never".to_owned();
        };
        let never = all.iter().filter(|it| it.is_none()).count();
        if never == 0 { format!("{least} to {most}") } else { format!("{least} to {most}, {never} seeds never") }
    };
    let row = |it: &InjectionsNeeded| {
        let ratio = it.ratio.map_or(Cell::None, |[value, low, high]| Cell::Quantity { value, low, high });
        vec![Cell::Share(it.agreement), Cell::Text(numbers(&it.mismatch)), Cell::Text(numbers(&it.loss)), ratio]
    };
    table.rows = found.needed.iter().map(row).collect();
    table
}

/// What the combination covers where it was not chosen.
fn protections(found: &Filr) -> Table {
    let columns = ["Top2Diff of", "threshold", "maps", "overhead", "deployment coverage", "deployment overhead"];
    let mut table = Table::new("The combination on the analysis set, and on the deployment set", &columns);
    for sweep in &found.filr {
        let Some(it) = &sweep.combination else { continue };
        let deployed =
            found.deployment.as_ref().and_then(|all| all.protections.iter().find(|it| it.chosen_by == sweep.reading));
        let covered = deployed.and_then(|it| it.coverage.iter().find(|it| it.reading == sweep.reading));
        table.rows.push(vec![
            Cell::text(sweep.reading.word()),
            Cell::Number(it.threshold),
            Cell::Count(it.maps.len() as u64),
            Cell::Share(it.overhead),
            covered.map_or(Cell::None, |it| over_images(it.covered, it.by_images)),
            deployed.map_or(Cell::None, |it| Cell::Share(it.overhead)),
        ]);
    }
    table.notes.push(OVER_IMAGES.to_owned());
    table
}

const OVER_IMAGES: &str = "The intervals of the coverage are over images.";

/// A coverage with its interval over images.
fn over_images(covered: Share, [low, high]: [f64; 2]) -> Cell {
    covered.share.map_or(Cell::None, |rate| Cell::Rate { rate, low, high })
}

/// The coverage of one technique alone where it was not chosen.
fn deployed(found: &Filr, technique: FilrTechnique) -> Table {
    let shared = ["coverage", "overhead", "deployment coverage", "deployment overhead"];
    let all = found.deployment.as_ref();
    let (title, first, points) = match technique {
        FilrTechnique::Ilr => ("Thresholds of Top2Diff", vec!["Top2Diff of", "threshold"], all.map(|it| &it.ilr)),
        _ => ("Feature maps alone", vec!["maps"], all.map(|it| &it.flr)),
    };
    let columns: Vec<&str> = first.into_iter().chain(shared).collect();
    let mut table = Table::new(format!("{title} on the analysis set, and on the deployment set"), &columns);
    let row = |it: &DeployedPoint| {
        let first = match technique {
            FilrTechnique::Ilr => vec![Cell::text(it.reading.word()), Cell::Number(it.threshold)],
            _ => vec![Cell::Count(it.maps as u64)],
        };
        let shares = [Cell::Share(it.predicted), Cell::Share(it.predicted_overhead)];
        let deployed = [over_images(it.covered, it.by_images), Cell::Share(it.overhead)];
        first.into_iter().chain(shares).chain(deployed).collect()
    };
    table.rows = points.into_iter().flatten().map(row).collect();
    table.notes.extend((technique == FilrTechnique::Flr).then(|| format!("They are taken by {}.", found.order.word())));
    table.notes.push(OVER_IMAGES.to_owned());
    table
}
