//! References of documents: resolves names in code spans, and paths, to symbols and files.

use crate::edge::{EdgeType, Target};
use crate::emit::collector::EdgeCollector;
use crate::project::file_entry::is_callable;
use crate::project::names::{FILE_NODE, FileId, SymbolId};
use crate::project::paths::{folder_of, normalised};
use crate::strategy::Strategy;
use atlas_facts::{DefId, Expr, Kind, Reference, ReferenceKind, ScopeRule};

/// Length of the shortest plain name that is searched for.
const MIN_PLAIN_NAME: usize = 4;
/// Length of the shortest name of a method that is called on a variable.
const MIN_TELLING_NAME: usize = 6;
/// Largest number of definitions of one name that are compared.
const MAX_NAMED: usize = 400;

/// Adds the edges of all references of a document.
pub fn add_references(collector: &mut EdgeCollector) {
    let facts = collector.query.file.facts().clone();
    let is_decision = facts.definitions.first().is_some_and(|top| top.kind == Kind::Adr);
    let kind = if is_decision { EdgeType::Affects } else { EdgeType::Documents };
    for reference in &facts.references {
        let Expr::Name(name) = *collector.query.file.expr(reference.expr) else { continue };
        let text = collector.query.file.text(name);
        // A decision affects what any of its sections names.
        let source = collector.source(if is_decision { 0 } else { reference.scope });
        let is_found = match reference.kind {
            ReferenceKind::DocPath => collector.add_path(text, kind, source, reference.line),
            ReferenceKind::DocName => collector.add_name(text, kind, source, reference),
            _ => continue,
        };
        if is_found {
            collector.resolved += 1;
        } else {
            collector.unresolved += 1;
        }
    }
}

impl EdgeCollector<'_, '_> {
    fn add_path(&mut self, written: &str, kind: EdgeType, source: DefId, line: u32) -> bool {
        let path = written.split(['#', '?']).next().unwrap_or(written);
        if path.is_empty() || path.contains("://") {
            return false;
        }
        let Some(file) = self.file_meant(path) else { return false };
        let target = self.file_target(file);
        if target != Target::Symbol(self.query.module_symbol(self.query.home)) {
            self.add(source, kind, target, line, Strategy::DocPath);
            self.add_affected_module(file, kind, source, line);
        }
        true
    }

    /// Adds that a decision affects the module of a file, which contains what is defined there.
    fn add_affected_module(&mut self, file: FileId, kind: EdgeType, source: DefId, line: u32) {
        let entry = self.query.index.file(file);
        if kind == EdgeType::Affects && !entry.is_prose() && entry.scope_rule == ScopeRule::File {
            self.add(source, kind, Target::Symbol(self.query.module_symbol(file)), line, Strategy::DocPath);
        }
    }

    /// Resolves a path relative to the document, then to the project, then as the suffix of a single path.
    fn file_meant(&self, path: &str) -> Option<FileId> {
        let query = self.query;
        let folder = folder_of(&query.file.path);
        let relative = normalised(folder, path).and_then(|path| query.file_at(&path));
        let found = relative.or_else(|| normalised("", path).and_then(|path| query.file_at(&path)));
        found.or_else(|| {
            let suffix = path.trim_start_matches(['.', '/']);
            match query.files_ending_in(suffix)[..] {
                [only] if suffix.contains('/') => Some(only),
                _ => None,
            }
        })
    }

    /// Returns the node that represents a whole file.
    fn file_target(&self, file: FileId) -> Target {
        let entry = self.query.index.file(file);
        Target::Symbol(if entry.is_document() { self.query.module_symbol(file) } else { entry.file_symbol })
    }

    fn add_name(&mut self, written: &str, kind: EdgeType, source: DefId, reference: &Reference) -> bool {
        let written = written.trim_end_matches("()");
        let looks_like_path = written.contains('/') && !written.contains(' ');
        if looks_like_path && self.add_path(written, kind, source, reference.line) {
            return true;
        }
        let dotted = written.replace("::", ".").replace(['#', '\\'], ".").replace("->", ".");
        let dotted = dotted.trim_matches('.');
        let Some((symbol, via)) = self.symbol_meant(dotted) else {
            let is_file_name = written.contains('.') && !written.contains(' ');
            return is_file_name && self.add_only_file(written, kind, source, reference.line);
        };
        if let Some(target) = self.target(symbol) {
            self.add(source, kind, target, reference.line, via);
        }
        true
    }

    fn add_only_file(&mut self, name: &str, kind: EdgeType, source: DefId, line: u32) -> bool {
        let [only] = self.query.files_ending_in(name)[..] else { return false };
        let target = self.file_target(only);
        self.add(source, kind, target, line, Strategy::DocPath);
        self.add_affected_module(only, kind, source, line);
        true
    }

    /// Returns the only symbol that a dotted name means: its qualified name ends in it, or is below the first part of it
    /// and ends in the rest (a name that a package exports), or is a method with the telling name that a text calls on a
    /// variable. Definitions in programs take precedence over those in tests.
    fn symbol_meant(&self, dotted: &str) -> Option<(SymbolId, Strategy)> {
        let (parents, last) = dotted.rsplit_once('.').unwrap_or(("", dotted));
        let is_plain = parents.is_empty();
        if last.is_empty() || (is_plain && last.len() < MIN_PLAIN_NAME) {
            return None;
        }
        let name = self.query.index.strings.intern(last);
        let named = self.query.named(name);
        if named.len() > MAX_NAMED {
            return None;
        }
        if is_plain {
            let found = self.only(named, |_, kind| kind != Kind::Field);
            return found.map(|symbol| (symbol, Strategy::DocUniqueName));
        }
        let suffix = format!(".{dotted}");
        let exact = self.only(named, |qualified, _| qualified == dotted || qualified.ends_with(&suffix));
        let exported = || {
            let splits = dotted.match_indices('.').rev().map(|(at, _)| (&dotted[..=at], &dotted[at..]));
            splits.into_iter().find_map(|(package, rest)| {
                self.only(named, |qualified, _| qualified.starts_with(package) && qualified.ends_with(rest))
            })
        };
        if let Some(symbol) = exact.or_else(exported) {
            return Some((symbol, Strategy::DocName));
        }
        let on_variable = is_variable(parents) && is_telling(last);
        let method = on_variable.then(|| self.only(named, |_, kind| is_callable(kind)))?;
        method.map(|symbol| (symbol, Strategy::DocUniqueName))
    }

    /// Returns the only one of several symbols whose qualified name and kind fit.
    fn only(&self, named: &[SymbolId], fits: impl Fn(&str, Kind) -> bool) -> Option<SymbolId> {
        let query = self.query;
        let mut found: Vec<(bool, SymbolId)> = Vec::new();
        for &symbol in named {
            let place = query.index.symbols.get(symbol);
            if place.def == FILE_NODE {
                continue;
            }
            let (file, definition) = query.definition(symbol);
            let qualified = query.text(file.qualified_names[place.def as usize]);
            if !file.is_prose() && fits(qualified, definition.kind) {
                let symbol = query.canonical(symbol);
                if !found.iter().any(|known| known.1 == symbol) {
                    found.push((file.is_test, symbol));
                }
            }
        }
        if found.iter().any(|known| !known.0) {
            found.retain(|known| !known.0);
        }
        match found[..] {
            [(_, only)] => Some(only),
            _ => None,
        }
    }
}

/// Returns whether an owner is written like a variable.
fn is_variable(owner: &str) -> bool {
    !owner.contains('.') && owner.starts_with(|first: char| first.is_lowercase() || first == '$')
}

/// Returns whether a name has at least two words.
fn is_telling(name: &str) -> bool {
    let has_words = name.trim_matches('_').contains('_') || name.chars().skip(1).any(char::is_uppercase);
    has_words && name.len() >= MIN_TELLING_NAME
}
