//! What frameworks find by a name in a string: members of modules by their dotted path, classes by a setting, the class
//! whose objects a form saves; and what an operator between objects gives.

use std::borrow::Cow;

use smallvec::smallvec;

use crate::entity::{Entity, Value, Values};
use crate::project::file_entry::is_class;
use crate::project::names::{ExternalId, Sym, SymbolId};
use crate::project::query::Query;
use crate::resolve::arguments::Arguments;
use crate::strategy::Strategy;
use atlas_facts::{Arg, DefId, ExprId, Kind};

/// Largest number of definitions of a name that are compared.
const MAX_NAMED: usize = 64;

impl Query<'_> {
    /// Returns the class, function or constant of the project that a dotted path names: `shop.middleware.Timing`.
    pub(crate) fn at_path(&self, path: &str) -> Option<SymbolId> {
        let (module, member) = path.rsplit_once('.')?;
        let (_, module) = self.package_absolute(self.home, self.file, module)?;
        let name = self.index.strings.intern(member);
        let mut found = self.member_of_module_like(module, name).into_iter();
        let symbol = found.find_map(|value| match value.entity {
            Entity::Definition(symbol) => Some(self.canonical(symbol)),
            _ => None,
        })?;
        (!matches!(self.kind(symbol), Kind::Module | Kind::Namespace)).then_some(symbol)
    }

    /// Returns the class that a setting of the project names as `app.Class`; `None` where settings differ.
    pub(super) fn class_of_setting(&self, setting: &str) -> Option<SymbolId> {
        let named = self.named(self.index.strings.intern(setting));
        if named.len() > MAX_NAMED {
            return None;
        }
        let mut found = None;
        for &symbol in named {
            let (file, definition) = self.definition(symbol);
            let is_of_module = file.outline(definition.parent).kind == Kind::Module;
            if definition.kind != Kind::Constant || !is_of_module || self.is_elsewhere(symbol) {
                continue;
            }
            let class = self.class_of_app(&self.literal_of(symbol)?)?;
            if found.is_some_and(|known| known != class) {
                return None;
            }
            found = Some(class);
        }
        found
    }

    /// Returns the variable of the project's settings that an attribute of a framework's object reads
    /// (`django.conf.settings.PAGE_SIZE`), if only one module of settings has it.
    pub fn setting_variable(&self, external: ExternalId) -> Option<SymbolId> {
        let objects = &self.file.rules.settings_objects;
        if objects.is_empty() {
            return None;
        }
        let dotted = self.dotted_name(Value::new(Entity::External(external), Strategy::Import))?;
        let (object, setting) = dotted.rsplit_once('.')?;
        let is_constant =
            setting.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
        if !is_constant || !objects.iter().any(|known| known == object) {
            return None;
        }
        let named = self.named(self.index.strings.intern(setting));
        let is_setting = |symbol: &&SymbolId| {
            let (file, definition) = self.definition(**symbol);
            let is_of_module = file.outline(definition.parent).kind == Kind::Module;
            let is_settings = file.path.split(['/', '.']).any(|part| part == "settings" || part.ends_with("_settings"));
            definition.kind == Kind::Constant && is_of_module && is_settings && !self.is_elsewhere(**symbol)
        };
        let mut found = named.iter().take(MAX_NAMED).filter(is_setting).map(|&symbol| self.canonical(symbol));
        let first = found.next()?;
        found.all(|other| other == first).then_some(first)
    }

    /// Returns the only class that `app.Class` names: one in the module of the app that has such classes.
    fn class_of_app(&self, text: &str) -> Option<SymbolId> {
        let (app, name) = text.split_once('.')?;
        let named = self.named(self.index.strings.intern(name));
        if named.len() > MAX_NAMED {
            return None;
        }
        let is_of_app = |symbol: &SymbolId| {
            let path = self.text(self.index.qualified_name(*symbol));
            let parts: Vec<&str> = path.split('.').collect();
            let is_module = |pair: &[&str]| pair[0] == app && pair[1] == self.file.rules.setting_module;
            is_class(self.kind(*symbol)) && !self.is_elsewhere(*symbol) && parts.windows(2).any(is_module)
        };
        let mut classes = named.iter().filter(|symbol| is_of_app(symbol)).map(|&symbol| self.canonical(symbol));
        let first = classes.next()?;
        classes.all(|class| class == first).then_some(first)
    }

    /// Returns whether a symbol does not concern this file: that of a test, or of another language.
    fn is_elsewhere(&self, symbol: SymbolId) -> bool {
        let (file, _) = self.definition(symbol);
        file.rules.family != self.file.rules.family || (file.is_test && !self.file.is_test)
    }

    /// Returns the object that a method of a framework makes, of the class that the receiver's class names:
    /// `form.save()` for `class Meta: model = Book`.
    pub(super) fn form_result(&self, receiver: Value, name: Sym, method: Value) -> Option<Values> {
        self.form_member(receiver, name, method, &self.file.rules.form_methods)
    }

    /// Returns the same for an attribute: `form.instance`.
    pub(super) fn form_attribute(&self, receiver: Value, name: Sym, found: &Values) -> Option<Values> {
        let &[member @ Value { entity: Entity::External(_), .. }] = &found[..] else { return None };
        self.form_member(receiver, name, member, &self.file.rules.form_attributes)
    }

    fn form_member(&self, receiver: Value, name: Sym, method: Value, known: &[String]) -> Option<Values> {
        let rules = &self.file.rules;
        let (Entity::Instance(form) | Entity::Super(form)) = receiver.entity else { return None };
        let last = self.text(name);
        if !known.iter().any(|known| known.ends_with(last)) {
            return None;
        }
        let called = self.dotted_name(method)?;
        if !known.iter().any(|known| *known == *called) {
            return None;
        }
        let mut class = form;
        for &part in &rules.form_model {
            let members = self.class_member(class, part, Strategy::ClassAttribute);
            let held = self.flat_map(members, |member| match member.entity {
                Entity::Definition(symbol) if !is_class(self.kind(symbol)) => self.stored_values(symbol),
                _ => smallvec![member],
            });
            class = match held[..] {
                [Value { entity: Entity::Definition(symbol), .. }] if is_class(self.kind(symbol)) => symbol,
                _ => return None,
            };
        }
        Some(smallvec![Value::new(Entity::Instance(self.canonical(class)), Strategy::ReturnType)])
    }

    /// Returns the dotted name of a function or class.
    pub(super) fn dotted_name(&self, callee: Value) -> Option<Cow<'_, str>> {
        match callee.entity {
            Entity::External(external) => {
                let (package, name) = self.index.externals.name(external);
                Some(Cow::Owned(format!("{}.{}", self.text(package), self.text(name))))
            }
            Entity::Definition(symbol) => Some(Cow::Borrowed(self.text(self.index.qualified_name(symbol)))),
            _ => None,
        }
    }

    /// Returns what a function of a framework gives for a path or setting: `import_string("shop.backends.Tokens")`.
    pub(super) fn named_result(&self, called: &str, args: &[Arg]) -> Option<Values> {
        let rules = &self.file.rules;
        let symbol = if rules.path_functions.contains(called) {
            self.at_path(self.key_of(args.first()?.value)?)
        } else {
            self.class_of_setting(rules.setting_functions.get(called)?)
        };
        Some(smallvec![Value::new(Entity::Definition(symbol?), Strategy::ReturnType)])
    }

    /// Returns what the operator that also joins types gives between objects: `a | b | c`. Several operators must give the
    /// same as one, because the parts of nested ones stand in one list.
    pub(super) fn joined_objects(&self, operands: &[ExprId], scope: DefId, line: u32) -> Values {
        let ([first, _, further @ ..], Some(method)) = (operands, self.file.rules.union_operator) else {
            return Values::new();
        };
        let once = self.joined_once(self.eval(*first, scope, line), method);
        if further.is_empty() {
            return once;
        }
        let twice = self.joined_once(once.clone(), method);
        let is_same = once.len() == twice.len() && once.iter().zip(&twice).all(|(a, b)| a.entity == b.entity);
        if is_same { once } else { Values::new() }
    }

    fn joined_once(&self, objects: Values, method: Sym) -> Values {
        if !objects.iter().all(|value| matches!(value.entity, Entity::Instance(_))) {
            return Values::new();
        }
        self.flat_map(objects, |object| {
            let Entity::Instance(class) = object.entity else { return Values::new() };
            let members = self.class_member(class, method, object.via);
            self.flat_map(members, |member| match member.entity {
                Entity::Definition(_) => self.call_with(member, Some(object), &Arguments::Unknown),
                _ => Values::new(),
            })
        })
    }
}
