//! Directives of a kernel test: what each line of the head says.

use super::values::{BufferType, Values};
use campaign::config::SelectionWords;
use fault::Fault;
use std::collections::BTreeMap;

/// One line of the head.
#[derive(Clone, Debug, PartialEq)]
pub enum Directive {
    /// `buffer`
    Buffer(Buffer),
    /// `run`, with the `param` and `counts` that follow it
    Run(LaunchDirective),
    /// `read`
    Read(String),
    /// `expect`: a buffer, or a variable of the module with its type.
    Expect {
        /// The name.
        name: String,
        /// What it holds.
        values: Values,
    },
    /// `trap`
    Trap(ExpectedTrap),
    /// `prints`: the text.
    Prints(String),
    /// `strayed`
    Strayed(u64),
    /// `error`: the kernel.
    Error(String),
    /// `inject`
    Inject(Box<ExpectedFault>),
    /// `select`
    Select(Box<ExpectedPopulation>),
}

/// Device memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Its name.
    pub name: String,
    /// What it holds at first.
    pub values: Values,
}

/// A launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchDirective {
    /// The kernel.
    pub kernel: String,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// Instructions that each thread may execute.
    pub fuel: u32,
    /// The arguments.
    pub arguments: Vec<Argument>,
    /// How many instructions each thread executes.
    pub counts: Option<Vec<u32>>,
}

/// An argument of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// The address of a buffer or variable, plus an offset.
    Address(String, i64),
    /// Bytes.
    Bytes(Vec<u8>),
}

/// How a run that goes wrong must end; what is not given may be anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpectedTrap {
    /// The kind.
    pub kind: String,
    /// The source line.
    pub line: Option<u32>,
    /// The instruction in its function.
    pub pc: Option<u32>,
    /// The function.
    pub function: Option<String>,
    /// The thread in its block.
    pub thread: Option<u32>,
    /// The block.
    pub block: Option<u64>,
    /// The address.
    pub address: Option<Argument>,
}

/// A fault and what must come of it; what is not given may be anything.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedFault {
    /// The id of the fault; an address in it may be that of a buffer or variable, as in `global@&in+16`.
    pub id: String,
    /// `masked/never_read`, `sdc`, `due/illegal_address`, `not_landed` …
    pub outcome: String,
    /// Other keys, by name.
    pub details: BTreeMap<String, String>,
}

/// A selection and how many dynamic instructions it draws from.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedPopulation {
    /// The words of a campaign.
    pub selection: SelectionWords,
    /// How many there are; 0 where nothing is selected.
    pub members: u64,
}

/// The keys of `inject`, after the outcome.
const DETAILS: [&str; 11] =
    ["landed", "threads", "use", "differing", "error", "line", "pc", "kernel", "after", "strayed", "visible"];

/// Reads a directive. `param` and `counts` change the run before, the last of `before`.
pub(super) fn read(text: &str, before: &mut Vec<Directive>) -> Result<(), String> {
    let (key, rest) = text.split_once(' ').unwrap_or((text, ""));
    let rest = rest.trim();
    let directive = match key {
        "buffer" => Directive::Buffer(buffer(rest)?),
        "run:" => Directive::Run(run(rest)?),
        "param:" => {
            last_run(before)?.arguments.extend(arguments(rest)?);
            return Ok(());
        }
        "counts:" => {
            let counts = Values::read(BufferType(isa::Type::U32), None, rest)?;
            let words =
                counts.bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap_or_default()));
            last_run(before)?.counts = Some(words.collect());
            return Ok(());
        }
        "read:" => Directive::Read(name(rest)?.to_owned()),
        "expect" => expect(rest, before)?,
        "trap:" => Directive::Trap(trap(rest)?),
        "strayed:" => Directive::Strayed(number("strayed", rest)?),
        "prints:" => Directive::Prints(quoted(rest)?),
        "error:" => Directive::Error(name(rest)?.to_owned()),
        "inject:" => Directive::Inject(Box::new(fault(rest)?)),
        "select:" => Directive::Select(Box::new(population(rest)?)),
        _ => return Err(format!("`{key}` is no directive")),
    };
    before.push(directive);
    Ok(())
}

fn last_run(before: &mut [Directive]) -> Result<&mut LaunchDirective, String> {
    let run = before.iter_mut().rev().find_map(|directive| match directive {
        Directive::Run(run) => Some(run),
        _ => None,
    });
    run.ok_or_else(|| "no `run` before it".to_owned())
}

fn name(text: &str) -> Result<&str, String> {
    let is_name = !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
    if is_name { Ok(text) } else { Err(format!("`{text}` is no name")) }
}

/// `"one line\n"`, where `\n` stands for the end of a line.
fn quoted(text: &str) -> Result<String, String> {
    let inside = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inside.map(|text| text.replace("\\n", "\n")).ok_or_else(|| format!("`{text}` is no text in quotes"))
}

fn number<T: std::str::FromStr>(key: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{text}` is no number for `{key}`"))
}

/// `NAME: TYPE[COUNT] = VALUES`
fn buffer(text: &str) -> Result<Buffer, String> {
    let (left, values) = text.split_once('=').ok_or("expected `buffer NAME: TYPE = VALUES`")?;
    let (found, ty) = left.split_once(':').ok_or("expected `buffer NAME: TYPE = VALUES`")?;
    Ok(Buffer { name: name(found.trim())?.to_owned(), values: typed(ty, values)? })
}

/// Values of a type, which may have a bound: `u32[96]`.
fn typed(ty: &str, values: &str) -> Result<Values, String> {
    let ty = ty.trim();
    let (word, bound) = match ty.strip_suffix(']').and_then(|ty| ty.split_once('[')) {
        Some((word, bound)) => (word, Some(number("a bound", bound)?)),
        None => (ty, None),
    };
    Values::read(BufferType::from_word(word)?, bound, values)
}

/// `NAME = VALUES` of a buffer, or `NAME: TYPE = VALUES` of a variable.
fn expect(text: &str, before: &[Directive]) -> Result<Directive, String> {
    let (left, values) = text.split_once('=').ok_or("expected `expect NAME = VALUES`")?;
    let (found, ty) = left.split_once(':').map_or((left, None), |(name, ty)| (name, Some(ty)));
    let found = name(found.trim())?.to_owned();
    let buffer = before.iter().find_map(|directive| match directive {
        Directive::Buffer(buffer) if buffer.name == found => Some(&buffer.values),
        _ => None,
    });
    let values = match (ty, buffer) {
        (Some(ty), None) => typed(ty, values)?,
        (None, Some(buffer)) => Values::read(buffer.element, Some(buffer.len()), values)?,
        (Some(_), Some(_)) => return Err(format!("`{found}` has the type of its buffer")),
        (None, None) => return Err(format!("no buffer `{found}` before it; a variable of the module needs its type")),
    };
    Ok(Directive::Expect { name: found, values })
}

fn run(text: &str) -> Result<LaunchDirective, String> {
    let mut words = text.split_whitespace();
    let kernel = name(words.next().unwrap_or(""))?.to_owned();
    let (grid, block) = ([1; 3], [1; 3]);
    let mut run =
        LaunchDirective { kernel, grid, block, shared: 0, fuel: u32::MAX, arguments: Vec::new(), counts: None };
    for word in words {
        let (key, value) = word.split_once('=').ok_or_else(|| format!("`{word}` is not KEY=VALUE"))?;
        match key {
            "grid" => run.grid = extent(value)?,
            "block" => run.block = extent(value)?,
            "shared" => run.shared = number(key, value)?,
            "fuel" => run.fuel = number(key, value)?,
            _ => return Err(format!("`{key}` is no key of `run`: grid, block, shared, fuel")),
        }
    }
    Ok(run)
}

fn extent(text: &str) -> Result<[u32; 3], String> {
    let numbers = text.split(',').map(|number| number.parse().ok()).collect::<Option<Vec<u32>>>();
    let extent = numbers.and_then(|numbers| <[u32; 3]>::try_from(numbers).ok());
    extent.ok_or_else(|| format!("`{text}` is no extent: expected x,y,z"))
}

fn arguments(text: &str) -> Result<Vec<Argument>, String> {
    let mut found = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = if rest.starts_with('{') { rest.find('}').map(|at| at + 1) } else { rest.find(' ') };
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        found.push(argument(word)?);
        rest = after.trim_start();
    }
    Ok(found)
}

/// `&NAME+OFFSET`, `5u32`, `{u8 1 2 3}`
fn argument(word: &str) -> Result<Argument, String> {
    if let Some(inside) = word.strip_prefix('{').and_then(|word| word.strip_suffix('}')) {
        let (ty, values) = inside.trim().split_once(' ').ok_or("expected `{TYPE VALUES}`")?;
        return Ok(Argument::Bytes(typed(ty, values)?.bytes));
    }
    if let Some(place) = word.strip_prefix('&') {
        let at = place.find(['+', '-']).unwrap_or(place.len());
        let (found, offset) = place.split_at(at);
        let offset = if offset.is_empty() { 0 } else { number("an offset", offset)? };
        return Ok(Argument::Address(name(found)?.to_owned(), offset));
    }
    let types = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "f32", "f64", "b32", "b64"];
    let ty = types.iter().find(|ty| word.ends_with(*ty) && word.len() > ty.len());
    let ty = ty.ok_or_else(|| format!("`{word}` is no argument: expected &NAME, 5u32 or {{u8 1 2}}"))?;
    BufferType::from_word(ty)?.scalar(&word[..word.len() - ty.len()]).map(Argument::Bytes)
}

fn trap(text: &str) -> Result<ExpectedTrap, String> {
    let mut words = text.split_whitespace();
    let mut trap = ExpectedTrap { kind: name(words.next().unwrap_or(""))?.to_owned(), ..ExpectedTrap::default() };
    for word in words {
        let (key, value) = word.split_once('=').ok_or_else(|| format!("`{word}` is not KEY=VALUE"))?;
        match key {
            "line" => trap.line = Some(number(key, value)?),
            "pc" => trap.pc = Some(number(key, value)?),
            "thread" => trap.thread = Some(number(key, value)?),
            "block" => trap.block = Some(number(key, value)?),
            "function" => trap.function = Some(name(value)?.to_owned()),
            "address" => trap.address = Some(argument(value)?),
            _ => return Err(format!("`{key}` is no key of `trap`: line, pc, thread, block, function, address")),
        }
    }
    Ok(trap)
}

fn population(text: &str) -> Result<ExpectedPopulation, String> {
    let (words, members) = text.split_once("=>").ok_or("expected `select: KEY=VALUE … => COUNT`")?;
    let mut selection = SelectionWords::default();
    for word in words.split_whitespace() {
        let (key, value) = word.split_once('=').ok_or_else(|| format!("`{word}` is not KEY=VALUE"))?;
        let value = value.to_owned();
        match key {
            "target" => selection.target = Some(value),
            "model" => selection.model = Some(value),
            "scope" => selection.scope = Some(value),
            "group" => selection.group.push(value),
            "kernel" => selection.kernel.push(value),
            "threads" => selection.threads.push(value),
            "blocks" => selection.blocks.push(value),
            "iterations" => selection.iterations.push(value),
            _ => {
                return Err(format!(
                    "`{key}` is no key of `select`: target, model, scope, group, kernel, threads, blocks, iterations"
                ));
            }
        }
    }
    Ok(ExpectedPopulation { selection, members: number("members", members.trim())? })
}

fn fault(text: &str) -> Result<ExpectedFault, String> {
    let (id, rest) = text.split_once("=>").ok_or("expected `inject: FAULT => OUTCOME`")?;
    let id = id.trim().to_owned();
    fault_of(&id, |_, _| Ok(0))?;
    let mut words = rest.split_whitespace();
    let outcome = words.next().ok_or("expected an outcome after `=>`")?.to_owned();
    let mut details = BTreeMap::new();
    for word in words {
        let (key, value) = word.split_once('=').unwrap_or((word, "yes"));
        if !DETAILS.contains(&key) || details.insert(key.to_owned(), value.to_owned()).is_some() {
            return Err(format!("`{key}` is no key of `inject`, or is given twice: {}", DETAILS.join(", ")));
        }
    }
    Ok(ExpectedFault { id, outcome, details })
}

/// Reads an id. The address of a buffer or variable, and an offset into it, are asked for.
pub(super) fn fault_of(id: &str, place: impl Fn(&str, u64) -> Result<u64, String>) -> Result<Fault, String> {
    let text = match id.split_once("@&") {
        None => id.to_owned(),
        Some((before, rest)) => {
            let (name, after) = rest.split_once(',').unwrap_or((rest, ""));
            let (name, offset) = name.split_once('+').unwrap_or((name, "0"));
            let offset = offset.parse().map_err(|_| format!("`{offset}` is no offset"))?;
            format!("{before}@{:#x},{after}", place(name, offset)?)
        }
    };
    text.parse().map_err(|error: ::fault::ParseFaultError| format!("failed to {error}"))
}
