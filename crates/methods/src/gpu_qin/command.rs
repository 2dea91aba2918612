//! `beamline groups`: the threads of a capsule in groups.

use inject::Golden;
use serde::Serialize;
use study::Study;

use super::grouping::{GroupBy, Grouping, KernelGroups};
use super::measure::measure;
use super::resilience::resilience_classes;
use super::settings::{Choice, Coverage, Settings};
use super::show::{self, Classes, Representatives};
use super::studies::popularity;
use crate::kit::{Campaigns, StudyError};
use crate::method::{Answer, Command, CommandOption, Request};

/// The command.
pub(super) const GROUPS: Command = Command {
    name: "groups",
    about: "Group the threads of a capsule by what they execute, as GPU-Qin does",
    options: &[
        CommandOption::of_words(
            "coverage",
            "SHARE",
            &[],
            None,
            "Profile as many groups as hold this share of the threads [default: as published: of one group that \
                    one, of two to ten those that hold 95 %, of more the first two]",
        ),
        CommandOption::of_words(
            "by",
            "BY",
            &[
                ("instructions", "how many instructions they come to, as published"),
                ("trace", "their whole trace"),
                (RESILIENCE, "how faults in them end: groups that a pilot campaign cannot tell apart are joined"),
            ],
            Some("instructions"),
            "By what threads are told apart",
        ),
        CommandOption::of_words("runs", "N", &[], Some("20000"), "Runs of the pilot campaign for --by resilience"),
    ],
    without: &[],
    criteria: None,
    run: groups,
};

/// The word for groups that a pilot campaign joins.
const RESILIENCE: &str = "resilience";

#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    capsule: &'a str,
    by: &'a str,
    #[serde(flatten)]
    grouping: &'a Grouping,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    resilience: Vec<Classes>,
}

fn groups(request: &Request, campaigns: &mut Campaigns<'_>) -> Result<Answer, StudyError> {
    let golden = request.capsule.golden_run();
    let by: String = request.options.get("by")?.unwrap_or_default();
    if by != RESILIENCE && request.options.first_explicit(&["runs"]).is_some() {
        return Err(StudyError::Words(format!(
            "make the runs of --runs: only --by {RESILIENCE} has a pilot campaign; say it too, or leave --runs out"
        )));
    }
    let grouping = grouping(golden, request, &by, campaigns)?;
    let resilience = if by == RESILIENCE { classes(request, &grouping, campaigns)? } else { Vec::new() };
    let name = &golden.capsule().name;
    let mut study = Study::new("groups", "", "");
    let representatives = representatives(golden, &grouping, campaigns.seed);
    study.tables.extend(show::groups(&grouping, &representatives));
    study.tables.extend(resilience.iter().map(show::classes));
    study.plots.push(popularity(name, &grouping, fault::base_name));
    let document = Document { format: "beamline.groups/1", capsule: name, by: &by, grouping: &grouping, resilience };
    let mut json = serde_json::json!(document);
    for (kernel, threads) in representatives.iter().enumerate() {
        for (group, thread) in threads.iter().enumerate() {
            json["kernels"][kernel]["groups"][group]["representative"] = serde_json::json!(thread);
        }
    }
    Ok(Answer { json, study, files: Vec::new(), pictures: Vec::new(), sheets: Vec::new() })
}

/// The thread that stands for each group in a campaign with this seed.
fn representatives(golden: &Golden, grouping: &Grouping, seed: u64) -> Representatives {
    let threads = |(kernel, own): (usize, &KernelGroups)| {
        let thread = |group| grouping.representative(golden, seed, kernel, group);
        (0..own.groups.len()).filter_map(thread).collect()
    };
    grouping.kernels.iter().enumerate().map(threads).collect()
}

fn grouping(golden: &Golden, request: &Request, by: &str, campaigns: &Campaigns<'_>) -> Result<Grouping, StudyError> {
    let share: Option<f64> = request.options.get("coverage")?;
    if let Some(share) = share.filter(|share| !(0.0..=1.0).contains(share)) {
        return Err(StudyError::Words(format!("cover {share} of the threads: a share is from 0 to 1")));
    }
    let selection = fault::Selection::default().in_kernels(&campaigns.kernels);
    let selection = selection.map_err(|error| StudyError::Words(error.to_string()))?;
    let by = if by == "trace" { GroupBy::Trace } else { GroupBy::Instructions };
    let coverage = share.map_or(Coverage::Published, Coverage::Share);
    let grouping = Grouping::of(golden, coverage, by, &|name, number| selection.holds_launch(name, number));
    if grouping.kernels.is_empty() {
        let names = campaigns.kernels.join(", ");
        let help = "`beamline profile` lists the kernels";
        return Err(StudyError::Words(format!("find a kernel: none matches {names}; {help}")));
    }
    Ok(grouping)
}

/// Irradiates all threads once and joins the groups that this cannot tell apart.
fn classes(request: &Request, grouping: &Grouping, campaigns: &mut Campaigns<'_>) -> Result<Vec<Classes>, StudyError> {
    let settings = Settings { choice: Choice::Unbiased, ..Settings::default() };
    let runs: u64 = request.options.get("runs")?.unwrap_or_default();
    let measured = measure(campaigns, &request.capsule, settings, runs)?;
    let of = |(number, kernel): (usize, &KernelGroups)| {
        let (classes, unknown) = resilience_classes(kernel, number, settings, &measured.trials);
        Classes { kernel: kernel.kernel.clone(), classes, unknown }
    };
    Ok(grouping.kernels.iter().enumerate().map(of).collect())
}
