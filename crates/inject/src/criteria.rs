//! What a campaign says of outputs, applied to those of a capsule: which there are, what their elements are, and in
//! which range they lie. It has to be known before the first comparison.

use crate::compare::PRINTED;
use crate::elements::{Typed, elements};
use crate::golden::Golden;
use campaign::TargetError;
use capsule::{ElementType, Metric};
use outcome::{Criteria, Element, Quality};

/// What was found out about outputs.
#[derive(Debug, Default)]
pub(crate) struct OutputTypes {
    /// The outputs whose type was read off the program.
    inferred: Vec<(String, ElementType)>,
    /// A line for each output whose type was looked for in vain.
    pub(crate) notes: Vec<String>,
}

impl OutputTypes {
    /// What the capsule says about its outputs: the error that is still good, and the types that were found out.
    pub(crate) fn criteria(&self, golden: &Golden) -> Criteria {
        let mut criteria = Criteria::default();
        for output in golden.outputs() {
            let (Some(tolerance), name) = (output.tolerance, output.name.clone()) else { continue };
            match output.metric {
                Metric::MaxRel => {
                    criteria.tolerance.insert(name, tolerance);
                }
                Metric::MaxAbs | Metric::RelL2 => {
                    let metric = output.metric.word().parse().ok();
                    let quality = Quality { metric, tolerance: Some(tolerance), ..Quality::default() };
                    criteria.quality.insert(name, quality);
                }
                Metric::Unknown => {}
            }
        }
        for (name, element) in &self.inferred {
            criteria.quality.entry(name.clone()).or_default().element = element.to_string().parse().ok();
        }
        criteria
    }
}

/// Has outputs compared as `criteria` say: by the types and within the ranges that they name.
///
/// With `infer`, the type of an output that neither they nor the capsule give is read off the program ([`elements`]);
/// otherwise its bytes are compared.
///
/// # Errors
/// If the criteria name an output that the capsule does not have, or a type that its bytes are no whole number of.
pub(crate) fn output_types(golden: &mut Golden, criteria: &Criteria, infer: bool) -> Result<OutputTypes, TargetError> {
    golden.leave_out(&criteria.scratch)?;
    check_names(golden, criteria)?;
    let given: Vec<Option<ElementType>> =
        (0..golden.outputs().len()).map(|at| given(golden, at, criteria)).collect::<Result<_, _>>()?;
    let missing = |at: usize| given[at].is_none() && golden.outputs()[at].element.is_none();
    let wanted = infer && (0..given.len()).any(missing);
    let found = if wanted { elements(golden) } else { Vec::new() };
    let mut output_types = OutputTypes::default();
    for (at, output) in golden.outputs().iter().enumerate().filter(|(at, _)| missing(*at)) {
        match found.get(at) {
            Some(Typed::Inferred(element)) => output_types.inferred.push((output.name.clone(), *element)),
            Some(Typed::Bytes(why)) => output_types.notes.push(format!(
                "the output {} is compared byte by byte: {why}; `--quality '{0}:element=f32'` says what it is",
                output.name
            )),
            Some(Typed::Declared(_)) | None => {}
        }
    }
    output_types.notes.extend(beside_star(golden, criteria));
    let outputs = golden.outputs();
    let known = |at: usize| found.get(at).and_then(|typed| typed.element());
    let types: Vec<_> =
        outputs.iter().enumerate().map(|(at, output)| given[at].or(output.element).or(known(at))).collect();
    let ranges: Vec<_> = outputs.iter().map(|output| criteria.range_of(&output.name)).collect();
    golden.judge_by(&types, &ranges);
    Ok(output_types)
}

/// A line about the outputs that a criterion for `*` does not judge, because the capsule says by name how they are judged.
fn beside_star(golden: &Golden, criteria: &Criteria) -> Option<String> {
    let star = criteria.of("*")?;
    let unnamed = |name: &String| {
        let quality = criteria.quality.get(name).is_some_and(Quality::judges);
        !quality && !criteria.tolerance.contains_key(name)
    };
    let declared = |it: &&capsule::Output| it.tolerance.is_some() && it.metric != Metric::Unknown && unnamed(&it.name);
    let judges_alike = |it: &&capsule::Output| {
        let metric = it.metric.word() == star.metric.word() && star.metric == star.bad_metric;
        metric && it.tolerance == Some(star.tolerance) && star.bad == star.tolerance
    };
    let outputs: Vec<&capsule::Output> = golden.outputs().iter().filter(declared).collect();
    let first = outputs.iter().find(|it| !judges_alike(it))?;
    let names: Vec<&str> = outputs.iter().map(|output| output.name.as_str()).collect();
    Some(format!(
        "`*` does not judge {}, of which the capsule says by name how they are judged: `--quality '{}:{}'` would",
        names.join(", "),
        first.name,
        Quality { range: None, element: None, ..criteria.quality_of("*") }
    ))
}

fn check_names(golden: &Golden, criteria: &Criteria) -> Result<(), TargetError> {
    let outputs = golden.outputs();
    let unknown =
        |name: &&String| *name != "*" && *name != PRINTED && !outputs.iter().any(|output| output.name == **name);
    let Some(name) = criteria.tolerance.keys().chain(criteria.quality.keys()).find(unknown) else { return Ok(()) };
    let names: Vec<&str> = outputs.iter().map(|output| output.name.as_str()).collect();
    Err(TargetError::new(format!("judge the output `{name}`: the capsule has {}, and `*` means all", names.join(", "))))
}

/// The type that criteria give an output.
fn given(golden: &Golden, at: usize, criteria: &Criteria) -> Result<Option<ElementType>, TargetError> {
    let output = &golden.outputs()[at];
    let element = criteria.element_of(&output.name).and_then(|element: Element| element.word().parse().ok());
    let bytes = golden.copies().get(output.copy as usize).map_or(0, |copy| copy.bytes.len());
    match element {
        Some(element) if !bytes.is_multiple_of(ElementType::bytes(element) as usize) => Err(TargetError::new(format!(
            "read the output `{}` as {element}: its {bytes} bytes are no whole number of them",
            output.name
        ))),
        element => Ok(element),
    }
}
