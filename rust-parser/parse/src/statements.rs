//! The statements of a text by line: where an excerpt of it can be cut.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::extract::without_nul_bytes;
use crate::language::Language;
use crate::languages;
use crate::readings::first_reading;
use crate::rewriting::Reading;
use atlas_languages::LanguageFolder;
use atlas_languages::deadline::Deadline;

/// Kinds of nodes that hold statements, or cases with statements, inside a block or instead of one.
const LISTS: [&str; 4] = ["statement_list", "statements", "switch_body", "switch_block"];
/// Largest number of statements that are listed.
const MAX_STATEMENTS: usize = 5000;

/// A statement, a member of a class or a comment: a child of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statement {
    /// 0-based line of its start.
    pub first: u32,
    /// 0-based line of its end.
    pub last: u32,
    /// Number of blocks around it.
    pub depth: u32,
}

/// Finds statements. Unlike the registry it loads a language when a text of it is first read: answers need few of them.
pub struct Statements {
    folders: Vec<String>,
    loaded: Mutex<BTreeMap<String, Option<Arc<Language>>>>,
}

impl Statements {
    /// Uses the languages of these folders; a later folder overrides earlier ones.
    pub fn new(folders: Vec<String>) -> Self {
        Statements { folders, loaded: Mutex::default() }
    }

    /// Returns the statements of a text, which may be a part of a file, in order; those around others come first.
    /// Empty for languages that are not there or have no grammar, and if parsing takes too long. Never fails.
    pub fn of(&self, language: &str, data: &[u8], timeout: Duration) -> Vec<Statement> {
        self.language(language).map(|language| statements_of(&language, data, timeout)).unwrap_or_default()
    }

    fn language(&self, name: &str) -> Option<Arc<Language>> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.entry(name.to_owned()).or_insert_with(|| load(&self.folders, name).map(Arc::new)).clone()
    }
}

/// Loads one language from the last folder that has it; `None` if none has it, or if its files are broken.
fn load(folders: &[String], name: &str) -> Option<Language> {
    let known = |folder: &String| Path::new(folder).join(name).join("language.toml").is_file();
    let number = folders.iter().rposition(known)?;
    let path = Path::new(&folders[number]).join(name);
    Language::load(LanguageFolder::read(&path, &folders[..=number]).ok()?, languages::hooks).ok()
}

fn statements_of(language: &Language, data: &[u8], timeout: Duration) -> Vec<Statement> {
    let Some(grammar) = &language.grammar else {
        return Vec::new();
    };
    let attempt = catch_unwind(AssertUnwindSafe(|| {
        let data = without_nul_bytes(data);
        let reading = first_reading(language, grammar, &data, Deadline::after(timeout));
        reading.map(|reading| children_of_blocks(language, &reading)).unwrap_or_default()
    }));
    attempt.unwrap_or_default()
}

fn children_of_blocks(language: &Language, reading: &Reading) -> Vec<Statement> {
    let mut found = Vec::new();
    let mut cursor = reading.tree.walk();
    // Whether each node on the way from the root is a block.
    let mut open: Vec<bool> = Vec::new();
    loop {
        let node = cursor.node();
        let is_list = LISTS.contains(&node.kind());
        if node.is_named() && !is_list && open.last() == Some(&true) && found.len() < MAX_STATEMENTS {
            let depth = open.iter().filter(|&&is_block| is_block).count() as u32;
            let (first, end) = (node.start_position(), node.end_position());
            // Some grammars count the line end as a part of the statement.
            let last = if end.column == 0 && end.row > first.row { end.row - 1 } else { end.row };
            let (mut first, mut last) = (first.row as u32, last as u32);
            if !reading.places.are_same() {
                let (start, end) = reading.places.span(node.start_byte(), node.end_byte());
                (first, last) = (reading.places.line(start), reading.places.line(end.saturating_sub(1).max(start)));
            }
            found.push(Statement { first, last, depth });
        }
        if cursor.goto_first_child() {
            open.push(is_list || language.rules(node.kind_id()).is_block);
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
            open.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(language: &str, text: &str) -> Vec<(u32, u32, u32)> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../atlas/languages").to_owned();
        let found = Statements::new(vec![folder]).of(language, text.as_bytes(), Duration::from_secs(5));
        found.iter().map(|one| (one.first, one.last, one.depth)).collect()
    }

    #[test]
    fn statements_of_a_method_without_its_class() {
        let python = "def f(self):\n        if a:\n            b(\n                1)\n        return c";
        assert_eq!(lines("python", python), [(0, 4, 1), (1, 3, 2), (2, 3, 3), (4, 4, 2)]);
        let java = "public int f() {\n    if (a) {\n        b();\n    }\n    return c;\n}";
        let go = lines("go", "func f() {\n\tswitch a {\n\tcase 1:\n\t\tb()\n\t\tc()\n\t}\n}");
        assert!(go.contains(&(1, 5, 2)) && go.contains(&(3, 3, 3)) && go.contains(&(4, 4, 3)), "{go:?}");
        let java = lines("java", java);
        assert!(java.contains(&(1, 3, 1)) && java.contains(&(2, 2, 2)) && java.contains(&(4, 4, 1)), "{java:?}");
    }

    #[test]
    fn no_statements_without_a_grammar() {
        assert_eq!(lines("markdown", "# A\n\nb\n"), []);
    }
}
