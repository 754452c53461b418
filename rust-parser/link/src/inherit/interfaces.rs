//! Determines which Go types implement which interfaces, by their method sets.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::entity::Entity;
use crate::method_signature;
use crate::project::ancestry::{Extension, Implemented, MethodShape, Methods};
use crate::project::file_entry::{Bound, is_callable};
use crate::project::index::Index;
use crate::project::names::{Sym, SymbolId};
use crate::project::query::Query;
use atlas_facts::Kind;

/// Most project types that a type embeds, itself included, at any depth.
const MAX_EMBEDDED: usize = 100;

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
        let signature = query.file.text(definition.signature);
        let Some((parameters, results)) = method_signature::types(signature, name) else { continue };
        let shape: MethodShape = (query.file.sym(definition.name), parameters.len() as u16, results.len() as u16);
        let at = found.iter().position(|methods| methods.owner == owner).unwrap_or_else(|| {
            let is_interface = parent == Kind::Interface;
            found.push(Methods { owner, is_interface, shapes: Vec::new(), known: Vec::new() });
            found.len() - 1
        });
        found[at].shapes.push(shape);
        let text = method_signature::comparable(signature, name).and_then(|text| query.index.strings.find(&text));
        found[at].known.extend(text.filter(|text| query.file.rules.interface_methods.contains(text)));
    }
    found
}

/// Compares all types with all interfaces. `bases` holds what structs and interfaces embed.
pub fn implemented<'a>(
    index: &Index,
    methods: impl Iterator<Item = &'a Methods>,
    extensions: &FxHashMap<SymbolId, Vec<Extension>>,
    bases: &FxHashMap<SymbolId, Vec<Entity>>,
) -> Implemented {
    let (mut interfaces, mut receivers) = (FxHashMap::default(), FxHashMap::default());
    let mut known = FxHashMap::default();
    for methods in methods {
        let table = if methods.is_interface { &mut interfaces } else { &mut receivers };
        table.insert(methods.owner, methods.shapes.as_slice());
        if !methods.known.is_empty() {
            known.insert(methods.owner, methods.known.as_slice());
        }
    }
    let own = |class: SymbolId| {
        let parts = extensions.get(&class).into_iter().flatten();
        let received = parts.filter_map(|part| receivers.get(&part.symbol)).copied().flatten();
        interfaces.get(&class).copied().into_iter().flatten().chain(received).copied()
    };
    let mut types: FxHashMap<SymbolId, FxHashSet<MethodShape>> = FxHashMap::default();
    let mut having: FxHashMap<MethodShape, Vec<SymbolId>> = FxHashMap::default();
    let candidates: FxHashSet<SymbolId> = extensions.keys().chain(bases.keys()).copied().collect();
    let mut outside = Implemented::default();
    for class in candidates {
        if is_structural_type(index, class) {
            let (parts, ..) = with_embedded(class, bases);
            let of_interfaces = implemented_outside(index, class, &parts, extensions, &known);
            if !of_interfaces.is_empty() {
                outside.insert(class, of_interfaces);
            }
            let all: FxHashSet<MethodShape> = parts.into_iter().flat_map(own).collect();
            all.iter().for_each(|shape| having.entry(*shape).or_default().push(class));
            types.insert(class, all);
        }
    }
    let mut found: FxHashMap<SymbolId, Vec<SymbolId>> = FxHashMap::default();
    // `interface { Reader; Writer }` declares no method of its own.
    let is_composed = |symbol: &&SymbolId| !interfaces.contains_key(symbol) && is_structural_interface(index, **symbol);
    for &interface in interfaces.keys().chain(bases.keys().filter(is_composed)) {
        let (parts, foreign, is_whole) = with_embedded(interface, bases);
        let wanted: FxHashSet<MethodShape> = parts.into_iter().flat_map(own).collect();
        let known = &index.definition(interface).0.rules.interfaces;
        let external = |package, name| Entity::External(index.externals.intern(package, name));
        // `error`, whose methods are known from the language's data
        let checked: Vec<Option<Entity>> = foreign
            .into_iter()
            .map(|entity| {
                let one = known.iter().find(|one| match entity {
                    Entity::Builtin(name) => one.name == name,
                    _ => entity == external(one.package, one.name),
                })?;
                Some(external(one.package, one.name))
            })
            .collect();
        if !is_whole || checked.contains(&None) && wanted.len() < 2 {
            // The interface's method set is not completely known.
            continue;
        }
        let rarest =
            wanted.iter().map(|shape| having.get(shape).map_or(&[][..], Vec::as_slice)).min_by_key(|list| list.len());
        for &class in rarest.unwrap_or_default() {
            // An interface in a test has no meaning for the tested code.
            let is_seen = !is_test(index, interface) || is_test(index, class);
            let has = |base: &Entity| outside.get(&class).is_some_and(|list| list.contains(base));
            if is_seen && wanted.is_subset(&types[&class]) && checked.iter().flatten().all(has) {
                found.entry(class).or_default().push(interface);
            }
        }
    }
    let mut all = Implemented::default();
    for (class, mut list) in found {
        list.sort_by(|&a, &b| index.source_order(a).cmp(&index.source_order(b)));
        all.insert(class, list.into_iter().map(Entity::Definition).collect());
    }
    for (class, list) in outside {
        all.entry(class).or_default().extend(list);
    }
    all
}

/// Returns the interfaces of other packages, known from the language's data, whose methods a type and the types that it
/// embeds have with the same types of parameters and results.
fn implemented_outside(
    index: &Index,
    class: SymbolId,
    parts: &[SymbolId],
    extensions: &FxHashMap<SymbolId, Vec<Extension>>,
    known: &FxHashMap<SymbolId, &[Sym]>,
) -> Vec<Entity> {
    let received = parts.iter().flat_map(|part| extensions.get(part).into_iter().flatten().map(|part| part.symbol));
    let methods: FxHashSet<Sym> = parts
        .iter()
        .copied()
        .chain(received)
        .filter_map(|owner| known.get(&owner))
        .copied()
        .flatten()
        .copied()
        .collect();
    if methods.is_empty() {
        return Vec::new();
    }
    let interfaces = index.definition(class).0.rules.interfaces.iter();
    let having = interfaces.filter(|interface| interface.methods.iter().all(|method| methods.contains(method)));
    having.map(|interface| Entity::External(index.externals.intern(interface.package, interface.name))).collect()
}

fn is_test(index: &Index, symbol: SymbolId) -> bool {
    index.file(index.symbols.get(symbol).file).is_test
}

/// Returns whether a symbol is a type, not an interface, of an existing file.
fn is_structural_type(index: &Index, class: SymbolId) -> bool {
    structural_kind(index, class).is_some_and(|kind| kind != Kind::Interface)
}

fn is_structural_interface(index: &Index, symbol: SymbolId) -> bool {
    structural_kind(index, symbol) == Some(Kind::Interface)
}

/// Returns the kind of a type of an existing file whose language compares method sets.
fn structural_kind(index: &Index, class: SymbolId) -> Option<Kind> {
    let place = index.symbols.get(class);
    let file = index.files[place.file as usize].as_ref()?;
    let is_there = file.rules.structural_interfaces && file.symbols.get(place.def as usize) == Some(&class);
    is_there.then(|| file.outline(place.def).kind)
}

/// Returns a type with all project types that it embeds, at any depth, the types of other packages among them, and
/// whether that is all: it is cut at `MAX_EMBEDDED` types.
fn with_embedded(class: SymbolId, bases: &FxHashMap<SymbolId, Vec<Entity>>) -> (Vec<SymbolId>, Vec<Entity>, bool) {
    let (mut all, mut next, mut foreign) = (vec![class], 0, Vec::new());
    let mut seen = FxHashSet::from_iter([class]);
    while let Some(here) = all.get(next).copied() {
        next += 1;
        for base in bases.get(&here).into_iter().flatten() {
            match base {
                Entity::Definition(symbol) if !seen.insert(*symbol) => {}
                Entity::Definition(_) if all.len() >= MAX_EMBEDDED => return (all, foreign, false),
                Entity::Definition(symbol) => all.push(*symbol),
                other => foreign.push(*other),
            }
        }
    }
    (all, foreign, true)
}

impl Query<'_> {
    /// Returns the methods with this name of the interfaces that a class implements.
    pub fn implemented_methods(&self, class: SymbolId, name: Sym) -> Vec<SymbolId> {
        let mut found = Vec::new();
        for &interface in self.interfaces(class) {
            let Entity::Definition(interface) = interface else { continue };
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
