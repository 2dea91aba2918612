//! Commands of the user that compare outputs, for methods: a method starts no process itself.

/// Starts commands that compare what runs left.
pub trait CommandStarter: Send + Sync {
    /// A command for a shell, with the outputs of the golden run, each with its name and its bytes; a call of it may take this
    /// number of seconds.
    ///
    /// # Errors
    /// If the outputs cannot be laid out, in words that follow "failed to".
    fn comparison(
        &self,
        command: &str,
        seconds: f64,
        golden: &[(String, Vec<u8>)],
    ) -> Result<Box<dyn OutputComparison>, String>;
}

/// A command that compares the outputs of a run with those of the golden run.
pub trait OutputComparison: Sync {
    /// The text that it prints of the outputs of a run, which are in the order of the golden ones.
    ///
    /// # Errors
    /// If it fails or takes too long, how, in words that follow "failed to".
    fn printed(&self, outputs: &[Vec<u8>]) -> Result<String, String>;
}
