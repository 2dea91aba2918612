//! How the numbers came to be, and how to make them again.

use campaign::summary::Summary;
use campaign::{Choices, Config};
use serde::Serialize;
use serde_json::Value;

use crate::input::Context;

/// How the numbers came to be.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Provenance {
    /// The version of the program that made the report.
    pub version: String,
    /// The version of the function that labelled the outcomes.
    pub classifier: u32,
    /// The capsule as the campaign was given it: a file or a bundled workload.
    pub capsule: String,
    /// Every setting of the effective configuration.
    pub settings: Vec<Setting>,
    /// The fault model in words.
    pub faults: String,
    /// The command that makes the same campaign.
    pub repeat: String,
    /// The command that goes on with an unfinished one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume: Option<String>,
}

/// A setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// Its key, as on the command line and in files.
    pub key: String,
    /// Its value.
    pub value: String,
}

pub(super) fn of(config: &Config, summary: &Summary, context: &Context) -> Provenance {
    let choices = serde_json::to_value(Choices::from(config)).unwrap_or_default();
    let settings = settings(&choices);
    Provenance {
        version: context.version.clone(),
        classifier: outcome::CLASSIFIER_VERSION,
        capsule: config.capsule.clone(),
        faults: faults(summary),
        repeat: repeat(&config.capsule, &settings),
        resume: summary.remaining.map(|_| format!("beamline resume {}", quoted(&context.dir))),
        settings,
    }
}

/// Every key that says something. Keys are not named here, so that new ones appear by themselves.
fn settings(choices: &Value) -> Vec<Setting> {
    let mut settings = Vec::new();
    for (key, value) in choices.as_object().into_iter().flatten() {
        let texts: Vec<String> = match value {
            Value::Object(entries) => entries.iter().map(|(name, value)| named(name, value)).collect(),
            Value::Array(values) => vec![values.iter().map(plain).collect::<Vec<_>>().join(",")],
            value => vec![plain(value)],
        };
        settings.extend(texts.into_iter().map(|value| Setting { key: key.clone(), value }));
    }
    settings.sort_by(|a, b| a.key.cmp(&b.key));
    settings
}

/// What is said of something by name: `out=0.001`, or several keys, `out:metric=rel-l2,bins=0.01/0.1,range=0..1`.
fn named(name: &str, value: &Value) -> String {
    let Value::Object(entries) = value else { return format!("{name}={}", plain(value)) };
    let entry = |(key, value): (&String, &Value)| {
        let between = if key == "range" { ".." } else { "/" };
        let value = match value {
            Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join(between),
            value => plain(value),
        };
        format!("{key}={value}")
    };
    format!("{name}:{}", entries.iter().map(entry).collect::<Vec<_>>().join(","))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The command line of the same campaign. How many workers there are and what memory they have changes no number.
fn repeat(capsule: &str, settings: &[Setting]) -> String {
    let mut command = format!("beamline campaign {}", quoted(capsule));
    for Setting { key, value } in settings {
        match key.as_str() {
            "capsule" | "jobs" | "memory" => {}
            _ if value == "true" => command += &format!(" --{key}"),
            _ => command += &format!(" --{key} {}", quoted(value)),
        }
    }
    command
}

/// The command that repeats a fault and tells its story.
pub(crate) fn inject_command(capsule: &str, fault: &str) -> String {
    format!("beamline inject {} {} --explain", quoted(capsule), quoted(fault))
}

/// A word as a POSIX shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The faults of the campaign in words; words that are new here are shown as they are.
fn faults(summary: &Summary) -> String {
    let config = &summary.config;
    let (model, target) = (config.model.as_deref().unwrap_or("flip"), config.target.as_deref().unwrap_or("dst"));
    let scope = config.scope.as_deref().unwrap_or("thread");
    let place = match target {
        _ if config.method.is_some() => "a register that the method picks of an instruction".to_owned(),
        "dst" => "a destination register, after the instruction has written it".to_owned(),
        "pred" => "a destination predicate, after the instruction has written it".to_owned(),
        "addr" => "the address of an access to memory, for that access alone".to_owned(),
        "store" => "a value on its way to memory".to_owned(),
        "src" => "a source register, as one instruction reads it".to_owned(),
        "reg" => "an allocated register, at a random time".to_owned(),
        "mem" => "a byte of memory that the thread reaches, at a random time".to_owned(),
        "global" | "shared" | "local" | "const" => format!("a byte of {target} memory, at a random time"),
        other => format!("the operand `{other}`"),
    };
    let change = match model {
        "flip" => "one bit flips".to_owned(),
        "double" => "two adjacent bits flip".to_owned(),
        "double-any" => "two bits flip".to_owned(),
        "random" => "the value is replaced by another, uniform over its width".to_owned(),
        "zero" => "the value becomes zero".to_owned(),
        other => match other.split_once(':') {
            Some(("stuck0", mask)) => format!("the bits {mask} become 0"),
            Some(("stuck1", mask)) => format!("the bits {mask} become 1"),
            _ => format!("the value changes by the model `{other}`"),
        },
    };
    let who = match scope {
        "thread" => "of one thread".to_owned(),
        "pair" => "of two threads of a warp".to_owned(),
        "warp" => "of every active thread of a warp".to_owned(),
        other => format!("of the scope `{other}`"),
    };
    let time = matches!(target, "reg" | "mem" | "global" | "shared" | "local" | "const");
    let chosen = config.method.as_ref().map(|method| {
        format!(
            "Sites are chosen as the published method `{method}` does, so that the rates on this page are of what it drew, \
             no estimates for the program; `beamline report` shows the method's own."
        )
    });
    let which = match (&chosen, summary.exhaustive) {
        (Some(chosen), _) => chosen,
        (None, Some(_)) => {
            "Every such fault of the selection was run, and is weighed by the chance with which a sampled campaign draws it."
        }
        (None, None) if time => {
            "Each run draws a point in time uniformly, a dynamic instruction of a thread that is selected, then what is hit \
             among all that is there at that time, then the bits."
        }
        (None, None) => {
            "Each run draws one dynamic instruction uniformly from all that have such an operand and are selected, then \
             one of its operands, then the bits."
        }
    };
    format!("In {place}, {change}, once, at one dynamic instruction {who}. {which}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_repeats_a_campaign_has_every_setting_that_matters() {
        let choices = Choices {
            capsule: Some("a b.capsule".into()),
            runs: Some(10),
            group: vec!["load".into(), "move".into()],
            jobs: Some(3),
            tolerance: [("out".to_owned(), 0.5)].into(),
            ..Choices::default()
        };
        let settings = settings(&serde_json::to_value(&choices).unwrap());
        let expected = "beamline campaign 'a b.capsule' --group load,move --runs 10 --tolerance out=0.5";
        assert_eq!(repeat("a b.capsule", &settings), expected.to_owned());
        assert!(settings.contains(&Setting { key: "jobs".into(), value: "3".into() }));
    }

    #[test]
    fn words_reach_the_shell_as_they_are() {
        let words = ["launch=0,bits=1+2", "it's", "", "$(rm -r ~)"];
        assert_eq!(words.map(quoted), ["launch=0,bits=1+2", r"'it'\''s'", "''", "'$(rm -r ~)'"]);
    }
}
