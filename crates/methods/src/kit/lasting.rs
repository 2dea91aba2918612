//! Files that methods read, by words that find the same text again: from any directory, and never another text.
//!
//! Such a word is a path from the root, `#` and the first digits of the digest of what the file says. A plain name is one,
//! too, as users write it; nothing is promised of what it says tomorrow.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Digits of a digest in a word.
const DIGITS: usize = 16;

/// The word of a file, by its name or its word; its text is kept in `files`, and not read again where it is there.
///
/// # Errors
/// If the file cannot be read, or does not hold the text of its word.
pub fn keep(name: &str, files: &mut BTreeMap<String, String>) -> Result<String, String> {
    if files.contains_key(name) {
        return Ok(name.to_owned());
    }
    let text = read(name, files)?;
    let absolute = Path::new(parts(name).0).canonicalize().map_err(|error| error.to_string())?;
    let absolute = absolute.to_str().ok_or("its path is no text; move it to one that is")?;
    let word = format!("{absolute}#{}", digest(&text));
    files.insert(word.clone(), text);
    Ok(word)
}

/// What the file of a word says: as a campaign kept it in `files`, or as it stands on disk.
///
/// # Errors
/// If no campaign kept it and it cannot be read, or says something else than when the word was made.
pub fn read(word: &str, files: &BTreeMap<String, String>) -> Result<String, String> {
    if let Some(text) = files.get(word) {
        return Ok(text.clone());
    }
    let (path, known) = parts(word);
    let text = file(path)?;
    match known.filter(|known| *known != digest(&text)) {
        None => Ok(text),
        Some(known) => Err(format!(
            "it is not what it was when the campaign was made (its digest was {known} and is {}); put that one back, or make \
             the campaign again",
            digest(&text)
        )),
    }
}

/// The most that a file of a method may hold, in bytes.
const MOST: u64 = 1 << 28;

/// The text of a regular file: pipes and devices may have no end.
///
/// # Errors
/// If there is no such file, it is not a regular one or too large, or its bytes are not a text.
pub fn file(path: &str) -> Result<String, String> {
    let about = fs::metadata(path).map_err(|error| error.to_string())?;
    if !about.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    if about.len() > MOST {
        return Err(format!("it has {} bytes, and {MOST} are the most", about.len()));
    }
    fs::read_to_string(path).map_err(|error| error.to_string())
}

/// A word for the name of a directory: without the path, and still another one for another text.
#[must_use]
pub(crate) fn short(word: &str) -> String {
    match parts(word) {
        (_, None) => word.to_owned(),
        (path, Some(digest)) => {
            let stem = Path::new(path).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            format!("{stem}-{digest}")
        }
    }
}

/// The path, and the digest if there is one.
fn parts(word: &str) -> (&str, Option<&str>) {
    let is_digest = |text: &str| text.len() == DIGITS && text.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'));
    match word.rsplit_once('#') {
        Some((path, digest)) if is_digest(digest) => (path, Some(digest)),
        _ => (word, None),
    }
}

fn digest(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().chars().take(DIGITS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_finds_its_text_and_no_other() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("a#b.toml");
        fs::write(&file, "one").unwrap();
        let (name, none) = (file.to_str().unwrap(), BTreeMap::new());
        assert_eq!(read(name, &none), Ok("one".to_owned()));
        let mut kept = BTreeMap::new();
        let of_one = keep(name, &mut kept).unwrap();
        assert_eq!(
            (read(&of_one, &none), keep(&of_one, &mut none.clone())),
            (Ok("one".to_owned()), Ok(of_one.clone()))
        );
        assert!(short(&of_one).starts_with("a#b-") && short(&of_one).len() == 20);
        assert_eq!(short("K40"), "K40");
        fs::write(&file, "two").unwrap();
        assert!(read(&of_one, &none).unwrap_err().starts_with("it is not what it was"));
        assert_eq!((read(&of_one, &kept), keep(&of_one, &mut kept)), (Ok("one".to_owned()), Ok(of_one.clone())));
        assert!(keep(&of_one, &mut BTreeMap::new()).is_err() && keep(name, &mut kept).unwrap() != of_one);
    }
}
