//! Variables that are followed, as users name them, and the arrays in memory that they are.

use campaign::Subject as _;
use capsule::ElementType;
use inject::{Array, CapsuleTarget, pointed_at, variables};
use serde::Deserialize;
use std::collections::BTreeSet;

/// A variable, as `[[variables]]` of a workload or a file of regions declares it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeclaredVariable {
    /// What it is called.
    pub name: String,
    /// The kernel that is given its address.
    pub kernel: String,
    /// The number of that parameter, from 0.
    pub parameter: usize,
    /// The type of its elements.
    #[serde(rename = "type")]
    pub element: ElementType,
    /// How many there are along each dimension, the last one contiguous.
    pub shape: Vec<u64>,
}

/// A file of which only the variables are read.
#[derive(Deserialize)]
struct File {
    #[serde(default)]
    variables: Vec<DeclaredVariable>,
}

impl DeclaredVariable {
    /// The variables of a TOML text; none, if it has no `[[variables]]`.
    ///
    /// # Errors
    /// If one means nothing.
    pub fn read(text: &str) -> Result<Vec<Self>, String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string().trim().to_owned())?;
        let mut names = BTreeSet::new();
        for it in &file.variables {
            if it.name.is_empty() || !names.insert(&it.name) {
                return Err(format!("variable `{}`: the name is empty, or there twice", it.name));
            }
            let elements = it.shape.iter().try_fold(1u64, |product, &side| product.checked_mul(side));
            if it.shape.is_empty() || elements.is_none_or(|elements| elements == 0 || elements > MOST) {
                return Err(format!(
                    "variable {}: `shape` = {:?}: expected the numbers of elements along its dimensions, 1 to {MOST} in all",
                    it.name, it.shape
                ));
            }
        }
        Ok(file.variables)
    }

    /// The array that it is.
    fn array(&self, capsule: &CapsuleTarget) -> Result<Array, String> {
        let of = |why: String| format!("find the variable {}: {why}", self.name);
        let place = pointed_at(capsule.golden_run(), &self.kernel, self.parameter).map_err(of)?;
        let array =
            Array { name: self.name.clone(), address: place.address, element: self.element, shape: self.shape.clone() };
        if array.bytes() > place.bytes {
            return Err(of(format!(
                "{} elements of {} are {} bytes, and there are {} in memory",
                array.elements(),
                self.element,
                array.bytes(),
                place.bytes
            )));
        }
        Ok(array)
    }
}

/// Elements of an array, at most.
const MOST: u64 = 1 << 40;

/// The arrays of a capsule that are followed: those that are declared, or else every buffer in device memory that has a
/// name, of the type that the output of that name has, of 32-bit words otherwise; `chosen` are the names of some.
///
/// # Errors
/// If a declared one is not there, or a chosen name is none.
pub fn arrays(
    capsule: &CapsuleTarget,
    declared: &[DeclaredVariable],
    chosen: Option<&[&str]>,
) -> Result<Vec<Array>, String> {
    let mut found: Vec<Array> = declared.iter().map(|it| it.array(capsule)).collect::<Result<_, _>>()?;
    let golden = capsule.golden_run();
    let known: BTreeSet<u64> = found.iter().map(|array| array.address).collect();
    let others = variables(golden).into_iter().filter(|it| !known.contains(&it.address)).filter_map(|it| {
        let output = golden.outputs().iter().find(|output| output.name == it.name);
        let element = output.and_then(|output| output.element).unwrap_or(ElementType::U32);
        let element = if it.bytes.is_multiple_of(element.bytes()) { element } else { ElementType::U8 };
        let elements = it.bytes / element.bytes();
        (elements > 0).then(|| Array { name: it.name, address: it.address, element, shape: vec![elements] })
    });
    match chosen {
        None if declared.is_empty() => found.extend(others),
        None => {}
        Some(chosen) => {
            found.extend(others);
            let names: Vec<String> = found.iter().map(|array| array.name.clone()).collect();
            if let Some(strange) = chosen.iter().find(|name| !names.iter().any(|it| it == *name)) {
                return Err(missing(capsule, strange, &names));
            }
            found.retain(|array| chosen.contains(&array.name.as_str()));
        }
    }
    if found.is_empty() {
        return Err(format!("find variables of {}: no kernel is given a buffer", capsule.name()));
    }
    Ok(found)
}

/// Why there is no variable of a name.
fn missing(capsule: &CapsuleTarget, name: &str, names: &[String]) -> String {
    let there = format!("in memory there are {}", names.join(", "));
    let sources = &capsule.golden_run().capsule().sources;
    let place = sources.iter().find_map(|source| {
        let bytes = capsule.golden_run().capsule().blobs.get(source.blob).ok()?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let words = |code: &str| code.split(|it: char| !(it.is_alphanumeric() || it == '_')).any(|word| word == name);
        let has = |line: &str| words(line.split("//").next().unwrap_or_default());
        let line = text.lines().position(has)?;
        Some(format!("{}:{}", source.path, line + 1))
    });
    match place {
        Some(place) => format!(
            "find the variable {name}: it stands in {place}, but no buffer is called so: it lives in registers, or the \
             compiler has optimised it away; {there}; values in registers are hit, and their ends compared, by regions"
        ),
        None => format!("find the variable {name}: {there}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_nothing_is_named() {
        let rest = "kernel = 'k'\nparameter = 0\ntype = 'f32'\n";
        for (text, part) in [
            (format!("[[variables]]\nname = ''\n{rest}shape = [1]"), "the name is empty"),
            (format!("[[variables]]\nname = 'a'\n{rest}shape = []"), "variable a: `shape` = []"),
            (format!("[[variables]]\nname = 'a'\n{rest}shape = [3, 0]"), "`shape` = [3, 0]"),
            (format!("[[variables]]\nname = 'a'\n{rest}shape = [4294967296, 4294967296]"), "1 to 1099511627776"),
            (format!("[[variables]]\nname = 'a'\n{rest}"), "missing field `shape`"),
        ] {
            let error = DeclaredVariable::read(&text).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
        assert_eq!(DeclaredVariable::read("[[regions]]\nname = 'a'"), Ok(Vec::new()));
    }
}
