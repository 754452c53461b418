//! Contributions of a file to the answers of queries, by which an update finds the files to link again.

use crate::project::arity::Arity;
use crate::project::dependencies::{Contributions, DependencyKind, digest_of, key, text_key};
use crate::project::file_entry::{Bound, FileEntry, NameEntry, SharedScope, is_class, is_global, is_open_scope};
use crate::project::names::{EMPTY, Sym};
use crate::project::paths::{file_name_of, folder_of};
use atlas_facts::{DefId, Definition, Expr, ExprId, Import, Kind};

impl FileEntry {
    /// Returns everything in this file that queries of other files depend on, as pairs of key and digest.
    pub fn contributions(&self) -> Contributions {
        let path = &*self.path;
        let mut out = vec![
            (text_key(DependencyKind::Path, 0, path), 1),
            (text_key(DependencyKind::Path, 1, file_name_of(path)), digest_of(path)),
        ];
        let file = digest_of((self.is_test, self.rules.family, self.module, self.facade()));
        for (def, definition) in self.outlines.iter().enumerate() {
            let symbol = self.symbols[def];
            let parent = self.symbols[definition.parent as usize];
            // Paths of routes refer to the values of constants.
            let params = match definition.kind {
                Kind::Constant | Kind::Field => Some(digest_of(self.text(self.def(def as DefId).signature))),
                kind => (is_class(kind) || kind == Kind::TypeAlias).then(|| {
                    let class = self.def(def as DefId);
                    digest_of((self.params_digest(class), self.type_parameters(class)))
                }),
            };
            let mut digest = digest_of((definition.kind, definition.flags, parent, symbol, file, params));
            if definition.kind == Kind::TypeAlias {
                digest = digest_of((digest, self.is_shaped(def as DefId)));
            }
            if is_class(definition.kind) || definition.kind == Kind::Field {
                digest = digest_of((digest, self.provided(def as DefId)));
            }
            if def == 0 && self.is_value {
                digest = digest_of((digest, self.path_digest(self.def(0).bases[0])));
            }
            if definition.kind == Kind::Class && self.rules.prototypes {
                out.push((key(DependencyKind::Member, parent, EMPTY), digest_of(symbol)));
            }
            out.push((key(DependencyKind::Definition, symbol, 0), digest));
            if self.is_node(def as DefId) {
                out.push((key(DependencyKind::Name, definition.name, 0), digest));
                out.push((key(DependencyKind::Uid, self.qualified_names[def], 0), digest));
            }
            match self.shared_scope(def as DefId) {
                Some(SharedScope::Folder) => {
                    let name = self.text(self.def(def as DefId).name);
                    let place = format!("{}\0{name}", folder_of(&self.path));
                    out.push((text_key(DependencyKind::Shared, 0, &place), digest));
                }
                Some(SharedScope::Package(package)) => {
                    out.push((key(DependencyKind::Shared, package, definition.name), digest));
                }
                None => {}
            }
        }
        for &(def, name) in &self.given_names {
            let symbol = self.symbols[def as usize];
            out.push((key(DependencyKind::Name, name, 0), digest_of((symbol, file))));
        }
        out.push((key(DependencyKind::Uid, self.file_name, 0), digest_of((self.file_symbol, file))));
        if self.has_global_imports {
            let imports = self.facts().imports.iter().filter(|import| is_global(import));
            let parts: Vec<u64> = imports.map(|import| self.import_digest(import)).collect();
            let key = key(DependencyKind::GlobalImports, u32::from(self.rules.family), 0);
            out.push((key, digest_of((path, self.module, parts))));
        }
        for package in self.packages() {
            out.push((key(DependencyKind::Uid, package, 0), 1));
        }
        self.contribute_names(&mut out);
        if self.rules.lists_folders() {
            let key = text_key(DependencyKind::Children, self.rules.family as u8, self.rules.listed_in(&self.path));
            out.push((key, digest_of((self.file_symbol, file))));
        }
        out
    }

    /// Returns the digest of the properties of parameters that calls depend on.
    fn params_digest(&self, definition: &Definition) -> u64 {
        let names: Vec<Sym> = definition.params.iter().map(|param| self.sym(param.name)).collect();
        digest_of((Arity::of(definition), names))
    }

    fn contribute_names(&self, out: &mut Contributions) {
        for group in self.names().chunk_by(|a, b| (a.scope, a.name) == (b.scope, b.name)) {
            let NameEntry { scope, name, .. } = group[0];
            if !is_open_scope(self.outline(scope).kind) {
                continue;
            }
            // One digest for the group, because the order of its entries decides which one is followed.
            let parts: Vec<u64> = group.iter().map(|entry| self.bound_digest(entry.bound)).collect();
            out.push((key(DependencyKind::Member, self.symbols[scope as usize], name), digest_of(parts)));
        }
        for (order, &(scope, import)) in self.stars().iter().enumerate() {
            let digest = digest_of((order, self.import_digest(&self.facts().imports[import as usize])));
            out.push((key(DependencyKind::Star, self.symbols[scope as usize], 0), digest));
        }
    }

    fn bound_digest(&self, bound: Bound) -> u64 {
        match bound {
            Bound::Definition(def) => {
                let definition = self.def(def);
                digest_of((1, self.symbols[def as usize], definition.flags, self.params_digest(definition)))
            }
            Bound::Import(import) => self.import_digest(&self.facts().imports[import as usize]),
            Bound::Parameter(_) => 2,
            Bound::Binding(binding) => match self.facts().bindings[binding as usize].value {
                Some(value) => digest_of((3, self.path_digest(value))),
                None => 4,
            },
        }
    }

    fn import_digest(&self, import: &Import) -> u64 {
        let member = import.member.map(|name| self.sym(name));
        let alias = import.alias.map(|name| self.sym(name));
        digest_of((self.sym(import.module), import.level, member, alias, import.kind as u8))
    }

    /// Returns the digest of a dotted path (`a.b.c`); all other expressions have the same one, because no other file
    /// follows them.
    fn path_digest(&self, expr: ExprId) -> u64 {
        match *self.expr(expr) {
            Expr::Name(name) | Expr::Scope(name) => digest_of((1, self.sym(name))),
            Expr::Attribute { base, name } => digest_of((2, self.path_digest(base), self.sym(name))),
            Expr::Lambda(def) => digest_of((3, self.symbols[def as usize], self.outline(def).kind)),
            _ => 0,
        }
    }
}
