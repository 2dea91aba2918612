//! A space, read from TOML.

use serde::Deserialize;
use stats::Draws;

use crate::constraint::Constraint;
use crate::error::SpaceError;
use crate::file::{FileSource, InputFile};
use crate::parameter::{Kind, Parameter, Scale, Value};
use crate::point::Point;

/// What may vary in an application.
#[derive(Clone, Debug, PartialEq)]
pub struct Space {
    /// The arguments of its command line, in which `{name}` stands for a parameter.
    arguments: Vec<String>,
    parameters: Vec<Parameter>,
    constraints: Vec<Constraint>,
    /// The files that the application reads beside them.
    files: Vec<InputFile>,
    limits: InputLimits,
}

/// Beyond what an input is lost: it takes too long to be one of many.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct InputLimits {
    /// Seconds that the application may take, from its start to its end.
    pub seconds: f64,
    /// Thread instructions of all its launches.
    pub instructions: u64,
}

impl Default for InputLimits {
    fn default() -> Self {
        Self { seconds: 60.0, instructions: 200_000_000 }
    }
}

/// Seconds that a file may allow an input, at most.
const MOST_SECONDS: f64 = 1e6;

/// How often a point is drawn anew that does not fulfil the constraints.
const MOST_DRAWS: u32 = 10_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    arguments: Vec<String>,
    parameters: Vec<Declared>,
    #[serde(default)]
    constraints: Vec<String>,
    #[serde(default)]
    files: Vec<InputFile>,
    #[serde(default)]
    limits: InputLimits,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Declared {
    name: String,
    kind: String,
    range: Option<[toml::Value; 2]>,
    #[serde(default)]
    scale: Scale,
    step: Option<i64>,
    values: Option<Vec<String>>,
    reference: toml::Value,
}

impl Space {
    /// Reads a description.
    ///
    /// # Errors
    /// If it is no TOML, a parameter or a constraint makes no sense, arguments and parameters do not name each other, or the
    /// reference does not fulfil a constraint.
    pub fn read(text: &str) -> Result<Self, SpaceError> {
        let file: File =
            toml::from_str(text).map_err(|error| SpaceError::File(error.to_string().trim_end().to_owned()))?;
        let parameters = file.parameters.into_iter().map(Declared::parameter).collect::<Result<Vec<_>, _>>()?;
        for (number, parameter) in parameters.iter().enumerate() {
            if parameters[..number].iter().any(|other| other.name == parameter.name) {
                let why = "it is declared twice".to_owned();
                return Err(SpaceError::Parameter { name: parameter.name.clone(), why });
            }
        }
        let known: Vec<&str> = parameters.iter().map(|parameter| parameter.name.as_str()).collect();
        let constraint = |text: &String| {
            Constraint::read(text, &known).map_err(|why| SpaceError::Constraint { text: text.clone(), why })
        };
        let constraints = file.constraints.iter().map(constraint).collect::<Result<_, _>>()?;
        let limits = file.limits;
        if !(limits.seconds > 0.0 && limits.seconds <= MOST_SECONDS && limits.instructions > 0) {
            return Err(SpaceError::Limits(MOST_SECONDS));
        }
        file.files.iter().try_for_each(InputFile::check)?;
        if let Some(argument) = file.arguments.iter().find(|argument| argument.contains('\0')) {
            return Err(SpaceError::File(format!("take the argument {argument:?}: it has a zero byte")));
        }
        let space = Self { arguments: file.arguments, parameters, constraints, files: file.files, limits };
        let mut used = Vec::new();
        for argument in space.arguments.iter().chain(space.files.iter().flat_map(InputFile::words)) {
            for name in names(argument) {
                if !space.parameters.iter().any(|parameter| parameter.name == name) {
                    let (argument, name) = (argument.clone(), name.to_owned());
                    return Err(SpaceError::Argument { argument, name, known: space.names() });
                }
                used.push(name);
            }
        }
        match space.parameters.iter().find(|parameter| !used.contains(&parameter.name.as_str())) {
            Some(parameter) => Err(SpaceError::Unused(parameter.name.clone())),
            None => space.check(&space.reference()).map(|()| space),
        }
    }

    /// Beyond what an input is lost.
    #[must_use]
    pub fn limits(&self) -> InputLimits {
        self.limits
    }

    /// Whether a point fulfils the constraints.
    ///
    /// # Errors
    /// The first constraint that does not hold.
    pub fn check(&self, point: &Point) -> Result<(), SpaceError> {
        let values: Vec<&Value> = point.values().collect();
        match self.constraints.iter().find(|constraint| !constraint.holds(&values)) {
            Some(constraint) => {
                let is_computed = constraint.is_computed(&values);
                Err(SpaceError::Violated { point: point.to_string(), constraint: constraint.to_string(), is_computed })
            }
            None => Ok(()),
        }
    }

    /// The parameters, in their order.
    #[must_use]
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The reference input.
    #[must_use]
    pub fn reference(&self) -> Point {
        self.point(|parameter| parameter.reference.clone())
    }

    /// A point that fulfils the constraints, each parameter drawn uniformly on its scale: a pure function of the seed and the
    /// number. The reference where 10,000 draws find none.
    #[must_use]
    pub fn draw(&self, seed: u64, number: u64) -> Point {
        let mut draws = Draws::new(seed, number);
        let mut drawn = (0..MOST_DRAWS).map(|_| self.point(|parameter| parameter.draw(&mut draws)));
        drawn.find(|point| self.check(point).is_ok()).unwrap_or_else(|| self.reference())
    }

    fn point(&self, mut value: impl FnMut(&Parameter) -> Value) -> Point {
        Point { values: self.parameters.iter().map(|parameter| (parameter.name.clone(), value(parameter))).collect() }
    }

    /// Reads a point as it prints. Parameters that are left out have their reference value.
    ///
    /// # Errors
    /// If it names none of the parameters, one twice, or a value that one cannot have, or does not fulfil a constraint.
    pub fn parse(&self, text: &str) -> Result<Point, SpaceError> {
        let wrong = || SpaceError::Point { text: text.to_owned(), expected: self.pattern() };
        let mut point = self.reference();
        let mut known = Vec::new();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').ok_or_else(wrong)?;
            let number = self.parameters.iter().position(|parameter| parameter.name == name);
            let number = number.filter(|number| !known.contains(number)).ok_or_else(wrong)?;
            known.push(number);
            point = point.with(number, self.parameters[number].read(value)?);
        }
        self.check(&point).map(|()| point)
    }

    /// The arguments of the command line at a point.
    #[must_use]
    pub fn arguments(&self, point: &Point) -> Vec<String> {
        self.arguments.iter().map(|argument| filled(argument, point)).collect()
    }

    /// The files that the application reads at a point: the name of each, and what it holds.
    pub fn files<'a>(&'a self, point: &'a Point) -> impl Iterator<Item = (&'a str, FileSource)> {
        self.files.iter().map(|file| (file.name(), file.source(|text| filled(text, point))))
    }

    fn names(&self) -> String {
        self.parameters.iter().map(|parameter| parameter.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    fn pattern(&self) -> String {
        let pairs = self.parameters.iter().map(|parameter| format!("{}=VALUE", parameter.name));
        pairs.collect::<Vec<_>>().join(",")
    }
}

/// A text with the values of a point for the names in braces.
fn filled(text: &str, point: &Point) -> String {
    let values = point.values.iter();
    values.fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), &value.to_string()))
}

/// The names in braces in an argument.
fn names(argument: &str) -> impl Iterator<Item = &str> {
    argument.split('{').skip(1).filter_map(|rest| rest.split_once('}').map(|(name, _)| name))
}

impl Declared {
    fn parameter(self) -> Result<Parameter, SpaceError> {
        let wrong = |why: &str| SpaceError::Parameter { name: self.name.clone(), why: why.to_owned() };
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if self.name.is_empty() || !self.name.chars().all(plain) {
            return Err(wrong("its name has other characters than letters, digits and _"));
        }
        let range = || self.range.as_ref().ok_or_else(|| wrong("it has no `range = [LOW, HIGH]`"));
        let kind = match self.kind.as_str() {
            "int" => {
                let [low, high] = range()?;
                let bounds = low.as_integer().zip(high.as_integer());
                let (low, high) = bounds.ok_or_else(|| wrong("its range is not of whole numbers"))?;
                let step = self.step.unwrap_or(1);
                if step < 1 {
                    return Err(wrong("its `step` is not above 0"));
                }
                let span = high.checked_sub(low).ok_or_else(|| wrong("its range has more than 2^63 values"))?;
                let over = span.max(0) % step;
                Kind::Int { low, high: high - over, step, scale: self.scale }
            }
            "float" => {
                let number = |value: &toml::Value| value.as_float().or(value.as_integer().map(|value| value as f64));
                let [low, high] = range()?;
                let bounds = number(low).zip(number(high)).filter(|(low, high)| low.is_finite() && high.is_finite());
                let (low, high) = bounds.ok_or_else(|| wrong("its range is not of finite numbers"))?;
                Kind::Float { low, high, scale: self.scale }
            }
            "choice" => {
                let values = self.values.clone().filter(|values| !values.is_empty());
                let values = values.ok_or_else(|| wrong("it has no `values = [\"…\"]`"))?;
                if values.iter().any(|value| value.contains('\0')) {
                    return Err(wrong("one of its `values` has a zero byte"));
                }
                if let Some((_, twice)) =
                    values.iter().enumerate().find(|(number, value)| values[..*number].contains(value))
                {
                    return Err(wrong(&format!("`{twice}` is twice among its `values`")));
                }
                Kind::Choice(values)
            }
            "seed" => Kind::Seed,
            _ => return Err(wrong("its kind is none of int, float, choice, seed")),
        };
        if self.range.is_some() && matches!(kind, Kind::Choice(_) | Kind::Seed) {
            return Err(wrong("only numbers (`kind = \"int\"` or `\"float\"`) have a `range`"));
        }
        if self.values.is_some() && !matches!(kind, Kind::Choice(_)) {
            return Err(wrong("only choices (`kind = \"choice\"`) have `values`"));
        }
        if self.step.is_some() && !matches!(kind, Kind::Int { .. }) {
            return Err(wrong("only whole numbers (`kind = \"int\"`) have a `step`"));
        }
        match &kind {
            Kind::Int { low, high, .. } if low > high => return Err(wrong("its range ends below its begin")),
            Kind::Float { low, high, .. } if low > high => return Err(wrong("its range ends below its begin")),
            Kind::Float { low, high, .. } if !(high - low).is_finite() => {
                return Err(wrong("its range is wider than the largest number, about 1.8e308"));
            }
            Kind::Int { low, scale: Scale::Log, .. } if *low < 1 => {
                return Err(wrong("a range of `scale = \"log\"` begins above 0"));
            }
            Kind::Float { low, scale: Scale::Log, .. } if *low <= 0.0 => {
                return Err(wrong("a range of `scale = \"log\"` begins above 0"));
            }
            _ => {}
        }
        let parameter = Parameter { name: self.name.clone(), kind, reference: Value::Int(0) };
        let text = self.reference.as_str().map_or_else(|| self.reference.to_string(), str::to_owned);
        let reference = parameter.read(&text)?;
        Ok(Parameter { reference, ..parameter })
    }
}
