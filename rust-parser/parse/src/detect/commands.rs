//! Names of events that definitions give: commands of functions and of the variants of an enumeration, and the type of a
//! parameter.

use crate::walk::state::Walk;
use atlas_facts::{DefId, Expr, Kind};

/// The slot that stands for the variants of the annotated enumeration, each a command.
pub const VARIANTS: &str = "$variants";

/// Largest number of variants that are read.
const MAX_VARIANTS: usize = 64;

/// Attributes of variants that are no commands of their own.
const NO_COMMAND: [&str; 3] = ["flatten", "skip", "external_subcommand"];

impl Walk<'_> {
    /// Returns the variants of an enumeration with the names of their commands: `#[command(name = "x")]`, else the
    /// variant's own name.
    pub(super) fn command_variants(&self, definition: DefId) -> Vec<(DefId, String)> {
        if self.kind_of(definition) != Kind::Enum {
            return Vec::new();
        }
        let definitions = self.builder.facts.definitions.iter().enumerate();
        let variants = definitions.filter(|(_, one)| one.parent == definition && one.kind == Kind::Field);
        let named = variants.filter_map(|(def, one)| {
            let name = self.builder.text(one.name);
            let text = String::from_utf8_lossy(&self.source[one.start_byte as usize..one.end_byte as usize]);
            let attributes: Vec<&str> = attributes(head(&text)).collect();
            if attributes.iter().any(|one| NO_COMMAND.iter().any(|word| has_word(one, word))) {
                return None;
            }
            let given = attributes.iter().find_map(|one| named_text(one));
            Some((def as DefId, given.unwrap_or_else(|| kebab(name))))
        });
        named.take(MAX_VARIANTS).collect()
    }

    /// Returns the name of the type of a function's first parameter.
    pub(super) fn parameter_type(&self, definition: DefId) -> Option<String> {
        let parameters = &self.builder.facts.definitions[definition as usize].params;
        let mut annotation = parameters.first()?.annotation?;
        loop {
            match *self.builder.get(annotation) {
                Expr::Generic { base, .. } => annotation = base,
                Expr::Name(name) | Expr::Attribute { name, .. } => return Some(self.builder.text(name).to_owned()),
                _ => return None,
            }
        }
    }
}

/// Returns what stands before the name of a variant: comments and attributes.
fn head(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let end = if rest.starts_with("//") {
            rest.find('\n')
        } else if rest.starts_with("#[") {
            closing(rest)
        } else {
            None
        };
        match end {
            Some(end) => rest = rest[end + 1..].trim_start(),
            None => return &text[..text.len() - rest.len()],
        }
    }
}

/// Returns the position of the bracket that closes an attribute.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    text.char_indices().find_map(|(at, sign)| {
        match sign {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        (sign == ']' && depth == 0).then_some(at)
    })
}

/// Returns the insides of the attributes of a parser before a variant: `command(name = "x")`, `clap(flatten)`.
fn attributes(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.split("#[").skip(1).map(|rest| rest.split(']').next().unwrap_or_default());
    lines.filter(|inside| ["command", "clap", "structopt"].iter().any(|name| inside.starts_with(name)))
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_')).any(|part| part == word)
}

/// Returns the text of `name = "x"` among the arguments of an attribute.
fn named_text(text: &str) -> Option<String> {
    let (_, arguments) = text.split_once('(')?;
    let named = arguments.trim_end_matches(')').split(',').find_map(|part| {
        let (key, value) = part.split_once('=')?;
        (key.trim() == "name").then(|| value.trim().trim_matches('"').to_owned())
    });
    named.filter(|name| !name.is_empty())
}

/// Writes `KeepAlive` and `keep_alive` as `keep-alive`.
pub fn kebab(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut out = String::with_capacity(name.len() + 4);
    for (at, &letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| letters[at]);
        let is_end = letters.get(at + 1).is_some_and(|next| next.is_lowercase());
        let is_break = letter.is_uppercase()
            && before
                .is_some_and(|before| before.is_lowercase() || before.is_numeric() || before.is_uppercase() && is_end);
        if is_break {
            out.push('-');
        }
        match letter {
            '_' => out.push('-'),
            letter => out.extend(letter.to_lowercase()),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{attributes, head, kebab, named_text};

    #[test]
    fn names_become_those_of_commands() {
        for (name, expected) in [
            ("KeepAlive", "keep-alive"),
            ("init_db", "init-db"),
            ("HTTPServer", "http-server"),
            ("Db2Sync", "db2-sync"),
        ] {
            assert_eq!(kebab(name), expected);
        }
    }

    #[test]
    fn attributes_name_commands() {
        let text = "/// Text.\n#[serde(rename = \"no\")]\n#[command(about, name = \"ls\")]\nList(Args)";
        let found: Vec<_> = attributes(text).map(named_text).collect();
        assert_eq!(found, [Some("ls".to_owned())]);
        let text = "/// A [link].\n#[clap(alias = \"db\")]\nDatabase {\n  #[clap(flatten)]\n  options: Options }";
        assert_eq!(attributes(head(text)).collect::<Vec<_>>(), ["clap(alias = \"db\")"]);
    }
}
