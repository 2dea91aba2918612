//! Variables that are followed, as users name them, and the arrays in memory that they are.

use campaign::Subject as _;
use capsule::ElementType;
use inject::{Array, CapsuleTarget, Golden, Variable, buffer_elements, pointed_at, variables};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

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
        let array = Array {
            name: self.name.clone(),
            address: place.address,
            element: Some(self.element),
            shape: self.shape.clone(),
        };
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
/// name, of the type that the output of that name has, or that kernels load and store there; `chosen` are the names of some.
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
    let mut others = variables(golden);
    others.retain(|it| !known.contains(&it.address) && it.bytes > 0);
    match chosen {
        None if declared.is_empty() => {}
        None => others.clear(),
        Some(chosen) => {
            let mut names = found.iter().map(|array| array.name.clone()).collect::<Vec<_>>();
            names.extend(others.iter().map(|it| it.name.clone()));
            if let Some(strange) = chosen.iter().find(|name| !names.iter().any(|it| it == *name)) {
                return Err(missing(capsule, strange, &names));
            }
            found.retain(|array| chosen.contains(&array.name.as_str()));
            others.retain(|it| chosen.contains(&it.name.as_str()));
        }
    }
    found.extend(typed(golden, others));
    if found.is_empty() {
        return Err(format!("find variables of {}: no kernel is given a buffer", capsule.name()));
    }
    Ok(found)
}

/// Buffers as arrays of one dimension, of the types that their outputs have, or else that kernels load and store there; of
/// bytes where nothing shows a type.
fn typed(golden: &Golden, buffers: Vec<Variable>) -> Vec<Array> {
    let of_output = |it: &Variable| {
        let output = golden.outputs().iter().find(|output| output.name == it.name)?;
        output.element.filter(|element| it.bytes.is_multiple_of(element.bytes()))
    };
    let unknown = buffers.iter().filter(|it| of_output(it).is_none());
    let places: Vec<(u64, u64)> = unknown.map(|it| (it.address, it.bytes)).collect();
    let found = if places.is_empty() { Vec::new() } else { buffer_elements(golden, &places) };
    let found: BTreeMap<(u64, u64), ElementType> =
        places.into_iter().zip(found).filter_map(|(place, element)| Some((place, element.ok()?))).collect();
    let array = |it: Variable| {
        let element = of_output(&it).or_else(|| found.get(&(it.address, it.bytes)).copied());
        let elements = it.bytes / element.map_or(1, ElementType::bytes);
        Array { name: it.name, address: it.address, element, shape: vec![elements] }
    };
    buffers.into_iter().map(array).collect()
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
