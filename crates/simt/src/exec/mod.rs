//! The loop that runs a warp.
//!
//! It takes the group of lanes that is behind, runs it instruction by instruction, and puts it back when it meets
//! another group, has to wait, or has run for long enough. Counting costs one subtraction per instruction: the
//! lanes' counts are brought up to date where the set of lanes changes.
//!
//! There is one loop. What differs between those who run a warp is a [`Policy`], with which it is compiled: the machine
//! runs it with a hook or without ([`Hooked`]), a replica with lanes that see memory each in a way of its own.

mod calls;
mod hooked;
mod plain;
mod policy;
mod running;
mod stack;
mod step;
mod sync;
mod system;
mod values;

use crate::control::State;
use crate::trap::Halt;
use ::lanes::Handlers;
pub(crate) use hooked::Hooked;
pub(crate) use plain::plain;
pub(crate) use policy::{Begun, Policy};
pub(crate) use running::{Notes, Running, Step};

/// Runs a warp until it stops: until nothing of it can go on, its turn is over, or it halts.
pub(crate) fn run<L: Handlers, P: Policy>(level: L, policy: &mut P, running: &mut Running<'_>) -> Result<(), Halt> {
    while running.pick() {
        if let Err(halt) = run_group(level, policy, running) {
            // Whoever explains a trap wants to know how far each thread came.
            running.settle();
            return Err(halt);
        }
        if P::SINGLE {
            running.end_single_turn();
            return Ok(());
        }
        if running.is_turn_over() {
            return Ok(());
        }
    }
    Ok(())
}

/// Runs one group until it is put back or has ended.
#[inline(always)]
fn run_group<L: Handlers, P: Policy>(level: L, policy: &mut P, running: &mut Running<'_>) -> Result<(), Halt> {
    let program = running.program;
    // A group that goes on from where it waited has been counted and has passed its guard.
    let mut resumed = running.state != State::Ready;
    loop {
        if running.pc >= running.limit {
            running.put_back();
            return Ok(());
        }
        let micro = &program.micros[running.pc as usize];
        if !P::SINGLE && micro.straight > 0 {
            let row = policy.row(running, micro);
            if row > 0 {
                running.row(level, row)?;
                continue;
            }
        }
        if resumed {
            resumed = false;
        } else if micro.first && policy.begin(level, running, micro)? == Begun::Over {
            continue;
        }
        if running.executing.mask == 0 {
            running.pc += 1;
            if P::SINGLE && micro.last {
                running.put_back();
                return Ok(());
            }
            continue;
        }
        match policy.step(level, running, micro)? {
            Step::Next => {
                policy.end(running, micro)?;
                running.pc += 1;
                if P::SINGLE && micro.last {
                    running.put_back();
                    return Ok(());
                }
            }
            Step::Jump(target) => {
                running.pc = target;
                if running.left <= 0 {
                    running.settle();
                    policy.out_of_fuel(running, micro)?;
                    // That fuel was looked at ends no turn: who runs when does not depend on how much there is.
                    running.refill();
                    if running.left <= 0 || running.active == 0 {
                        running.put_back();
                        return Ok(());
                    }
                }
                if P::SINGLE {
                    running.put_back();
                    return Ok(());
                }
                running.meet();
            }
            Step::Pick => return Ok(()),
        }
    }
}
