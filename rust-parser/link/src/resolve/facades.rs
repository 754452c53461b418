//! Top-level functions of files that another language sees as static methods of a class: `UtilKt.help()` calls `help` of
//! `Util.kt`, and `@file:JvmName("Helpers")` names the class.

use crate::entity::{Entity, Value, Values};
use crate::project::file_entry::{Bound, FileEntry, is_callable};
use crate::project::given_names::given_name;
use crate::project::names::{FILE_NODE, Sym, SymbolId};
use crate::project::paths::file_name_of;
use crate::project::query::Query;
use crate::strategy::Strategy;
use atlas_facts::{DefId, Expr, ExprId, Kind};

/// Largest number of definitions of a name that are examined.
const MAX_NAMED: usize = 64;

impl FileEntry {
    /// Returns the name of the class that holds the top-level functions of this file for other languages.
    pub fn facade(&self) -> Option<String> {
        let ending = self.rules.facade_ending.as_str();
        if ending.is_empty() {
            return None;
        }
        let named = self.def(0).decorators.iter().find_map(|&decorator| given_name(self.facts(), decorator));
        Some(named.map_or_else(
            || {
                let stem = file_name_of(&self.path).split('.').next().unwrap_or("");
                let mut signs = stem.chars();
                let first = signs.next().into_iter().flat_map(char::to_uppercase);
                first.chain(signs).chain(ending.chars()).collect()
            },
            str::to_owned,
        ))
    }

    /// Returns whether other languages know a function by a name.
    fn is_known_as(&self, def: DefId, name: Sym) -> bool {
        let given = self.given_names.iter().find(|known| known.0 == def);
        given.map_or(self.outline(def).name, |known| known.1) == name
    }
}

impl Query<'_> {
    /// Returns the function that `Facade.name(...)` calls with a number of arguments; a function may take the object that
    /// it extends and its continuation as further ones.
    pub fn facade_function(&self, base: ExprId, name: Sym, given: usize) -> Option<Value> {
        let rules = &self.file.rules;
        let facade = match *self.file.expr(base) {
            Expr::Name(facade) | Expr::Attribute { name: facade, .. } => facade,
            _ => return None,
        };
        if !rules.sees_facades || !self.file.text(facade).starts_with(char::is_uppercase) {
            return None;
        }
        let packages = self.packages_of(self.file.sym(facade));
        let module = self.dotted_path(base).and_then(|path| path.rsplit_once('.').map(|(module, _)| module.to_owned()));
        let named = self.named(name);
        if named.len() > MAX_NAMED {
            return None;
        }
        let fitting = named.iter().filter_map(|&symbol| {
            let (file, def) = self.top_level_function(symbol)?;
            let package = self.text(file.module);
            let is_visible = match &module {
                Some(module) => module == package,
                None => packages.iter().any(|known| known == package),
            };
            let is_named =
                file.facade().is_some_and(|own| own == self.file.text(facade)) && file.is_known_as(def, name);
            let extends = usize::from(file.outline(file.outline(def).parent).kind == Kind::Extension);
            let missing = given.checked_sub(file.def(def).params.len() + extends)?;
            (is_visible && is_named && missing <= 1).then_some((missing, symbol))
        });
        let mut fitting: Vec<(usize, SymbolId)> = fitting.collect();
        let least = fitting.iter().map(|&(missing, _)| missing).min()?;
        fitting.retain(|&(missing, _)| missing == least);
        match fitting[..] {
            [(_, only)] => Some(Value::new(Entity::Definition(only), Strategy::ClassAttribute)),
            _ => None,
        }
    }

    fn top_level_function(&self, symbol: SymbolId) -> Option<(&FileEntry, DefId)> {
        let place = self.index.symbols.get(symbol);
        let (file, definition) = self.definition(symbol);
        let around = file.outline(definition.parent);
        let is_top = definition.parent == 0 || around.kind == Kind::Extension && around.parent == 0;
        let is_ours = file.rules.family == self.file.rules.family && !file.rules.facade_ending.is_empty();
        (place.def != FILE_NODE && is_callable(definition.kind) && is_top && is_ours).then_some((file, place.def))
    }

    /// Returns the packages in which the name of a class is looked for: that of its import, else those that are visible.
    fn packages_of(&self, class: Sym) -> Vec<String> {
        let facts = self.file.facts();
        let imported = self.file.entries(0, class).iter().find_map(|entry| match entry.bound {
            Bound::Import(import) => Some(self.file.text(facts.imports[import as usize].module).to_owned()),
            _ => None,
        });
        if let Some(package) = imported {
            return vec![package];
        }
        let stars = self.file.stars().iter().map(|&(_, import)| self.file.text(facts.imports[import as usize].module));
        std::iter::once(self.text(self.file.module)).chain(stars).map(str::to_owned).collect()
    }

    fn dotted_path(&self, expr: ExprId) -> Option<String> {
        match *self.file.expr(expr) {
            Expr::Name(name) | Expr::Scope(name) => Some(self.file.text(name).to_owned()),
            Expr::Attribute { base, name } => Some(format!("{}.{}", self.dotted_path(base)?, self.file.text(name))),
            _ => None,
        }
    }

    /// Returns the functions that `import static a.UtilKt.help` names.
    pub fn facade_import(&self, module: &str, name: Sym) -> Values {
        let Some((package, facade)) = module.rsplit_once('.') else {
            return Values::new();
        };
        let named = self.named(name);
        if named.len() > MAX_NAMED {
            return Values::new();
        }
        let fitting = named.iter().filter(|&&symbol| {
            self.top_level_function(symbol).is_some_and(|(file, def)| {
                let is_named = file.facade().is_some_and(|own| own == facade);
                is_named && self.text(file.module) == package && file.is_known_as(def, name)
            })
        });
        let mut found: Values = Values::new();
        for &symbol in fitting {
            found.push(Value::new(Entity::Definition(symbol), Strategy::Import));
        }
        if found.len() == 1 { found } else { Values::new() }
    }
}
