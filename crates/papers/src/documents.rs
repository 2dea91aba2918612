//! Values in the documents that commands answer with.

use serde_json::Value;

/// The value at a path of keys, `found.rate`.
pub(crate) fn at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(value, |value, key| value.get(key))
}

/// The number at a path of keys.
pub(crate) fn number(value: &Value, path: &str) -> Option<f64> {
    at(value, path).and_then(Value::as_f64)
}

/// The list at a path of keys; an empty one where there is none.
pub(crate) fn list<'v>(value: &'v Value, path: &str) -> &'v [Value] {
    at(value, path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The text at a path of keys; an empty one where there is none.
pub(crate) fn text<'v>(value: &'v Value, path: &str) -> &'v str {
    at(value, path).and_then(Value::as_str).unwrap_or_default()
}
