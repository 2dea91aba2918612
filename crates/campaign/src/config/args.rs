//! The command line that makes a campaign, or one of its runs, again.

use super::Choices;

impl Choices {
    /// Whether every run is live: an application is named, and no capsule.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.capsule.is_none() && !self.live.app.words().is_empty()
    }

    /// The words behind `beamline` that make the same campaign again.
    #[must_use]
    pub fn to_args(&self) -> Vec<String> {
        if self.is_live() { self.with_app(&["live"]) } else { self.with_capsule("campaign", None, None) }
    }

    /// The words behind `beamline` that repeat the run of one fault: on the capsule, whose story is told, or in the
    /// application where every run is live. Only what one run depends on is said.
    #[must_use]
    pub fn run_args(&self, fault: &str) -> Vec<String> {
        if self.is_live() {
            let one = Self {
                engine: self.engine.clone(),
                live: self.live.clone(),
                criteria: self.criteria.clone(),
                ..self.machine()
            };
            return one.with_app(&["live", "--fault", fault]);
        }
        let one = Self { capsule: self.capsule.clone(), ..self.machine() };
        one.with_capsule("inject", Some(fault), Some("--explain"))
    }

    /// The machine that each run has.
    fn machine(&self) -> Self {
        Self {
            fuel: self.fuel,
            addresses: self.addresses.clone(),
            contract: self.contract.clone(),
            order: self.order.clone(),
            ..Self::default()
        }
    }

    /// A command whose application stands at the end.
    fn with_app(&self, command: &[&str]) -> Vec<String> {
        let mut words: Vec<String> = command.iter().map(|&word| word.to_owned()).collect();
        words.extend(self.options());
        words.push("--".to_owned());
        words.extend(self.live.app.words().iter().cloned());
        words
    }

    /// A command whose capsule stands at its beginning, or behind `--` where it would be taken for an option.
    fn with_capsule(&self, command: &str, fault: Option<&str>, flag: Option<&str>) -> Vec<String> {
        let places = self.capsule.iter().map(String::as_str).chain(fault).map(str::to_owned);
        let mut words = vec![command.to_owned()];
        let hidden = self.capsule.as_ref().is_some_and(|capsule| capsule.starts_with('-'));
        if !hidden {
            words.extend(places.clone());
        }
        words.extend(self.options());
        if !self.live.app.words().is_empty() {
            words.extend(option("app", Some(self.live.app.to_string())));
        }
        words.extend(flag.map(str::to_owned));
        if hidden {
            words.push("--".to_owned());
            words.extend(places);
        }
        words
    }

    fn options(&self) -> impl Iterator<Item = String> {
        self.entries().into_iter().flat_map(|entry| option(entry.key, entry.value))
    }
}

fn option(key: &str, value: Option<String>) -> Vec<String> {
    match value {
        None => vec![format!("--{key}")],
        // A value that begins as an option does would be taken for one.
        Some(value) if value.starts_with('-') => vec![format!("--{key}={value}")],
        Some(value) => vec![format!("--{key}"), value],
    }
}
