//! Interfaces of the project with one method, which functions implement: `submit(Users::save)` for a parameter of a type
//! `interface Job { void run(User user); }`. Such an interface publishes its method and the types of its parameters.

use smallvec::smallvec;

use crate::entity::{Entity, Value, Values, merge};
use crate::project::file_entry::{FileEntry, is_callable, is_class};
use crate::project::file_types::{FUNCTIONAL, signature_part};
use crate::project::names::{FILE_NODE, Sym, SymbolId};
use crate::project::query::Query;
use crate::resolve::callbacks::MAX_PARAMETERS;
use crate::resolve::types::published;
use crate::strategy::Strategy;
use atlas_facts::{DefId, Expr, ExprId, Kind, ParamKind, flags};

/// Largest number of interfaces with one name that are looked at.
const MAX_NAMED: usize = 4;

impl Query<'_> {
    /// Returns the only method without a body of an interface and the types of its parameters, by part.
    pub(super) fn functional_types(&self, def: DefId) -> Vec<(u16, Values)> {
        let definition = self.file.def(def);
        if definition.kind != Kind::Interface
            || self.file.rules.function_types.is_empty()
            || !definition.bases.is_empty()
        {
            return Vec::new();
        }
        let facts = self.file.facts();
        let mut methods = (0..)
            .zip(&facts.definitions)
            .filter(|(_, one)| one.parent == def && is_callable(one.kind) && one.flags & flags::ABSTRACT != 0);
        let (Some((method, declared)), None) = (methods.next(), methods.next()) else { return Vec::new() };
        let symbol = Value::new(Entity::Definition(self.file.symbols[method as usize]), Strategy::Annotation);
        let mut parts = vec![(FUNCTIONAL, smallvec![symbol])];
        let params = declared.params.iter().filter(|param| param.kind == ParamKind::Normal);
        for (position, param) in (0..MAX_PARAMETERS).zip(params) {
            if let Some(annotation) = param.annotation {
                let values = self.naming_parameters(|| self.eval_type(annotation, method, 0));
                parts.push((signature_part(position), published(values, None)));
            }
        }
        parts.retain(|(_, values)| !values.is_empty());
        parts
    }

    /// Returns the method that calling an object of a functional interface of the project runs.
    fn functional_method(&self, interface: SymbolId) -> Option<SymbolId> {
        if self.file.rules.function_types.is_empty() {
            return None;
        }
        match self.returned_as(interface, FUNCTIONAL) {
            &[Value { entity: Entity::Definition(method), .. }] => Some(method),
            _ => None,
        }
    }

    /// Returns whether all types of a name are functional interfaces of the project.
    pub(super) fn is_functional_name(&self, file: &FileEntry, name: Sym) -> bool {
        if file.rules.function_types.is_empty() {
            return false;
        }
        let named = self.named(name);
        if named.len() > MAX_NAMED {
            return false;
        }
        let is_type = |symbol: SymbolId| self.index.symbols.get(symbol).def != FILE_NODE && is_class(self.kind(symbol));
        let mut types = named.iter().filter(|&&symbol| is_type(symbol)).peekable();
        types.peek().is_some() && types.all(|&one| self.functional_method(one).is_some())
    }

    /// Returns whether a type has the name of a functional interface of the project.
    pub(super) fn is_functional_type(&self, declared: ExprId) -> bool {
        match *self.file.expr(declared) {
            Expr::Generic { base, .. } => self.is_functional_type(base),
            Expr::Name(name) | Expr::Attribute { name, .. } => {
                let name = self.file.sym(name);
                !self.file.rules.function_types.contains_key(&name) && self.is_functional_name(self.file, name)
            }
            _ => false,
        }
    }

    /// Adds the functions among what a place receives to its declared type, if that is a functional interface.
    pub(super) fn with_functions(&self, declared: &Values, received: &Values) -> Option<Values> {
        if self.file.rules.function_types.is_empty() {
            return None;
        }
        let is_functional =
            |value: &Value| matches!(value.entity, Entity::Instance(class) if self.functional_method(class).is_some());
        if !declared.iter().any(is_functional) {
            return None;
        }
        let is_function =
            |value: &&Value| matches!(value.entity, Entity::Definition(symbol) if is_callable(self.kind(symbol)));
        let mut values = declared.clone();
        merge(&mut values, received.iter().filter(is_function).copied().collect());
        Some(values)
    }

    /// Returns the method of a functional interface with a name, and the functions that stand for objects of it.
    pub fn functional_callees(&self, objects: &Values, name: Sym) -> Option<Values> {
        let methods = objects.iter().filter_map(|value| {
            let Entity::Instance(interface) = value.entity else { return None };
            let method = self.functional_method(interface)?;
            (self.definition(method).1.name == name).then_some(Value { entity: Entity::Definition(method), ..*value })
        });
        let mut found: Values = methods.collect();
        let is_function =
            |value: &&Value| matches!(value.entity, Entity::Definition(symbol) if is_callable(self.kind(symbol)));
        let functions: Values = objects.iter().filter(is_function).copied().collect();
        if found.is_empty() || functions.is_empty() {
            return None;
        }
        merge(&mut found, functions);
        Some(found)
    }
}
