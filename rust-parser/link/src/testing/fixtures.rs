//! Fixtures that a function asks for: by the names of its parameters and by marks, and those that every test uses.

use crate::entity::Entity;
use crate::project::names::{FileId, Sym, SymbolId};
use crate::project::paths::folder_of;
use crate::project::query::Query;
use crate::testing::file_support::Fixture;
use crate::testing::support::is_support;
use atlas_facts::{DefId, DetectionKind, Handler};

/// Largest number of folders above a file in which fixtures are looked for.
const MAX_FOLDERS: usize = 16;

impl Query<'_> {
    /// Returns the fixtures that the parameters of a function name.
    pub(super) fn requested(&self, def: DefId, own: &[Fixture]) -> Vec<SymbolId> {
        if !self.file.rules.parameter_fixtures {
            return Vec::new();
        }
        let params = self.file.def(def).params.clone();
        let mut names: Vec<Sym> = params.iter().map(|param| self.file.sym(param.name)).collect();
        names.extend(self.marked(def));
        let found = names.into_iter().filter_map(|name| self.fixture_named(def, name, own));
        found.filter(|&symbol| symbol != self.file.symbols[def as usize]).collect()
    }

    /// Returns the fixtures that every test in the scope of a function uses.
    pub(super) fn automatic(&self, def: DefId, own: &[Fixture]) -> Vec<SymbolId> {
        if !self.file.rules.parameter_fixtures {
            return Vec::new();
        }
        let scopes = self.scopes_around(def);
        let is_around = |one: &&Fixture| one.is_automatic && scopes.contains(&one.scope);
        let mut found: Vec<SymbolId> = own.iter().filter(is_around).map(|one| one.symbol).collect();
        for file in self.conftests() {
            found.extend(self.fixtures_of(file).iter().filter(|one| one.is_automatic).map(|one| one.symbol));
        }
        found
    }

    /// Returns the names of `@pytest.mark.usefixtures("a", "b")` on a function or a class around it.
    fn marked(&self, def: DefId) -> Vec<Sym> {
        let mut around = vec![def];
        while let Some(&last) = around.last().filter(|&&last| last != 0) {
            around.push(self.file.outline(last).parent);
        }
        let facts = self.file.facts();
        let marks = facts.detections.iter().filter(|one| one.kind == DetectionKind::Requests);
        let marks = marks.filter(|one| matches!(one.handler, Handler::Definition(of) if around.contains(&of)));
        marks.map(|one| self.index.strings.intern(self.file.text(one.path))).collect()
    }

    /// Returns the fixture with a name: of the class, the module, the nearest `conftest.py`, or an imported one.
    fn fixture_named(&self, def: DefId, name: Sym, own: &[Fixture]) -> Option<SymbolId> {
        let itself = self.file.symbols[def as usize];
        let is_it = |one: &&Fixture| one.name == name && one.symbol != itself;
        for scope in self.scopes_around(def) {
            if let Some(found) = own.iter().filter(is_it).find(|one| one.scope == scope) {
                return Some(found.symbol);
            }
        }
        for file in self.conftests() {
            if let Some(found) = self.fixtures_of(file).iter().find(is_it) {
                return Some(found.symbol);
            }
        }
        let values = self.resolve_name(0, name, u32::MAX)?;
        values.iter().find_map(|value| match value.entity {
            Entity::Definition(symbol) if symbol != itself => {
                let place = self.index.symbols.get(symbol);
                let (file, _) = self.definition(symbol);
                is_support(file, place.def).then_some(symbol)
            }
            _ => None,
        })
    }

    fn scopes_around(&self, def: DefId) -> Vec<SymbolId> {
        let mut here = self.file.outline(def).parent;
        let mut found = vec![self.file.symbols[here as usize]];
        while here != 0 {
            here = self.file.outline(here).parent;
            found.push(self.file.symbols[here as usize]);
        }
        found
    }

    /// Returns the files of shared fixtures that apply to this file, nearest first.
    fn conftests(&self) -> Vec<FileId> {
        let mut folder = folder_of(&self.file.path);
        let mut found = Vec::new();
        for _ in 0..MAX_FOLDERS {
            let path = if folder.is_empty() { "conftest.py".to_owned() } else { format!("{folder}/conftest.py") };
            found.extend(self.file_at(&path).filter(|&file| file != self.home));
            if folder.is_empty() {
                break;
            }
            folder = folder_of(folder);
        }
        found
    }
}
