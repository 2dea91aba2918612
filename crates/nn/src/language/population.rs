//! The population of a campaign on a generation: elements of stored values at steps after prompts.

use campaign::{SelectionWords, Stratify, Stratum, TargetError};
use fault::{ModelKind, Ranges};
use stats::Draws;

use super::fault::{GenerationFault, GenerationSpace, StoredOperand};
use super::parts::ModelPart;

/// The elements of an operand of some parts, at all steps after some prompts; each such triple is drawn with the same chance.
#[derive(Clone, Debug)]
pub(super) struct GenerationPopulation<'m> {
    space: GenerationSpace<'m>,
    operand: StoredOperand,
    model: ModelKind,
    /// The prompts that are drawn from, and how many choices of a step, or of a step and a position of a cache, are before each.
    prompts: Vec<(usize, u64)>,
    /// All such choices.
    choices: u64,
    /// The strata; one without a name if the campaign has none.
    sets: Vec<PartSet>,
    stratified: bool,
}

/// Parts that are drawn from together.
#[derive(Clone, Debug, Default)]
struct PartSet {
    name: String,
    /// The parts by number, and how many elements are before each.
    parts: Vec<(usize, u64)>,
    elements: u64,
}

/// Reads the word for what is hit; `dst` is what a campaign says where nothing else is said.
fn operand(word: Option<&str>) -> Result<StoredOperand, TargetError> {
    match word {
        None | Some("dst" | "out" | "activation" | "neuron") => Ok(StoredOperand::Out),
        Some("weight") => Ok(StoredOperand::Weight),
        Some("bias") => Ok(StoredOperand::Bias),
        Some("cache") => Ok(StoredOperand::Cache),
        Some(other) => Err(TargetError::new(format!(
            "hit `{other}`: of a language model it is activation (or out), weight, bias or cache"
        ))),
    }
}

impl<'m> GenerationPopulation<'m> {
    /// The part that `selection` selects.
    pub(super) fn new(space: GenerationSpace<'m>, selection: &SelectionWords) -> Result<Self, TargetError> {
        check_words(selection)?;
        let operand = operand(selection.target.as_deref())?;
        let model = ModelKind::parse(selection.model.as_deref().unwrap_or("flip"))
            .map_err(|error| TargetError::from_error(&error))?;
        let wanted =
            Ranges::parse("iterations", &selection.iterations).map_err(|error| TargetError::from_error(&error))?;
        let (mut prompts, mut choices) = (Vec::new(), 0);
        for (prompt, &length) in space.lengths.iter().enumerate().filter(|(prompt, _)| wanted.holds(*prompt as u64)) {
            prompts.push((prompt, choices));
            choices += match operand {
                StoredOperand::Cache => before_step(length, space.steps),
                _ => space.steps as u64,
            };
        }
        if prompts.is_empty() {
            let last = space.lengths.len().saturating_sub(1);
            return Err(TargetError::new(format!("draw a prompt: none is selected; their numbers are 0 to {last}")));
        }
        let parts = space.model.parts();
        known("layer", &selection.kernel, parts.iter().map(|part| part.name.as_str()))?;
        known("class", &selection.group, parts.iter().map(|part| part.class))?;
        let said = |list: &[String], word: &str| list.is_empty() || list.iter().any(|said| said == word);
        let mut sets: Vec<PartSet> = Vec::new();
        for (number, part) in parts.iter().enumerate() {
            let sizes = operand.sizes(space.model, number, 1);
            if sizes.is_empty() || !said(&selection.kernel, &part.name) || !said(&selection.group, part.class) {
                continue;
            }
            let name = set_name(part, selection.stratify)?;
            let at = sets.iter().position(|set| set.name == name).unwrap_or_else(|| {
                sets.push(PartSet { name: name.to_owned(), ..PartSet::default() });
                sets.len() - 1
            });
            let elements = sets[at].elements;
            sets[at].parts.push((number, elements));
            sets[at].elements += sizes.iter().product::<usize>() as u64;
        }
        if sets.is_empty() {
            return Err(TargetError::new(format!("select elements: the selected layers have no `{}`", operand.word())));
        }
        let bits = space.model.format().bits();
        if !model.hits(bits) {
            return Err(TargetError::new(format!("use the model on values of {bits} bits: they have not as many")));
        }
        Ok(Self { space, operand, model, prompts, choices, sets, stratified: selection.stratify.is_some() })
    }

    /// The strata: a member is an element at a step after a prompt.
    pub(super) fn strata(&self) -> Vec<Stratum> {
        let stratum = |set: &PartSet| Stratum { name: set.name.clone(), members: set.elements * self.choices };
        self.sets.iter().map(stratum).collect()
    }

    /// Draws for a run, and tells its stratum.
    pub(super) fn draw(&self, seed: u64, run: u64) -> Option<(GenerationFault, Option<u32>)> {
        let mut draws = Draws::new(seed, run);
        let number = run % self.sets.len() as u64;
        let set = &self.sets[number as usize];
        let member = draws.below(set.elements * self.choices)?;
        let (choice, element) = (member / set.elements, member % set.elements);
        let &(prompt, before) = self.prompts.iter().rfind(|(_, before)| *before <= choice)?;
        let &(part, first) = set.parts.iter().rfind(|(_, before)| *before <= element)?;
        let (mut step, mut position) = (choice - before, 0);
        if self.operand == StoredOperand::Cache {
            let length = self.space.lengths[prompt];
            position = step;
            step = (0..self.space.steps as u64).rfind(|&step| before_step(length, step as usize) <= position)?;
            position -= before_step(length, step as usize);
        }
        let element = (element - first) as usize;
        let at = match (self.operand, &self.operand.sizes(self.space.model, part, 1)[..]) {
            (StoredOperand::Cache, _) => vec![position as usize, element],
            (_, &[_, columns]) => vec![element / columns, element % columns],
            _ => vec![element],
        };
        let layer = self.space.model.parts()[part].name.clone();
        let model = self.model.draw(&mut draws, self.space.model.format().bits())?;
        let fault = GenerationFault { prompt, step: step as usize, layer, operand: self.operand, at, model };
        Some((fault, self.stratified.then_some(number as u32)))
    }
}

/// The positions that are stored before the steps below `step`, one step after the other, after a prompt of this length.
fn before_step(length: usize, step: usize) -> u64 {
    (step * (length - 1) + step * step.saturating_sub(1) / 2) as u64
}

fn set_name(part: &ModelPart, stratify: Option<Stratify>) -> Result<&str, TargetError> {
    match stratify {
        None => Ok(""),
        Some(Stratify::Kernel) => Ok(&part.name),
        Some(Stratify::Group) => Ok(part.class),
        Some(Stratify::Threads) => {
            Err(TargetError::new("divide the population by threads: a language model has `kernel` and `group`"))
        }
    }
}

fn known<'w>(what: &str, said: &[String], known: impl Iterator<Item = &'w str>) -> Result<(), TargetError> {
    let mut list: Vec<&str> = known.collect();
    list.dedup();
    match said.iter().find(|said| !list.contains(&said.as_str())) {
        None => Ok(()),
        Some(unknown) => Err(TargetError::new(format!("select the {what} `{unknown}`: there are {}", list.join(", ")))),
    }
}

/// Refuses what a language model has nothing for.
fn check_words(selection: &SelectionWords) -> Result<(), TargetError> {
    let refuse = |what: &str, word: &str| {
        Err(TargetError::new(format!(
            "select {what} `{word}`: a language model has layers, classes of them and prompts"
        )))
    };
    for (what, list) in
        [("source lines", &selection.lines), ("threads", &selection.threads), ("blocks", &selection.blocks)]
    {
        if let Some(word) = list.first() {
            return refuse(what, word);
        }
    }
    if let Some(scope) = selection.scope.as_deref().filter(|scope| !["thread", "one"].contains(scope)) {
        return Err(TargetError::new(format!("hit the scope `{scope}`: of a language model it is one (or thread)")));
    }
    match &selection.method {
        Some(method) => {
            Err(TargetError::new(format!("choose sites by `{method}`: no method is known for language models")))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::before_step;

    #[test]
    fn positions_before_a_step_are_those_of_the_prompt_but_its_last_and_of_the_steps() {
        let each = |length: usize, step: usize| (0..step).map(|step| length - 1 + step).sum::<usize>() as u64;
        for (length, step) in [(2, 0), (2, 1), (2, 7), (16, 48), (32, 47)] {
            assert_eq!(before_step(length, step), each(length, step), "{length} {step}");
        }
    }
}
