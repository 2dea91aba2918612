//! What can be chosen about the method, and the words for it.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::str::FromStr;

use super::region::Region;
use crate::kit::{StudyError, lasting};

/// The name of the method.
pub(super) const NAME: &str = "regional";

/// Where sites come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settings {
    /// They are drawn from these regions, in turn.
    Regions(Vec<Region>),
    /// They stand in a fault map, a file by its name or its lasting word.
    Map(String),
}

impl Settings {
    /// The word of a method with the regions of a file for its name, and with the text of a map held fast.
    ///
    /// # Errors
    /// If it means nothing, or a file cannot be read.
    pub fn lasting(word: &str) -> Result<String, String> {
        let settings = word.strip_prefix(NAME).and_then(|rest| rest.strip_prefix(':')).unwrap_or_default();
        if !["file=", "map="].iter().any(|key| settings.starts_with(key)) {
            return Ok(word.to_owned());
        }
        Ok(word.parse::<Self>()?.held()?.to_string())
    }

    /// These settings, with the text of a map held fast.
    ///
    /// # Errors
    /// If there is no such map.
    pub fn held(self) -> Result<Self, String> {
        match self {
            Self::Regions(_) => Ok(self),
            Self::Map(path) => {
                lasting::word(&path).map(Self::Map).map_err(|why| format!("read the fault map `{path}`: {why}"))
            }
        }
    }

    /// What a campaign is called on disk: other regions, or another map, are another campaign.
    ///
    /// # Errors
    /// If there is no such map.
    pub fn label(&self) -> Result<String, StudyError> {
        let text = match self {
            Self::Regions(_) => self.to_string(),
            Self::Map(path) => lasting::read(path, &BTreeMap::new())
                .map_err(|why| StudyError::Refused(format!("read the fault map `{path}`: {why}")))?,
        };
        let digest: String = blake3::hash(text.as_bytes()).to_hex().chars().take(16).collect();
        Ok(format!("regions-{digest}"))
    }
}

impl FromStr for Settings {
    type Err = String;

    /// `regional:file=F.toml`, `regional:map=F.csv`, nothing for the whole program as one region, or regions as a campaign keeps them: `regional:` and a JSON list.
    fn from_str(text: &str) -> Result<Self, String> {
        let help = "there are regional:file=F.toml with [[regions]], and regional:map=F.csv with a fault map";
        let (method, rest) = text.split_once(':').unwrap_or((text, ""));
        if method != NAME {
            return Err(format!("use the method `{method}`: {help}"));
        }
        if rest.is_empty() {
            return Ok(Self::Regions(vec![Region { name: "all".to_owned(), ..Region::default() }]));
        }
        if let Some(path) = rest.strip_prefix("file=") {
            let refused = |why: String| format!("read the regions `{path}`: {why}");
            let text = fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
            return Region::read(&text).map(Self::Regions).map_err(refused);
        }
        if let Some(path) = rest.strip_prefix("map=").filter(|path| !path.is_empty()) {
            return Ok(Self::Map(path.to_owned()));
        }
        if rest.starts_with('[') {
            let regions: Vec<Region> =
                serde_json::from_str(rest).map_err(|error| format!("read the regions of {NAME}: {error}; {help}"))?;
            Region::check(&regions).map_err(|why| format!("read the regions of {NAME}: {why}"))?;
            return Ok(Self::Regions(regions));
        }
        Err(format!("set `{rest}` of {NAME}: {help}"))
    }
}

impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Regions(regions) => {
                let json = serde_json::to_string(regions).map_err(|_| fmt::Error)?;
                write!(f, "{NAME}:{json}")
            }
            Self::Map(path) => write!(f, "{NAME}:map={path}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_back_as_they_are_written() {
        let region =
            Region { name: "K1, \"x\"".into(), file: Some("a.cu".into()), lines: Some([1, 2]), ..Region::default() };
        for settings in [Settings::Regions(vec![region]), Settings::Map("a,b.csv".into())] {
            assert_eq!(settings.to_string().parse(), Ok(settings));
        }
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("r.toml");
        fs::write(&path, "[[regions]]\nname = 'all'").unwrap();
        let all = Region { name: "all".into(), ..Region::default() };
        assert_eq!(format!("regional:file={}", path.display()).parse(), Ok(Settings::Regions(vec![all])));
    }

    #[test]
    fn what_means_nothing_is_named() {
        for (text, part) in [
            ("regions", "use the method `regions`"),
            ("regional:lines=3", "set `lines=3` of regional"),
            ("regional:map=", "set `map=`"),
            ("regional:file=nowhere.toml", "read the regions `nowhere.toml`"),
            ("regional:[]", "the file declares no `[[regions]]`"),
            ("regional:[{\"lines\":3}]", "read the regions of regional"),
        ] {
            let error = text.parse::<Settings>().unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
