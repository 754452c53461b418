//! The forms of single values in a note: ids, times, digests, targets.

use crate::doc_text::fold;

/// Letters of Crockford's base 32.
const ULID_LETTERS: &[u8] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const ULID_LENGTH: usize = 26;
/// Longest name of a claim or decision, in characters.
const MAX_TITLE: usize = 120;

/// Returns whether a text is an id: a prefix such as `c-` and a ULID in upper case.
pub fn is_id(text: &str, prefix: &str) -> bool {
    let Some(ulid) = text.strip_prefix(prefix) else { return false };
    ulid.len() == ULID_LENGTH
        && ulid.bytes().all(|letter| ULID_LETTERS.contains(&letter))
        // 26 letters of 5 bits have 2 bits more than a ULID.
        && ulid.as_bytes()[0] <= b'7'
}

/// Returns whether a text is the id of a note.
pub fn is_note_id(text: &str) -> bool {
    ["c-", "d-", "e-", "o-"].iter().any(|prefix| is_id(text, prefix))
}

/// Returns whether a text names something that a relation can lead to: a note's id, or `symbol:`, `file:`, `package:` or
/// `route:` and a name.
pub fn is_target(text: &str) -> bool {
    let named = text
        .split_once(':')
        .is_some_and(|(kind, name)| matches!(kind, "symbol" | "file" | "package" | "route") && !name.trim().is_empty());
    named || is_note_id(text) || is_numbered_observation(text)
}

/// Returns whether a text is the id of an observation that has none in its file: `<entity id>.<number>`.
fn is_numbered_observation(text: &str) -> bool {
    text.rsplit_once('.').is_some_and(|(entity, number)| {
        is_id(entity, "e-") && !number.starts_with('0') && number.len() <= 5 && is_digits(number)
    })
}

/// Returns whether a text is a digest: 16 hex digits.
pub fn is_digest(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|letter| letter.is_ascii_digit() || (b'a'..=b'f').contains(&letter))
}

/// Returns whether a text is a time in UTC by RFC 3339: `2026-11-23T10:04:11Z`, with an optional fraction.
pub fn is_time(text: &str) -> bool {
    let Some(text) = text.strip_suffix('Z') else { return false };
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let bytes = seconds.as_bytes();
    let is_formed = bytes.len() == 19
        && bytes.iter().zip(b"0000-00-00T00:00:00").all(|(&byte, &form)| match form {
            b'0' => byte.is_ascii_digit(),
            other => byte == other,
        });
    if !is_formed || fraction.len() > 9 || !is_digits(fraction) {
        return false;
    }
    let number = |from: usize| u32::from(bytes[from] - b'0') * 10 + u32::from(bytes[from + 1] - b'0');
    (1..=12).contains(&number(5))
        && (1..=31).contains(&number(8))
        && number(11) < 24
        && number(14) < 60
        && number(17) <= 60
}

/// Returns a share as people write it: `0.9`, `0,9` or `90%`; nothing for other texts.
pub fn share_of(text: &str) -> Option<f64> {
    let (number, unit) = match text.trim().strip_suffix('%') {
        Some(percent) => (percent.trim_end(), 100.0),
        None => (text.trim(), 1.0),
    };
    let decimal = number.split_once(',').filter(|(whole, part)| is_digits(whole) && is_digits(part));
    let number = decimal.map_or_else(|| number.parse(), |(whole, part)| format!("{whole}.{part}").parse::<f64>());
    number.ok().filter(|number| !number.is_nan()).map(|number| number / unit)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|letter| letter.is_ascii_digit())
}

/// Returns the first heading or sentence of a text, at most 120 characters long.
pub fn title_of(text: &str) -> String {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("");
    let bare = first.trim_start_matches('#');
    if bare.len() < first.len() && bare.starts_with([' ', '\t']) {
        return cut(&fold(bare.trim_end_matches([' ', '#']), MAX_TITLE + 1));
    }
    let paragraph: Vec<&str> =
        text.lines().map(str::trim).skip_while(|line| line.is_empty()).take_while(|line| !line.is_empty()).collect();
    let words = fold(&paragraph.join(" "), MAX_TITLE * 4);
    let end = words.match_indices(['.', '!', '?']).map(|(at, mark)| at + mark.len());
    let sentence = end.into_iter().find(|&end| words[end..].starts_with(' ')).map_or(&*words, |end| &words[..end]);
    cut(sentence)
}

/// Cuts a text of more than 120 characters after a word.
fn cut(text: &str) -> String {
    if text.chars().nth(MAX_TITLE).is_none() {
        return text.to_owned();
    }
    let end = text.char_indices().nth(MAX_TITLE - 1).map_or(text.len(), |(at, _)| at);
    let end = text[..end].rfind(' ').unwrap_or(end);
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    const ULID: &str = "01JD2V9Q7KZZZZZZZZZZZZZZZZ";

    #[test]
    fn ids() {
        assert!(is_id(&format!("c-{ULID}"), "c-"));
        for wrong in [format!("d-{ULID}"), ULID.to_owned(), format!("c-{}", ULID.to_lowercase()), format!("c-{ULID}0")]
        {
            assert!(!is_id(&wrong, "c-"), "{wrong}");
        }
        assert!(!is_id("c-81JD2V9Q7KZZZZZZZZZZZZZZZZ", "c-"));
        assert!(!is_id("c-01JD2V9Q7KZZZZZZZZZZZZZZZé", "c-"));
    }

    #[test]
    fn targets() {
        for target in
            ["symbol:a.b", "file:a.py", "package:x", "route:GET /x", &format!("o-{ULID}"), &format!("e-{ULID}.3")]
        {
            assert!(is_target(target), "{target}");
        }
        for wrong in
            ["", "a.b", "symbol:", "symbol: ", "http://x", &format!("e-{ULID}.0"), &format!("c-{ULID}.1"), "c-x"]
        {
            assert!(!is_target(wrong), "{wrong}");
        }
    }

    #[test]
    fn times() {
        for time in ["2026-11-23T10:04:11Z", "2026-11-23T10:04:11.123456Z", "2016-12-31T23:59:60Z"] {
            assert!(is_time(time), "{time}");
        }
        let wrong = "2026-11-23 2026-11-23T10:04:11 2026-13-23T10:04:11Z 2026-11-23T24:04:11Z 2026-11-23T10:04:11.Z \
                     2026-11-23T10:04:11+02:00 2026-11-2éT10:04:11Z Z";
        for time in wrong.split(' ') {
            assert!(!is_time(time), "{time}");
        }
    }

    #[test]
    fn shares() {
        for (text, share) in [("0.9", 0.9), ("0,9", 0.9), ("90%", 0.9), (" 87,5 % ", 0.875), ("1", 1.0), (".5", 0.5)] {
            assert_eq!(share_of(text), Some(share), "{text}");
        }
        for wrong in ["", "high", "%", "0,9,1", "0.9.1", ",", "nan", "9/10"] {
            assert_eq!(share_of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn titles() {
        assert_eq!(title_of("\n\n# A heading #\n\nText."), "A heading");
        assert_eq!(title_of("Version 1.2 is\nslow. It is old."), "Version 1.2 is slow.");
        assert_eq!(title_of("No end\n\nAnother paragraph."), "No end");
        assert_eq!(title_of(""), "");
        let long = title_of(&"wörd ".repeat(100));
        assert!(long.chars().count() <= 120 && long.ends_with("wörd…"), "{long}");
        assert_eq!(title_of(&"ü".repeat(500)).chars().count(), 120);
    }
}
