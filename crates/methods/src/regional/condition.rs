//! A condition on a variable, under which a region is one: the value of an element of a buffer when a launch begins.

use campaign::SelectionWords;
use fault::{Relation, Selection};
use inject::{Array, CapsuleTarget, buffer_elements, variables};
use std::fmt;
use std::str::FromStr;

/// `NAME[ELEMENT] RELATION NUMBER`, the element linear, from 0.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Condition {
    variable: String,
    element: u64,
    relation: Relation,
    wanted: f64,
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            let relations: Vec<&str> = Relation::ALL.iter().map(|it| it.word()).collect();
            format!(
                "`when` = `{text}`: expected NAME[ELEMENT] or %REGISTER, one of {}, and a number, such as hz[7] > 0.5 or %r7 > 3",
                relations.join(" ")
            )
        };
        let (place, relation, wanted) = Relation::split(text).ok_or_else(wrong)?;
        let (variable, element) = place.strip_suffix(']').and_then(|it| it.rsplit_once('[')).ok_or_else(wrong)?;
        let element = element.trim().parse().ok().ok_or_else(wrong)?;
        let variable = variable.trim().to_owned();
        if variable.is_empty() { Err(wrong()) } else { Ok(Self { variable, element, relation, wanted }) }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}] {} {}", self.variable, self.element, self.relation, self.wanted)
    }
}

impl Condition {
    /// Narrows a selection to the launches before which the condition holds in the golden run; to none where it never
    /// does.
    ///
    /// # Errors
    /// If the variable or the element is not there, its type is not known, or the words mean nothing.
    pub(super) fn narrow(&self, capsule: &CapsuleTarget, words: SelectionWords) -> Result<SelectionWords, String> {
        let golden = capsule.golden_run();
        let array = self.array(capsule)?;
        let selection = Selection::default().in_kernels(&words.kernel).map_err(|error| error.to_string())?;
        let selected = golden.launches().iter().filter(|launch| {
            let bytes = golden.bytes_before(launch, array.address, array.bytes());
            selection.holds_launch(&launch.program.name, launch.number)
                && array.values(&bytes).first().is_some_and(|&found| self.relation.holds(found, self.wanted))
        });
        let mut kernel: Vec<String> =
            selected.map(|launch| format!("{}#{}", launch.program.name, launch.number)).collect();
        if kernel.is_empty() {
            // No kernel is called like a condition.
            kernel.push(self.to_string());
        }
        Ok(SelectionWords { kernel, ..words })
    }

    /// The element that is asked for, as an array of one.
    fn array(&self, capsule: &CapsuleTarget) -> Result<Array, String> {
        let of = |why: String| format!("decide `when` = `{self}`: {why}");
        let golden = capsule.golden_run();
        let all = variables(golden);
        let missing = || {
            let names: Vec<&str> = all.iter().map(|it| it.name.as_str()).collect();
            of(format!("nothing is called {}; in memory there are {}", self.variable, names.join(", ")))
        };
        let it = all.iter().find(|it| it.name == self.variable).ok_or_else(missing)?;
        let output = golden.outputs().iter().find(|output| output.name == it.name).and_then(|output| output.element);
        let shown = || buffer_elements(golden, &[(it.address, it.bytes)]).pop();
        let element =
            output.map(Ok).or_else(shown).transpose().map_err(|why| of(format!("its type is not known, as {why}")))?;
        let bytes = element.map_or(1, capsule::ElementType::bytes);
        if self.element >= it.bytes / bytes {
            return Err(of(format!("{} has {} elements, counted from 0", it.name, it.bytes / bytes)));
        }
        let address = it.address + self.element * bytes;
        Ok(Array { name: it.name.clone(), address, element, shape: vec![1], stride: None, launches: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_as_they_are_written() {
        let condition: Condition = " hz [7]>= -0.5".parse().unwrap();
        assert_eq!((condition.variable.as_str(), condition.element, condition.wanted), ("hz", 7, -0.5));
        assert_eq!(condition.to_string(), "hz[7] >= -0.5");
        assert_eq!(condition.to_string().parse(), Ok(condition));
        for text in ["", "hz > 1", "hz[1]", "hz[x] > 1", "[1] > 1", "hz[1] > y", "hz[1] = 1"] {
            let error = text.parse::<Condition>().unwrap_err();
            assert!(error.contains("such as hz[7] > 0.5"), "{error}");
        }
    }
}
