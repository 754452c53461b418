//! What the supporting functions of one file of tests call, as the project keeps and publishes it, and its fixtures.

use rustc_hash::FxHashMap;

use crate::project::dependencies::{Contributions, DependencyKind, digest_of, key};
use crate::project::file_entry::FileEntry;
use crate::project::names::{FileId, Sym, SymbolId};
use atlas_facts::{DefId, Expr, ExprId, flags};

/// The supporting functions of one file of tests.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FileSupport {
    pub(crate) functions: FxHashMap<SymbolId, Support>,
}

/// What one function calls.
#[derive(Debug, Default, Clone, PartialEq, Eq, Hash)]
pub struct Support {
    /// Outside of tests.
    pub code: Vec<SymbolId>,
    /// Other supporting functions.
    pub helpers: Vec<SymbolId>,
}

/// A function that provides an argument for tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fixture {
    pub name: Sym,
    pub symbol: SymbolId,
    /// The class or module around it.
    pub scope: SymbolId,
    pub is_automatic: bool,
}

impl FileSupport {
    pub fn contributions(&self) -> Contributions {
        self.functions.iter().map(|(&symbol, support)| (support_key(symbol), digest_of(support))).collect()
    }
}

pub(super) fn support_key(symbol: SymbolId) -> u32 {
    key(DependencyKind::Support, symbol, 0)
}

pub fn fixtures_key(file: FileId) -> u32 {
    key(DependencyKind::Support, file, 1)
}

/// Returns whether a file holds code of tests.
pub fn has_tests(file: &FileEntry) -> bool {
    let is_tested = || file.outlines.iter().any(|definition| definition.flags & flags::TEST != 0);
    !file.is_document() && (file.is_test || is_tested())
}

impl FileEntry {
    /// Returns the fixtures that this file defines.
    pub(super) fn own_fixtures(&self) -> Vec<Fixture> {
        if !has_tests(self) {
            return Vec::new();
        }
        let facts = self.facts();
        let mut found = Vec::new();
        for (def, definition) in facts.definitions.iter().enumerate() {
            let decorators = definition.decorators.iter().copied();
            let Some(is_automatic) = decorators.filter_map(|decorator| self.fixture_mark(decorator)).last() else {
                continue;
            };
            let fixture = Fixture {
                name: self.outline(def as DefId).name,
                symbol: self.symbols[def],
                scope: self.symbols[definition.parent as usize],
                is_automatic,
            };
            found.push(fixture);
        }
        found
    }

    /// Returns, of a decorator that makes a fixture, whether every test uses it.
    fn fixture_mark(&self, decorator: ExprId) -> Option<bool> {
        let (callee, is_automatic) = match *self.expr(decorator) {
            Expr::Call { callee, ref args, .. } => {
                (callee, args.iter().any(|arg| arg.keyword.is_some_and(|word| self.text(word) == "autouse")))
            }
            _ => (decorator, false),
        };
        let name = match *self.expr(callee) {
            Expr::Name(name) | Expr::Attribute { name, .. } => self.text(name),
            _ => return None,
        };
        matches!(name, "fixture" | "yield_fixture").then_some(is_automatic)
    }
}
