//! Shell completions and manual pages, from the definitions of the command line.

use crate::args::{Completions, Man, command};
use crate::failure::{Code, Coded, Failure};
use crate::out;
use anyhow::anyhow;

/// Prints the completions of a shell.
pub(crate) fn completions(args: &Completions) -> Result<Code, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command(), "beamline", &mut text);
    out::text(&String::from_utf8_lossy(&text))?;
    Ok(Code::Done)
}

/// Prints a manual page.
pub(crate) fn man(args: &Man) -> Result<Code, Failure> {
    let mut command = command();
    command.build();
    let page = match &args.command {
        None => command,
        Some(name) => {
            let unknown = || Failure::new(Code::Usage, anyhow!("find the command `{name}`"));
            command.find_subcommand(name).cloned().ok_or_else(unknown)?
        }
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page).render(&mut text).code(Code::Bug)?;
    out::text(&String::from_utf8_lossy(&text))?;
    Ok(Code::Done)
}
