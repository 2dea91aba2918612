//! Variables that are followed, as users name them, and the arrays in memory that they are.

use campaign::Subject as _;
use capsule::ElementType;
use fault::Selection;
use inject::{Array, CapsuleTarget, Golden, Unclear, Variable, buffer_elements, pointed_at, variables};
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
    /// Bytes from where the parameter points to the first element: that of a field in its structure.
    #[serde(default)]
    pub offset: u64,
    /// Bytes from an element to the next, where elements are a field of structures: the size of these.
    #[serde(default)]
    pub stride: Option<u64>,
    /// The launches after which it is looked at, `NAME` or `NAME#n`, several with commas between them; all, if left out.
    #[serde(default)]
    pub after: Option<String>,
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
        for it in &file.variables {
            let (bytes, stride) = (it.element.bytes(), it.stride.unwrap_or(it.element.bytes()));
            if stride < bytes || stride > MOST || it.offset > MOST {
                return Err(format!(
                    "variable {}: `offset` = {}, `stride` = {stride}: expected at most {MOST} bytes, and strides of at least the {bytes} of {}",
                    it.name, it.offset, it.element
                ));
            }
            if !it.offset.is_multiple_of(bytes) || !stride.is_multiple_of(bytes) {
                return Err(format!(
                    "variable {}: `offset` = {}, `stride` = {stride}: a GPU loads {} from multiples of {bytes} bytes",
                    it.name, it.offset, it.element
                ));
            }
        }
        Ok(file.variables)
    }

    /// The launches after which it is looked at.
    fn launches(&self, capsule: &CapsuleTarget) -> Result<Option<BTreeSet<u32>>, String> {
        let Some(after) = &self.after else { return Ok(None) };
        let kernels: Vec<String> = after.split(',').map(|it| it.trim().to_owned()).collect();
        let selection = Selection::default().in_kernels(&kernels).map_err(|error| error.to_string())?;
        let all = (0..).zip(capsule.golden_run().launches());
        let found: BTreeSet<u32> = all
            .filter(|(_, launch)| selection.holds_launch(&launch.program.name, launch.number))
            .map(|(number, _)| number)
            .collect();
        if found.is_empty() { Err(format!("no launch is `after` = `{after}`")) } else { Ok(Some(found)) }
    }

    /// The array that it is.
    fn array(&self, capsule: &CapsuleTarget) -> Result<Array, String> {
        let of = |why: String| format!("find the variable {}: {why}", self.name);
        let place = pointed_at(capsule.golden_run(), &self.kernel, self.parameter).map_err(of)?;
        let array = Array {
            name: self.name.clone(),
            address: place.address + self.offset,
            element: Some(self.element),
            shape: self.shape.clone(),
            stride: self.stride,
            launches: self.launches(capsule).map_err(of)?,
        };
        if self.offset.saturating_add(array.bytes()) > place.bytes {
            return Err(of(format!(
                "{} elements of {} are {} bytes, and there are {} in memory",
                array.elements(),
                self.element,
                array.bytes(),
                place.bytes.saturating_sub(self.offset)
            )));
        }
        Ok(array)
    }
}

/// Elements of an array, at most.
const MOST: u64 = 1 << 40;

/// Arrays that are followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowedArrays {
    /// The arrays.
    pub arrays: Vec<Array>,
    /// Where the type of elements is not known, or is declared otherwise than kernels load and store it, or where a part alone is
    /// followed, a sentence each.
    pub doubts: Vec<String>,
}

/// The arrays of a capsule that are followed: those that are declared, or else every buffer in device memory that has a
/// name, of the type that the output of that name has, or that kernels load and store there; `chosen` are the names of some.
///
/// # Errors
/// If a declared one is not there, or a chosen name is none.
pub fn arrays(
    capsule: &CapsuleTarget,
    declared: &[DeclaredVariable],
    chosen: Option<&[&str]>,
) -> Result<FollowedArrays, String> {
    let mut found: Vec<Array> = declared.iter().map(|it| it.array(capsule)).collect::<Result<_, _>>()?;
    let golden = capsule.golden_run();
    let known: BTreeSet<u64> = found.iter().map(|array| array.address).collect();
    let (allocated, mut others): (Vec<_>, Vec<_>) =
        variables(golden).into_iter().filter(|it| it.bytes > 0).partition(|it| known.contains(&it.address));
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
    let followed = typed(golden, (found, &allocated), others);
    if followed.arrays.is_empty() {
        return Err(format!("find variables of {}: no kernel is given a buffer", capsule.name()));
    }
    Ok(followed)
}

/// Declared arrays, in these allocations, as they are declared; and buffers as arrays of one dimension, or of the shape of their outputs, of the types that
/// these have, or else that kernels load and store there; of bytes where nothing shows a type.
fn typed(golden: &Golden, (declared, allocated): (Vec<Array>, &[Variable]), buffers: Vec<Variable>) -> FollowedArrays {
    let output = |it: &Variable| golden.outputs().iter().find(|output| output.name == it.name);
    let of_output = |it: &Variable| output(it)?.element.filter(|element| it.bytes.is_multiple_of(element.bytes()));
    // A field of structures is one of several types.
    let of_array = |array: &Array| allocated.iter().find(|it| it.address == array.address && array.stride.is_none());
    let asked = declared.iter().filter_map(of_array).chain(buffers.iter().filter(|it| of_output(it).is_none()));
    let places: Vec<(u64, u64)> = asked.map(|it| (it.address, it.bytes)).collect();
    let shown = if places.is_empty() { Vec::new() } else { buffer_elements(golden, &places) };
    let shown: BTreeMap<(u64, u64), Result<ElementType, Unclear>> = places.into_iter().zip(shown).collect();
    let mut doubts: Vec<String> = declared
        .iter()
        .filter_map(|array| {
            let it = of_array(array)?;
            let (declared, shown) = (array.element?, *shown.get(&(it.address, it.bytes))?.as_ref().ok()?);
            disagree(declared, shown).then(|| {
                format!(
                    "{} is declared as {declared}, and followed so; kernels load and store {shown} there.",
                    array.name
                )
            })
        })
        .collect();
    let parts = declared.iter().filter_map(|array| {
        let it = of_array(array).filter(|it| array.bytes() < it.bytes)?;
        Some(format!(
            "{} is declared as {} of the {} bytes of its buffer; the rest is not followed.",
            array.name,
            array.bytes(),
            it.bytes
        ))
    });
    doubts.extend(parts.collect::<Vec<_>>());
    let mut arrays = declared;
    for it in buffers {
        let element = of_output(&it).map_or_else(|| shown[&(it.address, it.bytes)], Ok);
        let element = element.map_err(|why| {
            doubts.push(format!(
                "The type of {} is not known, as {why}: bytes are compared, and there are no errors; declare it with [[variables]] in --file.",
                it.name
            ));
        });
        let element = element.ok();
        let elements = it.bytes / element.map_or(1, ElementType::bytes);
        let shape = output(&it).map(|output| output.shape.clone());
        let shape = shape.filter(|shape| shape.iter().product::<u64>() == elements && !shape.is_empty());
        arrays.push(Array {
            name: it.name,
            address: it.address,
            element,
            shape: shape.unwrap_or_else(|| vec![elements]),
            stride: None,
            launches: None,
        });
    }
    FollowedArrays { arrays, doubts }
}

/// Whether elements cannot be of both types; the sign of integers is often not shown.
fn disagree(declared: ElementType, shown: ElementType) -> bool {
    let is_float = |it: ElementType| it.name().contains('f');
    is_float(declared) != is_float(shown)
        || declared.bytes() != shown.bytes()
        || (is_float(declared) && declared != shown)
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
            (format!("[[variables]]\nname = 'a'\n{rest}shape = [2]\nstride = 3"), "strides of at least the 4 of f32"),
            (format!("[[variables]]\nname = 'a'\n{rest}shape = [2]\noffset = 3"), "from multiples of 4 bytes"),
        ] {
            let error = DeclaredVariable::read(&text).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
        assert_eq!(DeclaredVariable::read("[[regions]]\nname = 'a'"), Ok(Vec::new()));
    }

    #[test]
    fn types_disagree_where_a_value_cannot_be_of_both() {
        use ElementType::{Bf16, F16, F32, S32, U8, U32};
        for (declared, shown, expected) in
            [(S32, F32, true), (F32, F32, false), (S32, U32, false), (U8, U32, true), (F16, Bf16, true)]
        {
            assert_eq!(disagree(declared, shown), expected, "{declared} {shown}");
        }
    }
}
