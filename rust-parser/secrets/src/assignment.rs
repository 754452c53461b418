//! Secrets that are assigned to a name, in any language: `password = "..."`, `"api_key": "..."`, `token := ...`,
//! `setenv("SECRET", "...")`, `<password>...</password>`, `--token ...`.
//!
//! A literal is a secret only if both the words of its name and its own characters say so.

use std::sync::LazyLock;

use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};

use super::rules::{RULES, expression};
use super::{randomness, value_classes};

/// Length limits of names and literals, in bytes.
const NAME: usize = 100;
const LITERAL: usize = 1000;
/// A name up to this length, such as `pwd`, is not judged by its letters.
const SHORT_NAME: usize = 4;
/// Longest text between a name and its literal, in bytes.
const BETWEEN: usize = 160;
/// Bytes around a name in which a published example key (`AKIA...EXAMPLE`) is searched for.
const EXAMPLE_BEFORE: usize = 160;
const EXAMPLE_AFTER: usize = 240;
/// Least number of characters of such a key before the word `EXAMPLE`.
const EXAMPLE_KEY: usize = 8;
static EXAMPLE: LazyLock<memchr::memmem::Finder<'static>> = LazyLock::new(|| memchr::memmem::Finder::new("EXAMPLE"));

/// Keywords that may precede a name whose value is not quoted.
const DECLARING: &[&[u8]] = &[
    b"export",
    b"set",
    b"setx",
    b"env",
    b"arg",
    b"e",
    b"local",
    b"const",
    b"let",
    b"var",
    b"val",
    b"declare",
    b"readonly",
    b"define",
];

/// Least length of an unquoted literal: a shorter one may be an identifier.
const UNQUOTED: usize = 20;
const UNQUOTED_PASSWORD: usize = 8;
/// Least length of a literal under the bare name `key`, which keys of dictionaries and caches have, too.
const KEY_LITERAL: usize = 24;

/// The text between a name and its literal. Group 1 is a comma without an operator; group 2 is the quote, if there is
/// one.
const OPERATOR: &str = r#"(?x)
    (?:
        \\?["'\x60]?[\ \t]*,?[\ \t]*\r?\n?[\ \t]*["']?value["']?[\ \t]*[:=]     # `name: KEY, value: ...`
      | \\?["'\x60]\]?[\ \t]*(,)                                    # `set("key", "..."), ("key", "...")`
      | \\?["'\x60]?\]?\)?
    (?:
        [?!]?[\ \t]*:[\ \t]*[A-Za-z_&][\w.<>\[\]|&'?*\ ]{0,60}=      # a type before `=`: `key: str = `
      | [\ \t]+[A-Za-z_*&\[][\w.*\[\]<>]{0,40}[\ \t]*=               # `var key string = `
      | (?:\[[^\]\n]{0,10}\])?[\ \t]*(?:=>|:=|[!=]={1,2}|\?\?=?|\|\|=?|\+=|=|\(|<-|->|>|::?|\b(?:or|to)\b)
    ))
    [\ \t]*(?:\r?\n[\ \t]*)?\(?[\ \t]*(?:\r?\n[\ \t]*)?
    (?:[A-Za-z_$][\w.$]{0,40}(?:[\[(]["'\w.]{0,40}[\])])?[\ \t]+(?:or|\|\||\?\??|\?:)[\ \t]+)?   # `given or "..."`
    (?:
        (?:new[\ ]String\(|String::from\(|\[\]byte\(|[A-Za-z]{1,6}!?\(|[bBrRuUfFL@$&]{0,3})?
        (\\?(?:"""|'''|["'\x60]))
      |
    )
"#;
static OPERATOR_REGEX: LazyLock<Option<Regex>> = LazyLock::new(|| expression(OPERATOR));

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Password,
    Secret,
    Key,
}

/// A name, and the literal assigned to it if that is a secret.
pub struct Found {
    /// End of the name. Everything before it has been examined.
    pub name_end: usize,
    pub literal: Option<(usize, usize)>,
    /// Number of bytes examined.
    pub work: usize,
}

/// Examines the name around a keyword and the literal that follows it.
pub fn at(data: &[u8], keyword: (usize, usize)) -> Found {
    let (start, end) = declared_name(data, keyword);
    let none = Found { name_end: end, literal: None, work: end - start };
    let Some(kind) = kind_of(&data[start..end]) else { return none };
    let name = &data[start..end];
    let is_name = name.len() <= SHORT_NAME || randomness::consists_of_words(name) || is_plain_key(name);
    if !is_name || is_called_example(data, (start, end)) {
        return none;
    }
    let quote_before = start > 0 && matches!(data[start - 1], b'"' | b'\'' | b'`');
    let is_option = name.starts_with(b"--");
    let Some((from, quote, after_comma)) = literal_after(data, end, is_option) else { return none };
    if after_comma && !quote_before {
        return none;
    }
    let span = match quote {
        0 if after_comma || !has_assignment_spacing(data, end, from) || (!is_option && is_prose(data, start)) => None,
        0 => bare(data, from),
        quote => quoted(data, from, quote).filter(|(_, to)| !is_continued(data, (end, from), *to)),
    };
    let is_secret = if quote == 0 { is_bare_secret } else { is_secret };
    let literal = span
        .filter(|(from, to)| is_secret(&data[*from..*to], kind))
        .or_else(|| padded(data, end, from).filter(|(from, to)| is_bare_secret(&data[*from..*to], kind)));
    let work = end - start + span.map_or(0, |(from, to)| 4 * (to - from));
    Found { name_end: end, literal, work }
}

/// Returns whether a published example key, which ends with `EXAMPLE`, is near a name: documentation that marks one
/// value this way means all of them. The word alone says nothing about a value.
fn is_called_example(data: &[u8], (start, end): (usize, usize)) -> bool {
    let around = &data[start.saturating_sub(EXAMPLE_BEFORE)..data.len().min(end + EXAMPLE_AFTER)];
    EXAMPLE.find_iter(around).any(|at| {
        let before = around[..at].iter().rev().take_while(|byte| is_key_character(**byte));
        let after = &around[at + EXAMPLE.needle().len()..];
        let after = after.strip_prefix(b"KEY").unwrap_or(after);
        before.take(EXAMPLE_KEY).count() == EXAMPLE_KEY && after.first().is_none_or(|byte| !is_key_character(*byte))
    })
}

fn is_key_character(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')
}

/// Returns whether the white space around `=` is that of an assignment: `KEY=value` or `KEY = value`. A blank on only
/// one side indicates prose.
fn has_assignment_spacing(data: &[u8], end: usize, from: usize) -> bool {
    let between = &data[end..from];
    between.last() != Some(&b' ') || between.first() == Some(&b' ') || !between.contains(&b'=')
}

/// Returns whether a word before a name makes it part of a sentence. Declaring keywords and other assignments
/// (`user=app password=...`) do not.
fn is_prose(data: &[u8], start: usize) -> bool {
    let before = &data[start.saturating_sub(NAME)..start];
    let Some(rest) = before.strip_suffix(b" ") else { return false };
    if rest.rsplit(|byte| byte.is_ascii_whitespace()).next().is_some_and(|word| word.contains(&b'=')) {
        return false;
    }
    let word = rest.rsplit(|byte| !byte.is_ascii_alphabetic()).next().unwrap_or_default();
    !word.is_empty() && !DECLARING.iter().any(|each| word.eq_ignore_ascii_case(each))
}

fn is_secret(literal: &[u8], kind: Kind) -> bool {
    let plain = !literal.iter().any(|byte| byte.is_ascii_whitespace() || *byte >= 128);
    match kind {
        Kind::Key => plain && is_generated_key(literal),
        Kind::Password => {
            plain
                && (value_classes::is_secret_literal(literal)
                    || value_classes::is_password(literal)
                    || value_classes::is_chosen(literal))
        }
        Kind::Secret => plain && value_classes::is_secret_literal(literal),
    }
}

/// Returns whether a literal is a key that a program made: random, of letters in both cases and digits. Digests, which
/// keys of caches are, have one case.
fn is_generated_key(literal: &[u8]) -> bool {
    literal.len() >= KEY_LITERAL
        && literal.iter().all(|byte| is_key_character(*byte) || matches!(byte, b'_' | b'-' | b'='))
        && literal.iter().any(u8::is_ascii_lowercase)
        && literal.iter().any(u8::is_ascii_uppercase)
        && literal.iter().filter(|byte| byte.is_ascii_digit()).count() >= 2
        && value_classes::is_secret_literal(literal)
}

fn is_bare_secret(literal: &[u8], kind: Kind) -> bool {
    if kind == Kind::Key {
        return is_generated_key(literal);
    }
    let digits = literal.iter().filter(|byte| byte.is_ascii_digit()).count();
    let is_random = digits >= 2 && literal.len() >= UNQUOTED && value_classes::is_secret_literal(literal);
    is_random
        || value_classes::is_encoded_password(literal)
        || kind == Kind::Password
            && digits >= 1
            && literal.len() >= UNQUOTED_PASSWORD
            && value_classes::is_password(literal)
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

fn declared_name(data: &[u8], (start, end): (usize, usize)) -> (usize, usize) {
    let before = data[start.saturating_sub(NAME)..start].iter().rev().take_while(|byte| is_name(**byte)).count();
    let after = data[end..data.len().min(end + NAME)].iter().take_while(|byte| is_name(**byte)).count();
    (start - before, end + after)
}

/// Returns the kind of secret that a name holds, judged by its last words.
fn kind_of(name: &[u8]) -> Option<Kind> {
    let words = words_of(name);
    let names = &RULES.names;
    let has = |listed: &[String], word: &str| listed.iter().any(|each| each == word);
    let last = words.iter().rev().find(|word| !word.bytes().all(|byte| byte.is_ascii_digit()))?;
    if has(&names.about, last) || words.iter().any(|word| has(&names.public, word)) {
        return None;
    }
    let joined = words.concat();
    if names.password.iter().any(|part| joined.contains(part.as_str()))
        || words.iter().any(|word| matches!(word.as_str(), "pass" | "pw"))
    {
        return Some(Kind::Password);
    }
    let key = words.windows(2).any(|pair| pair[1] == "key" && has(&names.key_of, &pair[0]));
    let held = names.secret.iter().any(|part| joined.contains(part.as_str()));
    if key || held || words.iter().any(|word| has(&names.words, word)) {
        return Some(Kind::Secret);
    }
    (last == "key").then_some(Kind::Key)
}

/// Returns whether a name is that of a key in words that are too short to be judged by their letters: `apiKey`, `xAppKey`.
fn is_plain_key(name: &[u8]) -> bool {
    let words = words_of(name);
    let is_pair = |pair: &[String]| pair[1] == "key" && RULES.names.key_of.contains(&pair[0]);
    words.len() <= 4 && !name.iter().any(u8::is_ascii_digit) && words.windows(2).any(is_pair)
}

/// Returns the words of a name in lower case: `AWS_SECRET`, `awsSecret` and `aws-secret` all give `aws secret`.
fn words_of(name: &[u8]) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = b'_';
    for (at, &byte) in name.iter().enumerate() {
        let next_lower = name.get(at + 1).is_some_and(u8::is_ascii_lowercase);
        let starts = !before.is_ascii_alphanumeric()
            || (byte.is_ascii_uppercase() && (before.is_ascii_lowercase() || before.is_ascii_digit() || next_lower))
            || byte.is_ascii_digit() != before.is_ascii_digit();
        if byte.is_ascii_alphanumeric() {
            if starts {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.push(char::from(byte.to_ascii_lowercase()));
            }
        }
        before = byte;
    }
    words
}

/// Returns the start of the literal after a name, its quote (0 if none), and whether only a comma separates the two.
fn literal_after(data: &[u8], end: usize, option: bool) -> Option<(usize, u8, bool)> {
    if option && data.get(end) == Some(&b' ') {
        let from = end + 1;
        return match data.get(from)? {
            quote @ (b'"' | b'\'') => Some((from + 1, *quote, false)),
            _ => Some((from, 0, false)),
        };
    }
    let regex = OPERATOR_REGEX.as_ref()?;
    let mut captures = regex.create_captures();
    let input = Input::new(data).range(end..data.len().min(end + BETWEEN)).anchored(Anchored::Yes);
    regex.captures(input, &mut captures);
    let from = captures.get_match()?.end();
    let quote = captures.get_group(2).map_or(0, |quote| data[quote.end - 1]);
    Some((from, quote, captures.get_group(1).is_some()))
}

/// Returns the range of a quoted literal on one line.
fn quoted(data: &[u8], from: usize, quote: u8) -> Option<(usize, usize)> {
    let rest = &data[from..data.len().min(from + LITERAL)];
    let length = rest.iter().position(|byte| *byte == quote || *byte == b'\n')?;
    let length = if rest[..length].ends_with(b"\\") { length - 1 } else { length };
    (rest[length] == quote || rest[length] == b'\\').then_some((from, from + length))
}

/// Returns the range of an unquoted value in base64 behind a colon: what looks like a type before `=` is the value before
/// its padding.
fn padded(data: &[u8], end: usize, from: usize) -> Option<(usize, usize)> {
    let colon = end + data[end..from].iter().position(|byte| *byte == b':')?;
    let blanks = data[colon + 1..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    bare(data, colon + 1 + blanks).filter(|(_, to)| data[*to - 1] == b'=')
}

/// Returns whether a literal stands on its own line and is followed by others: it is then part of a longer text.
fn is_continued(data: &[u8], (end, from): (usize, usize), to: usize) -> bool {
    let after = data[to..].iter().skip(1).take(200).find(|byte| !byte.is_ascii_whitespace());
    data[end..from].contains(&b'\n') && after.is_some_and(|byte| matches!(byte, b'"' | b'\''))
}

/// Returns the range of an unquoted value, up to a blank, a separator or a tag.
fn bare(data: &[u8], from: usize) -> Option<(usize, usize)> {
    let rest = &data[from..data.len().min(from + LITERAL)];
    let belongs = |byte: &u8| byte.is_ascii_graphic() && !b"\"'`;,&<>(){}[]|\\".contains(byte);
    let length = rest.iter().position(|byte| !belongs(byte)).unwrap_or(rest.len());
    let ends = rest.get(length).is_none_or(|byte| byte.is_ascii_whitespace() || b"\"'`;,&<}\\".contains(byte));
    // A dotted path of identifiers is code.
    let is_code = rest[..length].contains(&b'.')
        && rest[..length].iter().filter(|byte| byte.is_ascii_digit()).count() * 8 < length;
    (ends && length > 0 && !is_code).then_some((from, from + length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_judged_by_their_words() {
        for name in [
            "password",
            "dbPassword",
            "AWS_SECRET_ACCESS_KEY",
            "apiKey",
            "x-api-key",
            "client_secret",
            "PGPASSWORD",
            "slack.bot.token",
            "privateKey",
            "smtp_pass",
            "SECRET_KEY_BASE",
            "TOKEN2",
        ] {
            assert!(kind_of(name.as_bytes()).is_some(), "{name}");
        }
        for name in [
            "password_hash",
            "token_type",
            "tokenUrl",
            "keyboard",
            "public_key",
            "csrf_token",
            "secret_name",
            "next_page_token",
            "passwordField",
            "api_key_id",
            "monkey",
            "compass",
        ] {
            assert!(kind_of(name.as_bytes()).is_none(), "{name} {:?}", words_of(name.as_bytes()));
        }
    }
}
