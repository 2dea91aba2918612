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
    /// A parameter that no argument has: it would change nothing.
    #[error("use the parameter `{0}`: no argument has {{{0}}}")]
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
    #[error("take the input {point}: the constraint `{constraint}` does not hold")]
    Violated {
        /// The point.
        point: String,
        /// The constraint.
        constraint: String,
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
