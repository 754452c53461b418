//! Names that macros of the file make by pasting: after `#define HANDLER(name) static void handle_##name(int x)`,
//! `HANDLER(open) { ... }` defines `handle_open`, and a macro with `handle_##name(1)` in its text calls it.

use crate::flat_tree::NodeId;
use crate::walk::state::Walk;
use atlas_facts::{Arg, Expr, LiteralType, ReferenceKind};

/// Largest number of names that one macro makes.
const MAX_NAMES: usize = 8;
/// Longest text of a macro that is examined.
const MAX_TEXT: usize = 2000;

/// A part of a name: letters, or the argument at a position.
#[derive(Debug, Clone)]
enum Part {
    Letters(String),
    Argument(usize),
}

/// A name that a macro makes, before an opening bracket.
#[derive(Debug, Clone)]
struct Pasted {
    parts: Vec<Part>,
    /// The number of arguments between the brackets behind it.
    given: usize,
}

/// What a macro of the file makes of its arguments.
#[derive(Debug, Clone, Default)]
struct Macro {
    /// The function whose head the macro is: nothing follows its parameters.
    head: Option<Pasted>,
    calls: Vec<Pasted>,
}

/// Notes the macros of the file that paste, with their parameters. One that is defined twice makes no known name.
pub fn note(walk: &mut Walk) {
    if !walk.source.windows(2).any(|pair| pair == b"##") {
        return;
    }
    for node in 0..walk.tree.len() {
        if walk.kind_name(node) != "preproc_function_def" {
            continue;
        }
        let (Some(name), Some(list)) = (walk.child(node, "name"), walk.child(node, "parameters")) else { continue };
        let Some(text) = walk.child(node, "value").map(|value| walk.text_of(value).into_owned()) else { continue };
        let parameters: Vec<_> = walk.contents(list).map(|part| walk.text_of(part).into_owned()).collect();
        let name = walk.text_of(name).into_owned();
        let is_known = walk.noted_texts.contains_key(&name);
        let text = if is_known || text.len() > MAX_TEXT { String::new() } else { text };
        walk.noted_texts.insert(name, format!("{}\n{text}", parameters.join(",")));
    }
}

/// Returns what a macro of the file makes, if it pastes.
fn of(walk: &Walk, used: &str) -> Option<Macro> {
    let (parameters, text) = walk.noted_texts.get(used)?.split_once('\n')?;
    let parameters: Vec<&str> = parameters.split(',').collect();
    text.contains("##").then(|| read(text, &parameters))
}

/// Returns the name of the function whose head a macro makes of its arguments.
pub fn head(walk: &Walk, used: &str, words: &[String]) -> Option<String> {
    of(walk, used)?.head?.name(words)
}

impl Pasted {
    fn name(&self, words: &[String]) -> Option<String> {
        let mut name = String::new();
        for part in &self.parts {
            name += match part {
                Part::Letters(letters) => letters,
                Part::Argument(at) => words.get(*at)?,
            };
        }
        let is_name = name.bytes().all(is_letter) && !name.starts_with(|letter: char| letter.is_ascii_digit());
        (is_name && !name.is_empty()).then_some(name)
    }
}

/// Records the calls of functions whose names a used macro makes.
pub fn refer(walk: &mut Walk, call: NodeId) {
    let Some(used) = walk.child(call, "function").filter(|&used| walk.kind_name(used) == "identifier") else { return };
    let Some(calls) = of(walk, &walk.text_of(used)).map(|found| found.calls) else { return };
    let Some(list) = walk.child(call, "arguments").filter(|_| !calls.is_empty()) else { return };
    let words: Vec<String> = walk.contents(list).map(|part| walk.text_of(part).into_owned()).collect();
    let line = walk.tree.line(call);
    for pasted in calls {
        let Some(name) = pasted.name(&words) else { continue };
        let callee = walk.builder.dotted(&name);
        let value = walk.builder.literal(LiteralType::Int);
        let args = vec![Arg { keyword: None, value }; pasted.given];
        let expr = walk.builder.expr(Expr::Call { callee, args, new: false });
        walk.refer(ReferenceKind::Call, expr, line);
    }
}

/// Reads the text of a macro.
fn read(text: &str, parameters: &[&str]) -> Macro {
    let mut made = Macro::default();
    let mut at = 0;
    while at < text.len() && made.calls.len() < MAX_NAMES {
        let Some((parts, end)) = pasted(&text[at..], parameters) else {
            at += word_length(&text[at..]).max(text[at..].chars().next().map_or(1, char::len_utf8));
            continue;
        };
        let before = &text[..at];
        at += end;
        let rest = text[at..].trim_start();
        let Some((given, after)) = brackets(rest) else { continue };
        let after = after.trim_matches(|letter: char| letter.is_whitespace() || letter == '\\');
        let is_head =
            after.is_empty() && !before.contains(['{', ';', '(', '=']) && before.contains(char::is_whitespace);
        let one = Pasted { parts, given };
        if is_head && !before.trim().is_empty() && !before.contains("return") {
            made.head = Some(one);
        } else if !after.starts_with('{') {
            made.calls.push(one);
        }
    }
    made
}

/// Returns the parts of a pasted name at the beginning of a text, and its length.
fn pasted(text: &str, parameters: &[&str]) -> Option<(Vec<Part>, usize)> {
    let mut parts = Vec::new();
    let mut at = 0;
    loop {
        let length = word_length(&text[at..]);
        let word = &text[at..at + length];
        if word.is_empty() {
            return None;
        }
        parts.push(match parameters.iter().position(|&parameter| parameter == word) {
            Some(position) => Part::Argument(position),
            None => Part::Letters(word.to_owned()),
        });
        at += length;
        let rest = text[at..].trim_start_matches([' ', '\t']);
        let Some(next) = rest.strip_prefix("##") else { break };
        at = text.len() - next.trim_start_matches([' ', '\t']).len();
    }
    (parts.len() > 1 && parts.iter().any(|part| matches!(part, Part::Argument(_)))).then_some((parts, at))
}

/// Returns the number of arguments in the brackets at the beginning of a text, and what follows them.
fn brackets(text: &str) -> Option<(usize, &str)> {
    let inside = text.strip_prefix('(')?;
    let (mut depth, mut commas) = (1, 0);
    for (at, letter) in inside.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 1 => commas += 1,
            _ => {}
        }
        if depth == 0 {
            let given = if inside[..at].trim().is_empty() { 0 } else { commas + 1 };
            return Some((given, &inside[at + 1..]));
        }
    }
    None
}

fn word_length(text: &str) -> usize {
    text.bytes().take_while(|&byte| is_letter(byte)).count()
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
