//! Finds secrets that no word announces: tokens of a shape that is known by itself wherever it stands, and base64 text that
//! holds a secret.

use super::found::Span;
use super::randomness::{average_cost, count, entropy};
use super::value_classes::{decoded_text, is_random};
use super::{placeholders, randomness};

/// Length of the shortest token.
const SHORTEST: usize = 34;
/// Length of `SK` or `AC` and 32 hexadecimal digits.
const TWILIO: usize = 34;
const AWS_SECRET: usize = 40;
/// Least average cost of a character of an AWS key, in half bits: below are words and paths.
const AWS_COST: f64 = 10.4;
/// Lengths of the three parts of a token of a Discord bot.
const DISCORD: [std::ops::RangeInclusive<usize>; 3] = [24..=28, 6..=6, 27..=40];
/// Lengths of base64 text that is decoded.
const ENCODED: std::ops::RangeInclusive<usize> = 40..=(32 << 10);

/// Adds the secrets of this kind; `within` finds those in a decoded text.
pub fn find(data: &[u8], within: &mut dyn FnMut(&[u8]) -> Vec<Span>, found: &mut Vec<Span>) {
    let mut at = SHORTEST - 1;
    // A run of this length has a character at a multiple of it.
    while at < data.len() {
        if !is_token(data[at]) {
            at += SHORTEST;
            continue;
        }
        let start = at - data[..at].iter().rev().take_while(|byte| is_token(**byte)).count();
        let end = at + data[at..].iter().take_while(|byte| is_token(**byte)).count();
        if end - start >= SHORTEST {
            run(data, (start, end), within, found);
        }
        at = end + SHORTEST;
    }
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'_' | b'-' | b'.')
}

fn run(data: &[u8], (start, end): (usize, usize), within: &mut dyn FnMut(&[u8]) -> Vec<Span>, found: &mut Vec<Span>) {
    for (from, to) in parts(data, (start, end), |byte| byte.is_ascii_alphanumeric()) {
        if is_twilio(&data[from..to]) {
            found.push((from, to, "twilio-key"));
        }
    }
    let sentence_end = data[start..end].iter().rev().take_while(|byte| **byte == b'.').count();
    if is_separate(data, (start, end)) && is_aws_secret(&data[start..end - sentence_end]) {
        found.push((start, end - sentence_end, "aws-secret-access-key"));
    }
    let pieces: Vec<(usize, usize)> = parts(data, (start, end), |byte| byte != b'.').collect();
    for three in pieces.windows(3) {
        if is_discord(data, three) {
            found.push((three[0].0, three[2].1, "discord-bot-token"));
        }
    }
    for (from, to) in pieces {
        if ENCODED.contains(&(to - from)) && decoded_text(&data[from..to]).is_some_and(|text| !within(&text).is_empty())
        {
            found.push((from, to, "secret-in-base64"));
        }
    }
}

/// Returns the maximal ranges of bytes that belong to a part.
fn parts(
    data: &[u8],
    (start, end): (usize, usize),
    belongs: impl Fn(u8) -> bool + Copy,
) -> impl Iterator<Item = (usize, usize)> {
    let mut at = start;
    data[start..end].chunk_by(move |a, b| belongs(*a) == belongs(*b)).filter_map(move |chunk| {
        let from = at;
        at += chunk.len();
        belongs(chunk[0]).then_some((from, at))
    })
}

/// Returns whether a run is a value of its own: not the end of a password hash or data URL, and no line of a longer text
/// in base64.
fn is_separate(data: &[u8], (start, end): (usize, usize)) -> bool {
    let before = start.checked_sub(1).map(|at| data[at]);
    let line = data[..start].trim_ascii_end();
    let continues =
        before == Some(b'\n') && line.iter().rev().take(SHORTEST).filter(|byte| is_token(**byte)).count() == SHORTEST;
    data.get(end) != Some(&b'=') && !matches!(before, Some(b'$' | b',')) && !continues
}

fn is_twilio(token: &[u8]) -> bool {
    token.len() == TWILIO
        && (token.starts_with(b"SK") || token.starts_with(b"AC"))
        && token[2..].iter().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte))
        && is_hexadecimal_key(&token[2..])
}

fn is_hexadecimal_key(digits: &[u8]) -> bool {
    count(digits, u8::is_ascii_digit) >= 8
        && count(digits, u8::is_ascii_alphabetic) >= 4
        && entropy(digits) >= 2.9
        && !placeholders::is_placeholder(digits)
}

fn is_aws_secret(token: &[u8]) -> bool {
    token.len() == AWS_SECRET
        && !token.ends_with(b"EXAMPLE")
        && !token.ends_with(b"EXAMPLEKEY")
        && count(token, u8::is_ascii_digit) >= 2
        && count(token, u8::is_ascii_uppercase) >= 6
        && count(token, u8::is_ascii_lowercase) >= 6
        && entropy(token) >= 4.2
        && average_cost(token) >= AWS_COST
        && token.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
        && decoded_text(token).is_none()
        && is_random(token, AWS_SECRET, AWS_COST)
}

fn is_discord(data: &[u8], parts: &[(usize, usize)]) -> bool {
    let token = &data[parts[0].0..parts[2].1];
    let lengths = parts.iter().zip(DISCORD).all(|((from, to), lengths)| lengths.contains(&(to - from)));
    let plain = token.iter().all(|byte| !matches!(byte, b'+' | b'/'));
    let adjacent = parts.windows(2).all(|pair| pair[0].1 + 1 == pair[1].0);
    lengths
        && plain
        && adjacent
        && matches!(token[0], b'M' | b'N' | b'O')
        && is_random(token, 50, randomness::RANDOM_COST)
}
