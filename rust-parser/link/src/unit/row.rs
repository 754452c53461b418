//! The fields of a row and their byte encoding for the digest.

use std::borrow::Cow;

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// One field of a row.
pub enum Field<'a> {
    Text(Cow<'a, str>),
    /// `project:name`; the digest covers the name only.
    Uid(&'a str, &'a str),
    /// 16 hexadecimal digits; "" for 0.
    Hex(u64),
    Number(u32),
    Numbers(&'a [u32]),
    Flag(bool),
    Fraction(f64),
}

impl<'a> From<&'a str> for Field<'a> {
    fn from(text: &'a str) -> Self {
        Field::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Field<'_> {
    fn from(text: String) -> Self {
        Field::Text(Cow::Owned(text))
    }
}

/// Appends the byte encoding of fields to a row.
pub fn add_fields(fields: &[Field], row: &mut Vec<u8>) {
    for field in fields {
        match field {
            Field::Text(text) => add_text(text, row),
            Field::Uid(_, name) => add_text(name, row),
            Field::Hex(0) => row.extend_from_slice(&0_u32.to_le_bytes()),
            Field::Hex(number) => {
                row.extend_from_slice(&16_u32.to_le_bytes());
                row.extend_from_slice(&digits(*number));
            }
            Field::Number(number) => row.extend_from_slice(&number.to_le_bytes()),
            Field::Numbers(numbers) => {
                row.extend_from_slice(&(numbers.len() as u32).to_le_bytes());
                numbers.iter().for_each(|number| row.extend_from_slice(&number.to_le_bytes()));
            }
            Field::Flag(flag) => row.push(u8::from(*flag)),
            Field::Fraction(value) => row.extend_from_slice(&value.to_le_bytes()),
        }
    }
}

fn add_text(text: &str, row: &mut Vec<u8>) {
    row.extend_from_slice(&(text.len() as u32).to_le_bytes());
    row.extend_from_slice(text.as_bytes());
}

/// Returns the hexadecimal digits of a number, most significant first.
pub fn digits(number: u64) -> [u8; 16] {
    std::array::from_fn(|at| DIGITS[(number >> (60 - 4 * at)) as usize & 15])
}
