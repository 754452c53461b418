//! Members that annotations provide: `@Data` gives `getName()` and `setName()` for the field `name`, `@Builder` a
//! `builder()` with a method per field and `build()`. They stand for the field and for the class. Properties of another
//! language of the family have such accessors, too (`person.getName()` of a Kotlin class), and that language reads
//! accessors as properties (`person.name` of a Java class).

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
        let rules = &self.file.rules;
        if !self.calling.get() {
            return self.read_accessor(class, name).or_else(|| self.object_of_class(class, name));
        }
        if rules.getter_annotations.is_empty() && !rules.sees_facades {
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
        let has_properties = self.file.rules.sees_facades && !file.rules.facade_ending.is_empty();
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
                _ if has_properties => prefix != "with",
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
            let is_field = matches!(outline.kind, Kind::Field | Kind::Property);
            is_field && outline.flags & flags::STATIC == 0
        });
        fields.next().map(|def| file.symbols[def as usize])
    }

    /// Returns the accessor of another language's class that reading a property calls: `getName` for `person.name`.
    fn read_accessor(&self, class: SymbolId, name: Sym) -> Option<Values> {
        let text = self.text(name);
        if self.file.rules.facade_ending.is_empty() || !text.starts_with(char::is_lowercase) {
            return None;
        }
        let method = match text.strip_prefix("is") {
            Some(rest) if rest.starts_with(char::is_uppercase) => text.to_owned(),
            _ => format!("get{}", capitalised(text)),
        };
        self.accessor(class, &method, 0).map(|getter| smallvec![Value::new(getter, Strategy::AttributeType)])
    }

    /// Returns the method of another language's class, or of its ancestors, with a number of parameters.
    fn accessor(&self, class: SymbolId, name: &str, params: usize) -> Option<Entity> {
        let name = self.known(name);
        let bases = self.ancestors(class).iter().filter_map(|ancestor| match *ancestor {
            Entity::Definition(base) => Some(base),
            _ => None,
        });
        std::iter::once(class).chain(bases).find_map(|class| {
            let (file, entries) = self.entries(class, name);
            let is_accessor = |&def: &DefId| {
                let outline = file.outline(def);
                file.rules.sees_facades
                    && outline.kind == Kind::Method
                    && outline.flags & flags::STATIC == 0
                    && file.def(def).params.len() == params
            };
            let def = chosen_definitions(file, entries).into_iter().find(is_accessor)?;
            Some(Entity::Definition(file.symbols[def as usize]))
        })
    }

    /// Returns whether a member is the accessor that reading a property of another name calls.
    pub fn is_read_accessor(&self, member: SymbolId, name: Sym) -> bool {
        let (file, definition) = self.definition(member);
        !self.file.rules.facade_ending.is_empty()
            && file.rules.sees_facades
            && definition.kind == Kind::Method
            && (definition.name != name || self.text(name).starts_with("is"))
    }

    /// Returns the accessor that setting a property calls, given the one that reading it calls.
    pub fn set_accessor(&self, getter: SymbolId, name: Sym) -> Option<SymbolId> {
        let (file, definition) = self.definition(getter);
        let owner = file.symbols[definition.parent as usize];
        let text = self.text(name);
        let named = text.strip_prefix("is").filter(|rest| rest.starts_with(char::is_uppercase));
        let name = named.map_or_else(|| capitalised(text), str::to_owned);
        match self.accessor(owner, &format!("set{name}"), 1)? {
            Entity::Definition(setter) => Some(setter),
            _ => None,
        }
    }

    /// Returns the only object of a class of another language, and its companion, whose members are those of the class:
    /// `Registry.INSTANCE`, `Registry.Companion`.
    fn object_of_class(&self, class: SymbolId, name: Sym) -> Option<Values> {
        let (file, definition) = self.definition(class);
        let is_seen = self.file.rules.sees_facades && !file.rules.facade_ending.is_empty();
        let is_object = matches!(self.text(name), "INSTANCE" | "Companion") && is_class(definition.kind);
        (is_seen && is_object).then(|| smallvec![Value::new(Entity::Definition(class), Strategy::ClassAttribute)])
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

fn capitalised(name: &str) -> String {
    let mut signs = name.chars();
    signs.next().into_iter().flat_map(char::to_uppercase).chain(signs).collect()
}
