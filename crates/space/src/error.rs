//! What is wrong with a space or a point.

/// Why a text describes no space, or a point is not in it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SpaceError {
    /// The file is no TOML, or has keys that mean nothing.
    #[error("{0}")]
    File(String),
    /// A parameter makes no sense.
    #[error("take the parameter `{name}`: {why}")]
    Parameter {
        /// Its name.
        name: String,
        /// What is wrong.
        why: String,
    },
    /// An argument names a parameter that there is not.
    #[error("fill in the argument `{argument}`: there is no parameter `{name}`; there are {known}")]
    Argument {
        /// The argument.
        argument: String,
        /// The name in it.
        name: String,
        /// The parameters.
        known: String,
    },
    /// A file that cannot be made.
    #[error("take the file `{name}`: {why}")]
    InputFile {
        /// Its name.
        name: String,
        /// The reason.
        why: String,
    },
    /// A parameter that no argument and no file has: it would change nothing.
    #[error("use the parameter `{0}`: no argument and no file has {{{0}}}")]
    Unused(String),
    /// A point names other parameters than the space has.
    #[error("read the input `{text}`: expected {expected}")]
    Point {
        /// The text.
        text: String,
        /// The parameters in their order.
        expected: String,
    },
    /// A constraint that means nothing.
    #[error("read the constraint `{text}`: {why}")]
    Constraint {
        /// The constraint.
        text: String,
        /// The reason.
        why: String,
    },
    /// Limits that are no limits.
    #[error("take `limits`: `seconds` is above 0 and at most {0}, and `instructions` is at least 1")]
    Limits(f64),
    /// A point does not fulfil a constraint.
    #[error("take the input {point}: {}", violated(constraint, *.is_computed))]
    Violated {
        /// The point.
        point: String,
        /// The constraint.
        constraint: String,
        /// Whether it can be computed there.
        is_computed: bool,
    },
    /// A value that the parameter cannot have.
    #[error("set `{name}` to `{value}`: expected {expected}")]
    Value {
        /// The parameter.
        name: String,
        /// The value.
        value: String,
        /// What it may be.
        expected: String,
    },
}

/// That a constraint does not hold.
pub(crate) fn violated(constraint: &str, is_computed: bool) -> String {
    let why = if is_computed {
        "does not hold"
    } else {
        "cannot be computed: a division by zero, or a number beyond 64 bits"
    };
    format!("the constraint `{constraint}` {why}")
}

impl SpaceError {
    /// Of a constraint that a point does not fulfil, that alone.
    #[must_use]
    pub fn violation(&self) -> Option<String> {
        match self {
            Self::Violated { constraint, is_computed, .. } => Some(violated(constraint, *is_computed)),
            _ => None,
        }
    }
}
