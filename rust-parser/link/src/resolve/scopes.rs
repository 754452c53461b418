//! Resolves bare names: local scopes, the module and its imports, and scopes shared by several files.

use std::rc::Rc;

use smallvec::smallvec;

use crate::entity::{Entity, Value, Values};
use crate::project::file_entry::{Bound, NameEntry, is_callable, is_class};
use crate::project::index::Container;
use crate::project::names::{EMPTY, Sym, SymbolId};
use crate::project::paths::folder_of;
use crate::project::query::{Query, Stage};
use crate::resolve::imports::relabel;
use crate::strategy::Strategy;
use atlas_facts::{DefId, Expr, Kind};
use atlas_languages::{ModuleRule, OuterPackages};

impl Query<'_> {
    /// Returns the id of a word that occurs in a file, or [`EMPTY`].
    pub fn known(&self, word: &str) -> Sym {
        self.index.strings.find(word).unwrap_or(EMPTY)
    }

    /// Returns the possible values of a bare name in a scope of this file at a line, or `None` if nothing binds it.
    pub fn resolve_name(&self, scope: DefId, name: Sym, line: u32) -> Option<Values> {
        self.resolve_used_name(scope, name, line, false)
    }

    /// Returns the same for a called name: a method hides a field of the same name.
    pub fn resolve_called_name(&self, scope: DefId, name: Sym, line: u32) -> Option<Values> {
        self.resolve_used_name(scope, name, line, true)
    }

    fn resolve_used_name(&self, scope: DefId, name: Sym, line: u32, is_called: bool) -> Option<Values> {
        if let Some(global) = self.file.rules.global_name(self.text(name)) {
            return self.global_name(global);
        }
        if self.file.rules.modules.whole_names && self.text(name).starts_with(char::is_uppercase) {
            return self.whole_name(name);
        }
        let mut here = scope;
        while here != 0 {
            let kind = self.file.outline(here).kind;
            if is_class(kind) || kind == Kind::Extension {
                if !self.is_own_value(scope, here, name, line)
                    && let Some(values) = self.name_in_class(scope, here, name, is_called)
                {
                    return Some(values);
                }
            } else if !matches!(kind, Kind::Constant | Kind::Field) {
                let entries = self.file.entries(here, name);
                let is_other = is_called && self.file.rules.calls_only_methods && !has_definition(entries);
                let is_other = is_other || self.in_type.get() && entries.iter().all(|entry| self.is_variable(entry));
                if !entries.is_empty() && !is_other && self.is_visible(entries, line) {
                    return Some(self.local_values(here, entries, (scope, line)));
                }
                if kind == Kind::Lambda
                    && !self.file.rules.scope_callbacks.is_empty()
                    && let Some(values) = self.member_of_receiver(here, name, is_called)
                {
                    return Some(values);
                }
            }
            here = self.file.outline(here).parent;
        }
        if let Some(values) = self.implicit_parameter(scope, name) {
            return Some(values);
        }
        self.resolve_module_name(scope, name, is_called)
    }

    /// Returns what the first segment of `a::b` denotes in a scope: a namespace, module or type. A variable of the same
    /// name does not hide it.
    pub fn resolve_scope_name(&self, scope: DefId, name: Sym) -> Values {
        let holds_names = |value: &Value| match value.entity {
            Entity::Definition(symbol) => {
                let kind = self.kind(symbol);
                is_class(kind) || matches!(kind, Kind::Module | Kind::Namespace | Kind::TypeAlias)
            }
            Entity::Package(_) | Entity::Folder(_) | Entity::External(_) | Entity::Builtin(_) => true,
            _ => false,
        };
        let mut here = scope;
        while here != 0 {
            let kind = self.file.outline(here).kind;
            let found = if is_class(kind) || kind == Kind::Extension {
                self.name_in_class(scope, here, name, false)
            } else {
                let entries = self.file.entries(here, name).iter().copied();
                let entries: Vec<NameEntry> = entries.filter(|entry| !self.is_value(entry)).collect();
                (!entries.is_empty()).then(|| self.local_values(here, &entries, (scope, u32::MAX)))
            };
            if let Some(values) = found.filter(|values| values.iter().any(holds_names)) {
                return values;
            }
            here = self.file.outline(here).parent;
        }
        match self.resolve_module_name(scope, name, false) {
            Some(values) if !values.iter().any(holds_names) => self.find_module_name(scope, name, true),
            found => found,
        }
        .unwrap_or_default()
    }

    /// Returns whether a name is bound to a variable, parameter, constant or field.
    fn is_value(&self, entry: &NameEntry) -> bool {
        match entry.bound {
            Bound::Definition(def) => matches!(self.file.outline(def).kind, Kind::Constant | Kind::Field),
            Bound::Binding(_) | Bound::Parameter(_) => true,
            Bound::Import(_) => false,
        }
    }

    /// Returns whether a name is that of a variable, which hides no type: `struct ops *ops`, `func (server *server)`.
    fn is_variable(&self, entry: &NameEntry) -> bool {
        let rules = &self.file.rules;
        if !rules.included_globals && !rules.known_types {
            return false;
        }
        match entry.bound {
            Bound::Parameter(_) => true,
            Bound::Binding(binding) => {
                let binding = &self.file.facts().bindings[binding as usize];
                binding.value.is_some() || rules.included_globals && binding.annotation.is_some()
            }
            _ => false,
        }
    }

    /// Returns whether a line of a class body computes the value of the only field of that name, which the value cannot
    /// mean: `layout = layout.Row()`.
    fn is_own_value(&self, scope: DefId, class: DefId, name: Sym, line: u32) -> bool {
        if scope != class {
            return false;
        }
        let entries = self.file.entries(class, name);
        let mut definitions = entries.iter().filter_map(|entry| match entry.bound {
            Bound::Definition(def) => Some(self.file.def(def)),
            _ => None,
        });
        let (Some(field), None) = (definitions.next(), definitions.next()) else { return false };
        let lines = field.start_line..=field.end_line;
        let is_inside = |entry: &NameEntry| match entry.bound {
            Bound::Binding(binding) => lines.contains(&self.file.facts().bindings[binding as usize].line),
            bound => matches!(bound, Bound::Definition(_)),
        };
        matches!(field.kind, Kind::Constant | Kind::Field) && lines.contains(&line) && entries.iter().all(is_inside)
    }

    /// Returns the values of a name in an enclosing class. Its names are visible in its own body, and in its methods and nested
    /// classes only where `this` is implicit.
    fn name_in_class(&self, scope: DefId, class: DefId, name: Sym, is_called: bool) -> Option<Values> {
        let entries = self.file.entries(class, name);
        if self.in_type.get() && self.is_hidden_in_types(entries) {
            return None;
        }
        if scope == class && self.file.outline(class).kind != Kind::Extension {
            let own = entries.iter().any(|entry| !self.is_instance_only(entry));
            let is_type = self.in_type.get() || self.stage == Stage::Bases;
            if !own && is_type && self.file.rules.implicit_this {
                return self.nested_in_other_part(self.class_of(class)?, name, Strategy::This);
            }
            return own.then(|| {
                let values = self.local_values(class, entries, (scope, u32::MAX));
                self.constructed_class(&values).filter(|_| is_type).unwrap_or(values)
            });
        }
        // Of `impl<T: Draw>` and `trait Loader<T>`.
        let can_have = matches!(self.file.outline(class).kind, Kind::Extension | Kind::Trait)
            || !self.file.rules.type_variables.is_empty();
        let has_parameters = can_have
            && !self.file.rules.implicit_this
            && entries.iter().all(|entry| matches!(entry.bound, Bound::Binding(_)) && !self.is_instance_only(entry))
            && !entries.is_empty();
        if self.in_type.get() && (has_parameters || entries.iter().any(|entry| self.is_type_parameter(entry))) {
            return Some(self.local_values(class, entries, (scope, u32::MAX)));
        }
        if !self.file.rules.implicit_this {
            return None;
        }
        let symbol = self.class_of(class)?;
        let before = self.calling.replace(is_called);
        let values = self.class_member(symbol, name, Strategy::This);
        self.calling.set(before);
        if let Some(class) = self.constructed_class(&values) {
            return Some(class);
        }
        let only_methods = is_called && self.file.rules.calls_only_methods;
        let no_members = self.in_type.get() && self.file.rules.generic_fields;
        let is_found = values.iter().any(|value| match value.entity {
            Entity::Definition(symbol) if no_members => {
                is_class(self.kind(symbol)) || self.kind(symbol) == Kind::TypeAlias
            }
            Entity::Definition(symbol) => {
                let kind = self.kind(symbol);
                !only_methods || is_callable(kind) || is_class(kind) || self.is_component(symbol)
            }
            Entity::Instance(_) => !only_methods,
            _ => false,
        });
        (is_found || (!entries.is_empty() && !only_methods && !no_members)).then_some(values)
    }

    /// Returns the class that the constructor among the values makes.
    fn constructed_class(&self, values: &Values) -> Option<Values> {
        let class = values.iter().find_map(|value| self.constructed_by(value))?;
        Some(smallvec![Value::new(Entity::Definition(class), Strategy::Local)])
    }

    /// Returns whether a field is a component of a record, which has a method of its name.
    fn is_component(&self, field: SymbolId) -> bool {
        let (file, definition) = self.definition(field);
        let components = &file.def(definition.parent).params;
        file.rules.field_accessors
            && definition.kind == Kind::Field
            && components.iter().any(|component| file.sym(component.name) == definition.name)
    }

    /// Returns whether a name is only that of a field or method, which is no type: `Status Status { get; }`.
    fn is_hidden_in_types(&self, entries: &[NameEntry]) -> bool {
        let is_member = |entry: &NameEntry| match entry.bound {
            Bound::Definition(def) => {
                matches!(self.file.outline(def).kind, Kind::Field | Kind::Property | Kind::Method)
            }
            _ => false,
        };
        let is_type = |entry: &NameEntry| matches!(entry.bound, Bound::Definition(_)) && !is_member(entry);
        self.file.rules.generic_fields && entries.iter().any(is_member) && !entries.iter().any(is_type)
    }

    /// Returns whether a name is bound only as `self.x`, which the class body does not see.
    fn is_instance_only(&self, entry: &NameEntry) -> bool {
        match entry.bound {
            Bound::Binding(binding) => {
                let target = self.file.facts().bindings[binding as usize].target;
                matches!(self.file.expr(target), Expr::Attribute { .. })
            }
            _ => false,
        }
    }

    /// Returns whether an entry of a class is a type parameter, which is visible in its methods.
    fn is_type_parameter(&self, entry: &NameEntry) -> bool {
        self.file.rules.prototypes && matches!(entry.bound, Bound::Binding(_)) && !self.is_instance_only(entry)
    }

    fn resolve_module_name(&self, scope: DefId, name: Sym, is_called: bool) -> Option<Values> {
        let without_values = is_called && self.file.rules.calls_only_methods;
        let key = (self.namespace_around(scope), name, self.in_type.get(), without_values);
        if let Some(known) = self.module_names.borrow().get(&key) {
            return (!known.is_empty()).then(|| known.as_ref().clone());
        }
        let found = self.find_module_name(scope, name, without_values);
        // An empty list is cached for names without a binding; bound names of unknown value are looked up again.
        match &found {
            Some(values) if values.is_empty() => {}
            values => {
                let kept = values.clone().unwrap_or_default();
                self.module_names.borrow_mut().insert(key, Rc::new(kept));
            }
        }
        found
    }

    /// Returns the innermost namespace around a scope, which matters only where packages are declared; 0 for none.
    fn namespace_around(&self, scope: DefId) -> DefId {
        if self.file.scope_rule != atlas_facts::ScopeRule::Declared {
            return 0;
        }
        let mut here = scope;
        while here != 0 && self.file.outline(here).kind != Kind::Namespace {
            here = self.file.outline(here).parent;
        }
        here
    }

    fn find_module_name(&self, scope: DefId, name: Sym, without_values: bool) -> Option<Values> {
        let module = *self.file.symbols.first()?;
        let entries = self.file.entries(0, name).iter().copied();
        let entries: Vec<NameEntry> = entries.filter(|entry| !without_values || !self.is_value(entry)).collect();
        if !entries.is_empty() {
            let values = self.bound_values(self.home, module, &entries);
            return Some(relabel(
                values,
                Strategy::Import,
                Strategy::SameModule,
                |value| matches!(value.entity, Entity::Definition(symbol) if self.index.symbols.get(symbol).file == self.home),
            ));
        }
        if let Some(values) = self.shared_name(scope, name) {
            return Some(values);
        }
        if let Some(values) = self.starred_name(self.home, module, name) {
            return Some(values);
        }
        if self.file.rules.module_rule == ModuleRule::Tree
            && let Some(values) = self.tree_path_start(name)
        {
            return Some(values);
        }
        if self.file.rules.builtins.contains(&name) {
            return Some(smallvec![Value::new(Entity::Builtin(name), Strategy::Local)]);
        }
        None
    }

    /// Returns names of the same folder, or of the enclosing declared packages and namespaces.
    fn shared_name(&self, scope: DefId, name: Sym) -> Option<Values> {
        match self.file.scope_rule {
            atlas_facts::ScopeRule::Directory => {
                let folder = self.known(folder_of(&self.file.path));
                let found = self.shared(Container::Folder(folder), name);
                let symbol = self.twin(found).or_else(|| found.first().copied())?;
                Some(smallvec![Value::new(Entity::Definition(symbol), Strategy::SamePackage)])
            }
            atlas_facts::ScopeRule::Declared => {
                let around = self.enclosing_packages(scope);
                let found = around.into_iter().find_map(|package| self.resolve_in_package(package, name));
                found.or_else(|| {
                    // The first part of `com.example.Type`.
                    let text = self.text(name);
                    self.package(text)
                        .map(|package| smallvec![Value::new(Entity::Package(package), Strategy::SamePackage)])
                })
            }
            _ => None,
        }
    }

    /// Returns, innermost first, the namespaces around a scope, the declared package with its parents, and the global
    /// scope.
    fn enclosing_packages(&self, scope: DefId) -> Vec<Sym> {
        let outer = self.file.rules.modules.outer;
        let mut packages: Vec<Sym> = Vec::new();
        let mut add = |package: Sym| {
            if !packages.contains(&package) {
                packages.push(package);
            }
            if outer == OuterPackages::Parents {
                let name = self.text(package);
                let parents = name.match_indices('.').map(|(at, _)| &name[..at]).rev();
                for parent in parents.map(|parent| self.index.strings.intern(parent)) {
                    if !packages.contains(&parent) {
                        packages.push(parent);
                    }
                }
            }
        };
        let mut here = scope;
        while here != 0 {
            if self.file.outline(here).kind == Kind::Namespace {
                add(self.file.qualified_names[here as usize]);
            }
            here = self.file.outline(here).parent;
        }
        add(self.file.module);
        if outer != OuterPackages::None && !packages.contains(&EMPTY) {
            packages.push(EMPTY);
        }
        packages
    }

    fn resolve_in_package(&self, package: Sym, name: Sym) -> Option<Values> {
        let found = self.shared_in_package(package, name);
        if self.file.rules.included_globals {
            return self.visible_global(&found.collect::<Vec<_>>());
        }
        let via = if package == self.file.module { Strategy::SamePackage } else { Strategy::Inherited };
        let via = if via == Strategy::Inherited { Strategy::SamePackage } else { via };
        self.of_nearest_project(found)
            .map(|symbol| smallvec![Value::new(Entity::Definition(self.canonical(symbol)), via)])
    }

    /// Resolves the start of a path: `crate`, `super`, `self`, a child module or another part of the project.
    fn tree_path_start(&self, name: Sym) -> Option<Values> {
        let text = self.text(name);
        let entity = match text {
            "crate" => self.tree_root(self.home),
            "self" => Entity::Definition(self.module_symbol(self.home)),
            "super" => self.tree_parent(),
            _ => self.tree_child(self.file, text).or_else(|| self.tree_project(self.home, text))?,
        };
        Some(smallvec![Value::new(entity, Strategy::Import)])
    }
}

fn has_definition(entries: &[NameEntry]) -> bool {
    entries.iter().any(|entry| matches!(entry.bound, Bound::Definition(_)))
}
