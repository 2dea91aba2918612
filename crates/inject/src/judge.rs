//! What a campaign says of outputs, applied to those of a capsule: which there are, what their elements are, and in
//! which range they lie. It has to be known before the first comparison.

use crate::elements::{Typed, elements};
use crate::target::CapsuleTarget;
use campaign::TargetError;
use capsule::{ElementType, Metric};
use outcome::{Criteria, Element, Quality};

impl CapsuleTarget {
    /// What the capsule says about its outputs: the error that is still good, and the types that were found out.
    #[must_use]
    pub fn criteria(&self) -> Criteria {
        let mut criteria = Criteria::default();
        for output in self.golden.outputs() {
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

    /// Compares outputs as `criteria` say, from now on: by the types and within the ranges that they name. To be called
    /// before the first runner is asked for.
    ///
    /// With `infer`, the type of an output that neither they nor the capsule give is read off the program
    /// ([`elements`]); otherwise its bytes are compared. Returns a line for each output whose type was looked for in vain.
    ///
    /// # Errors
    /// If the criteria name an output that the capsule does not have, or a type that its bytes are no whole number of.
    pub fn judge_by(&mut self, criteria: &Criteria, infer: bool) -> Result<Vec<String>, TargetError> {
        self.check_names(criteria)?;
        let given: Vec<Option<ElementType>> =
            (0..self.golden.outputs().len()).map(|at| self.given(at, criteria)).collect::<Result<_, _>>()?;
        let missing = |at: usize| given[at].is_none() && self.golden.outputs()[at].element.is_none();
        let wanted = infer && (0..given.len()).any(missing);
        let found = if wanted { elements(&self.golden) } else { Vec::new() };
        let (mut notes, mut inferred) = (Vec::new(), Vec::new());
        for (at, output) in self.golden.outputs().iter().enumerate().filter(|(at, _)| missing(*at)) {
            match found.get(at) {
                Some(Typed::Inferred(element)) => inferred.push((output.name.clone(), *element)),
                Some(Typed::Bytes(why)) => notes.push(format!(
                    "the output {} is compared byte by byte: {why}; `--quality '{0}:element=f32'` says what it is",
                    output.name
                )),
                Some(Typed::Declared(_)) | None => {}
            }
        }
        let outputs = self.golden.outputs();
        let known = |at: usize| found.get(at).and_then(|typed| typed.element());
        let types: Vec<_> =
            outputs.iter().enumerate().map(|(at, output)| given[at].or(output.element).or(known(at))).collect();
        let ranges: Vec<_> = outputs.iter().map(|output| criteria.range_of(&output.name)).collect();
        self.golden.judge_by(&types, &ranges);
        self.inferred = inferred;
        Ok(notes)
    }

    fn check_names(&self, criteria: &Criteria) -> Result<(), TargetError> {
        let outputs = self.golden.outputs();
        let known = |name: &&String| *name != "*" && !outputs.iter().any(|output| output.name == **name);
        let Some(name) = criteria.quality.keys().find(known) else { return Ok(()) };
        let names: Vec<&str> = outputs.iter().map(|output| output.name.as_str()).collect();
        Err(TargetError::new(format!(
            "judge the output `{name}`: the capsule has {}, and `*` means all",
            names.join(", ")
        )))
    }

    /// The type that criteria give an output.
    fn given(&self, at: usize, criteria: &Criteria) -> Result<Option<ElementType>, TargetError> {
        let output = &self.golden.outputs()[at];
        let element = criteria.element_of(&output.name).and_then(|element: Element| element.word().parse().ok());
        let bytes = self.golden.copies().get(output.copy as usize).map_or(0, |copy| copy.bytes.len());
        match element {
            Some(element) if !bytes.is_multiple_of(ElementType::bytes(element) as usize) => {
                Err(TargetError::new(format!(
                    "read the output `{}` as {element}: its {bytes} bytes are no whole number of them",
                    output.name
                )))
            }
            element => Ok(element),
        }
    }
}
