//! Vulnerable source lines in the format of code-scanning tools: SARIF 2.1.0 (OASIS, *Static Analysis Results Interchange
//! Format*, 2020).
//!
//! One result for each source line with a silent corruption, and one for each with a crash or hang. The level follows the
//! lower bound of the rate, not the rate: what is an error has been shown to be one. Where outputs are judged, that of
//! a silent corruption follows the rate of those that no criterion accepts: a line with good ones alone is a note.

use campaign::summary::Rate;
use serde_json::{Value, json};

use crate::document::{LineRates, Report};
use crate::findings::{file_name, said};
use crate::number::plain;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// A rate of which the lower bound is this is an error; a fifth of it is a warning, anything else a note.
const ERROR: f64 = 0.25;
const WARNING: f64 = 0.05;

/// A kind of result: its id, its name, what it means, what to do.
const RULES: [(&str, &str, &str, &str); 2] = [
    (
        "beamline/sdc",
        "SilentDataCorruption",
        "Faults in the instructions of this line silently corrupt the output of the application.",
        "Consider to duplicate the computation of the line, to check its result, or to protect it by an algorithm's own \
         invariants. Rates are conditional: given that a fault happens there.",
    ),
    (
        "beamline/due",
        "DetectedUnrecoverableError",
        "Faults in the instructions of this line crash or hang the application.",
        "Consider to check addresses and loop bounds that the line computes before they are used.",
    ),
];

impl Report {
    /// The vulnerable lines as a SARIF log. Lines of all files are in it, not only those that the page lists.
    ///
    /// # Errors
    /// Never for a report made from results.
    pub fn to_sarif(&self) -> serde_json::Result<String> {
        let mut results = Vec::new();
        for line in &self.shown.all_lines {
            let (Some(file), Some(number)) = (line.file.as_deref(), line.line.filter(|&number| number > 0)) else {
                continue;
            };
            let outcomes = &line.account.outcomes;
            for (rule, rate, worst) in [(0, &outcomes.sdc, line.account.worst()), (1, &outcomes.due, &outcomes.due)] {
                if rate.count > 0 {
                    results.push(self.result(rule, [rate, worst], line, file, number));
                }
            }
        }
        let rules = RULES.map(|(id, name, short, help)| {
            json!({
                "id": id,
                "name": name,
                "shortDescription": {"text": short},
                "fullDescription": {"text": format!("{short} {help}")},
                "help": {"text": help},
                "defaultConfiguration": {"level": "warning"},
            })
        });
        let log = json!({
            "$schema": SCHEMA,
            "version": "2.1.0",
            "runs": [{
                "tool": {"driver": {
                    "name": "beamline",
                    "version": self.provenance.version,
                    "rules": rules,
                }},
                "automationDetails": {"id": format!("beamline/{}/{}", self.summary.capsule.name, self.summary.capsule.digest)},
                "columnKind": "unicodeCodePoints",
                "properties": {"headline": self.headline(), "account": self.account(), "bounds": self.bounds},
                "results": results,
            }],
        });
        serde_json::to_string_pretty(&log).map(|text| text + "\n")
    }

    /// A result with its rate, and the rate that its level follows.
    fn result(&self, rule: usize, [rate, worst]: [&Rate; 2], line: &LineRates, file: &str, number: u32) -> Value {
        let (id, ..) = RULES[rule];
        let what = if rule == 0 { "silently corrupt the output" } else { "crash or hang the application" };
        let bad = self.bad_name().filter(|_| rule == 0).map_or_else(String::new, |bad| {
            format!("; {} end in a {bad} corruption: {}", said(worst), plain(worst.count))
        });
        let text = format!(
            "{} of the faults on {}:{number} {what}: {} of {} {} that hit it{bad}.",
            said(rate),
            file_name(file),
            plain(rate.count),
            plain(line.account.runs),
            self.what()
        );
        let mut properties = json!({"count": rate.count, "runs": line.account.runs, "rate": rate.rate, "low": rate.low, "high": rate.high});
        if let Some(bad) = line.account.bad.filter(|_| rule == 0) {
            properties["bad"] = json!(bad);
        }
        json!({
            "ruleId": id,
            "ruleIndex": rule,
            "level": level(worst),
            "message": {"text": text},
            "locations": [{"physicalLocation": {
                "artifactLocation": {"uri": uri(file)},
                "region": {"startLine": number},
            }}],
            "partialFingerprints": {"line/v1": format!("{}:{number}", uri(file))},
            // From 0 to 100; the lower bound, so that a line that was hit once does not come first.
            "rank": worst.low * 100.0,
            "properties": properties,
        })
    }
}

fn level(rate: &Rate) -> &'static str {
    match rate.low {
        low if low >= ERROR => "error",
        low if low >= WARNING => "warning",
        _ => "note",
    }
}

/// A relative reference (RFC 3986): line tables hold absolute paths of the machine that compiled, which mean nothing
/// elsewhere, so that the leading slash goes; `..` and `.` too, so that no reader leaves its root.
fn uri(path: &str) -> String {
    let parts = path.split(['/', '\\']).filter(|part| !matches!(*part, "" | "." | ".."));
    let encode = |part: &str| {
        let mut text = String::new();
        for byte in part.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => text.push(char::from(byte)),
                other => text += &format!("%{other:02X}"),
            }
        }
        text
    };
    parts.map(encode).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_relative_references() {
        let paths = ["/home/me/a b.cu", "../x/./y.cu", r"C:\w\z.cu", "é.cu", "a?b#c"];
        assert_eq!(paths.map(uri), ["home/me/a%20b.cu", "x/y.cu", "C%3A/w/z.cu", "%C3%A9.cu", "a%3Fb%23c"]);
    }

    #[test]
    fn the_level_follows_the_lower_bound() {
        let of = |low: f64| level(&Rate { count: 1, rate: Some(1.0), low, high: 1.0 });
        assert_eq!([0.9, 0.25, 0.1, 0.0].map(of), ["error", "error", "warning", "note"]);
    }
}
