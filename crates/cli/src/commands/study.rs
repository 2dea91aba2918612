//! `beamline study`

use crate::args;
use crate::commands::irradiate::stop_on_interrupt;
use crate::failure::{Code, Coded, Failure};
use crate::progress::Progress;
use crate::{bundled, out, source};
use anyhow::{Context as _, anyhow};
use campaign::Event;
use inject::CapsuleTarget;
use methods::gpu_qin::studies::{NAMES, Subject, study as make};
use methods::gpu_qin::{Bench, StudyError};

/// Makes a study and shows it.
pub(crate) fn study(args: &args::Study) -> Result<Code, Failure> {
    if !NAMES.contains(&args.name.as_str()) {
        let error = anyhow!("make the study `{}`: there are {}", args.name, NAMES.join(", "));
        return Err(Failure::new(Code::Usage, error));
    }
    let stop = stop_on_interrupt()?;
    let targets = args.capsules.iter().map(|name| target(name, args.fuel)).collect::<Result<Vec<_>, _>>()?;
    let class = |name: &String| bundled::find(name).map(|workload| workload.description().class);
    let subjects: Vec<Subject<'_>> =
        targets.iter().zip(&args.capsules).map(|(capsule, name)| Subject { capsule, class: class(name) }).collect();
    let mut told = Told::default();
    let mut bench = Bench {
        dir: args.out.clone(),
        seed: args.seed,
        kernels: args.kernel.clone(),
        jobs: args.jobs,
        stop: &stop,
        told: &mut |name, event| told.event(name, event),
    };
    let study = make(&args.name, &subjects, args.runs, &mut bench).map_err(failure)?;
    if let Some(dir) = &args.plots {
        std::fs::create_dir_all(dir).with_context(|| format!("create {}", dir.display())).code(Code::Usage)?;
        for plot in &study.plots {
            out::file(&dir.join(format!("{}.svg", plot.name)), report::study::svg(plot))?;
        }
    }
    if args.json {
        out::json(&study)?;
    } else {
        out::text(&report::study::text(&study))?;
    }
    Ok(Code::Done)
}

fn target(name: &str, fuel: Option<u32>) -> Result<CapsuleTarget, Failure> {
    let mut target = CapsuleTarget::new(source::golden(source::open(name)?)?);
    let criteria = target.criteria();
    target.judge_by(&criteria, true).code(Code::Usage)?;
    fuel.inspect(|&fuel| target.set_fuel(fuel));
    Ok(target)
}

/// Shows the campaigns of a study, one after the other.
#[derive(Default)]
pub(crate) struct Told {
    name: String,
    progress: Option<Progress>,
}

impl Told {
    /// Takes an event of the campaign `name`.
    pub(crate) fn event(&mut self, name: &str, event: &Event<'_>) {
        if self.name != name {
            self.progress.take().inspect(Progress::finish);
            out::note(name);
            name.clone_into(&mut self.name);
        }
        self.progress.get_or_insert_with(|| Progress::new("runs")).event(event);
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        self.progress.take().inspect(Progress::finish);
    }
}

/// What went wrong, with the code for it.
pub(crate) fn failure(error: StudyError) -> Failure {
    let code = match error {
        StudyError::Interrupted => Code::Interrupted,
        StudyError::Campaign(_) => Code::Bug,
        StudyError::Config(_) | StudyError::Target(_) | StudyError::Store(_) | StudyError::Nothing(..) => Code::Usage,
    };
    Failure::new(code, error)
}
