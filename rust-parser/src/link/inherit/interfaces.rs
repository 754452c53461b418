//! Determines which Go types implement which interfaces, by their method sets.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::facts::Kind;
use crate::link::entity::Entity;
use crate::link::project::ancestry::{Extension, Implemented, MethodShape, Methods};
use crate::link::project::file_entry::{Bound, is_callable};
use crate::link::project::index::Index;
use crate::link::project::names::{Sym, SymbolId};
use crate::link::project::query::Query;

/// Returns the methods that a Go file declares.
pub fn link_methods(query: &Query) -> Vec<Methods> {
    let mut found: Vec<Methods> = Vec::new();
    if !query.file.rules.structural_interfaces {
        return found;
    }
    let definitions = &query.file.facts().definitions;
    for definition in definitions.iter().filter(|definition| is_callable(definition.kind)) {
        let parent = query.file.outline(definition.parent).kind;
        if !matches!(parent, Kind::Interface | Kind::Extension) {
            continue;
        }
        let owner = query.file.symbols[definition.parent as usize];
        let name = query.file.text(definition.name);
        let Some((parameters, results)) = counts(query.file.text(definition.signature), name) else { continue };
        let shape: MethodShape = (query.file.sym(definition.name), parameters, results);
        match found.iter_mut().find(|methods| methods.owner == owner) {
            Some(methods) => methods.shapes.push(shape),
            None => {
                let is_interface = parent == Kind::Interface;
                found.push(Methods { owner, is_interface, shapes: vec![shape] });
            }
        }
    }
    found
}

/// Returns the numbers of parameters and results of `func (r R) Name(a, b int) (int, error)` or `Name(int, int) error`.
fn counts(signature: &str, name: &str) -> Option<(u16, u16)> {
    let head = format!("{name}(");
    let at = match signature.starts_with(&head) {
        true => 0,
        false => signature.find(&format!(") {head}"))? + 2,
    };
    let (parameters, rest) = in_parentheses(&signature[at + name.len()..])?;
    let rest = rest.trim();
    let results = match in_parentheses(rest) {
        Some((results, _)) => results,
        None => u16::from(!rest.is_empty()),
    };
    Some((parameters, results))
}

/// Returns the number of items in the parentheses at the start of a text, and the text after them.
fn in_parentheses(text: &str) -> Option<(u16, &str)> {
    if !text.starts_with('(') {
        return None;
    }
    let (mut depth, mut count, mut is_empty) = (0_u32, 0, true);
    for (at, sign) in text.char_indices() {
        match sign {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        match sign {
            ')' if depth == 0 => return Some((count + u16::from(!is_empty), &text[at + 1..])),
            ',' if depth == 1 => (count, is_empty) = (count + 1, true),
            _ => is_empty &= sign.is_whitespace() || depth == 1 && sign == '(',
        }
    }
    None
}

/// Compares all types with all interfaces. `bases` holds what structs and interfaces embed.
pub fn implemented<'a>(
    index: &Index,
    methods: impl Iterator<Item = &'a Methods>,
    extensions: &FxHashMap<SymbolId, Vec<Extension>>,
    bases: &FxHashMap<SymbolId, Vec<Entity>>,
) -> Implemented {
    let (mut interfaces, mut receivers) = (FxHashMap::default(), FxHashMap::default());
    for methods in methods {
        let table = if methods.is_interface { &mut interfaces } else { &mut receivers };
        table.insert(methods.owner, methods.shapes.as_slice());
    }
    let own = |class: SymbolId| {
        let parts = extensions.get(&class).into_iter().flatten();
        let received = parts.filter_map(|part| receivers.get(&part.symbol)).copied().flatten();
        interfaces.get(&class).copied().into_iter().flatten().chain(received).copied()
    };
    let mut types: FxHashMap<SymbolId, FxHashSet<MethodShape>> = FxHashMap::default();
    let mut having: FxHashMap<MethodShape, Vec<SymbolId>> = FxHashMap::default();
    let candidates: FxHashSet<SymbolId> = extensions.keys().chain(bases.keys()).copied().collect();
    for class in candidates {
        if is_structural_type(index, class) {
            let all: FxHashSet<MethodShape> = with_embedded(class, bases).0.into_iter().flat_map(own).collect();
            all.iter().for_each(|shape| having.entry(*shape).or_default().push(class));
            types.insert(class, all);
        }
    }
    let mut found = Implemented::default();
    for &interface in interfaces.keys() {
        let (parts, is_whole) = with_embedded(interface, bases);
        let wanted: FxHashSet<MethodShape> = parts.into_iter().flat_map(own).collect();
        if !is_whole && wanted.len() < 2 {
            // The interface's method set is not completely known.
            continue;
        }
        let rarest =
            wanted.iter().map(|shape| having.get(shape).map_or(&[][..], Vec::as_slice)).min_by_key(|list| list.len());
        for &class in rarest.unwrap_or_default() {
            // An interface in a test has no meaning for the tested code.
            let is_seen = !is_test(index, interface) || is_test(index, class);
            if is_seen && wanted.is_subset(&types[&class]) {
                found.entry(class).or_default().push(interface);
            }
        }
    }
    for list in found.values_mut() {
        list.sort_by(|&a, &b| index.source_order(a).cmp(&index.source_order(b)));
    }
    found
}

fn is_test(index: &Index, symbol: SymbolId) -> bool {
    index.file(index.symbols.get(symbol).file).is_test
}

/// Returns whether a symbol is a type, not an interface, of an existing file.
fn is_structural_type(index: &Index, class: SymbolId) -> bool {
    let place = index.symbols.get(class);
    index.files[place.file as usize].as_ref().is_some_and(|file| {
        let is_there = file.rules.structural_interfaces && file.symbols.get(place.def as usize) == Some(&class);
        is_there && file.outline(place.def).kind != Kind::Interface
    })
}

/// Collects a type and all project types that it embeds, at any depth. Returns false if one of them embeds an unknown
/// type.
fn with_embedded(class: SymbolId, bases: &FxHashMap<SymbolId, Vec<Entity>>) -> (Vec<SymbolId>, bool) {
    let (mut all, mut next, mut is_whole) = (vec![class], 0, true);
    while let Some(here) = all.get(next).copied() {
        next += 1;
        for base in bases.get(&here).into_iter().flatten() {
            match base {
                Entity::Definition(symbol) if !all.contains(symbol) => all.push(*symbol),
                Entity::Definition(_) => {}
                _ => is_whole = false,
            }
        }
    }
    (all, is_whole)
}

impl Query<'_> {
    /// Returns the methods with this name of the interfaces that a class implements.
    pub fn implemented_methods(&self, class: SymbolId, name: Sym) -> Vec<SymbolId> {
        let mut found = Vec::new();
        for &interface in self.interfaces(class) {
            let (file, entries) = self.entries(interface, name);
            let symbols = entries.iter().filter_map(|entry| match entry.bound {
                Bound::Definition(def) => Some(file.symbols[def as usize]),
                _ => None,
            });
            found.extend(symbols.filter(|&symbol| is_callable(self.kind(symbol))));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::counts;

    #[test]
    fn parameters_and_results_are_counted() {
        assert_eq!(counts("Get(ctx context.Context, keys ...string) (item *Item, err error)", "Get"), Some((2, 2)));
        assert_eq!(counts("func (s *Set[K, V]) Run(a, b int, f func(int, int) bool) error", "Run"), Some((3, 1)));
        assert_eq!(counts("Close()", "Close"), Some((0, 0)));
        assert_eq!(counts("Write(\n\tdata []byte,\n)", "Write"), Some((1, 0)));
    }
}
