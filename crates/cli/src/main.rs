//! The program `beamline`: the only place that knows the command line, the terminal and exit codes.

mod args;
mod commands;
mod failure;
mod interrupt;
mod out;
mod progress;
mod stderr;
mod waiting;

use args::{Command, ParsedCommand};
use failure::{Code, Failure};
use std::process::ExitCode;
use std::{env, panic};

fn main() -> ExitCode {
    let asked = match ParsedCommand::parse(env::args_os()) {
        Ok(asked) => asked,
        Err(error) => return usage(&error),
    };
    panic::set_hook(Box::new(|info| failure::report_bug(&info.to_string())));
    let code = match panic::catch_unwind(|| dispatch(asked)) {
        Ok(Ok(code)) => code,
        Ok(Err(failure)) => failure.report(),
        Err(_) => Code::Bug,
    };
    code.into()
}

/// Help and version are no mistakes; everything else that clap has to say is.
fn usage(error: &clap::Error) -> ExitCode {
    // Nothing is left to do where even this cannot be printed.
    let _ = error.print();
    if error.use_stderr() { Code::Usage.into() } else { Code::Done.into() }
}

fn dispatch(asked: ParsedCommand) -> Result<Code, Failure> {
    let command = match asked {
        ParsedCommand::Own(command) => command,
        ParsedCommand::MethodArgs(asked) => return commands::of_method::answer(asked),
        ParsedCommand::FileArgs(asked) => return commands::of_method::answer_files(asked),
        ParsedCommand::InputArgs(asked) => return commands::of_method::answer_inputs(asked),
    };
    match command {
        Command::List(list) => commands::list::list(&list),
        Command::Run(run) => commands::run::run(run),
        Command::Info(info) => commands::info::info(&info),
        Command::Profile(profile) => commands::profile::profile(&profile),
        Command::Study(study) => commands::study::study(&study),
        Command::Campaign(campaign) => commands::campaign::campaign(&campaign),
        Command::Live(live) => commands::live::live(&live),
        Command::Beam(beam) => commands::beam::beam(&beam),
        Command::Inject(inject) => commands::inject::inject(&inject),
        Command::Harden(harden) => commands::harden::hardened(&harden),
        Command::Nn(network) => commands::nn::answer(&network),
        Command::Resume(resume) => commands::campaign::resume(&resume),
        Command::Merge(merge) => commands::merge::merge(&merge),
        Command::Verify(verify) => commands::verify::verify(&verify),
        Command::Worker(worker) => commands::worker::worker(&worker),
        Command::Report(report) => commands::report::report(&report),
        Command::Completions(completions) => commands::docs::completions(&completions),
        Command::Man(man) => commands::docs::man(&man),
    }
}
