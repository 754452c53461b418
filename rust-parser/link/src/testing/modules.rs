//! `TESTS` edges of test files and classes to the modules and classes that they import and whose names they have.

use crate::edge::{EdgeType, Target};
use crate::emit::collector::EdgeCollector;
use crate::entity::Entity;
use crate::project::file_entry::{is_callable, is_class};
use crate::project::names::{FILE_NODE, FileId, SymbolId};
use crate::project::paths::{file_name_of, folder_of};
use crate::project::query::Query;
use crate::strategy::Strategy;
use atlas_facts::{DefId, Expr, ExprId, flags};

/// What names of tests have before or after the name of what they test.
const BEGINNINGS: [&str; 4] = ["test_", "test-", "Test", "tests_"];
const ENDINGS: [&str; 12] =
    ["_test", "_tests", ".test", ".spec", "_spec", "-test", ".tests", "Tests", "Test", "Spec", "IT", "TestCase"];

/// Adds the edges of a test file by imports and names, and those of arguments of parametrised tests.
pub fn add_modules(collector: &mut EdgeCollector) {
    let query = collector.query;
    if query.file.is_test {
        let name = tested_name(file_name_of(&query.file.path));
        let mut imported: Vec<(FileId, u32)> = Vec::new();
        for edge in collector.edges.iter().filter(|edge| edge.kind == EdgeType::Imports) {
            if let Target::Symbol(symbol) = edge.target {
                let file = query.index.symbols.get(symbol).file;
                if file != query.home && !query.index.file(file).is_test {
                    record_imported(query, symbol);
                    imported.push((file, edge.line));
                }
            }
        }
        if let Some(beside) = name.as_deref().and_then(|name| file_beside(query, name)) {
            imported.push((beside, 1));
        }
        for (file, line) in imported {
            let symbol = query.module_symbol(file);
            let is_named = name.is_some() && tested_stem(query, file) == name.as_deref();
            let via = if is_named { Strategy::TestName } else { Strategy::TestImport };
            if let Some(target) = collector.target(symbol) {
                let source = collector.source(0);
                collector.add(source, EdgeType::Tests, target, line, via);
            }
        }
    }
    add_classes(collector);
    add_parameters(collector);
}

/// Records that the edges depend on what is imported. A file without definitions has no outline to depend on.
fn record_imported(query: &Query, symbol: SymbolId) {
    let place = query.index.symbols.get(symbol);
    if place.def == FILE_NODE {
        query.file_at(&query.index.file(place.file).path);
    } else {
        query.definition(symbol);
    }
}

fn add_classes(collector: &mut EdgeCollector) {
    let query = collector.query;
    for (def, definition) in query.file.facts().definitions.iter().enumerate() {
        let def = def as DefId;
        if !is_class(definition.kind) || !(query.file.is_test || query.file.is_in_test(def)) {
            continue;
        }
        let Some(name) = tested_name(query.file.text(definition.name)) else { continue };
        let Some(name) = query.index.strings.find(&name) else { continue };
        let values = query.resolve_name(0, name, u32::MAX).unwrap_or_default();
        for value in values {
            let Entity::Definition(symbol) = value.entity else { continue };
            if query.index.symbols.get(symbol).def == FILE_NODE {
                continue;
            }
            let (file, tested) = query.definition(symbol);
            let is_tested = !file.is_test && is_class(tested.kind);
            if let Some(target) = collector.target(symbol).filter(|_| is_tested) {
                let line = query.file.def(def).name_line;
                collector.add(def, EdgeType::Tests, target, line, Strategy::TestName);
            }
        }
    }
}

/// Adds the functions and classes that decorators of a test name: `@pytest.mark.parametrize("parse", [parse_json])`.
fn add_parameters(collector: &mut EdgeCollector) {
    let query = collector.query;
    let facts = query.file.facts().clone();
    for (def, definition) in facts.definitions.iter().enumerate() {
        let is_test = definition.flags & flags::TEST != 0 && is_callable(definition.kind);
        if !is_test || !query.file.is_node(def as DefId) {
            continue;
        }
        for &decorator in &definition.decorators {
            let Expr::Call { ref args, .. } = *query.file.expr(decorator) else { continue };
            let mut named = Vec::new();
            args.iter().for_each(|arg| add_names(query, arg.value, &mut named, 0));
            for expr in named {
                for value in query.eval(expr, definition.parent, definition.name_line) {
                    let Entity::Definition(symbol) = value.entity else { continue };
                    let symbol = query.canonical(symbol);
                    let (file, tested) = query.definition(symbol);
                    if file.is_test || !(is_callable(tested.kind) || is_class(tested.kind)) {
                        continue;
                    }
                    if let Some(target) = collector.target(symbol) {
                        let line = definition.name_line;
                        collector.add(def as DefId, EdgeType::Tests, target, line, Strategy::Parametrised);
                    }
                }
            }
        }
    }
}

fn add_names(query: &Query, expr: ExprId, found: &mut Vec<ExprId>, depth: u32) {
    if depth > 4 || found.len() > 64 {
        return;
    }
    match query.file.expr(expr) {
        Expr::Name(_) | Expr::Attribute { .. } => found.push(expr),
        Expr::Elements { items, .. } => items.iter().for_each(|&item| add_names(query, item, found, depth + 1)),
        Expr::Call { args, .. } => args.iter().for_each(|arg| add_names(query, arg.value, found, depth + 1)),
        _ => {}
    }
}

/// Returns the file of the same folder that a test file is named after.
fn file_beside(query: &Query, name: &str) -> Option<FileId> {
    let path = &*query.file.path;
    let extension = path.rsplit_once('.')?.1;
    let folder = folder_of(path);
    let other = if folder.is_empty() { format!("{name}.{extension}") } else { format!("{folder}/{name}.{extension}") };
    query.file_at(&other).filter(|&file| file != query.home && !query.index.file(file).is_test)
}

/// Returns the name of a file without what follows the first dot; of a package's own file the name of the folder.
fn tested_stem<'a>(query: &Query<'a>, file: FileId) -> Option<&'a str> {
    let path = &*query.index.file(file).path;
    let stem = file_name_of(path).split('.').next().filter(|stem| !matches!(*stem, "__init__" | "index" | "mod"));
    stem.or_else(|| Some(file_name_of(folder_of(path))))
}

/// Returns the name of what a file or class tests by its own name; None if it is not named as a test.
fn tested_name(name: &str) -> Option<String> {
    let stem = match name.rsplit_once('.') {
        Some((stem, _)) => stem,
        None => name,
    };
    let tested = BEGINNINGS.iter().find_map(|beginning| stem.strip_prefix(beginning));
    let tested = tested.or_else(|| ENDINGS.iter().find_map(|ending| stem.strip_suffix(ending)))?;
    (tested.len() > 1).then(|| tested.trim_start_matches('_').to_owned())
}

impl Query<'_> {
    /// Returns the last name of a decorator or annotation.
    pub(crate) fn mark_name(&self, decorator: ExprId) -> Option<&str> {
        match *self.file.expr(decorator) {
            Expr::Name(name) | Expr::Attribute { name, .. } => Some(self.file.text(name)),
            Expr::Call { callee, .. } => self.mark_name(callee),
            _ => None,
        }
    }
}
