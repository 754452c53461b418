//! The facts of a file, unpacked during use and packed otherwise.
//!
//! Between updates the linker keeps facts packed, at a sixth of their size in memory. Linking a file unpacks the facts
//! that it reads.

use std::sync::{Arc, OnceLock};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::project::file_entry::{Bound, FileEntry, NameEntry, is_class, is_star};
use crate::project::names::{DEFAULT, Sym};
use atlas_facts::cache::ContentDigest;
use atlas_facts::packed::{pack, unpack};
use atlas_facts::{Binding, BindingKind, DefId, Expr, ExprId, FileFacts, ImportKind, Kind, flags};

const KNOWN: &str = "facts packed by this process or checked when the cache was read";

/// Facts and data derived from them alone.
pub struct UnpackedFacts {
    pub facts: Arc<FileFacts>,
    pub names: Box<[NameEntry]>,
    /// Start of each scope's names, and the end of the last one.
    pub scopes: Box<[u32]>,
    pub stars: Box<[(DefId, u32)]>,
    /// Bindings that store elements in a variable of this file, by scope and name, sorted.
    pub stores: Box<[(DefId, Sym, u32)]>,
    pub returns: Box<[(DefId, u32)]>,
    /// Functions that are arguments of a call, with the call and their position, sorted.
    pub callbacks: Box<[(DefId, ExprId, u16)]>,
    /// Functions that are bound to a name with a type or returned, with the binding, sorted.
    pub bound_functions: Box<[(DefId, u32)]>,
}

/// The facts of a file, packed, unpacked or both.
pub struct PackedFacts {
    /// Digest of the file's content.
    pub digest: ContentDigest,
    /// Packed facts; empty until the first packing.
    packed: Box<[u8]>,
    /// New facts that have not been read yet.
    fresh: Option<Arc<FileFacts>>,
    unpacked: OnceLock<Box<UnpackedFacts>>,
}

impl PackedFacts {
    pub fn new(facts: Arc<FileFacts>) -> PackedFacts {
        PackedFacts { digest: facts.digest, packed: Box::default(), fresh: Some(facts), unpacked: OnceLock::new() }
    }

    /// Returns the facts of a content that the cache holds, to be added by `put_packed` before they are read.
    pub fn cached(digest: ContentDigest) -> PackedFacts {
        PackedFacts { digest, packed: Box::default(), fresh: None, unpacked: OnceLock::new() }
    }

    /// Adds the packed facts.
    pub fn put_packed(&mut self, packed: Box<[u8]>) {
        self.packed = packed;
    }

    /// Returns the unpacked facts, which are unpacked on first use.
    pub fn unpacked(&self, file: &FileEntry) -> &UnpackedFacts {
        self.unpacked.get_or_init(|| {
            let facts = self.fresh.clone().unwrap_or_else(|| Arc::new(unpack(&self.packed).expect(KNOWN)));
            Box::new(UnpackedFacts::new(facts, file))
        })
    }

    pub fn is_unpacked(&self) -> bool {
        self.fresh.is_some() || self.unpacked.get().is_some()
    }

    /// Drops the facts, which must not be read any more.
    pub fn release(&mut self) {
        self.packed = Box::default();
        self.fresh.take();
        self.unpacked.take();
    }

    /// Drops the unpacked facts, after packing them if necessary.
    pub fn pack(&mut self) {
        if let Some(facts) = self.fresh.take() {
            self.packed = pack(&facts).into();
        }
        self.unpacked.take();
    }
}

impl UnpackedFacts {
    fn new(facts: Arc<FileFacts>, file: &FileEntry) -> UnpackedFacts {
        let (mut names, mut stars, mut returns) = (Vec::new(), Vec::new(), Vec::new());
        let mut add = |scope, name, bound| names.push(NameEntry { scope, name, bound });
        for (def, definition) in facts.definitions.iter().enumerate() {
            let def = def as DefId;
            if def != 0 && !matches!(definition.kind, Kind::Lambda | Kind::Extension) {
                add(definition.parent, file.sym(definition.name), Bound::Definition(def));
                if definition.flags & flags::DEFAULT_EXPORT != 0 {
                    add(0, DEFAULT, Bound::Definition(def));
                }
            }
            if let Some(&(_, given)) = file.given_names.iter().find(|known| known.0 == def)
                && definition.parent != 0
            {
                add(definition.parent, given, Bound::Definition(def));
            }
            for (position, param) in definition.params.iter().enumerate() {
                add(def, file.sym(param.name), Bound::Parameter(position as u32));
            }
        }
        for (index, import) in facts.imports.iter().enumerate() {
            let is_visible = import.kind == ImportKind::Include && file.rules.includes.visible;
            if is_star(import) || is_visible {
                stars.push((import.scope, index as u32));
            } else if let Some(alias) = import.alias {
                add(import.scope, file.sym(alias), Bound::Import(index as u32));
            }
        }
        let objects = objects(&facts, file);
        let outer = outer_names(&facts, file);
        for (index, binding) in facts.bindings.iter().enumerate() {
            let bound = Bound::Binding(index as u32);
            if binding.kind == BindingKind::Return {
                returns.push((binding.scope, index as u32));
                continue;
            }
            match facts.exprs[binding.target as usize] {
                Expr::Name(name) => match outer.get(&(binding.scope, file.sym(name))) {
                    Some(_) if binding.kind == BindingKind::Outer => {}
                    Some(&scope) => add(scope, file.sym(name), bound),
                    None => add(binding.scope, file.sym(name), bound),
                },
                Expr::Attribute { base, name } if matches!(facts.exprs[base as usize], Expr::This { .. }) => {
                    if let Some(class) = file.enclosing_class(binding.scope) {
                        add(class, file.sym(name), bound);
                    }
                }
                Expr::Attribute { base, name } if file.rules.prototypes => {
                    if let Some(&object) = objects.get(&(binding.scope, base)) {
                        add(object, file.sym(name), bound);
                    }
                }
                _ => {}
            }
        }
        names.sort_unstable();
        returns.sort_unstable();
        let scopes = starts(&names, facts.definitions.len());
        UnpackedFacts {
            stores: stores(&facts, file, &names),
            names: names.into(),
            scopes,
            stars: stars.into(),
            returns: returns.into(),
            callbacks: callbacks(&facts),
            bound_functions: bound_functions(&facts),
            facts,
        }
    }
}

/// Returns the scopes of the names that functions declare to be of an outer scope (`global`, `nonlocal`).
fn outer_names(facts: &FileFacts, file: &FileEntry) -> FxHashMap<(DefId, Sym), DefId> {
    let named = |binding: &Binding| match facts.exprs[binding.target as usize] {
        Expr::Name(name) => Some((binding.scope, file.sym(name))),
        _ => None,
    };
    let (outer, own): (Vec<&Binding>, Vec<&Binding>) =
        facts.bindings.iter().partition(|binding| binding.kind == BindingKind::Outer);
    if outer.is_empty() {
        return FxHashMap::default();
    }
    let mut bound: FxHashSet<(DefId, Sym)> = own.into_iter().filter_map(named).collect();
    for (def, definition) in facts.definitions.iter().enumerate() {
        bound.extend(definition.params.iter().map(|param| (def as DefId, file.sym(param.name))));
    }
    let mut found = FxHashMap::default();
    for (scope, name) in outer.into_iter().filter_map(named) {
        let mut here = file.outline(scope).parent;
        while here != 0 && (is_class(file.outline(here).kind) || !bound.contains(&(here, name))) {
            here = file.outline(here).parent;
        }
        found.insert((scope, name), here);
    }
    found
}

/// Returns the bindings that store elements in the variables of this file.
fn stores(facts: &FileFacts, file: &FileEntry, names: &[NameEntry]) -> Box<[(DefId, Sym, u32)]> {
    let mut found = Vec::new();
    for (index, binding) in facts.bindings.iter().enumerate() {
        let base = match facts.exprs[binding.target as usize] {
            Expr::Index { base, .. } => base,
            // Objects are tables.
            Expr::Attribute { base, .. } if file.rules.prototypes => base,
            _ => continue,
        };
        // An element of an element: `handlers["get"]["user"] = show`.
        let base = match facts.exprs[base as usize] {
            Expr::Index { base: outer, index } if matches!(facts.exprs[index as usize], Expr::Key(_)) => outer,
            _ => base,
        };
        match facts.exprs[base as usize] {
            Expr::Name(name) => {
                let name = file.sym(name);
                let mut here = binding.scope;
                loop {
                    let at = names.partition_point(|entry| (entry.scope, entry.name) < (here, name));
                    if names.get(at).is_some_and(|entry| (entry.scope, entry.name) == (here, name)) {
                        found.push((here, name, index as u32));
                        break;
                    }
                    if here == 0 {
                        break;
                    }
                    here = file.outline(here).parent;
                }
            }
            Expr::Attribute { base, name } if matches!(facts.exprs[base as usize], Expr::This { .. }) => {
                if let Some(class) = file.enclosing_class(binding.scope) {
                    found.push((class, file.sym(name), index as u32));
                }
            }
            _ => {}
        }
    }
    found.sort_unstable();
    found.into()
}

/// Returns the functions that are arguments of calls.
fn callbacks(facts: &FileFacts) -> Box<[(DefId, ExprId, u16)]> {
    let mut found = Vec::new();
    for (call, expr) in facts.exprs.iter().enumerate() {
        let Expr::Call { args, .. } = expr else { continue };
        for (position, arg) in (0..u16::MAX).zip(args) {
            if let Expr::Lambda(def) = facts.exprs[arg.value as usize] {
                found.push((def, call as ExprId, position));
            }
        }
    }
    found.sort_unstable();
    found.into()
}

/// Returns the functions that are values of bindings with a type, or results.
fn bound_functions(facts: &FileFacts) -> Box<[(DefId, u32)]> {
    let numbered = (0..).zip(&facts.bindings);
    let mut found: Vec<(DefId, u32)> = numbered
        .filter(|(_, binding)| binding.annotation.is_some() || binding.kind == BindingKind::Return)
        .filter_map(|(number, binding)| match facts.exprs[binding.value? as usize] {
            Expr::Lambda(def) => Some((def, number)),
            _ => None,
        })
        .collect();
    found.sort_unstable();
    found.into()
}

/// Returns the extensions of objects by scope and expression.
fn objects(facts: &FileFacts, file: &FileEntry) -> FxHashMap<(DefId, ExprId), DefId> {
    if !file.rules.prototypes {
        return FxHashMap::default();
    }
    let numbered = facts.definitions.iter().enumerate().rev();
    let extensions = numbered.filter(|(_, definition)| definition.kind == Kind::Extension);
    extensions
        .filter_map(|(def, definition)| Some(((definition.parent, *definition.bases.first()?), def as DefId)))
        .collect()
}

fn starts(names: &[NameEntry], scopes: usize) -> Box<[u32]> {
    let mut starts = vec![0; scopes + 1];
    for entry in names {
        starts[entry.scope as usize + 1] += 1;
    }
    for scope in 0..scopes {
        starts[scope + 1] += starts[scope];
    }
    starts.into()
}
