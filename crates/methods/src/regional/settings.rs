//! The choices of the method, as a campaign holds them: `regional:file=F.toml`, or a table with `regions`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::region::Region;
use crate::kit::{MethodSettings, StudyError, lasting};

/// Where sites come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub enum Settings {
    /// They are drawn from these regions, in turn.
    Regions(Vec<Region>),
    /// They are drawn from the regions of a file, by its name.
    File(String),
    /// They are drawn from the instructions of a profile, a file by its name or its lasting word.
    Profile(String),
    /// They stand in a fault map, likewise.
    Map(String),
}

/// The settings as a table holds them.
#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Written {
    #[serde(skip_serializing_if = "Option::is_none")]
    regions: Option<Vec<Region>>,
    #[serde(deserialize_with = "named", skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(deserialize_with = "named", skip_serializing_if = "Option::is_none")]
    profile: Option<String>,
    #[serde(deserialize_with = "named", skip_serializing_if = "Option::is_none")]
    map: Option<String>,
}

fn named<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    crate::kit::settings::name(deserializer).map(Some)
}

impl MethodSettings for Settings {
    const NAME: &'static str = "regional";
    const KEYS: &'static str = "file=F.toml with [[regions]], profile=F.csv with their instructions, map=F.csv with a fault map, and regions, a list of tables as in such a file";
}

impl Default for Settings {
    /// The whole program as one region.
    fn default() -> Self {
        Self::Regions(vec![Region { name: "all".to_owned(), ..Region::default() }])
    }
}

impl TryFrom<Written> for Settings {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let Written { regions, file, profile, map } = written;
        match (regions, file, profile, map) {
            (None, None, None, None) => Ok(Self::default()),
            (Some(regions), None, None, None) => {
                let checked = Region::check(&regions);
                checked
                    .map(|()| Self::Regions(regions))
                    .map_err(|why| format!("read the regions of {}: {why}", Self::NAME))
            }
            (None, Some(path), None, None) => Ok(Self::File(path)),
            (None, None, Some(path), None) => Ok(Self::Profile(path)),
            (None, None, None, Some(path)) => Ok(Self::Map(path)),
            _ => {
                Err(format!("choose sites by {}: leave all but one of regions, file, profile and map out", Self::NAME))
            }
        }
    }
}

impl From<Settings> for Written {
    fn from(settings: Settings) -> Self {
        match settings {
            Settings::Regions(regions) => Self { regions: Some(regions), ..Self::default() },
            Settings::File(path) => Self { file: Some(path), ..Self::default() },
            Settings::Profile(path) => Self { profile: Some(path), ..Self::default() },
            Settings::Map(path) => Self { map: Some(path), ..Self::default() },
        }
    }
}

impl Settings {
    /// These settings with the regions of a file for its name, and with the text of a profile or a map in `files` by its lasting word.
    ///
    /// # Errors
    /// If a file cannot be read, or does not declare regions.
    pub fn held(self, files: &mut BTreeMap<String, String>) -> Result<Self, String> {
        match self {
            Self::Regions(_) => Ok(self),
            Self::File(path) => {
                let regions = lasting::read(&path, files).and_then(|text| Region::read(&text));
                regions.map(Self::Regions).map_err(|why| format!("read the regions `{path}`: {why}"))
            }
            Self::Profile(ref path) | Self::Map(ref path) => {
                let kept =
                    lasting::keep(path, files).map_err(|why| format!("read the {} `{path}`: {why}", self.file().0))?;
                Ok(if matches!(self, Self::Profile(_)) { Self::Profile(kept) } else { Self::Map(kept) })
            }
        }
    }

    /// The file that they name, and its kind.
    pub(super) fn file(&self) -> (&'static str, &str) {
        match self {
            Self::Regions(_) => ("regions", ""),
            Self::File(path) => ("regions", path),
            Self::Profile(path) => ("profile", path),
            Self::Map(path) => ("fault map", path),
        }
    }

    /// The name of a campaign on disk. Other regions, or another profile or map, are another campaign.
    ///
    /// # Errors
    /// If a profile or a map is not in `files` and cannot be read.
    pub fn label(&self, files: &BTreeMap<String, String>) -> Result<String, StudyError> {
        let text = match self {
            Self::Regions(regions) => {
                let json = serde_json::to_string(regions).map_err(|error| StudyError::Refused(error.to_string()))?;
                format!("{}:{json}", Self::NAME)
            }
            Self::File(path) | Self::Profile(path) | Self::Map(path) => lasting::read(path, files)
                .map_err(|why| StudyError::Refused(format!("read the {} `{path}`: {why}", self.file().0)))?,
        };
        let digest: String = blake3::hash(text.as_bytes()).to_hex().chars().take(16).collect();
        Ok(format!("regions-{digest}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(word: &str) -> Result<Settings, String> {
        Settings::of(&word.parse().unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn settings_are_read_back_as_they_are_written() {
        let region =
            Region { name: "K1, \"x\"".into(), file: Some("a.cu".into()), lines: Some([1, 2]), ..Region::default() };
        let old = format!("regional:[{}]", serde_json::to_string(&region).unwrap());
        assert_eq!(read(&old), Ok(Settings::Regions(vec![region.clone()])));
        for settings in [
            Settings::Regions(vec![region]),
            Settings::Map("a,b.csv".into()),
            Settings::Profile("p".into()),
            Settings::File("7".into()),
        ] {
            assert_eq!(Settings::of(&settings.choice()).unwrap(), settings);
            assert_eq!(read(&settings.choice().to_string()), Ok(settings));
        }
        assert_eq!(read("regional:map=a,b.csv"), Ok(Settings::Map("a,b.csv".into())));
        assert_eq!(read("regional"), Ok(Settings::default()));
    }

    #[test]
    fn a_file_is_held_by_its_regions_and_a_map_by_its_text() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("r.toml");
        std::fs::write(&path, "[[regions]]\nname = 'all'").unwrap();
        let mut files = BTreeMap::new();
        let held = |word: String, files: &mut BTreeMap<String, String>| read(&word).unwrap().held(files);
        assert_eq!(held(format!("regional:file={}", path.display()), &mut files), Ok(Settings::default()));
        assert!(files.is_empty());
        let map = held(format!("regional:map={}", path.display()), &mut files).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(map.clone().held(&mut files), Ok(map));
        let error = held("regional:file=nowhere.toml".to_owned(), &mut files).unwrap_err();
        assert!(error.starts_with("read the regions `nowhere.toml`"), "{error}");
    }

    #[test]
    fn a_wrong_setting_is_named() {
        for (text, part) in [
            ("regions", "use the method `regions`"),
            ("regional:lines=3", "set `lines` of regional: there are file=F.toml"),
            ("regional:map=", "set `map` of regional: there are"),
            ("regional:map=a,file=b", "leave all but one of regions, file, profile and map out"),
            ("regional:[]", "the file declares no `[[regions]]`"),
            ("regional:[{\"lines\":3}]", "set `regions` of regional: "),
            ("regional:{\"regions\":[{\"name\":\"a\",\"line\":3}]}", "unknown field `line`, expected one of `name`"),
            ("regional:{\"map\":[1]}", "set `map` of regional: expected a name or a file"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
