//! Members that annotations provide: `@Data` gives `getName()` and `setName()` for the field `name`, `@Builder` a
//! `builder()` with a method per field and `build()`. They stand for the field and for the class.

use smallvec::smallvec;

use crate::entity::{Entity, Value, Values};
use crate::project::file_entry::{FileEntry, is_class};
use crate::project::names::{Sym, SymbolId};
use crate::project::query::Query;
use crate::resolve::definitions::chosen_definitions;
use crate::strategy::Strategy;
use atlas_facts::{Arg, DefId, Expr, Kind, flags};

/// What annotations of a class or field provide.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Provided {
    getters: bool,
    setters: bool,
    builder: bool,
}

impl FileEntry {
    /// Returns what the annotations of a class or field provide.
    pub fn provided(&self, def: DefId) -> Provided {
        let mut found = Provided::default();
        if self.rules.getter_annotations.is_empty() {
            return found;
        }
        for &decorator in &self.def(def).decorators {
            let named = match *self.expr(decorator) {
                Expr::Call { callee, .. } => callee,
                _ => decorator,
            };
            let (Expr::Name(name) | Expr::Attribute { name, .. }) = *self.expr(named) else { continue };
            let name = self.text(name);
            let is_known = |names: &[String]| {
                names.iter().any(|dotted| {
                    let parts = dotted.rsplit_once('.');
                    parts.is_some_and(|(package, own)| own == name && self.imports_from(package, own))
                })
            };
            found.getters |= is_known(&self.rules.getter_annotations);
            found.setters |= is_known(&self.rules.setter_annotations);
            found.builder |= is_known(&self.rules.builder_annotations);
        }
        found
    }

    fn imports_from(&self, package: &str, name: &str) -> bool {
        self.facts().imports.iter().any(|import| {
            let is_member = import.member.is_none_or(|member| self.text(member) == name);
            is_member && self.text(import.module) == package
        })
    }
}

impl Query<'_> {
    /// Returns what a member stands for that a class does not have itself and that its annotations provide.
    pub(super) fn provided_member(&self, class: SymbolId, name: Sym) -> Option<Values> {
        if self.file.rules.getter_annotations.is_empty() || !self.calling.get() {
            return None;
        }
        let bases = self.ancestors(class).iter().filter_map(|ancestor| match *ancestor {
            Entity::Definition(base) => Some(base),
            _ => None,
        });
        std::iter::once(class).chain(bases).find_map(|class| self.own_provided(class, name))
    }

    fn own_provided(&self, class: SymbolId, name: Sym) -> Option<Values> {
        let (file, definition) = self.definition(class);
        if !is_class(definition.kind) {
            return None;
        }
        let by_class = file.provided(self.index.symbols.get(class).def);
        let text = self.text(name);
        if by_class.builder && matches!(text, "builder" | "build" | "toBuilder") {
            return Some(smallvec![Value::new(Entity::Definition(class), Strategy::ClassAttribute)]);
        }
        ["get", "is", "set", "with"].into_iter().find_map(|prefix| {
            let rest = text.strip_prefix(prefix).filter(|rest| rest.starts_with(char::is_uppercase))?;
            let field = self.field_named(class, &decapitalised(rest)).or_else(|| {
                (prefix == "is" || prefix == "set").then(|| self.field_named(class, &format!("is{rest}"))).flatten()
            })?;
            let by_field = file.provided(self.index.symbols.get(field).def);
            let is_provided = match prefix {
                "get" | "is" => by_class.getters || by_field.getters,
                _ => by_class.setters || by_field.setters,
            };
            is_provided.then(|| smallvec![Value::new(Entity::Definition(field), Strategy::AttributeType)])
        })
    }

    fn field_named(&self, class: SymbolId, name: &str) -> Option<SymbolId> {
        let (file, entries) = self.entries(class, self.known(name));
        let defs = chosen_definitions(file, entries).into_iter();
        let mut fields = defs.filter(|&def| {
            let outline = file.outline(def);
            outline.kind == Kind::Field && outline.flags & flags::STATIC == 0
        });
        fields.next().map(|def| file.symbols[def as usize])
    }

    /// Returns whether a call sets a field of an object that is being built: `Account.builder().name("x")`.
    pub(super) fn is_building(&self, receiver: Value, member: Value, args: &[Arg]) -> bool {
        let (Entity::Instance(class), Entity::Definition(field)) = (receiver.entity, member.entity) else {
            return false;
        };
        args.len() == 1 && !self.file.rules.getter_annotations.is_empty() && self.kind(field) == Kind::Field && {
            let (file, _) = self.definition(class);
            file.provided(self.index.symbols.get(class).def).builder
        }
    }
}

fn decapitalised(name: &str) -> String {
    let mut signs = name.chars();
    signs.next().into_iter().flat_map(char::to_lowercase).chain(signs).collect()
}
