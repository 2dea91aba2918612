//! What a page of documentation is whose numbers are measured: `cargo xtask page NAME`.

use methods::kit::{Campaigns, InputHistory, Inputs, OpenedCapsule, StudyError};
use methods::{InputRequest, Options, registry};
use outcome::Criteria;
use serde_json::Value;
use std::collections::BTreeMap;
use study::{Picture, Plot, Table};

/// A page of documentation whose numbers are measured: `cargo xtask page NAME`.
pub struct MethodPage {
    /// The word of the method that it is about, or of the command about networks.
    pub method: &'static str,
    /// The text, in which `{{name}}` stands for a piece.
    pub template: &'static str,
    /// The kinds of campaigns that it is made from.
    pub runs: &'static [PageCampaign],
    /// Measures, and makes all pieces, by name; with a workload's name measures only that one, and makes none.
    pub make: fn(&mut PageContext<'_, '_>, Option<&str>) -> Result<Pieces, StudyError>,
}

/// How many runs campaigns of a kind have.
#[derive(Clone, Copy, Debug)]
pub struct PageCampaign {
    /// What they are called; the piece `runs-NAME` of the page says how many.
    pub name: &'static str,
    /// How many, if nothing else is said.
    pub count: u64,
    /// What they measure.
    pub about: &'static str,
}

/// What a page is made with.
pub struct PageContext<'w, 'c> {
    /// Where capsules come from.
    pub workloads: &'w mut dyn Workloads,
    /// Runs campaigns, and keeps them.
    pub campaigns: &'w mut Campaigns<'c>,
    /// How many runs campaigns of each kind have.
    pub runs: BTreeMap<&'static str, u64>,
}

impl PageContext<'_, '_> {
    /// The document that a command about inputs answers with; its options have their defaults unless `said` names them. What it finds
    /// of inputs is kept beside the campaigns.
    ///
    /// # Errors
    /// If the command or the workload is unknown, and as the command.
    pub(crate) fn of_inputs(
        &mut self,
        command: &str,
        workload: &str,
        said: &[(&'static str, &str)],
    ) -> Result<Value, StudyError> {
        let found = registry::input_commands().find(|it| it.name == command);
        let command =
            found.ok_or_else(|| StudyError::Words(format!("make the page: the command `{command}` is missing")))?;
        let said = said.iter().map(|&(key, value)| (key, value.to_owned()));
        let defaults = command.options.iter().filter_map(|option| Some((option.key, option.default?.to_owned())));
        let options = Options { values: defaults.chain(said).collect(), ..Options::default() };
        let declared = Some(self.workloads.declared(workload)?);
        let criteria = command.criteria.map(|of| of(&options, declared.as_deref())).transpose()?.unwrap_or_default();
        let mut inputs = self.workloads.inputs(workload, criteria)?;
        self.campaigns.history = Some(InputHistory::open(&self.campaigns.dir, inputs.name(), &inputs.identity())?);
        let mut request = InputRequest { inputs: &mut *inputs, declared, options };
        let answer = (command.run)(&mut request, self.campaigns);
        self.campaigns.history = None;
        Ok(answer?.json)
    }
}

/// The workloads of this repository, ready for faults.
pub trait Workloads {
    /// A workload as it is bundled.
    ///
    /// # Errors
    /// If there is none of this name, or it has no golden run.
    fn bundled(&mut self, name: &str) -> Result<OpenedCapsule, StudyError>;

    /// The same, its outputs compared by these criteria before its own.
    ///
    /// # Errors
    /// As [`bundled`](Self::bundled).
    fn judged(&mut self, name: &str, criteria: Criteria) -> Result<OpenedCapsule, StudyError>;

    /// A workload as it is bundled, built for a debugger, nothing optimised.
    ///
    /// # Errors
    /// If it cannot be built or has no golden run.
    fn unoptimised(&mut self, name: &str) -> Result<OpenedCapsule, StudyError>;

    /// What a workload declares of itself: the text of its `workload.toml`.
    ///
    /// # Errors
    /// If there is none of this name.
    fn declared(&mut self, name: &str) -> Result<String, StudyError>;

    /// The texts of the files of lines of JSON in a folder of the records, in the order of their names.
    ///
    /// # Errors
    /// If one cannot be read.
    fn records(&mut self, folder: &str) -> Result<Vec<String>, StudyError>;

    /// A workload with a space of inputs, whose outputs are compared by `criteria` where they say how.
    ///
    /// # Errors
    /// If there is none of this name, it has no space, or it cannot be run here.
    fn inputs(&mut self, name: &str, criteria: Criteria) -> Result<Box<dyn Inputs>, StudyError>;
}

/// Pieces of a page, each with the name by which the template asks for it.
pub type Pieces = Vec<(String, Piece)>;

/// What stands in a page where the template names it.
#[derive(Clone, Debug)]
pub enum Piece {
    /// A number.
    Count(u64),
    /// A sentence, or some.
    Text(String),
    /// A table.
    Table(Table),
    /// A plot, in a file of its own.
    Plot(Plot),
    /// A picture, in a file of its own.
    Picture(Picture),
}
