//! Base classes and method resolution order: C3 for Python, depth first in declared order for other languages.

pub mod interfaces;
mod mixins;

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::entity::{Entity, Value, Values};
use crate::inherit::interfaces::{implemented, link_methods};
use crate::inherit::mixins::mixed_bases;
use crate::project::ancestry::{Extension, FileBases};
use crate::project::dependencies::{DependencyKind, key};
use crate::project::file_entry::is_class;
use crate::project::index::Index;
use crate::project::names::{EMPTY, FileId, Sym, SymbolId};
use crate::project::query::Query;
use crate::strategy::Strategy;
use atlas_facts::{DefId, Expr, ExprId, Kind};
use atlas_languages::MemberOrder;

/// Largest number of aliases of a base class that are followed.
const MAX_ALIASES: usize = 4;
/// Levels of inheritance up to which a class has all its ancestors; no program is near it.
const MAX_DEPTH: u32 = 100;
/// Largest number of classes that one is mixed into and that are looked at.
const MAX_MIXED: usize = 16;
/// Most ancestors of a class; behind the last one something is missing.
const MAX_ANCESTORS: usize = 1_000;
/// The same where an order is merged from those of all bases.
const MAX_MERGED_ANCESTORS: usize = 300;
/// The same for a class on more levels than `MAX_DEPTH`, or in or below a cycle: each of thousands may have thousands.
const MAX_DEEP_ANCESTORS: usize = 100;

/// Resolves the bases of all classes of a file.
pub fn link_bases(query: &Query) -> FileBases {
    let mut found = FileBases { methods: link_methods(query), ..FileBases::default() };
    for (def, definition) in query.file.facts().definitions.iter().enumerate() {
        let symbol = query.file.symbols[def];
        if definition.kind == Kind::Extension {
            let mut values = definition.bases.iter().map(|&base| base_value(query, def as DefId, base));
            if let Some(Entity::Definition(class)) = values.next().map(|value| value.entity) {
                let bases = values.collect();
                let members = members_of(query, def as DefId);
                found.extensions.push(Extension { symbol, class, bases, members });
            }
        } else if is_class(definition.kind) || definition.kind == Kind::TypeAlias {
            let named = definition.bases.iter().filter(|&&base| !is_signature(query, def as DefId, base));
            let bases: Vec<Value> = named.flat_map(|&base| base_values(query, def as DefId, base)).collect();
            let first = query.first_part(symbol);
            if first != symbol {
                let members = members_of(query, def as DefId);
                found.extensions.push(Extension { symbol, class: first, bases: bases.clone(), members });
            }
            if !bases.is_empty() {
                found.classes.push((symbol, bases));
            }
        }
    }
    found
}

/// Returns whether a base stands for a call signature or an index signature of an object type.
fn is_signature(query: &Query, class: DefId, base: ExprId) -> bool {
    let is_type = matches!(query.file.outline(class).kind, Kind::Interface | Kind::TypeAlias);
    is_type
        && query.file.rules.prototypes
        && match query.file.expr(base) {
            Expr::Call { .. } => true,
            Expr::Generic { base, .. } => {
                matches!(*query.file.expr(*base), Expr::Name(name) if query.file.text(name) == "Record")
            }
            _ => false,
        }
}

/// Returns the type behind utility types with the same members: `Partial<T>`, `Omit<T, K>`.
fn unwrapped(query: &Query, mut base: ExprId) -> ExprId {
    let rules = &query.file.rules;
    while rules.prototypes
        && let Expr::Generic { base: name, args } = query.file.expr(base)
        && let Expr::Name(name) = *query.file.expr(*name)
        && (rules.wrappers.contains(&query.file.sym(name)) || rules.first_wrappers.contains(&query.file.sym(name)))
    {
        base = args[0];
    }
    base
}

fn members_of(query: &Query, extension: DefId) -> Vec<SymbolId> {
    let outlines = query.file.outlines.iter().enumerate().skip(extension as usize);
    let members = outlines.filter(|(def, outline)| outline.parent == extension && query.file.is_node(*def as DefId));
    members.map(|(def, _)| query.file.symbols[def]).collect()
}

/// Returns the values of one base. A class that a class method makes from other classes has the members of all of these:
/// `class Manager(BaseManager.from_queryset(QuerySet))`.
fn base_values(query: &Query, class: DefId, base: ExprId) -> Vec<Value> {
    if let Some(mixed) = mixed_bases(query, class, base) {
        return mixed;
    }
    let value = base_value(query, class, base);
    if let Entity::Package(module) = value.entity {
        return with_mixed_members(query, value, module);
    }
    let definition = query.file.def(class);
    let own = Entity::Definition(query.file.symbols[class as usize]);
    let class_of = |part: ExprId| {
        query.eval(part, definition.parent, definition.name_line).into_iter().find_map(|value| match value.entity {
            Entity::Definition(symbol) if is_class(query.kind(symbol)) && value.entity != own => {
                Some(Value { entity: Entity::Definition(query.canonical(symbol)), ..value })
            }
            _ => None,
        })
    };
    if query.file.rules.member_order == MemberOrder::C3
        && let Expr::Call { callee, args, .. } = query.file.expr(base)
        && let Expr::Attribute { base: owner, .. } = *query.file.expr(*callee)
        && let Some(owner) = class_of(owner)
    {
        let mut found = vec![if value.entity == Entity::Missing { owner } else { value }];
        for part in args.iter().filter_map(|arg| class_of(arg.value)) {
            if !found.iter().any(|known| known.entity == part.entity) {
                found.push(part);
            }
        }
        return found;
    }
    vec![value]
}

/// Returns a module that a class mixes in, and the modules within that it mixes in by itself: `ClassMethods`.
fn with_mixed_members(query: &Query, value: Value, module: Sym) -> Vec<Value> {
    let within = query.file.rules.mixed_members.iter().filter_map(|name| {
        let package = query.package(&format!("{}.{name}", query.text(module)))?;
        Some(Value { entity: Entity::Package(package), ..value })
    });
    std::iter::once(value).chain(within).collect()
}

fn base_value(query: &Query, class: DefId, base: ExprId) -> Value {
    let definition = query.file.def(class);
    if query.file.rules.prototypes && definition.kind == Kind::Extension {
        return query.object(base, definition.parent, definition.name_line);
    }
    let own = Entity::Definition(query.file.symbols[class as usize]);
    // A mixin is named in the body of the class.
    let scope = if query.file.rules.mixins { class } else { definition.parent };
    let is_type = query.file.rules.prototypes && matches!(definition.kind, Kind::Interface | Kind::TypeAlias);
    let base = unwrapped(query, base);
    let mut values = query.in_position(is_type, || query.eval(base, scope, definition.name_line));
    let is_class_like = |value: &Value| !matches!(value.entity, Entity::Definition(symbol) if !is_class(query.kind(symbol)) && !query.is_shaped_alias(symbol));
    if query.file.rules.prototypes && !is_type && !values.iter().any(is_class_like) {
        // `implements T`, where `T` is also the name of a value.
        let types = query.in_position(true, || query.eval(base, scope, definition.name_line));
        if types.iter().any(is_class_like) {
            values = types;
        }
    }
    if values.iter().any(|value| value.entity == own) {
        // `class Field(Field)`: the base is the previous meaning of the name.
        values = match *query.file.expr(base) {
            Expr::Name(name) => query.imported_in(definition.parent, query.file.sym(name)),
            _ => Values::new(),
        };
    }
    for _ in 0..MAX_ALIASES {
        let constants = values.iter().filter_map(|value| match value.entity {
            Entity::Definition(symbol) if query.kind(symbol) == Kind::Constant => Some(symbol),
            _ => None,
        });
        let aliased: Values = constants.flat_map(|symbol| query.aliased(symbol)).collect();
        if aliased.is_empty() {
            break;
        }
        values = aliased;
    }
    for value in values {
        let entity = match value.entity {
            Entity::Definition(symbol) if is_class(query.kind(symbol)) || query.is_shaped_alias(symbol) => {
                Entity::Definition(query.canonical(symbol))
            }
            // A module that a class includes.
            Entity::Definition(symbol) if query.file.rules.mixins && query.kind(symbol) == Kind::Namespace => {
                Entity::Package(query.index.qualified_name(symbol))
            }
            Entity::Package(_) if query.file.rules.mixins => value.entity,
            Entity::Builtin(EMPTY) => Entity::Builtin(builtin_member(query, base).unwrap_or(EMPTY)),
            Entity::External(_) | Entity::Builtin(_) => value.entity,
            _ => continue,
        };
        return Value { entity, ..value };
    }
    Value::new(Entity::Missing, Strategy::Import)
}

/// Returns the dotted name of a member of a built-in name, such as `std::exception`.
fn builtin_member(query: &Query, expr: ExprId) -> Option<Sym> {
    let mut names = Vec::new();
    let mut here = expr;
    loop {
        match *query.file.expr(here) {
            Expr::Attribute { base, name } => {
                names.push(query.file.text(name));
                here = base;
            }
            Expr::Generic { base, .. } => here = base,
            Expr::Name(name) | Expr::Scope(name)
                if !names.is_empty() && query.file.rules.builtins.contains(&query.file.sym(name)) =>
            {
                names.push(query.file.text(name));
                break;
            }
            _ => return None,
        }
    }
    names.reverse();
    Some(query.index.strings.intern(&names.join(".")))
}

/// Stores new results of files in the tables. Returns the keys whose answers changed.
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
    add_changes(&index.ancestry.extensions, &extensions, DependencyKind::Extension, &mut keys);
    let bases = collect_bases(index);
    let methods = index.ancestry.files.iter().flat_map(|file| &file.methods);
    let implemented = implemented(index, methods, &extensions, &bases);
    add_changes(&index.ancestry.implemented, &implemented, DependencyKind::Ancestors, &mut keys);
    let ancestors = linearise(index, &bases);
    add_changes(&index.ancestry.ancestors, &ancestors, DependencyKind::Ancestors, &mut keys);
    let mixed = mixed(index, &ancestors);
    add_changes(&index.ancestry.mixed, &mixed, DependencyKind::Ancestors, &mut keys);
    index.ancestry.mixed = mixed;
    index.ancestry.extensions = extensions;
    index.ancestry.implemented = implemented;
    index.ancestry.ancestors = ancestors;
    keys
}

fn add_changes<V: PartialEq>(
    old: &FxHashMap<SymbolId, V>,
    new: &FxHashMap<SymbolId, V>,
    kind: DependencyKind,
    keys: &mut FxHashSet<u32>,
) {
    for symbol in old.keys().chain(new.keys()) {
        if old.get(symbol) != new.get(symbol) {
            keys.insert(key(kind, *symbol, 0));
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

fn collect_bases(index: &Index) -> FxHashMap<SymbolId, Vec<Entity>> {
    let mut found: FxHashMap<SymbolId, Vec<Entity>> = FxHashMap::default();
    let mut extensions = Vec::new();
    for file in &index.ancestry.files {
        for (class, bases) in &file.classes {
            found.entry(*class).or_default().extend(bases.iter().map(|base| base.entity));
        }
        extensions.extend(file.extensions.iter().filter(|extension| !extension.bases.is_empty()));
    }
    extensions.sort_by(|a, b| index.source_order(a.symbol).cmp(&index.source_order(b.symbol)));
    for extension in extensions {
        found.entry(extension.class).or_default().extend(extension.bases.iter().map(|base| base.entity));
    }
    for (class, bases) in &mut found {
        let mut seen = FxHashSet::default();
        bases.retain(|base| *base != Entity::Definition(*class) && (*base == Entity::Missing || seen.insert(*base)));
    }
    found
}

/// Computes the ancestors of every class with bases. A class follows all its bases; classes in or below a cycle are
/// left over and use depth-first order, so the result does not depend on the starting point.
fn linearise(index: &Index, bases: &FxHashMap<SymbolId, Vec<Entity>>) -> FxHashMap<SymbolId, Arc<[Entity]>> {
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
    let mut done: FxHashMap<SymbolId, Arc<[Entity]>> = FxHashMap::default();
    let mut depths: FxHashMap<SymbolId, u32> = FxHashMap::default();
    while let Some(class) = ready.pop_front() {
        let is_c3 = index.definition(class).0.rules.member_order == MemberOrder::C3;
        let depth = class_bases(&bases[&class]).filter_map(|base| depths.get(&base)).max().map_or(1, |depth| depth + 1);
        let most = if depth > MAX_DEPTH { MAX_DEEP_ANCESTORS } else { MAX_ANCESTORS };
        let order = if is_c3 { merge_linear(&bases[&class], &done, most.min(MAX_MERGED_ANCESTORS)) } else { None };
        depths.insert(class, depth);
        done.insert(class, order.unwrap_or_else(|| depth_first(class, bases, most)).into());
        for next in derived.remove(&class).unwrap_or_default() {
            let count = waiting.get_mut(&next).expect("a class with pending bases");
            *count -= 1;
            if *count == 0 {
                waiting.remove(&next);
                ready.push_back(next);
            }
        }
    }
    for class in waiting.into_keys() {
        done.insert(class, depth_first(class, bases, MAX_DEEP_ANCESTORS).into());
    }
    done
}

/// Returns, for each class, those in whose order of ancestors a class follows it that it does not inherit from itself.
fn mixed(index: &Index, ancestors: &FxHashMap<SymbolId, Arc<[Entity]>>) -> FxHashMap<SymbolId, Vec<SymbolId>> {
    let mut found: FxHashMap<SymbolId, Vec<SymbolId>> = FxHashMap::default();
    for (&class, order) in ancestors {
        for pair in order.windows(2) {
            let &[Entity::Definition(mixin), next @ Entity::Definition(_)] = pair else { continue };
            let own = ancestors.get(&mixin).map_or(&[][..], |own| own);
            if own.first() != Some(&next) && !own.contains(&next) {
                found.entry(mixin).or_default().push(class);
            }
        }
    }
    found.retain(|&mixin, _| index.definition(mixin).0.rules.member_order == MemberOrder::C3);
    for classes in found.values_mut() {
        classes.sort_by_cached_key(|&class| index.source_order(class));
        classes.truncate(MAX_MIXED);
    }
    found
}

fn class_bases(bases: &[Entity]) -> impl Iterator<Item = SymbolId> {
    bases.iter().filter_map(|base| match base {
        Entity::Definition(symbol) => Some(*symbol),
        _ => None,
    })
}

/// Returns the first `most` entities of the C3 linearization (Barrett et al. 1996, as in Python's `type.mro`), or `None`
/// if there is no consistent order.
fn merge_linear(bases: &[Entity], done: &FxHashMap<SymbolId, Arc<[Entity]>>, most: usize) -> Option<Vec<Entity>> {
    let mut lists: Vec<VecDeque<Entity>> = Vec::with_capacity(bases.len() + 1);
    for &base in bases {
        let mut list = VecDeque::from([base]);
        if let Entity::Definition(symbol) = base {
            list.extend(done.get(&symbol).iter().flat_map(|order| order.iter().copied()));
        }
        lists.push(list);
    }
    lists.push(bases.iter().copied().collect());
    // How often an entity stands behind the head of a list.
    let mut behind: FxHashMap<Entity, u32> = FxHashMap::default();
    for entity in lists.iter().flat_map(|list| list.iter().skip(1)) {
        *behind.entry(*entity).or_default() += 1;
    }
    let mut order = Vec::new();
    loop {
        lists.retain(|list| !list.is_empty());
        if lists.is_empty() {
            return Some(order);
        }
        if order.len() >= most {
            order.push(Entity::Missing);
            return Some(order);
        }
        let is_free =
            |entity: &Entity| *entity == Entity::Missing || behind.get(entity).is_none_or(|&count| count == 0);
        let next = lists.iter().map(|list| list[0]).find(is_free)?;
        order.push(next);
        for list in lists.iter_mut().filter(|list| list.front() == Some(&next)) {
            list.pop_front();
            if let Some(head) = list.front() {
                *behind.get_mut(head).expect("counted above") -= 1;
            }
        }
    }
}

/// Returns the first `most` ancestors of a class, depth first. Bases of bases are looked at ten times as often at most.
fn depth_first(class: SymbolId, bases: &FxHashMap<SymbolId, Vec<Entity>>, most: usize) -> Vec<Entity> {
    let mut order = Vec::new();
    let mut seen = FxHashSet::from_iter([Entity::Definition(class)]);
    let mut stack: Vec<Entity> = bases[&class].iter().rev().copied().collect();
    let mut looked = 0;
    while let Some(entity) = stack.pop() {
        looked += 1;
        if order.len() >= most || looked > 10 * most {
            order.push(Entity::Missing);
            break;
        }
        if !seen.insert(entity) {
            continue;
        }
        order.push(entity);
        if let Entity::Definition(symbol) = entity {
            stack.extend(bases.get(&symbol).iter().flat_map(|list| list.iter().rev().copied()));
        }
    }
    order
}
