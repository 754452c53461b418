//! Parameters of tests that name fixtures: their values are what the fixture returns or yields.

use crate::entity::{Entity, Value, Values};
use crate::project::file_entry::Bound;
use crate::project::names::{EMPTY, Sym, SymbolId};
use crate::project::paths::folder_of;
use crate::project::query::Query;
use atlas_facts::{DefId, Expr, ExprId, Kind, flags};

/// In place of type arguments: the type of a value follows from a fixture. No checker confirms it, so that reading a
/// property of the value counts as no call.
pub const ASSUMED: &str = "?";
/// Name of the decorator that makes a function a fixture.
const FIXTURE: &str = "fixture";
/// Largest number of folders above a file in which fixtures are looked for.
const MAX_FOLDERS: usize = 8;

impl Query<'_> {
    /// Returns what the fixture that a parameter names provides.
    pub(super) fn fixture_values(&self, function: DefId, name: Sym) -> Values {
        let is_asking = self.file.rules.parameter_fixtures
            && (self.file.is_test || self.file.path.ends_with("conftest.py"))
            && matches!(self.file.outline(function).kind, Kind::Function | Kind::Method)
            && (self.file.outline(function).flags & flags::TEST != 0 || self.is_fixture(function));
        if !is_asking {
            return Values::new();
        }
        let Some(fixture) = self.fixture_of(function, name) else { return Values::new() };
        let (file, definition) = self.definition(fixture);
        let is_generator = file.outline(self.index.symbols.get(fixture).def).flags & flags::GENERATOR != 0;
        let own = file.symbols[definition.parent as usize];
        let values = self.returns(fixture);
        let values = if is_generator { self.flat_map(values, |value| self.element(value, true)) } else { values };
        let assumed = self.index.strings.intern(ASSUMED);
        let others = values.into_iter().filter(|value| value.entity != Entity::Instance(own));
        others.map(|value| if value.args == EMPTY { Value { args: assumed, ..value } } else { value }).collect()
    }

    /// Returns whether the owner of an attribute is known only because a fixture provides it.
    pub(crate) fn is_assumed(&self, attribute: ExprId, scope: DefId, line: u32) -> bool {
        let Expr::Attribute { base, .. } = *self.file.expr(attribute) else { return false };
        self.file.rules.parameter_fixtures
            && self.file.is_test
            && self.eval(base, scope, line).iter().any(|value| self.text(value.args) == ASSUMED)
    }

    fn is_fixture(&self, function: DefId) -> bool {
        self.file.def(function).decorators.iter().any(|&decorator| {
            let named = match *self.file.expr(decorator) {
                Expr::Call { callee, .. } => callee,
                _ => decorator,
            };
            let (Expr::Name(name) | Expr::Attribute { name, .. }) = *self.file.expr(named) else { return false };
            self.file.text(name) == FIXTURE
        })
    }

    /// Returns the fixture with a name: of the classes around, the module, or the nearest `conftest.py`.
    fn fixture_of(&self, function: DefId, name: Sym) -> Option<SymbolId> {
        let mut here = function;
        while here != 0 {
            here = self.file.outline(here).parent;
            let found = self.file.entries(here, name).iter().find_map(|entry| match entry.bound {
                Bound::Definition(def) if def != function && self.is_fixture(def) => Some(def),
                _ => None,
            });
            if let Some(found) = found {
                return Some(self.file.symbols[found as usize]);
            }
        }
        let mut folder = folder_of(&self.file.path);
        for _ in 0..MAX_FOLDERS {
            let path = if folder.is_empty() { "conftest.py".to_owned() } else { format!("{folder}/conftest.py") };
            if let Some(file) = self.file_at(&path).filter(|&file| file != self.home) {
                let (shared, entries) = self.entries(self.module_symbol(file), name);
                let found = entries.iter().find_map(|entry| match entry.bound {
                    Bound::Definition(def) if shared.outline(def).kind == Kind::Function => Some(def),
                    _ => None,
                });
                if let Some(found) = found {
                    return Some(shared.symbols[found as usize]);
                }
            }
            if folder.is_empty() {
                break;
            }
            folder = folder_of(folder);
        }
        None
    }
}
