//! How the numbers came to be, and how to make them again.

use campaign::config::{OptionWords, quoted, shell_line};
use campaign::summary::Summary;
use campaign::{Choices, Config, Description};
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
    /// What is hit and what is not, in a sentence.
    pub not_hit: String,
    /// What is to be known of what executed the runs, a sentence or some each.
    pub machine: Vec<String>,
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
    let Description { faults, not_hit, machine } = context.description.clone();
    ReportProvenance {
        version: context.version.clone(),
        classifier: outcome::CLASSIFIER_VERSION,
        capsule: config.capsule.clone(),
        settings: settings(&Choices::from(config)),
        faults,
        not_hit,
        machine,
        repeat: repeat(config, context),
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
/// A campaign that keeps the texts of files is made again from its own file, since those on disk may say something else today.
fn repeat(config: &Config, context: &Context) -> String {
    if !config.selection.files.is_empty() {
        let file = format!("{}/campaign.toml", context.dir);
        return format!("beamline campaign --config {}", quoted(&file));
    }
    beamline(&Choices { jobs: None, memory: None, ..Choices::from(config) }.to_args())
}

/// The command that repeats the run of a fault.
pub(crate) fn run_command(choices: &Choices, fault: &str) -> String {
    beamline(&choices.run_args(fault))
}

fn beamline(args: &[String]) -> String {
    format!("beamline {}", shell_line(args.iter().map(String::as_str)))
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
        assert_eq!(repeat(&choices.clone().settle().unwrap(), &Context::default()), expected);
        // What a file says is in the campaign's own configuration.
        let mut kept = choices.settle().unwrap();
        kept.selection.files.insert("/t.toml#00".into(), "text".into());
        let context = Context { dir: "a dir".into(), ..Context::default() };
        assert_eq!(repeat(&kept, &context), "beamline campaign --config 'a dir/campaign.toml'");
    }
}
