//! How the numbers came to be, and how to make them again.

use campaign::config::{OptionWords, quoted, shell_line};
use campaign::summary::Summary;
use campaign::{Choices, Config};
use serde::Serialize;

use crate::input::Context;

/// How the numbers came to be.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReportProvenance {
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

pub(super) fn of(config: &Config, summary: &Summary, context: &Context) -> ReportProvenance {
    ReportProvenance {
        version: context.version.clone(),
        classifier: outcome::CLASSIFIER_VERSION,
        capsule: config.capsule.clone(),
        settings: settings(&Choices::from(config)),
        faults: faults(summary),
        repeat: repeat(config),
        resume: summary.remaining.map(|_| format!("beamline resume {}", quoted(&context.dir))),
    }
}

/// Every key that says something. Keys are not named here, so that new ones appear by themselves.
fn settings(choices: &Choices) -> Vec<Setting> {
    let setting = |key: &str, value: String| Setting { key: key.to_owned(), value };
    let mut settings: Vec<Setting> =
        choices.capsule.iter().map(|capsule| setting("capsule", capsule.clone())).collect();
    if !choices.live.app.words().is_empty() {
        settings.push(setting("app", choices.live.app.to_string()));
    }
    let said = |entry: OptionWords| setting(entry.key, entry.value.unwrap_or_else(|| true.to_string()));
    settings.extend(choices.entries().into_iter().map(said));
    settings.sort_by(|a, b| a.key.cmp(&b.key));
    settings
}

/// The command line of the same campaign. How many workers there are and what memory they have changes no number.
fn repeat(config: &Config) -> String {
    beamline(&Choices { jobs: None, memory: None, ..Choices::from(config) }.to_args())
}

/// The command that repeats the run of a fault.
pub(crate) fn run_command(choices: &Choices, fault: &str) -> String {
    beamline(&choices.run_args(fault))
}

fn beamline(args: &[String]) -> String {
    format!("beamline {}", shell_line(args.iter().map(String::as_str)))
}

/// The faults of the campaign in words; words that are new here are shown as they are.
fn faults(summary: &Summary) -> String {
    let config = &summary.config.selection;
    let (model, target) = (config.model.as_deref().unwrap_or("flip"), config.target.as_deref().unwrap_or("dst"));
    let (model, scope) = match model.split_once('@') {
        Some(one) if !model.contains('*') => one,
        _ => (model, config.scope.as_deref().unwrap_or("thread")),
    };
    let registers = target.strip_prefix("reg:");
    let place = match target {
        _ if config.method.is_some() => "a register that the method picks of an instruction".to_owned(),
        "dst" => "a destination register, after the instruction has written it".to_owned(),
        "pred" => "a destination predicate, after the instruction has written it".to_owned(),
        "addr" => "the address of an access to memory, for that access alone".to_owned(),
        "store" => "a value on its way to memory".to_owned(),
        "src" => "a source register, as one instruction reads it".to_owned(),
        "reg" => "an allocated register, at a random time".to_owned(),
        _ if registers.is_some() => {
            format!("one of {} registers of 32 bits, allocated or not, at a random time", registers.unwrap_or_default())
        }
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
            _ if other.contains('*') => {
                format!("the value changes by one of the models {}, by their weights", other.replace('|', ", "))
            }
            _ => format!("the value changes by the model `{other}`"),
        },
    };
    let who = match scope {
        _ if model.contains('*') => "of as many threads of a warp as the model says after `@`, or one".to_owned(),
        "thread" => "of one thread".to_owned(),
        "pair" => "of two threads of a warp".to_owned(),
        "warp" => "of every active thread of a warp".to_owned(),
        other => format!("of the scope `{other}`"),
    };
    let time = registers.is_some() || matches!(target, "reg" | "mem" | "global" | "shared" | "local" | "const");
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
        let choices = Choices::from_toml(
            "capsule = 'a b.capsule'\nruns = 10\ngroup = ['load', 'move']\njobs = 3\nfail-if = ['sdc>0.1', 'due>0.1']\n\
             tolerance.out = 0.5",
            "it",
        )
        .unwrap();
        let settings = settings(&choices);
        let value =
            |key: &str| settings.iter().filter(|it| it.key == key).map(|it| it.value.as_str()).collect::<Vec<_>>();
        assert_eq!([value("jobs"), value("group"), value("capsule")], [["3"], ["load,move"], ["a b.capsule"]]);
        assert_eq!(value("fail-if"), ["sdc>0.1", "due>0.1"]);
        let expected = "beamline campaign 'a b.capsule' --runs 10 --confidence 0.95 --interval wilson --seed 0 --model flip \
                        --target dst --group load,move --scope thread --fail-if 'sdc>0.1' --fail-if 'due>0.1' \
                        --engine auto --tolerance out=0.5";
        assert_eq!(repeat(&choices.settle().unwrap()), expected);
    }
}
