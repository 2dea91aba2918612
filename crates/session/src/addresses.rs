//! Which profile of addresses a configuration names: a bundled one, or a file.

use crate::error::{ErrorKind, SessionError};
use device::AddressProfile;
use methods::kit::lasting;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The bundled profiles: their names and their texts.
const BUNDLED: [(&str, &str); 3] = [
    ("h200", include_str!("../../../profiles/addresses/h200.toml")),
    ("mapped", include_str!("../../../profiles/addresses/mapped.toml")),
    ("strict", include_str!("../../../profiles/addresses/strict.toml")),
];

/// The names of the bundled profiles; the first is the one that applies if nobody names another.
pub fn bundled() -> impl Iterator<Item = &'static str> {
    BUNDLED.iter().map(|&(name, _)| name)
}

/// The word by which a profile is found again from anywhere: the name of a bundled one, or the file with the digest of its text,
/// which is kept in `files`.
///
/// # Errors
/// If it is neither bundled nor a file.
pub fn keep(word: &str, files: &mut BTreeMap<String, String>) -> Result<String, SessionError> {
    if bundled().any(|name| name == word) {
        return Ok(word.to_owned());
    }
    lasting::keep(word, files).map_err(|why| unreadable(word, &why))
}

/// The profile that a word of a configuration means; the default without one. `files` are the texts that the campaign keeps.
///
/// # Errors
/// If it is neither bundled nor a file, or the file is no profile.
pub fn profile(word: Option<&str>, files: &BTreeMap<String, String>) -> Result<Arc<AddressProfile>, SessionError> {
    let Some(word) = word else { return Ok(Arc::default()) };
    if let Some((name, text)) = BUNDLED.iter().find(|(name, _)| *name == word) {
        return read(text, name).map(Arc::new);
    }
    let mut files = files.clone();
    let file = keep(word, &mut files)?;
    let profile = read(&files[&file], word)?;
    Ok(Arc::new(AddressProfile { file: Some(file), ..profile }))
}

fn unreadable(word: &str, why: &str) -> SessionError {
    let names: Vec<&str> = bundled().collect();
    let help = format!("bundled are {}; anything else is the name of a file", names.join(", "));
    SessionError::new(ErrorKind::Words, format!("read the address profile `{word}`: {why}")).with_help(help)
}

fn read(text: &str, name: &str) -> Result<AddressProfile, SessionError> {
    let refused = |why: String| {
        let help = "profiles/addresses/h200.toml shows what a profile says";
        SessionError::new(ErrorKind::Words, format!("read the address profile `{name}`: {why}")).with_help(help)
    };
    let profile: AddressProfile = toml::from_str(text).map_err(|error| refused(error.to_string().trim().to_owned()))?;
    profile.check().map_err(refused)?;
    Ok(profile)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn profile(word: Option<&str>) -> Result<Arc<AddressProfile>, SessionError> {
        super::profile(word, &BTreeMap::new())
    }

    #[test]
    fn the_bundled_profiles_are_those_that_the_machine_has() {
        assert_eq!(*profile(Some("h200")).unwrap(), AddressProfile::h200());
        assert_eq!(*profile(Some("mapped")).unwrap(), AddressProfile::mapped());
        assert_eq!(*profile(Some("strict")).unwrap(), AddressProfile::strict());
        assert_eq!(profile(None).unwrap(), profile(bundled().next()).unwrap());
    }

    #[test]
    fn a_file_is_read_and_what_is_wrong_in_it_is_said() {
        let place = tempfile::tempdir().unwrap();
        let of = |text: &str| {
            let path = place.path().join("own.toml");
            fs::write(&path, text).unwrap();
            profile(path.to_str())
        };
        let own = of("name = 'own'\nstrict = false\nbehind = [{ from = 0, to = 4096 }]").unwrap();
        assert_eq!((own.name.as_str(), own.behind[0].to, own.before.len()), ("own", 4096, 0));
        for (text, part) in [
            ("name = 'own'", "missing field `strict`"),
            ("name = 'own'\nstrict = false\nbefore = [{ from = 5, to = 4096 }]", "before: from 5 to 4096"),
            ("name = 'own'\nstrict = false\nafter = 3", "unknown field `after`"),
        ] {
            let error = of(text).unwrap_err().to_string();
            assert!(error.contains("own.toml") && error.contains(part), "{error}");
        }
        let error = profile(Some("h100")).unwrap_err();
        assert!(
            error.to_string().contains("`h100`")
                && error.help.is_some_and(|help| help.contains("h200, mapped, strict"))
        );
    }
}
