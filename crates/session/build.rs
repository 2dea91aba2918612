//! Embeds the bundled workloads: every `workloads/<name>/` that has a capsule.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../workloads").canonicalize()?;
    println!("cargo::rerun-if-changed={}", root.display());
    let mut folders: Vec<PathBuf> =
        fs::read_dir(&root)?.map(|entry| Ok(entry?.path())).collect::<Result<_, std::io::Error>>()?;
    folders.sort();
    let mut table = String::from("[\n");
    for folder in folders {
        let Some(name) = folder.file_name().and_then(|name| name.to_str()) else { continue };
        let (capsule, toml) = (folder.join(format!("{name}.capsule")), folder.join("workload.toml"));
        println!("cargo::rerun-if-changed={}", folder.display());
        if capsule.is_file() && toml.is_file() {
            writeln!(table, "    ({name:?}, include_bytes!({capsule:?}).as_slice(), include_str!({toml:?})),")?;
        }
    }
    table.push_str("]\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join("bundled.rs"), table)?;
    Ok(())
}
