//! Tables of patterns in which faults show: which bits, in how many threads of a warp, with which weights.
//!
//! A configuration that says `table:NAME` or `table:FILE` is given what stands in the table, so that a campaign holds all
//! that its runs are drawn from.

use crate::kit::lasting;
use serde::Deserialize;

/// The bundled tables: their names and their texts.
const BUNDLED: [(&str, &str); 4] = [
    ("gate-level-burst", include_str!("../../../../profiles/patterns/gate-level-burst.toml")),
    ("gate-level-random", include_str!("../../../../profiles/patterns/gate-level-random.toml")),
    ("gate-level-warp-burst", include_str!("../../../../profiles/patterns/gate-level-warp-burst.toml")),
    ("gate-level-warp-random", include_str!("../../../../profiles/patterns/gate-level-warp-random.toml")),
];

/// What `--model` has before the name of a table.
const PREFIX: &str = "table:";

/// A table, as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[expect(dead_code, reason = "for readers, but it has to be there")]
    source: String,
    pattern: Vec<Row>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    weight: f64,
    model: String,
    #[serde(default = "thread")]
    scope: String,
}

fn thread() -> String {
    "thread".to_owned()
}

/// The names of the bundled tables.
pub fn bundled() -> impl Iterator<Item = &'static str> {
    BUNDLED.iter().map(|&(name, _)| name)
}

/// Why a table could not be read, and what to do.
#[derive(Debug, thiserror::Error)]
#[error("read the table of patterns `{name}`: {why}")]
pub struct PatternsError {
    name: String,
    why: String,
    /// What to do.
    pub help: String,
}

/// The words of a model with what stands in the table that they name, if they name one.
///
/// # Errors
/// If there is no such table, or it is none.
pub fn looked_up(model: Option<String>) -> Result<Option<String>, PatternsError> {
    let Some(name) = model.as_deref().and_then(|words| words.strip_prefix(PREFIX)) else { return Ok(model) };
    let text = match BUNDLED.iter().find(|(known, _)| *known == name) {
        Some((_, text)) => (*text).to_owned(),
        None => lasting::file(name).map_err(|why| {
            let names: Vec<&str> = bundled().collect();
            let help = format!("bundled are {}; anything else is the name of a file", names.join(", "));
            PatternsError { name: name.to_owned(), why, help }
        })?,
    };
    let help = || "profiles/patterns/gate-level-burst.toml shows what a table says".to_owned();
    words(&text).map(Some).map_err(|why| PatternsError { name: name.to_owned(), why, help: help() })
}

/// The words that say what a table says.
fn words(text: &str) -> Result<String, String> {
    let table: Table = toml::from_str(text).map_err(|error| error.to_string().trim().to_owned())?;
    if table.pattern.is_empty() {
        return Err("there is no [[pattern]] in it".to_owned());
    }
    if let Some(row) = table.pattern.iter().find(|row| format!("{}{}", row.model, row.scope).contains(['|', '*', '@']))
    {
        return Err(format!("a row has one model and one scope: not `{}` and `{}`", row.model, row.scope));
    }
    let part = |row: &Row| format!("{}*{}@{}", row.weight, row.model, row.scope);
    let parts: Vec<String> = table.pattern.iter().map(part).collect();
    let patterns = fault::Patterns::parse(Some(&parts.join("|")), None).map_err(|error| error.to_string())?;
    Ok(patterns.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_table_becomes_the_words_of_a_model() {
        let place = tempfile::tempdir().unwrap();
        let of = |text: &str| {
            let path = place.path().join("own.toml");
            fs::write(&path, text).unwrap();
            looked_up(Some(format!("table:{}", path.display())))
        };
        let text = "source = 'x'\npattern = [{ weight = 3, model = 'flip' }, { weight = 0.5, model = 'zero', scope = 'warp' }]";
        assert_eq!(of(text).unwrap().as_deref(), Some("3*flip|0.5*zero@warp"));
        for (text, part) in [
            ("source = 'x'\npattern = []", "no [[pattern]]"),
            ("source = 'x'\npattern = [{ weight = 0, model = 'flip' }]", "weights are from"),
            ("source = 'x'\npattern = [{ weight = 1, model = 'twist' }]", "twist"),
            ("source = 'x'\npattern = [{ weight = 1, model = 'flip@warp|9*zero' }]", "one model and one scope"),
            ("source = 'x'\npattern = [{ weight = 1, model = 'flip', lanes = 3 }]", "unknown field `lanes`"),
            ("pattern = [{ weight = 1, model = 'flip' }]", "missing field `source`"),
        ] {
            let error = of(text).unwrap_err().to_string();
            assert!(error.contains("own.toml") && error.contains(part), "{error}");
        }
        let error = looked_up(Some("table:nowhere".to_owned())).unwrap_err();
        assert!(error.help.contains("gate-level-burst"));
    }

    #[test]
    fn the_bundled_tables_are_tables_and_other_words_stay() {
        for name in bundled() {
            let words = looked_up(Some(format!("table:{name}"))).unwrap().unwrap();
            assert!(words.starts_with("0.4*flip"), "{words}");
        }
        assert_eq!(looked_up(Some("flip".to_owned())).unwrap().as_deref(), Some("flip"));
        assert_eq!(looked_up(None).unwrap(), None);
    }
}
