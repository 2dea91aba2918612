//! Tables of rates: every rate with its interval, as numbers and as a mark on a track from 0 to 100 %.

use campaign::summary::Rate;
use maud::{Markup, PreEscaped, html};

use crate::document::{RateAccount, Report};
use crate::number::{bounds, count, interval, percent, rate};

/// A class of outcomes: its letter in the style, its name, its sign.
#[derive(Clone, Copy)]
pub(super) enum ClassStyle {
    Sdc,
    /// The silent corruptions that no criterion accepts, by what they are called.
    Bad(&'static str),
    Due,
    Masked,
    Undecided,
}

impl ClassStyle {
    /// Those that tables show: bad corruptions where outputs are judged.
    pub(super) fn all(report: &Report) -> impl Iterator<Item = Self> + use<> {
        let undecided = Some(Self::Undecided).filter(|_| report.summary.outcomes.undecided.count > 0);
        [Some(Self::Sdc), report.bad_name().map(Self::Bad), Some(Self::Due), Some(Self::Masked), undecided]
            .into_iter()
            .flatten()
    }

    /// Its rate in an account.
    pub(super) fn rate(self, account: &RateAccount) -> &Rate {
        match self {
            Self::Sdc => &account.outcomes.sdc,
            Self::Bad(_) => account.worst(),
            Self::Due => &account.outcomes.due,
            Self::Masked => &account.outcomes.masked,
            Self::Undecided => &account.outcomes.undecided,
        }
    }

    pub(super) fn letter(self) -> &'static str {
        match self {
            Self::Sdc | Self::Bad(_) => "s",
            Self::Due => "d",
            Self::Masked | Self::Undecided => "m",
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Sdc => "SDC",
            Self::Bad(name) => name,
            Self::Due => "DUE",
            Self::Masked => "masked",
            Self::Undecided => "undecided",
        }
    }

    /// The sign that stands for it beside its colour.
    pub(super) fn sign(self) -> Markup {
        let sign = match self {
            Self::Sdc | Self::Bad(_) => "●",
            Self::Due => "▲",
            Self::Masked => "○",
            Self::Undecided => "?",
        };
        html! { i class=(format!("g {}", self.letter())) aria-hidden="true" { (sign) } }
    }
}

/// A mark at the rate, and a bar from bound to bound.
pub(super) fn track(of: ClassStyle, rate: &Rate) -> Markup {
    let Some(share) = rate.rate else { return Markup::default() };
    let style = format!("--l:{:.1}%;--h:{:.1}%;--r:{:.1}%", rate.low * 100.0, rate.high * 100.0, share * 100.0);
    html! { i class=(format!("f {}", of.letter())) style=(style) aria-hidden="true" {} }
}

/// The mark of a class by its word.
pub(crate) fn track_of(class: &str, rate: &Rate) -> Markup {
    match class {
        "sdc" => track(ClassStyle::Sdc, rate),
        "due" => track(ClassStyle::Due, rate),
        _ => track(ClassStyle::Masked, rate),
    }
}

/// The cells of a rate: its value, its bounds, its mark.
fn cells(of: ClassStyle, value: &Rate, exact: bool, marked: bool) -> Markup {
    html! {
        td.n data-v=(sort_key(value)) { (rate(value.rate)) }
        @if !exact { td.i { @if value.rate.is_some() { (bounds(value.low, value.high)) } } }
        @if marked { td.p { (track(of, value)) } }
    }
}

/// What a column of rates is sorted by.
fn sort_key(value: &Rate) -> String {
    value.rate.map_or_else(|| "-1".to_owned(), |rate| rate.to_string())
}

/// The cells of a rate without a mark, for shares of something else.
pub(super) fn share_cells(value: &Rate, exact: bool) -> Markup {
    cells(ClassStyle::Sdc, value, exact, false)
}

/// The heads of the columns of a rate.
pub(super) fn share_heads(name: &str, report: &Report) -> Markup {
    html! {
        th.n scope="col" data-s { (name) }
        @if let Some(level) = report.bounds.level { th.i scope="col" { (interval(level)) } }
    }
}

/// The heads of the columns of an account.
pub(super) fn account_heads(report: &Report) -> Markup {
    html! {
        th.n scope="col" data-s { (report.what()) }
        @for of in ClassStyle::all(report) {
            th.n scope="col" data-s { (of.sign()) (of.name()) }
            @if let Some(level) = report.bounds.level { th.i scope="col" { (interval(level)) } }
            @if !matches!(of, ClassStyle::Masked | ClassStyle::Undecided) { th.p aria-label="on a scale from 0 to 100 %" {} }
        }
        @if lost(report) { th.n scope="col" data-s { "not landed" } th.n scope="col" data-s { "failed" } }
    }
}

/// Whether any run did not land or failed: the columns for it are left out of tables where they would be empty.
fn lost(report: &Report) -> bool {
    report.summary.runs.not_landed + report.summary.runs.failed > 0
}

/// The cells of an account.
pub(super) fn account_cells(account: &RateAccount, report: &Report) -> Markup {
    html! {
        td.n data-v=(account.runs) { (count(account.runs)) }
        @for of in ClassStyle::all(report) {
            (cells(of, of.rate(account), report.exact(), !matches!(of, ClassStyle::Masked | ClassStyle::Undecided)))
        }
        @if lost(report) {
            td.n data-v=(account.not_landed) { (count(account.not_landed)) }
            td.n data-v=(account.failed) { (count(account.failed)) }
        }
    }
}

/// `12 more launches are left out here.`, or nothing where nothing is.
pub(super) fn left_out(more: u64, of_what: &str) -> Option<String> {
    (more > 0).then(|| format!("{} more {of_what} are left out here.", count(more)))
}

/// Rows above which a table scrolls by itself instead of making the page long.
const TALL: usize = 20;

/// A table that scrolls within the page if it is too wide for it.
pub(crate) fn table(id: &str, caption: &str, heads: &Markup, rows: &[Markup], left_out: u64, of_what: &str) -> Markup {
    if rows.is_empty() {
        return html! { p.soft { "Nothing to show: " (caption) "." } };
    }
    html! {
        h3 id=[(!id.is_empty()).then(|| format!("of-{id}"))] { (caption) }
        div.scroll.tall[rows.len() > TALL] tabindex="0" role="region" aria-label=(caption) {
            table id=[(!id.is_empty()).then_some(id)] {
                thead { tr { (heads) } }
                tbody { @for row in rows { tr { (row) } } }
            }
        }
        @if let Some(more) = self::left_out(left_out, of_what) { p.small.soft { (more) } }
    }
}

/// A rate in a sentence: `12.00 % (10.10–14.20)`.
pub(super) fn said(value: &Rate) -> Markup {
    match value.rate {
        None => PreEscaped("–".to_owned()),
        Some(share) if value.low == share && value.high == share => html! { (percent(share)) "\u{a0}%" },
        Some(share) => html! { (percent(share)) "\u{a0}% " span.soft { "(" (bounds(value.low, value.high)) ")" } },
    }
}
