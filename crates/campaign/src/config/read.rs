//! What is wrong with a configuration file, in words for those who wrote it.

use super::ConfigError;
use outcome::QUALITY_KEYS;
use outcome::nearest;

/// Turns a parser's complaint into ours: an unknown key gets a suggestion, anything else its line.
pub(super) fn explain(text: &str, name: &str, keys: &[&'static str], error: &toml::de::Error) -> ConfigError {
    let name = name.to_owned();
    let table = toml::from_str::<toml::Table>(text).unwrap_or_default();
    if let Some((key, nearest)) = unknown_key(&table, keys) {
        let quotes = [' ', '\t', '[', '"', '\''];
        let names_it = |line: &str| line.trim_start_matches(quotes).starts_with(&key);
        let line = text.lines().position(names_it).map(|at| at + 1);
        return ConfigError::UnknownKey { name, line, nearest, key };
    }
    let before = error.span().and_then(|span| text.get(..span.start));
    let line = before.map(|before| before.matches('\n').count() + 1);
    // Lines that show a place in a value are for those who see the value.
    let message = error.message().lines().filter(|line| !line.starts_with(' ')).collect::<Vec<_>>().join("; ");
    ConfigError::Syntax { name, line, message }
}

/// The first key that means nothing, here or in the quality of an output, and the one that it resembles most.
fn unknown_key(table: &toml::Table, keys: &[&'static str]) -> Option<(String, &'static str)> {
    let unknown = |table: &toml::Table, known: &[&'static str]| {
        let key = table.keys().find(|key| !known.contains(&key.as_str()))?;
        Some((key.clone(), nearest(key, known)))
    };
    let qualities = table.get("quality").and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::values);
    unknown(table, keys)
        .or_else(|| qualities.filter_map(toml::Value::as_table).find_map(|quality| unknown(quality, &QUALITY_KEYS)))
}
