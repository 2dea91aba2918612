//! Embeds the bundled workloads: every `workloads/<name>/` that has a capsule.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// What includes a file that may be missing.
fn include(kind: &str, path: &Path, then: &str) -> String {
    if path.is_file() { format!("Some(include_{kind}!({path:?}){then})") } else { "None".to_owned() }
}

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
            let (application, space) = (folder.join(format!("{name}.app.zst")), folder.join("space.toml"));
            let application = include("bytes", &application, ".as_slice()");
            let space = include("str", &space, "");
            writeln!(
                table,
                "    Bundled {{ name: {name:?}, capsule: include_bytes!({capsule:?}).as_slice(), toml: include_str!({toml:?}), \
                 application: {application}, space: {space} }},"
            )?;
        }
    }
    table.push_str("]\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join("bundled.rs"), table)?;
    Ok(())
}
