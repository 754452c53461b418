//! Base classes and the order in which members are looked up: C3 for Python, depth first in declared order elsewhere.

pub mod interfaces;

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::facts::{DefId, Expr, ExprId, Kind};
use crate::link::inherit::interfaces::{Implemented, Methods, implemented, link_methods};
use crate::link::project::dependencies::{Topic, key};
use crate::link::project::file_entry::is_class;
use crate::link::project::index::Index;
use crate::link::project::names::{FileId, SymbolId};
use crate::link::project::query::View;
use crate::link::rules::Family;
use crate::link::strategy::{Strategy, Value, Values, What};

/// Aliases of a base class that are followed in a row.
const MAX_ALIASES: usize = 4;

/// What one file says about inheritance, resolved.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FileBases {
    /// Bases of each class that has any, in declared order; unknown ones as [`What::Missing`].
    pub classes: Vec<(SymbolId, Vec<Value>)>,
    pub extensions: Vec<Extension>,
    /// Of Go's interfaces and types.
    pub methods: Vec<Methods>,
}

/// Something that adds members, and perhaps bases, to a class defined elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extension {
    pub symbol: SymbolId,
    pub class: SymbolId,
    pub bases: Vec<Value>,
}

/// Inheritance of the whole project.
#[derive(Default)]
pub struct Ancestry {
    files: Vec<FileBases>,
    ancestors: FxHashMap<SymbolId, Arc<[What]>>,
    extensions: FxHashMap<SymbolId, Vec<Extension>>,
    implemented: Implemented,
}

impl Ancestry {
    pub fn ancestors(&self, class: SymbolId) -> &[What] {
        self.ancestors.get(&class).map_or(&[], |list| list)
    }

    /// Interfaces that a Go type has the methods of.
    pub fn implemented(&self, class: SymbolId) -> &[SymbolId] {
        self.implemented.get(&class).map_or(&[], Vec::as_slice)
    }

    /// By path and position.
    pub fn extensions(&self, class: SymbolId) -> &[Extension] {
        self.extensions.get(&class).map_or(&[], Vec::as_slice)
    }

    /// The class that an extension of a file adds to.
    pub fn extended_by(&self, file: FileId, extension: SymbolId) -> Option<SymbolId> {
        let found = self.files[file as usize].extensions.iter().find(|known| known.symbol == extension);
        found.map(|known| known.class)
    }

    /// Classes of a file that have bases.
    pub fn classes(&self, file: FileId) -> &[(SymbolId, Vec<Value>)] {
        &self.files[file as usize].classes
    }
}

/// Resolve the bases of all classes of a file.
pub fn link_bases(view: &View) -> FileBases {
    let mut found = FileBases { methods: link_methods(view), ..FileBases::default() };
    for (def, definition) in view.file.facts().definitions.iter().enumerate() {
        let symbol = view.file.symbols[def];
        if definition.kind == Kind::Extension {
            let mut values = definition.bases.iter().map(|&base| base_value(view, def as DefId, base));
            if let Some(What::Definition(class)) = values.next().map(|value| value.what) {
                let bases = values.collect();
                found.extensions.push(Extension { symbol, class, bases });
            }
        } else if is_class(definition.kind) {
            let bases: Vec<Value> = definition.bases.iter().map(|&base| base_value(view, def as DefId, base)).collect();
            let first = view.first_part(symbol);
            if first != symbol {
                found.extensions.push(Extension { symbol, class: first, bases: bases.clone() });
            }
            if !bases.is_empty() {
                found.classes.push((symbol, bases));
            }
        }
    }
    found
}

fn base_value(view: &View, class: DefId, base: ExprId) -> Value {
    let definition = view.file.def(class);
    let own = What::Definition(view.file.symbols[class as usize]);
    // Ruby's `include` stands in the body of the class.
    let scope = if view.file.family == Family::Ruby { class } else { definition.parent };
    let mut values = view.eval(base, scope, definition.name_line);
    if values.iter().any(|value| value.what == own) {
        // `class Field(Field)`: the base is what the name meant before.
        values = match *view.file.expr(base) {
            Expr::Name(name) => view.imported_in(definition.parent, view.file.sym(name)),
            _ => Values::new(),
        };
    }
    for _ in 0..MAX_ALIASES {
        let constants = values.iter().filter_map(|value| match value.what {
            What::Definition(symbol) if view.kind(symbol) == Kind::Constant => Some(symbol),
            _ => None,
        });
        let aliased: Values = constants.flat_map(|symbol| view.aliased(symbol)).collect();
        if aliased.is_empty() {
            break;
        }
        values = aliased;
    }
    for value in values {
        let what = match value.what {
            What::Definition(symbol) if is_class(view.kind(symbol)) => What::Definition(view.canonical(symbol)),
            // A module that a class takes in.
            What::Definition(symbol) if view.file.family == Family::Ruby && view.kind(symbol) == Kind::Namespace => {
                What::Package(view.index.qualified_name(symbol))
            }
            What::Package(_) if view.file.family == Family::Ruby => value.what,
            What::External(_) | What::Builtin(_) => value.what,
            _ => continue,
        };
        return Value { what, ..value };
    }
    Value::new(What::Missing, Strategy::Import)
}

/// Put new results of files into the tables; return the keys whose answers changed.
pub fn refresh(index: &mut Index, results: Vec<(FileId, FileBases)>, removed: &[FileId]) -> FxHashSet<u32> {
    let mut keys = FxHashSet::default();
    index.ancestry.files.resize_with(index.files.len(), FileBases::default);
    let mut has_changed = false;
    let emptied = removed.iter().map(|&file| (file, FileBases::default()));
    for (file, bases) in emptied.chain(results) {
        let place = &mut index.ancestry.files[file as usize];
        if *place != bases {
            *place = bases;
            has_changed = true;
        }
    }
    if !has_changed {
        return keys;
    }
    let extensions = collect_extensions(index);
    add_changes(&index.ancestry.extensions, &extensions, Topic::Extension, &mut keys);
    let bases = collect_bases(index);
    let methods = index.ancestry.files.iter().flat_map(|file| &file.methods);
    let implemented = implemented(index, methods, &extensions, &bases);
    add_changes(&index.ancestry.implemented, &implemented, Topic::Ancestors, &mut keys);
    let ancestors = linearise(index, &bases);
    add_changes(&index.ancestry.ancestors, &ancestors, Topic::Ancestors, &mut keys);
    index.ancestry.extensions = extensions;
    index.ancestry.implemented = implemented;
    index.ancestry.ancestors = ancestors;
    keys
}

fn add_changes<V: PartialEq>(
    old: &FxHashMap<SymbolId, V>,
    new: &FxHashMap<SymbolId, V>,
    topic: Topic,
    keys: &mut FxHashSet<u32>,
) {
    for symbol in old.keys().chain(new.keys()) {
        if old.get(symbol) != new.get(symbol) {
            keys.insert(key(topic, *symbol, 0));
        }
    }
}

fn collect_extensions(index: &Index) -> FxHashMap<SymbolId, Vec<Extension>> {
    let mut found: FxHashMap<SymbolId, Vec<Extension>> = FxHashMap::default();
    for extension in index.ancestry.files.iter().flat_map(|file| &file.extensions) {
        found.entry(extension.class).or_default().push(extension.clone());
    }
    for list in found.values_mut() {
        list.sort_by(|a, b| index.source_order(a.symbol).cmp(&index.source_order(b.symbol)));
    }
    found
}

fn collect_bases(index: &Index) -> FxHashMap<SymbolId, Vec<What>> {
    let mut found: FxHashMap<SymbolId, Vec<What>> = FxHashMap::default();
    let mut extensions = Vec::new();
    for file in &index.ancestry.files {
        for (class, bases) in &file.classes {
            found.entry(*class).or_default().extend(bases.iter().map(|base| base.what));
        }
        extensions.extend(file.extensions.iter().filter(|extension| !extension.bases.is_empty()));
    }
    extensions.sort_by(|a, b| index.source_order(a.symbol).cmp(&index.source_order(b.symbol)));
    for extension in extensions {
        found.entry(extension.class).or_default().extend(extension.bases.iter().map(|base| base.what));
    }
    for (class, bases) in &mut found {
        let mut seen = FxHashSet::default();
        bases.retain(|base| *base != What::Definition(*class) && (*base == What::Missing || seen.insert(*base)));
    }
    found
}

/// Ancestors of every class with bases. Classes are done after all their bases; those that never get there are in or
/// below a cycle and take depth-first order, so that the result does not depend on where the work began.
fn linearise(index: &Index, bases: &FxHashMap<SymbolId, Vec<What>>) -> FxHashMap<SymbolId, Arc<[What]>> {
    let mut waiting: FxHashMap<SymbolId, usize> = FxHashMap::default();
    let mut derived: FxHashMap<SymbolId, Vec<SymbolId>> = FxHashMap::default();
    let mut ready = VecDeque::new();
    for (&class, list) in bases {
        let mut count = 0;
        for base in class_bases(list).filter(|base| bases.contains_key(base)) {
            derived.entry(base).or_default().push(class);
            count += 1;
        }
        if count == 0 {
            ready.push_back(class);
        } else {
            waiting.insert(class, count);
        }
    }
    let mut done: FxHashMap<SymbolId, Arc<[What]>> = FxHashMap::default();
    while let Some(class) = ready.pop_front() {
        let is_python = index.definition(class).0.family == Family::Python;
        let order = if is_python { merge_linear(&bases[&class], &done) } else { None };
        done.insert(class, order.unwrap_or_else(|| depth_first(class, bases)).into());
        for next in derived.remove(&class).unwrap_or_default() {
            let count = waiting.get_mut(&next).expect("class that waits");
            *count -= 1;
            if *count == 0 {
                waiting.remove(&next);
                ready.push_back(next);
            }
        }
    }
    for class in waiting.into_keys() {
        done.insert(class, depth_first(class, bases).into());
    }
    done
}

fn class_bases(bases: &[What]) -> impl Iterator<Item = SymbolId> {
    bases.iter().filter_map(|base| match base {
        What::Definition(symbol) => Some(*symbol),
        _ => None,
    })
}

/// C3 (Barrett et al. 1996, as in Python's `type.mro`); None when there is no consistent order.
fn merge_linear(bases: &[What], done: &FxHashMap<SymbolId, Arc<[What]>>) -> Option<Vec<What>> {
    let mut lists: Vec<VecDeque<What>> = Vec::with_capacity(bases.len() + 1);
    for &base in bases {
        let mut list = VecDeque::from([base]);
        if let What::Definition(symbol) = base {
            list.extend(done.get(&symbol).iter().flat_map(|order| order.iter().copied()));
        }
        lists.push(list);
    }
    lists.push(bases.iter().copied().collect());
    let mut order = Vec::new();
    loop {
        lists.retain(|list| !list.is_empty());
        if lists.is_empty() {
            return Some(order);
        }
        let is_free = |what: What| {
            what == What::Missing || !lists.iter().any(|list| list.iter().skip(1).any(|&other| other == what))
        };
        let next = lists.iter().map(|list| list[0]).find(|&what| is_free(what))?;
        order.push(next);
        for list in &mut lists {
            if list.front() == Some(&next) {
                list.pop_front();
            }
        }
    }
}

fn depth_first(class: SymbolId, bases: &FxHashMap<SymbolId, Vec<What>>) -> Vec<What> {
    let mut order = Vec::new();
    let mut seen = FxHashSet::from_iter([What::Definition(class)]);
    let mut stack: Vec<What> = bases[&class].iter().rev().copied().collect();
    while let Some(what) = stack.pop() {
        if !seen.insert(what) {
            continue;
        }
        order.push(what);
        if let What::Definition(symbol) = what {
            stack.extend(bases.get(&symbol).iter().flat_map(|list| list.iter().rev().copied()));
        }
    }
    order
}
