//! The statements of a text by line: where an excerpt of it can be cut.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustc_hash::FxHashMap;

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
/// Memory of the statements that are remembered: those of all files of Django are 3 MB.
const MAX_BYTES: usize = 16 << 20;

/// The 0-based first and last lines of a statement, a member of a class or a comment: a child of a block.
pub type Span = (u32, u32);

/// Finds statements. Unlike the registry it loads a language when a text of it is first read: answers need few of them.
pub struct Statements {
    folders: Vec<String>,
    loaded: Mutex<BTreeMap<String, Option<Arc<Blocks>>>>,
    remembered: Mutex<Remembered>,
}

/// A language, and which kinds of its nodes hold statements: blocks, and lists inside of blocks.
struct Blocks {
    language: Arc<Language>,
    blocks: Vec<bool>,
    lists: Vec<bool>,
}

impl Statements {
    /// Uses the languages of these folders; a later folder overrides earlier ones.
    pub fn new(folders: Vec<String>) -> Self {
        Statements { folders, loaded: Mutex::default(), remembered: Mutex::default() }
    }

    /// Returns the statements of a text, which may be a part of a file, in order; those around others come first.
    /// Empty for languages that are not there or have no grammar, and if parsing takes too long. Never fails.
    pub fn of(&self, language: &str, data: &[u8], timeout: Duration) -> Arc<[Span]> {
        let Some(blocks) = self.blocks(language) else { return Arc::default() };
        let key = key_of(language, data);
        let remembered = || self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = remembered().get(&key) {
            return known;
        }
        let found: Arc<[Span]> = statements_of(&blocks, data, timeout).into();
        if !found.is_empty() {
            remembered().put(key, found.clone());
        }
        found
    }

    fn blocks(&self, name: &str) -> Option<Arc<Blocks>> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        loaded
            .entry(name.to_owned())
            .or_insert_with(|| load(&self.folders, name).and_then(Blocks::of).map(Arc::new))
            .clone()
    }
}

impl Blocks {
    /// `None` for a language without a grammar.
    fn of(language: Arc<Language>) -> Option<Self> {
        let grammar = language.grammar.as_ref()?;
        let kinds = 0..grammar.node_kind_count() as u16;
        let is_list = |kind| grammar.node_kind_for_id(kind).is_some_and(|name| LISTS.contains(&name));
        let lists: Vec<bool> = kinds.clone().map(is_list).collect();
        let blocks = kinds.map(|kind| lists[usize::from(kind)] || language.rules(kind).is_block).collect();
        Some(Blocks { language, blocks, lists })
    }
}

/// The statements of texts that were read lately: half of the memory has the newest ones, the other half those before.
#[derive(Default)]
struct Remembered {
    new: FxHashMap<[u8; 32], Arc<[Span]>>,
    old: FxHashMap<[u8; 32], Arc<[Span]>>,
    bytes: usize,
}

impl Remembered {
    fn get(&mut self, key: &[u8; 32]) -> Option<Arc<[Span]>> {
        if let Some(known) = self.new.get(key) {
            return Some(known.clone());
        }
        let known = self.old.remove(key)?;
        self.put(*key, known.clone());
        Some(known)
    }

    fn put(&mut self, key: [u8; 32], found: Arc<[Span]>) {
        let bytes = size_of_val(&*found) + 2 * size_of_val(&key);
        if self.bytes + bytes > MAX_BYTES / 2 {
            self.old = std::mem::take(&mut self.new);
            self.bytes = 0;
        }
        self.bytes += bytes;
        self.new.insert(key, found);
    }
}

fn key_of(language: &str, data: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(language.as_bytes()).update(b"\0").update(data);
    *hasher.finalize().as_bytes()
}

/// Loads one language from the last folder that has it; `None` if none has it, or if its files are broken.
fn load(folders: &[String], name: &str) -> Option<Arc<Language>> {
    let known = |folder: &String| Path::new(folder).join(name).join("language.toml").is_file();
    let number = folders.iter().rposition(known)?;
    let path = Path::new(&folders[number]).join(name);
    Language::load(LanguageFolder::read(&path, &folders[..=number]).ok()?, languages::hooks).ok()
}

fn statements_of(blocks: &Blocks, data: &[u8], timeout: Duration) -> Vec<Span> {
    let Some(grammar) = &blocks.language.grammar else {
        return Vec::new();
    };
    let attempt = catch_unwind(AssertUnwindSafe(|| {
        let data = without_nul_bytes(data);
        let reading = first_reading(&blocks.language, grammar, &data, Deadline::after(timeout));
        reading.map(|reading| children_of_blocks(blocks, &reading)).unwrap_or_default()
    }));
    attempt.unwrap_or_default()
}

fn children_of_blocks(blocks: &Blocks, reading: &Reading) -> Vec<Span> {
    let is = |kinds: &[bool], kind: u16| kinds.get(usize::from(kind)).copied().unwrap_or(false);
    let mut found = Vec::new();
    let mut cursor = reading.tree.walk();
    // Whether each node on the way from the root is a block.
    let mut open: Vec<bool> = Vec::new();
    loop {
        let node = cursor.node();
        let kind = node.kind_id();
        if open.last() == Some(&true) && node.is_named() && !is(&blocks.lists, kind) && found.len() < MAX_STATEMENTS {
            let (first, end) = (node.start_position(), node.end_position());
            // Some grammars count the line end as a part of the statement.
            let last = if end.column == 0 && end.row > first.row { end.row - 1 } else { end.row };
            let (mut first, mut last) = (first.row as u32, last as u32);
            if !reading.places.are_same() {
                let (start, end) = reading.places.span(node.start_byte(), node.end_byte());
                (first, last) = (reading.places.line(start), reading.places.line(end.saturating_sub(1).max(start)));
            }
            found.push((first, last));
        }
        if cursor.goto_first_child() {
            open.push(is(&blocks.blocks, kind));
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

    fn statements() -> Statements {
        Statements::new(vec![concat!(env!("CARGO_MANIFEST_DIR"), "/../../atlas/languages").to_owned()])
    }

    fn lines(language: &str, text: &str) -> Vec<Span> {
        statements().of(language, text.as_bytes(), Duration::from_secs(5)).to_vec()
    }

    #[test]
    fn statements_of_a_method_without_its_class() {
        let python = "def f(self):\n        if a:\n            b(\n                1)\n        return c";
        assert_eq!(lines("python", python), [(0, 4), (1, 3), (2, 3), (4, 4)]);
        let java = "public int f() {\n    if (a) {\n        b();\n    }\n    return c;\n}";
        let go = lines("go", "func f() {\n\tswitch a {\n\tcase 1:\n\t\tb()\n\t\tc()\n\t}\n}");
        assert!(go.contains(&(1, 5)) && go.contains(&(3, 3)) && go.contains(&(4, 4)), "{go:?}");
        let java = lines("java", java);
        assert!(java.contains(&(1, 3)) && java.contains(&(2, 2)) && java.contains(&(4, 4)), "{java:?}");
    }

    #[test]
    fn no_statements_without_a_grammar() {
        assert_eq!(lines("markdown", "# A\n\nb\n"), []);
        assert_eq!(lines("klingon", "a"), []);
    }

    #[test]
    fn statements_are_remembered_by_language_and_text() {
        let finder = statements();
        let of = |language, text: &str| finder.of(language, text.as_bytes(), Duration::from_secs(5));
        let first = of("python", "a = 1\nb = 2\n");
        assert!(Arc::ptr_eq(&first, &of("python", "a = 1\nb = 2\n")));
        assert_eq!((of("python", "a = 1\n").len(), of("lua", "a = 1\nb = 2\n").len()), (1, 2));
        let mut remembered = Remembered::default();
        let many: Arc<[Span]> = vec![(0, 0); 4096].into();
        for number in 0..2000u32 {
            let key = |number: u32| *blake3::hash(&number.to_le_bytes()).as_bytes();
            remembered.put(key(number), many.clone());
            assert!(remembered.get(&key(0)).is_some(), "what is used stays");
        }
        assert!((remembered.new.len() + remembered.old.len()) * size_of_val(&*many) <= MAX_BYTES);
    }
}
