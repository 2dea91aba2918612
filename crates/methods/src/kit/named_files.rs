//! The files that the words of a command name.

use std::fs::{self, File};
use std::path::Path;

/// Adds the contents of the files that words name, from a directory, to a digest. Words that name no file, and pipes and devices,
/// whose contents have no end, add nothing.
pub fn hash_named_files<'w>(hasher: &mut blake3::Hasher, directory: &Path, words: impl IntoIterator<Item = &'w str>) {
    for word in words {
        let path = directory.join(word);
        if fs::metadata(&path).is_ok_and(|it| it.is_file())
            && let Ok(file) = File::open(&path)
        {
            hasher.update(word.as_bytes());
            // The bytes behind a failure add nothing.
            let _ = hasher.update_reader(file);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_changes_with_a_file_that_is_named_and_not_with_a_device() {
        let dir = tempfile::tempdir().unwrap();
        let digest = |words: &[&str]| {
            let mut hasher = blake3::Hasher::new();
            hash_named_files(&mut hasher, dir.path(), words.iter().copied());
            hasher.finalize()
        };
        fs::write(dir.path().join("a"), "1").unwrap();
        let one = digest(&["cmp", "a", "/dev/zero", ""]);
        assert_eq!(digest(&["a"]), one);
        fs::write(dir.path().join("a"), "2").unwrap();
        assert_ne!(digest(&["a"]), one);
        assert_eq!(digest(&["/dev/zero", "none"]), digest(&[]));
    }
}
