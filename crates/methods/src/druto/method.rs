//! What the method is to the program.

use super::command::COMMAND;
use super::{predict, studies};
use crate::method::{Command, InputCommand};

/// DRUTO.
pub struct DrutoMethod;

impl crate::Method for DrutoMethod {
    fn name(&self) -> &'static str {
        "druto"
    }

    fn about(&self) -> &'static str {
        "the input that makes a kernel most vulnerable"
    }

    fn chooses_sites(&self) -> bool {
        false
    }

    fn commands(&self) -> &'static [Command] {
        const { &[predict::COMMAND] }
    }

    fn input_commands(&self) -> &'static [InputCommand] {
        const { &[COMMAND, studies::COMMAND] }
    }
}
