//! What the method is to the program.

use super::command::COMMAND;
use crate::method::InputCommand;

/// Minotaur.
pub struct MinotaurMethod;

impl crate::Method for MinotaurMethod {
    fn name(&self) -> &'static str {
        "minotaur"
    }

    fn about(&self) -> &'static str {
        "small inputs that stand for large ones"
    }

    fn chooses_sites(&self) -> bool {
        false
    }

    fn input_commands(&self) -> &'static [InputCommand] {
        const { &[COMMAND] }
    }
}
