//! Classes whose objects a framework reads from a database: fields that refer to a class (`ForeignKey("Author")`), and
//! what lists the objects of a class (`Book.objects`). A list of objects counts as a container of them.

use smallvec::smallvec;

use crate::entity::{Entity, Value, Values, merge};
use crate::project::file_entry::is_class;
use crate::project::flows::{FileFlows, Place};
use crate::project::names::{EMPTY, ExternalId, Sym, SymbolId};
use crate::project::query::Query;
use crate::strategy::Strategy;
use atlas_facts::{Arg, Binding, BindingKind, DefId, Expr, ExprId, Kind};

/// Largest number of definitions of a name among which a class is looked for.
const MAX_NAMED: usize = 64;

/// What a function gives: one object of a class, several, or a value outside the project.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Given {
    One,
    Several,
    Plain,
}

impl Query<'_> {
    /// Returns what a function of a framework gives for the class that its arguments name: an instance for
    /// `get_object_or_404(Book, pk=1)`, a container of instances for `select(Book)`.
    pub(super) fn record_result(&self, callee: Value, args: &[Arg], scope: DefId, line: u32) -> Option<Values> {
        let rules = &self.file.rules;
        if rules.record_functions.is_empty() && rules.listing_functions.is_empty() {
            return None;
        }
        let called = self.dotted_name(callee)?;
        if let Some(&position) = rules.container_makers.get(&*called) {
            // what a function of the project itself makes is followed in its body
            let is_own = matches!(callee.entity, Entity::Definition(_));
            return if is_own { None } else { self.container_class(position, args, scope, line) };
        }
        if let Some(named) = self.named_result(&called, args) {
            return Some(named);
        }
        let (given, is_field) = self.gives_records(&called)?;
        if is_field {
            return None;
        }
        self.given_records(given, args, scope, line)
    }

    /// Returns what stands for a class that a function of a framework makes, `formset_factory(BookForm, formset=Checked)`:
    /// the container of what its objects contain, and the class that it extends. Calling them gives the objects.
    fn container_class(&self, position: usize, args: &[Arg], scope: DefId, line: u32) -> Option<Values> {
        let class_of = |arg: &Arg| match self.eval(arg.value, scope, line)[..] {
            [Value { entity: Entity::Definition(class), .. }] if is_class(self.kind(class)) => {
                Some(self.canonical(class))
            }
            _ => None,
        };
        let [item, base] = &self.file.rules.container_keywords[..] else { return None };
        let named =
            |word: &str| args.iter().find(|arg| arg.keyword.is_some_and(|keyword| self.file.text(keyword) == word));
        let item = named(item).or_else(|| args.get(position).filter(|arg| arg.keyword.is_none()));
        let item = item.and_then(class_of).map(Entity::Elements);
        let base = named(base).and_then(class_of).map(Entity::Definition);
        let made: Values =
            item.into_iter().chain(base).map(|entity| Value::new(entity, Strategy::ReturnType)).collect();
        (!made.is_empty()).then_some(made)
    }

    /// Returns what an attribute of a model holds in its instances if it is a field of a framework: an instance for
    /// `author = ForeignKey("Author")`, a container of instances for `tags = ManyToManyField(Tag)`.
    pub(super) fn field_value(&self, value: ExprId, scope: DefId, line: u32) -> Option<Values> {
        let Expr::Call { callee, args, .. } = self.file.expr(value) else { return None };
        if !self.is_in_model(scope) {
            return None;
        }
        let (given, _) = self.field_given(*callee, scope, line).filter(|(_, is_field)| *is_field)?;
        let mut found = self.given_records(given, args, scope, line)?;
        if given == Given::Several {
            found.extend(self.own_manager());
        }
        Some(found)
    }

    fn field_given(&self, callee: ExprId, scope: DefId, line: u32) -> Option<(Given, bool)> {
        self.eval(callee, scope, line).into_iter().find_map(|value| self.gives_records(&self.dotted_name(value)?))
    }

    fn given_records(&self, given: Given, args: &[Arg], scope: DefId, line: u32) -> Option<Values> {
        let (entity, via) = match given {
            Given::One => (Entity::Instance(self.named_class(args, scope, line)?), Strategy::ReturnType),
            Given::Several => (Entity::Elements(self.named_class(args, scope, line)?), Strategy::ReturnType),
            Given::Plain => (Entity::Builtin(EMPTY), Strategy::Local),
        };
        Some(smallvec![Value::new(entity, via)])
    }

    /// Returns what a callee gives, and whether it is a field: a class that stands for other values as an attribute of a
    /// model.
    fn gives_records(&self, name: &str) -> Option<(Given, bool)> {
        let rules = &self.file.rules;
        let is_value = |(start, end): &(String, String)| name.starts_with(start) && name.ends_with(end);
        let given = match () {
            () if rules.record_functions.contains(name) => Given::One,
            () if rules.listing_functions.contains(name) => Given::Several,
            () if rules.value_fields.iter().any(is_value) => Given::Plain,
            () => return None,
        };
        let last = name.rsplit('.').next().unwrap_or(name);
        Some((given, last.starts_with(char::is_uppercase)))
    }

    /// Returns whether a scope is the body of a class with attributes that a framework reads.
    fn is_in_model(&self, scope: DefId) -> bool {
        is_class(self.file.outline(scope).kind)
            && self.derives_from(self.file.symbols[scope as usize], &self.file.rules.managed_bases)
    }

    /// Returns the class that the first argument denotes: by itself, by its name, or by what lists its objects.
    fn named_class(&self, args: &[Arg], scope: DefId, line: u32) -> Option<SymbolId> {
        let words = &self.file.rules.class_keywords;
        let is_named = |arg: &&Arg| arg.keyword.is_some_and(|word| words.contains(self.file.text(word)));
        let arg = args.iter().find(is_named).or_else(|| args.first().filter(|arg| arg.keyword.is_none()))?;
        if let Some(setting) = self.setting_of(arg.value) {
            return self.class_of_setting(setting);
        }
        if let Some(text) = self.key_of(arg.value) {
            return self.class_called(text, scope, line);
        }
        self.eval(arg.value, scope, line).into_iter().find_map(|value| match value.entity {
            Entity::Definition(class) if is_class(self.kind(class)) => Some(self.canonical(class)),
            Entity::Elements(class) => Some(class),
            _ => None,
        })
    }

    /// Returns the name of a setting that names a class: `settings.AUTH_USER_MODEL`.
    fn setting_of(&self, expr: ExprId) -> Option<&str> {
        let Expr::Attribute { name, .. } = *self.file.expr(expr) else { return None };
        let name = self.file.text(name);
        self.file.rules.setting_functions.values().any(|setting| setting == name).then_some(name)
    }

    /// Returns the class that a name in a string denotes: the one around for `self`, the one in scope, else the only one of
    /// that name.
    fn class_called(&self, text: &str, scope: DefId, line: u32) -> Option<SymbolId> {
        let rules = &self.file.rules;
        let last = text.rsplit(['.', '\\', '/']).next().unwrap_or(text);
        if rules.self_types.contains(&self.known(last)) {
            return self.class_of(scope);
        }
        if last.is_empty() || !last.chars().all(|letter| letter.is_alphanumeric() || letter == '_') {
            return None;
        }
        let name = self.index.strings.intern(last);
        let mut in_scope = self.resolve_name(scope, name, line).unwrap_or_default().into_iter();
        let found = in_scope.find_map(|value| match value.entity {
            Entity::Definition(class) if is_class(self.kind(class)) => Some(self.canonical(class)),
            _ => None,
        });
        found.or_else(|| self.only_class(name))
    }

    /// Returns the only class of the project with a name; classes in tests do not concern other code.
    fn only_class(&self, name: Sym) -> Option<SymbolId> {
        let named = self.named(name);
        if named.len() > MAX_NAMED {
            return None;
        }
        let mut found = None;
        for &symbol in named {
            let (file, definition) = self.definition(symbol);
            let is_other = file.rules.family != self.file.rules.family || (file.is_test && !self.file.is_test);
            if is_other || !is_class(definition.kind) {
                continue;
            }
            let symbol = self.canonical(symbol);
            if found.is_some_and(|known| known != symbol) {
                return None;
            }
            found = Some(symbol);
        }
        found
    }

    /// Returns the values of an attribute of a class. A manager lists the objects of the class that it is an attribute of,
    /// and some bases give a class a manager.
    pub(super) fn with_records(&self, class: SymbolId, name: Sym, mut found: Values) -> Values {
        let rules = &self.file.rules;
        if rules.managed_bases.is_empty() || !self.derives_from(class, &rules.managed_bases) {
            return found;
        }
        let is_manager = |value: &Value| match value.entity {
            Entity::Instance(manager) => self.derives_from(manager, &rules.manager_classes),
            Entity::ExternalInstance(external) => self.is_among(external, &rules.manager_classes),
            _ => false,
        };
        let lists = found.iter().any(|value| match value.entity {
            Entity::Definition(field) if matches!(self.kind(field), Kind::Field | Kind::Constant) => {
                self.stored_values(field).iter().any(is_manager)
            }
            _ => is_manager(value),
        });
        let is_given = |value: &Value| matches!(value.entity, Entity::External(_) | Entity::Missing | Entity::Opaque);
        let is_default = !lists && rules.manager_attributes.contains(&name) && found.iter().all(is_given);
        if is_default {
            found.retain(|value| matches!(value.entity, Entity::External(_)));
        }
        if lists || is_default {
            merge(&mut found, smallvec![Value::new(Entity::Elements(class), Strategy::AttributeType)]);
        }
        if is_default {
            merge(&mut found, self.own_manager().into_iter().collect());
        }
        found
    }

    /// Returns whether values are those of one manager: the object, and the container of what it lists.
    pub(super) fn is_manager(&self, values: &Values) -> bool {
        let is_list = |value: &Value| matches!(value.entity, Entity::Elements(_));
        values.len() > 1 && !self.file.rules.manager_classes.is_empty() && values.iter().any(is_list)
    }

    /// Returns an instance of the framework's manager where the framework is part of the project.
    fn own_manager(&self) -> Option<Value> {
        self.file.rules.manager_classes.iter().find_map(|known| {
            let name = self.known(known.rsplit('.').next().unwrap_or(known));
            let mut named = self.named(name).iter().copied();
            let class = named.find(|&symbol| self.text(self.index.qualified_name(symbol)) == known)?;
            Some(Value::new(Entity::Instance(self.canonical(class)), Strategy::AttributeType))
        })
    }

    /// Returns whether a class is, or derives from, one with a dotted name of the list.
    fn derives_from(&self, class: SymbolId, names: &[String]) -> bool {
        let is_named = |symbol: SymbolId| {
            let name = self.text(self.index.qualified_name(symbol));
            names.iter().any(|known| known == name)
        };
        self.ancestors(class).iter().any(|ancestor| match *ancestor {
            Entity::External(external) => self.is_among(external, names),
            Entity::Definition(base) => is_named(base),
            _ => false,
        }) || is_named(class)
    }

    fn is_among(&self, external: ExternalId, names: &[String]) -> bool {
        let (package, name) = self.index.externals.name(external);
        let (package, name) = (self.text(package), self.text(name));
        let is_same = |known: &String| {
            known.strip_prefix(package).and_then(|rest| rest.strip_prefix('.')).is_some_and(|rest| rest == name)
        };
        names.iter().any(is_same)
    }

    /// Returns the classes of which `Manager.from_queryset(QuerySet)` makes one.
    pub(super) fn joined_classes(&self, receiver: Value, name: Sym, args: &[Arg], at: (DefId, u32)) -> Option<Values> {
        if !self.file.rules.joining_methods.contains(&name) {
            return None;
        }
        let parts = args.iter().take(4).flat_map(|arg| self.eval(arg.value, at.0, at.1));
        let classes = std::iter::once(receiver).chain(parts).filter(|value| match value.entity {
            Entity::Definition(class) => is_class(self.kind(class)),
            _ => false,
        });
        let classes: Values = classes.collect();
        (!classes.is_empty()).then_some(classes)
    }

    /// Returns the object in the pair of an object and a flag that `Book.objects.get_or_create()` gives.
    pub(super) fn paired_record(&self, callee: ExprId, position: u16, (scope, line): (DefId, u32)) -> Option<Values> {
        let Expr::Attribute { base, name } = *self.file.expr(callee) else { return None };
        if position != 0 || !self.file.rules.element_pairs.contains(&self.file.sym(name)) {
            return None;
        }
        let bases = self.receivers(base, scope, line);
        let objects = self.flat_map(bases, |value| match value.entity {
            Entity::Elements(class) => smallvec![Value { entity: Entity::Instance(class), ..value }],
            _ => Values::new(),
        });
        (!objects.is_empty()).then_some(objects)
    }

    /// Hands the class that a field refers to the attribute that leads back: `author.books` for
    /// `author = ForeignKey(Author, related_name="books")`, else `author.book_set`.
    pub(super) fn add_back_reference(&self, binding: &Binding, flows: &mut FileFlows) {
        let rules = &self.file.rules;
        if rules.back_reference.is_empty() {
            return;
        }
        let (Some(value), Some(class)) = (binding.value, self.owner_of_binding(binding)) else { return };
        let Expr::Call { callee, args, .. } = self.file.expr(value) else { return };
        let line = binding.line.saturating_sub(1);
        let is_field =
            matches!(self.field_given(*callee, binding.scope, line), Some((Given::One | Given::Several, true)));
        if !is_field || !self.is_in_model(binding.scope) {
            return;
        }
        let Some(target) = self.named_class(args, binding.scope, line) else { return };
        let given =
            args.iter().find(|arg| arg.keyword.is_some_and(|word| self.file.text(word) == rules.back_reference));
        let name = match given.map(|arg| self.key_of(arg.value)) {
            Some(Some(name)) => name.to_owned(),
            Some(None) => return,
            None => format!("{}_set", self.text(self.definition(class).1.name).to_lowercase()),
        };
        let place = Place::Variable(target, self.index.strings.intern(&name));
        let mut values = smallvec![Value::new(Entity::Elements(class), Strategy::AttributeType)];
        values.extend(self.own_manager());
        flows.add(place, values, crate::entity::MAX_VALUES);
    }

    /// Returns the attribute of a class that leads back to the fields that refer to it, where a base outside the project may
    /// have any attribute.
    pub(super) fn back_reference(&self, class: SymbolId, name: Sym, found: &Option<Values>) -> Option<Values> {
        if self.file.rules.back_reference.is_empty() {
            return None;
        }
        let is_guess = found.as_ref()?.iter().all(|value| matches!(value.entity, Entity::External(_)));
        let stored = if is_guess { self.stored(class, name) } else { Values::new() };
        (!stored.is_empty()).then_some(stored)
    }

    fn owner_of_binding(&self, binding: &Binding) -> Option<SymbolId> {
        let is_attribute = binding.kind == BindingKind::Assign && is_class(self.file.outline(binding.scope).kind);
        is_attribute.then(|| self.canonical(self.file.symbols[binding.scope as usize]))
    }
}
