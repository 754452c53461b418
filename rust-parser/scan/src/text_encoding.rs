//! Text in UTF-16 or UTF-32, decoded to UTF-8.

use std::borrow::Cow;

use crate::notebook::without_outputs;

/// Bytes at the start of a file that are looked at where it has no byte order mark.
const SAMPLE: usize = 1 << 10;
/// Fewest bytes that can be judged without a mark.
const LEAST: usize = 16;

#[derive(Clone, Copy)]
struct Encoding {
    /// Bytes of a unit.
    width: usize,
    is_little: bool,
}

/// Byte order marks; the longer one first where two begin alike.
const MARKS: &[(&[u8], Encoding)] = &[
    (b"\xff\xfe\0\0", Encoding { width: 4, is_little: true }),
    (b"\0\0\xfe\xff", Encoding { width: 4, is_little: false }),
    (b"\xff\xfe", Encoding { width: 2, is_little: true }),
    (b"\xfe\xff", Encoding { width: 2, is_little: false }),
];

/// Returns the text of a file in UTF-8: decoded, without its mark, if it is UTF-16 or UTF-32, else as it is. What is no
/// character is replaced.
pub fn decoded(data: &[u8]) -> Cow<'_, [u8]> {
    let marked = MARKS.iter().find(|(mark, _)| data.starts_with(mark));
    let (rest, encoding) = match marked {
        Some((mark, encoding)) => (&data[mark.len()..], *encoding),
        None => match unmarked(data) {
            Some(encoding) => (data, encoding),
            None => return Cow::Borrowed(data),
        },
    };
    let units = rest.chunks_exact(encoding.width).map(|unit| {
        let value = |unit: &mut dyn Iterator<Item = &u8>| unit.fold(0_u32, |sum, byte| sum << 8 | u32::from(*byte));
        if encoding.is_little { value(&mut unit.iter().rev()) } else { value(&mut unit.iter()) }
    });
    let text: String = if encoding.width == 4 {
        units.map(|unit| char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    } else {
        let pairs = char::decode_utf16(units.map(|unit| unit as u16));
        pairs.map(|found| found.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    };
    Cow::Owned(text.into_bytes())
}

/// Returns the text of a file that is searched and shown: decoded, and without the outputs of a notebook.
pub fn searched<'d>(path: &str, data: &'d [u8]) -> Cow<'d, [u8]> {
    match decoded(data) {
        text if !path.ends_with(".ipynb") => text,
        Cow::Borrowed(text) => without_outputs(text),
        Cow::Owned(text) => Cow::Owned(without_outputs(&text).into_owned()),
    }
}

/// Returns the encoding of a text without a mark whose units are nearly all ASCII: their other bytes are zero.
fn unmarked(data: &[u8]) -> Option<Encoding> {
    let sample = &data[..data.len().min(SAMPLE) & !3];
    if sample.len() < LEAST || !sample.contains(&0) {
        return None;
    }
    let is_text = |byte: u8| matches!(byte, b'\t' | b'\n' | b'\r' | 32..127);
    [(4, true), (4, false), (2, true), (2, false)].into_iter().find_map(|(width, is_little)| {
        let encoding = Encoding { width, is_little };
        let place = if is_little { 0 } else { width - 1 };
        let units = sample.len() / width;
        let plain = sample
            .chunks_exact(width)
            .filter(|unit| is_text(unit[place]) && unit.iter().enumerate().all(|(at, &byte)| at == place || byte == 0));
        (data.len().is_multiple_of(width) && plain.count() * 10 >= units * 9).then_some(encoding)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(text: &str, width: usize, is_little: bool) -> Vec<u8> {
        let order = |mut bytes: Vec<u8>| {
            if is_little {
                bytes.reverse();
            }
            bytes
        };
        match width {
            2 => text.encode_utf16().flat_map(|unit| order(unit.to_be_bytes().to_vec())).collect(),
            _ => text.chars().flat_map(|one| order(u32::from(one).to_be_bytes().to_vec())).collect(),
        }
    }

    #[test]
    fn wide_text_is_decoded() {
        for (width, is_little) in [(2, true), (2, false), (4, true), (4, false)] {
            let text = "class Größe { 😀 }\n";
            assert_eq!(*decoded(&encode(&format!("\u{feff}{text}"), width, is_little)), *text.as_bytes());
            let plain = "function f() { return 1 }\n";
            assert_eq!(*decoded(&encode(plain, width, is_little)), *plain.as_bytes());
        }
    }

    #[test]
    fn other_bytes_stay() {
        for data in [
            &b"plain text without any mark\n"[..],
            b"a\0b\0",
            b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
            b"x = 1\0\n\n\n\n\n\n\n\n\n\n\n",
        ] {
            assert!(matches!(decoded(data), Cow::Borrowed(_)), "{data:?}");
        }
        assert_eq!(*decoded(b"\xff\xfea"), *b"");
        assert_eq!(*decoded(b"\xff\xfe\x00\xd8"), *"\u{fffd}".as_bytes());
    }
}
