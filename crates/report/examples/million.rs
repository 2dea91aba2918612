//! How long a report of many rows takes: `cargo run --release -p report --features parquet --example million -- DIR [ROWS]`.
//!
//! Makes a campaign of made-up rows in DIR, unless there is one, and times every step of its report.

#[path = "../tests/it/synthetic.rs"]
#[allow(dead_code, unreachable_pub, clippy::allow_attributes, reason = "shared with the tests, which use more of it")]
mod synthetic;

use report::{Context, Report};
use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

#[expect(clippy::print_stdout, clippy::disallowed_methods, reason = "to tell how long it takes is what this is for")]
fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args_os().skip(1);
    let dir = PathBuf::from(args.next().ok_or("expected a directory")?);
    let rows = args.next().map_or(Ok(1_000_000), |rows| rows.to_string_lossy().parse())?;
    println!("    wall      processor");
    let mut last = (Instant::now(), processor_time());
    let mut done = |what: &str| {
        println!("{:8.3} s {:8.2} s  {what}", last.0.elapsed().as_secs_f64(), processor_time() - last.1);
        last = (Instant::now(), processor_time());
    };
    if !dir.exists() {
        let target = synthetic::Synthetic { instructions: 2000, ..Default::default() };
        synthetic::campaign(&dir, synthetic::runs(rows), &target);
        done("make the campaign");
    }
    let results = campaign::Results::open(&dir)?;
    results.summary()?;
    done("summary");
    let report = Report::new(&results, Context { version: "0".into(), ..Context::default() })?;
    done("report");
    let html = report.to_html();
    done("page");
    let markdown = report.to_markdown();
    done("Markdown");
    let json = report.to_json()?;
    done("JSON");
    report.to_sarif()?;
    done("SARIF");
    std::fs::write(dir.join("report.html"), &html)?;
    done("writing it");
    println!("page of {} bytes, Markdown of {}, JSON of {}", html.len(), markdown.len(), json.len());
    #[cfg(feature = "parquet")]
    {
        let rows = report::write_parquet(&results, std::fs::File::create(dir.join("rows.parquet"))?)?;
        done(&format!("Parquet, {rows} rows"));
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("no VmHWM");
    println!("{peak}");
    Ok(())
}

/// Seconds of processor time that this process has had, to a hundredth; 0 where there is no /proc.
fn processor_time() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the process, in brackets, may hold anything; user and system time are the 14th and 15th field.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    fields.iter().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}
