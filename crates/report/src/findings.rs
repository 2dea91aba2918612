//! What stands out, in sentences: the first thing that a reader wants, and the only prose made from numbers.
//!
//! A sentence is written only where the numbers carry it: two parts are told apart only if their intervals are, and a part is
//! named only if enough of it landed for its interval to be narrower than a fifth.

use campaign::summary::Rate;

use crate::document::{RateAccount, Report};
use crate::limits::{of_host, of_unjudged};
use crate::number::{bounds, interval, percent, plain};
use crate::stopping::{raised, reached};

/// An interval that is wider carries no sentence.
const NARROW: f64 = 0.2;

/// `12.00 % (10.10–14.20)`.
pub(crate) fn said(rate: &Rate) -> String {
    match rate.rate {
        None => "–".to_owned(),
        Some(share) if rate.low == share && rate.high == share => format!("{} %", percent(share)),
        Some(share) => format!("{} % ({})", percent(share), bounds(rate.low, rate.high)),
    }
}

/// The last part of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// `gemm.cu:46`, or where there is no line, that.
pub(crate) fn place(file: Option<&str>, line: Option<u32>) -> String {
    match (file, line) {
        (Some(file), Some(line)) => format!("{}:{line}", file_name(file)),
        (Some(file), None) => file_name(file).to_owned(),
        (None, Some(line)) => format!("line {line}"),
        (None, None) => "no source line".to_owned(),
    }
}

/// Words as a sentence.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}

impl Report {
    /// The sentences, most important first.
    pub(crate) fn findings(&self) -> Vec<String> {
        let sentences =
            [self.of_line(), self.of_group(), self.of_bits(), self.of_deaths(), self.of_checks(), self.of_use()];
        sentences.into_iter().flatten().collect()
    }

    /// What it came to, in one sentence.
    pub(crate) fn headline(&self) -> String {
        let (outcomes, landed) = (&self.summary.outcomes, self.summary.runs.landed);
        if landed == 0 {
            return format!("No fault has landed, so nothing is known yet of {}.", self.summary.capsule.name);
        }
        let bad = self
            .bad_of_sdc
            .filter(|bad| bad.rate.is_some())
            .map_or_else(String::new, |bad| format!(" (of these, {} are {})", said(&bad), self.worst_name()));
        let undecided = &outcomes.undecided;
        let open = if undecided.count == 0 { String::new() } else { format!("; {} are undecided", said(undecided)) };
        format!(
            "Of {} faults that landed, {} silently corrupted the output{bad}, {} crashed, hung or were detected, and {} left no trace{open}.",
            plain(landed),
            said(&outcomes.sdc),
            said(&outcomes.due),
            said(&outcomes.masked)
        )
    }

    fn of_line(&self) -> Option<String> {
        let worst = self.lines.rows.iter().find(|line| line.line.is_some() && line.account.worst().count > 0)?;
        let lines = self.shown.all_lines.iter().filter(|line| line.line.is_some()).count();
        // More than one line, and clearly more than its share of them.
        (lines > 1 && worst.share_of_worst().low * lines as f64 > 1.5).then(|| {
            let end = if self.bad_name().is_some() { "ends in one" } else { "corrupts the output" };
            format!(
                "{} is where {} of all {} corruptions begin; a fault there {end} in {} of cases.",
                place(worst.file.as_deref(), worst.line),
                said(worst.share_of_worst()),
                self.worst_name(),
                said(worst.account.worst())
            )
        })
    }

    fn of_group(&self) -> Option<String> {
        let sure = |account: &RateAccount| {
            let worst = account.worst();
            worst.rate.is_some() && worst.high - worst.low < NARROW && worst.count > 0
        };
        let groups = || self.groups.iter().filter(|group| sure(&group.account));
        let surest = groups().max_by(|a, b| a.account.worst().low.total_cmp(&b.account.worst().low))?;
        let safest = groups().min_by(|a, b| a.account.worst().high.total_cmp(&b.account.worst().high))?;
        (surest.account.worst().low > safest.account.worst().high).then(|| {
            let corrupt =
                self.bad_name().map_or_else(|| "corrupt".to_owned(), |bad| format!("end in a {bad} corruption"));
            format!(
                "Of the instruction groups, faults in {} {corrupt} most surely, {}; those in {} least, {}.",
                surest.name,
                said(surest.account.worst()),
                safest.name,
                said(safest.account.worst())
            )
        })
    }

    fn of_bits(&self) -> Option<String> {
        let sure = |bit: &&crate::document::BitRates| {
            let worst = bit.account.worst();
            worst.rate.is_some() && worst.high - worst.low < NARROW
        };
        let bits = || self.bits.iter().filter(sure);
        let most = bits().max_by(|a, b| a.account.worst().low.total_cmp(&b.account.worst().low))?;
        let least = bits().min_by(|a, b| a.account.worst().high.total_cmp(&b.account.worst().high))?;
        (most.account.worst().low > least.account.worst().high).then(|| {
            let corrupts =
                self.bad_name().map_or_else(|| "corrupts".to_owned(), |bad| format!("ends in a {bad} corruption"));
            format!(
                "Bit {} {corrupts} most often, {}; bit {} least, {}.",
                most.bit,
                said(most.account.worst()),
                least.bit,
                said(least.account.worst())
            )
        })
    }

    fn of_deaths(&self) -> Option<String> {
        let first = self.deaths.as_ref()?.rows.first()?;
        let place = first.line.map_or_else(String::new, |line| format!(" on line {line}"));
        let kernel =
            first.kernel.as_deref().map_or_else(String::new, |kernel| format!(" in {}{place}", self.kernel(kernel)));
        Some(format!("The most frequent death is {}{kernel}: {} of all DUE.", first.kind, said(&first.share)))
    }

    fn of_checks(&self) -> Option<String> {
        let magnitudes = self.magnitudes.as_ref().filter(|magnitudes| magnitudes.runs > 0)?;
        let (nan, infinite) = (magnitudes.new_nan, magnitudes.new_infinite);
        if nan.count + infinite.count == 0 {
            return Some(
                "No silent corruption makes a NaN or an infinity, so a check for them would notice none.".to_owned(),
            );
        }
        Some(format!(
            "{} of the silent corruptions make a NaN, {} an infinity: a plain check would notice them.",
            said(&nan),
            said(&infinite)
        ))
    }

    fn of_use(&self) -> Option<String> {
        let latencies = self.latencies.as_ref()?;
        let curve = latencies.to_use.iter().find(|curve| curve.name == "sdc")?;
        Some(format!(
            "Of the values that end in a silent corruption, half are read within {} of their thread and nine tenths \
             within {}; {} of all values hit are never used and {} are overwritten unread.",
            if curve.half == 1 { "one instruction".to_owned() } else { format!("{} instructions", plain(curve.half)) },
            plain(curve.nine_tenths),
            said(&latencies.never_used),
            said(&latencies.overwritten)
        ))
    }

    /// What must be known before the numbers are believed.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let (summary, what) = (&self.summary, self.what());
        let mut warnings = Vec::new();
        if let Some(left) = summary.remaining {
            let order = if self.exact() {
                "The faults run so far are the first in order and no random sample: their rates are not those of the whole."
            } else {
                "What was run so far is a random sample of the campaign, so the intervals hold."
            };
            warnings.push(format!("The campaign is not finished: {} {what} are still to go. {order}", plain(left)));
        }
        if summary.runs.failed > 0 {
            let failed = plain(summary.runs.failed);
            warnings.push(format!("{failed} {what} could not be made and are in no rate; their messages are below."));
        }
        warnings.extend(of_unjudged(summary).map(|said| sentence(&said)));
        warnings.extend(of_host(summary).map(|said| sentence(&said)));
        warnings
    }

    /// The sentence that adds the runs up.
    pub(crate) fn account(&self) -> String {
        let runs = &self.summary.runs;
        let left = self.summary.remaining.map_or_else(String::new, |left| format!(" + {} to go", plain(left)));
        format!(
            "{} {} planned = {} landed + {} not landed + {} failed{left}",
            plain(runs.planned),
            self.what(),
            plain(runs.landed),
            plain(runs.not_landed),
            plain(runs.failed)
        )
    }

    /// How the bounds are to be read.
    pub(crate) fn on_bounds(&self) -> String {
        let Some(level) = self.bounds.level else {
            return "Every fault of the selection was run, so rates are exact: they have no sampling error and no interval. \
                    Counts are faults; rates weigh each fault by the chance with which a sampled campaign draws it."
                .to_owned();
        };
        let stopping = self.summary.stopping.as_ref();
        let method = match self.bounds.method.as_str() {
            "wilson" => "Wilson's score interval",
            "clopper-pearson" => "Clopper and Pearson's interval",
            other => other,
        };
        let level = interval(level);
        let margin: String = stopping.and_then(raised).map(|said| format!(" {said}")).into_iter().collect();
        let came = reached(&self.summary).map(|said| format!(" The campaign {said}."));
        let margin = margin + &came.unwrap_or_default();
        format!(
            "Behind every rate stands its {level} ({method}). Each holds by itself: of a hundred such intervals, some miss.{margin}"
        )
    }
}
