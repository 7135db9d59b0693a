//! Values of a model file that may be written in two ways: a system as text or as matrices, a weight as a number or as a
//! matrix.

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;
use wiregauge_control::Matrix;

/// A transfer function as text, or a table of keys.
#[derive(Clone, Debug, PartialEq)]
pub enum TextOr<T> {
    /// `"1000/(s^2+s)"`.
    Text(String),
    /// `{ a = [[..]], .. }`.
    Table(T),
}

impl<T> TextOr<T> {
    /// The text, if it is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            TextOr::Text(text) => Some(text),
            TextOr::Table(_) => None,
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for TextOr<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TextOr<T>, D::Error> {
        deserializer.deserialize_any(TextOrVisitor(PhantomData))
    }
}

struct TextOrVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for TextOrVisitor<T> {
    type Value = TextOr<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a transfer function as text, or a table")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<TextOr<T>, E> {
        Ok(TextOr::Text(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<TextOr<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(TextOr::Table)
    }
}

/// A number, or rows of numbers of one length.
#[derive(Clone, Debug, PartialEq)]
pub enum Entries {
    /// `1`.
    Number(f64),
    /// `[[1, 0], [0, 2]]`.
    Rows(Matrix),
}

impl Entries {
    /// As a matrix; a number is one of 1 x 1.
    pub fn matrix(self) -> Matrix {
        match self {
            Entries::Number(number) => Matrix::from_element(1, 1, number),
            Entries::Rows(matrix) => matrix,
        }
    }

    /// As a square matrix; a number stands on its whole diagonal.
    pub fn on_diagonal(self, size: usize) -> Matrix {
        match self {
            Entries::Number(number) => Matrix::from_diagonal_element(size, size, number),
            Entries::Rows(matrix) => matrix,
        }
    }
}

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Entries, D::Error> {
        deserializer.deserialize_any(EntriesVisitor)
    }
}

struct EntriesVisitor;

impl<'de> Visitor<'de> for EntriesVisitor {
    type Value = Entries;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, or a matrix as a list of rows such as [[1, 0], [0, 1]]")
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Entries, E> {
        Ok(Entries::Number(number))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Entries, E> {
        Ok(Entries::Number(number as f64))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Entries, E> {
        Ok(Entries::Number(number as f64))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<Entries, A::Error> {
        let mut read: Vec<Vec<f64>> = Vec::new();
        while let Some(row) = rows.next_element::<Vec<f64>>()? {
            if let Some(first) = read.first()
                && first.len() != row.len()
            {
                return Err(A::Error::custom(format!(
                    "row {} has {} entries, the first row {}",
                    read.len() + 1,
                    row.len(),
                    first.len()
                )));
            }
            read.push(row);
        }
        let columns = read.first().map_or(0, Vec::len);
        let matrix = Matrix::from_fn(read.len(), columns, |row, column| read[row][column]);
        Ok(Entries::Rows(matrix))
    }
}
