//! The registers of a random kernel: a few of every class, loaded from a record of the thread and stored into one.

use isa::Type;
use std::fmt::Write;

/// What a register holds; registers of different classes never mix but through conversions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    Int16,
    Int32,
    Int64,
    Half,
    Brain,
    Halves,
    Brains,
    Single,
    Double,
    Pred,
}

/// Bytes of a thread's record.
pub(super) const RECORD: usize = 256;

impl Class {
    /// All of them, the largest first so that their places are aligned.
    pub(super) const ALL: [Self; 10] = [
        Self::Int64,
        Self::Double,
        Self::Int32,
        Self::Single,
        Self::Halves,
        Self::Brains,
        Self::Int16,
        Self::Half,
        Self::Brain,
        Self::Pred,
    ];

    /// The class of values of a type; none for those that registers have no class for.
    pub(super) fn of(ty: Type) -> Option<Self> {
        Some(match ty {
            Type::B16 | Type::U16 | Type::S16 => Self::Int16,
            Type::B32 | Type::U32 | Type::S32 => Self::Int32,
            Type::B64 | Type::U64 | Type::S64 => Self::Int64,
            Type::F16 => Self::Half,
            Type::Bf16 => Self::Brain,
            Type::F16x2 => Self::Halves,
            Type::Bf16x2 => Self::Brains,
            Type::F32 => Self::Single,
            Type::F64 => Self::Double,
            Type::Pred => Self::Pred,
            _ => return None,
        })
    }

    pub(super) fn ty(self) -> Type {
        match self {
            Self::Int16 => Type::B16,
            Self::Int32 => Type::B32,
            Self::Int64 => Type::B64,
            Self::Half => Type::F16,
            Self::Brain => Type::Bf16,
            Self::Halves => Type::F16x2,
            Self::Brains => Type::Bf16x2,
            Self::Single => Type::F32,
            Self::Double => Type::F64,
            Self::Pred => Type::Pred,
        }
    }

    /// How many registers it has.
    pub(super) fn count(self) -> usize {
        match self {
            Self::Int32 => 8,
            Self::Int64 | Self::Single => 6,
            Self::Double | Self::Pred | Self::Halves => 4,
            Self::Int16 | Self::Half | Self::Brain | Self::Brains => 3,
        }
    }

    fn letters(self) -> &'static str {
        match self {
            Self::Int16 => "s",
            Self::Int32 => "i",
            Self::Int64 => "l",
            Self::Half => "h",
            Self::Brain => "b",
            Self::Halves => "hh",
            Self::Brains => "bb",
            Self::Single => "f",
            Self::Double => "d",
            Self::Pred => "p",
        }
    }

    pub(super) fn register(self, number: usize) -> String {
        format!("%{}{number}", self.letters())
    }

    /// The types of what a record holds for it.
    pub(super) fn input_types(self) -> impl Iterator<Item = Type> {
        let ty = if self == Self::Pred { Type::U16 } else { self.ty() };
        std::iter::repeat_n(ty, self.count())
    }

    /// Where the first of it is in a record.
    fn offset(self) -> usize {
        Self::ALL.into_iter().take_while(|class| *class != self).map(Self::bytes).sum()
    }

    fn bytes(self) -> usize {
        self.input_types().map(|ty| ty.bytes() as usize).sum()
    }

    /// The canonical NaN and the type in which one is found, of floats that are not pairs.
    fn nan(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Single => Some(("0x7fffffff", "f32")),
            Self::Double => Some(("0xfff8000000000000", "f64")),
            Self::Half => Some(("0x7fff", "f16")),
            Self::Brain => Some(("0x7fff", "bf16")),
            _ => None,
        }
    }
}

/// The register at a place of a record.
pub(super) fn at(offset: usize) -> String {
    let class = Class::ALL.into_iter().rev().find(|class| class.offset() <= offset).unwrap_or(Class::Int64);
    let size = class.bytes() / class.count();
    class.register((offset - class.offset()) / size)
}

/// The declarations of all registers.
pub(super) fn declarations() -> String {
    let mut text = String::new();
    for class in Class::ALL {
        let bits = class.ty().bits();
        let ty = if class == Class::Pred { "pred".to_owned() } else { format!("b{bits}") };
        let _ = writeln!(text, "    .reg .{ty} %{}<{}>;", class.letters(), class.count());
    }
    text + "    .reg .pred %q, %q1, %loop;\n    .reg .b16 %t16, %u16, %v16;\n    .reg .b32 %t32, %u32, %v32, %thread, %global, %n<4>;
    .reg .b64 %t64, %u64, %in, %out, %cells;\n"
}

/// Loads every register from the record at `%in`.
pub(super) fn load_all() -> String {
    let mut text = String::new();
    each(|class, number, offset| {
        let register = class.register(number);
        let _ = match class {
            Class::Pred => writeln!(
                text,
                "    ld.global.b16 %t16, [%in+{offset}];\n    and.b16 %t16, %t16, 1;\n    setp.ne.s16 {register}, %t16, 0;"
            ),
            _ => writeln!(text, "    ld.global.b{} {register}, [%in+{offset}];", class.ty().bits()),
        };
    });
    text
}

/// Stores every register into the record at `%out`.
pub(super) fn store_all() -> String {
    let mut text = String::new();
    each(|class, number, offset| {
        let register = class.register(number);
        let bits = class.ty().bits();
        if class == Class::Pred {
            let _ = writeln!(text, "    selp.b16 %t16, 1, 0, {register};\n    st.global.b16 [%out+{offset}], %t16;");
        } else {
            text += &bits_of(class, &register);
            let _ = writeln!(text, "    st.global.b{bits} [%out+{offset}], %t{bits};");
        }
    });
    text
}

fn each(mut visit: impl FnMut(Class, usize, usize)) {
    for class in Class::ALL {
        let size = class.bytes() / class.count();
        for number in 0..class.count() {
            visit(class, number, class.offset() + number * size);
        }
    }
}

/// Moves the bits of a register into `%t16`, `%t32` or `%t64`, a NaN as the canonical one.
pub(super) fn bits_of(class: Class, register: &str) -> String {
    let bits = class.ty().bits();
    if let Some((nan, ty)) = class.nan() {
        return format!(
            "    setp.nan.{ty} %q, {register}, {register};\n    mov.b{bits} %t{bits}, {register};\n    @%q mov.b{bits} %t{bits}, {nan};\n"
        );
    }
    let half = match class {
        Class::Halves => "f16",
        Class::Brains => "bf16",
        _ => return format!("    mov.b{bits} %t{bits}, {register};\n"),
    };
    format!(
        "    mov.b32 {{%u16, %v16}}, {register};
    setp.nan.{half} %q, %u16, %u16;\n    @%q mov.b16 %u16, 0x7fff;
    setp.nan.{half} %q, %v16, %v16;\n    @%q mov.b16 %v16, 0x7fff;
    mov.b32 %t32, {{%u16, %v16}};\n"
    )
}
