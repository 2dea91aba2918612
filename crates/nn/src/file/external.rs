//! Constants in files beside that of the network, where ONNX puts the data of large ones.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Component, Path};

use super::error::{FileError, content};
use super::proto::{Field, Proto, fields};
use super::wire::Message;

/// The numbers of fields of ONNX's messages.
const GRAPH: u64 = 7;
const INITIALIZER: u64 = 5;
const NAME: u64 = 8;
const RAW_DATA: u64 = 9;
const EXTERNAL_DATA: u64 = 13;
const DATA_LOCATION: u64 = 14;

/// The bytes of a file, with the constants in it that lie in other files of its folder. A file that has all of its constants, or that is
/// none of ONNX, is as it was.
///
/// # Errors
/// When another file cannot be read, is shorter than it has to be, or lies outside the folder.
pub fn with_external_data(bytes: Vec<u8>, folder: &Path) -> Result<Vec<u8>, FileError> {
    if !Message::Model.is_whole(&bytes, 32) {
        return Ok(bytes);
    }
    let model = fields(&bytes);
    let is_elsewhere = |tensor: &Field<'_>| tensor.number == INITIALIZER && has_external_data(tensor.held);
    if !model.iter().any(|it| it.number == GRAPH && fields(it.held).iter().any(is_elsewhere)) {
        return Ok(bytes);
    }
    let made = model.iter().try_fold(Proto::default(), |made, field| {
        if field.number != GRAPH {
            return Ok(made.raw(field.whole));
        }
        let graph = fields(field.held).iter().try_fold(Proto::default(), |graph, field| {
            Ok::<_, FileError>(match is_elsewhere(field) {
                true => graph.bytes(INITIALIZER, inlined(field.held, folder)?),
                false => graph.raw(field.whole),
            })
        });
        Ok::<_, FileError>(made.bytes(GRAPH, graph?))
    });
    made.map(Proto::into_bytes)
}

fn has_external_data(tensor: &[u8]) -> bool {
    fields(tensor).iter().any(|it| it.number == EXTERNAL_DATA)
}

/// A tensor with its data, which lie in another file.
fn inlined(tensor: &[u8], folder: &Path) -> Result<Proto, FileError> {
    let parts = fields(tensor);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let name = parts.iter().find(|it| it.number == NAME).map_or_else(String::new, |it| text(it.held));
    let entry = |it: &Field<'_>| {
        let of = |number| fields(it.held).iter().find(|part| part.number == number).map(|part| text(part.held));
        Some((of(1)?, of(2).unwrap_or_default()))
    };
    let entries = parts.iter().filter(|it| it.number == EXTERNAL_DATA).filter_map(entry);
    let entries: BTreeMap<String, String> = entries.collect();
    let data = external(&entries, folder).map_err(|what| content(format!("the constant `{name}`"), what))?;
    let is_place = |it: &&Field<'_>| [RAW_DATA, EXTERNAL_DATA, DATA_LOCATION].contains(&it.number);
    let rest = parts.iter().filter(|it| !is_place(it)).fold(Proto::default(), |made, it| made.raw(it.whole));
    Ok(rest.bytes(RAW_DATA, data))
}

/// The bytes that `location`, `offset` and `length` name; to the end of the file without a length.
fn external(entries: &BTreeMap<String, String>, folder: &Path) -> Result<Vec<u8>, String> {
    let location = entries.get("location").ok_or("its data lie in another file, which is not named")?;
    let number = |key: &str| {
        let number = entries.get(key).map(|text| text.parse::<u64>()).transpose();
        number.map_err(|_| format!("`{key}` of its data in `{location}`: expected a number from 0"))
    };
    let (offset, length) = (number("offset")?.unwrap_or(0), number("length")?);
    let path = Path::new(location);
    if !path.components().all(|it| matches!(it, Component::Normal(_) | Component::CurDir)) {
        return Err(format!("its data lie in `{location}`; expected a file in the folder of the network"));
    }
    let path = folder.join(path);
    let unread = |error: std::io::Error| format!("its data lie in {}, which cannot be read: {error}", path.display());
    let about = std::fs::metadata(&path).map_err(unread)?;
    if !about.is_file() {
        return Err(format!("its data lie in {}; expected a file", path.display()));
    }
    let (mut file, size) = (File::open(&path).map_err(unread)?, about.len());
    let length = length.unwrap_or(size.saturating_sub(offset));
    if offset.checked_add(length).is_none_or(|end| end > size) {
        return Err(format!(
            "its data are {length} bytes of {} from {offset} on, which has {size}; is it the file that was written with the network?",
            path.display()
        ));
    }
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(offset)).and_then(|_| file.take(length).read_to_end(&mut bytes)).map_err(unread)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with a constant whose data lie where these entries say.
    fn file(entries: &[(&str, &str)]) -> Vec<u8> {
        let entry = |tensor: Proto, (key, value): &(&str, &str)| {
            tensor.bytes(EXTERNAL_DATA, Proto::default().bytes(1, key).bytes(2, value))
        };
        let tensor = Proto::default().number(1, 2).number(2, 1).bytes(NAME, "w").number(DATA_LOCATION, 1);
        let tensor = entries.iter().fold(tensor, entry);
        let graph = Proto::default().bytes(2, "g").bytes(INITIALIZER, tensor);
        Proto::default().number(1, 8).bytes(GRAPH, graph).into_bytes()
    }

    #[test]
    fn data_beside_a_file_are_found_or_it_is_said_why_not() {
        let dir = tempfile::TempDir::new().unwrap();
        let (folder, data) = (dir.path(), [7_u8, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        std::fs::write(folder.join("w.data"), data).unwrap();
        let inlined = |entries: &[(&str, &str)]| with_external_data(file(entries), folder);
        let found = inlined(&[("location", "w.data"), ("offset", "1"), ("length", "8")]).unwrap();
        let tensor = Proto::default().number(1, 2).number(2, 1).bytes(NAME, "w").bytes(RAW_DATA, &data[1..9]);
        let graph = Proto::default().bytes(2, "g").bytes(INITIALIZER, tensor);
        assert_eq!(found, Proto::default().number(1, 8).bytes(GRAPH, graph).into_bytes());
        assert_eq!(inlined(&[("location", "./w.data"), ("offset", "1"), ("length", "8")]).unwrap(), found);
        for (entries, expected) in [
            (&[("offset", "1")][..], "read the constant `w`: its data lie in another file, which is not named"),
            (&[("location", "../w.data")], "its data lie in `../w.data`; expected a file in the folder of the network"),
            (&[("location", "/etc/passwd")], "expected a file in the folder of the network"),
            (&[("location", "v.data")], "v.data, which cannot be read"),
            (&[("location", ".")], "expected a file"),
            (&[("location", "w.data"), ("length", "11")], "its data are 11 bytes"),
            (&[("location", "w.data"), ("offset", "18446744073709551615"), ("length", "2")], "which has 10"),
            (&[("location", "w.data"), ("offset", "-1")], "`offset` of its data in `w.data`: expected a number"),
        ] {
            let error = inlined(entries).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        // A file without such constants, or with bytes of something else, is not touched.
        for bytes in [file(&[]), b"no ONNX".to_vec()] {
            assert_eq!(with_external_data(bytes.clone(), folder).unwrap(), bytes);
        }
    }
}
