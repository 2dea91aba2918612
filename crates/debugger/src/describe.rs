//! Sentences for reports about what executes the runs.

/// The GPU, in sentences.
#[must_use]
pub fn describe_machine() -> Vec<String> {
    vec![
        "Accesses that miss what the program was given do what the GPU does.".to_owned(),
        "Instructions are those of the machine code that the GPU executed; another architecture or another version of the \
         compiler has others."
            .to_owned(),
    ]
}
