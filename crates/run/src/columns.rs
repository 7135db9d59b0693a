//! What a column of a sample file is: its name, how it is stored, and which field of a row it is.
//! Each kind of run has a table of them; writer, reader and schema are all driven by it.

/// How a column is stored and which field it is.
#[doc(hidden)]
pub enum Kind<R> {
    /// UINT_64.
    Wide {
        get: fn(&R) -> u64,
        set: fn(&mut R, u64),
    },
    /// UINT_32.
    Narrow {
        get: fn(&R) -> u32,
        set: fn(&mut R, u32),
    },
    /// DOUBLE.
    Real {
        get: fn(&R) -> f64,
        set: fn(&mut R, f64),
    },
    /// A short text out of a closed list, so that a table reads "lost" and not 1. `get` gives the
    /// position in the list; `set` is given one.
    Name {
        names: &'static [&'static str],
        get: fn(&R) -> u8,
        set: fn(&mut R, u8),
    },
}

/// One column of a sample file.
#[doc(hidden)]
pub struct Column<R> {
    pub name: &'static str,
    pub kind: Kind<R>,
}

/// How the value of a point stands in a column that an export puts in front.
pub enum PointKind<P> {
    /// UINT_32.
    Number(fn(&P) -> u32),
    /// UINT_64.
    Wide(fn(&P) -> u64),
    /// A short text.
    Name(fn(&P) -> &'static str),
    /// A short text that is put together.
    Text(fn(&P) -> String),
}

/// Name of a column that holds the same value for all rows of a point, and the value.
pub type PointColumn<P> = (&'static str, PointKind<P>);

/// The column of a field of 64 bits.
macro_rules! wide {
    ($field:ident) => {
        Column {
            name: stringify!($field),
            kind: Kind::Wide {
                get: |row| row.$field,
                set: |row, value| row.$field = value,
            },
        }
    };
}

/// The column of a field of 32 bits.
macro_rules! narrow {
    ($field:ident) => {
        Column {
            name: stringify!($field),
            kind: Kind::Narrow {
                get: |row| row.$field,
                set: |row, value| row.$field = value,
            },
        }
    };
}

/// The column of a field that is a real number.
macro_rules! real {
    ($field:ident) => {
        Column {
            name: stringify!($field),
            kind: Kind::Real {
                get: |row| row.$field,
                set: |row, value| row.$field = value,
            },
        }
    };
}

/// A column of names, called as its field.
macro_rules! named {
    ($field:ident: $type:ident) => {
        Column {
            name: stringify!($field),
            kind: Kind::Name {
                names: &wiregauge_record::$type::NAMES,
                get: |row| row.$field as u8,
                set: |row, number| {
                    row.$field = wiregauge_record::$type::from_number(number).unwrap_or_default();
                },
            },
        }
    };
}

pub(crate) use {named, narrow, real, wide};
