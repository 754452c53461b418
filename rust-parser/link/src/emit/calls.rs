//! The edges of a file's references: calls, values and types, and `TESTS` edges from tests to the code that they call.

use crate::edge::{EdgeType, Target};
use crate::emit::callees::Site;
use crate::emit::collector::{EdgeCollector, is_referable};
use crate::entity::{Entity, Value, Values};
use crate::project::file_entry::{Bound, is_callable, is_class};
use crate::project::names::{EMPTY, FILE_NODE, SymbolId};
use crate::strategy::Strategy;
use atlas_facts::{Binding, BindingKind, DefId, Expr, ExprId, Kind, ParamKind, Reference, ReferenceKind, flags};
use atlas_languages::MemberOrder;

/// The outcome for one possible value of a reference.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Outcome {
    Unresolved,
    /// Outside of the index: neither an edge nor unresolved.
    Outside,
    Edge,
}

/// Adds the edges of all references of a code file.
pub fn add_references(collector: &mut EdgeCollector) {
    let facts = collector.query.file.facts().clone();
    for reference in &facts.references {
        let source = collector.source(reference.scope);
        let site = Site { source, scope: reference.scope, line: reference.line, expr: reference.expr };
        collector.add_reference(reference, site);
    }
    if !collector.query.file.rules.next_methods.is_empty() {
        let loops = facts.bindings.iter().filter(|binding| binding.kind == BindingKind::Iterate);
        loops.for_each(|binding| collector.add_iteration(binding));
    }
    if !collector.query.file.rules.item_setters.is_empty() {
        let stores = facts.bindings.iter().filter(|binding| binding.kind == BindingKind::Assign);
        stores.for_each(|binding| collector.add_stored_element(binding));
    }
    let rules = &collector.query.file.rules;
    if rules.stored_members || !rules.facade_ending.is_empty() {
        let stores = facts.bindings.iter().filter(|binding| binding.kind == BindingKind::Assign);
        stores.for_each(|binding| collector.add_store(binding));
    }
    for (def, definition) in facts.definitions.iter().enumerate() {
        for &decorator in &definition.decorators {
            collector.add_decorator(def as DefId, decorator);
        }
    }
}

impl EdgeCollector<'_, '_> {
    pub fn add_reference(&mut self, reference: &Reference, site: Site) {
        match reference.kind {
            ReferenceKind::Call => {
                if let Expr::Call { callee, new, .. } = *self.query.file.expr(reference.expr) {
                    if new && self.query.file.rules.struct_literals {
                        let outcome = self.add_type(callee, site).max(self.add_variant(callee, site));
                        return self.count(outcome);
                    }
                    let outcome = self.add_call(callee, site);
                    self.count(outcome);
                }
            }
            ReferenceKind::Read => self.add_read(reference.expr, site),
            ReferenceKind::Raise => self.add_raised(reference.expr, site),
            ReferenceKind::Owner => self.add_getter(reference.expr, site),
            ReferenceKind::Operator => self.add_operator(site),
            ReferenceKind::Enter => self.add_entered(site),
            ReferenceKind::Type => {
                let outcome = self.add_type(reference.expr, site);
                self.count(outcome);
            }
            ReferenceKind::DocName | ReferenceKind::DocPath => {}
        }
    }

    /// Adds an edge to the member of an enumeration that a literal makes: `Shape::Circle { r: 1 }`.
    fn add_variant(&mut self, callee: ExprId, site: Site) -> Outcome {
        let mut outcome = Outcome::Outside;
        if let Expr::Attribute { .. } = self.query.file.expr(callee) {
            for value in self.query.eval(callee, site.scope, site.line) {
                if let Entity::Definition(symbol) = value.entity
                    && self.query.kind(symbol) == Kind::Field
                {
                    outcome = outcome.max(self.add_target(EdgeType::References, symbol, value.via, site));
                }
            }
        }
        outcome
    }

    fn count(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Edge => self.resolved += 1,
            Outcome::Unresolved => self.unresolved += 1,
            Outcome::Outside => {}
        }
    }

    fn add_call(&mut self, callee: ExprId, site: Site) -> Outcome {
        let values = self.callee_values(callee, site);
        let mut outcome = Outcome::Unresolved;
        for &value in &values {
            if self.is_caller_itself(value, site) {
                continue;
            }
            outcome = outcome.max(self.add_called(value, site));
            if self.calls_arguments(value.entity) {
                self.add_called_arguments(site, usize::MAX);
            }
        }
        if outcome != Outcome::Edge {
            self.add_called_arguments(site, self.functions_called_back(callee));
        }
        if outcome == Outcome::Unresolved {
            self.note_unresolved(callee, &values, site);
        }
        outcome
    }

    /// Returns whether a function outside the project calls the functions that it receives.
    fn calls_arguments(&self, callee: Entity) -> bool {
        let known = &self.query.file.rules.calling_functions;
        match callee {
            _ if known.is_empty() => false,
            Entity::Builtin(name) => known.contains(self.query.text(name)),
            Entity::External(external) => {
                let (package, name) = self.query.index.externals.name(external);
                known.contains(&format!("{}.{}", self.query.text(package), self.query.text(name)))
            }
            _ => false,
        }
    }

    /// Returns how many of its arguments a method calls, by its name: `xs.forEach(log)`, `promise.then(log, fail)`.
    fn functions_called_back(&self, callee: ExprId) -> usize {
        let rules = &self.query.file.rules;
        let name = match *self.query.file.expr(callee) {
            Expr::Attribute { name, .. } => self.query.file.sym(name),
            // A function of C's library, which no file declares.
            Expr::Name(name) if rules.calling_functions.contains(self.query.file.text(name)) => return usize::MAX,
            _ => return 0,
        };
        match () {
            () if rules.receiver_callbacks.contains(&name) => 2,
            () if rules.element_callbacks.contains(&name) || rules.fold_callbacks.contains(&name) => 1,
            () => 0,
        }
    }

    fn add_called_arguments(&mut self, site: Site, most: usize) {
        let Expr::Call { args, .. } = self.query.file.expr(site.expr) else { return };
        // `max(Color, key=rank)` iterates over a class.
        let is_only = |arg: &atlas_facts::Arg| {
            arg.keyword.is_none() && args.iter().filter(|arg| arg.keyword.is_none()).count() == 1
        };
        for arg in args.iter().take(most).cloned().collect::<Vec<_>>() {
            let is_iterated = most == usize::MAX && is_only(&arg) && args.len() > 1;
            let values = self.query.eval(arg.value, site.scope, site.line);
            for value in self.query.holdable(values) {
                if let Entity::Definition(symbol) = value.entity
                    && !(is_iterated && is_class(self.query.kind(symbol)))
                {
                    self.add_called(Value { via: Strategy::Passed, ..value }, site);
                }
            }
        }
    }

    /// Adds the constructor that `raise Error` runs, or the reference to another value.
    fn add_raised(&mut self, expr: ExprId, site: Site) {
        let mut makes = false;
        for value in self.query.eval_held(expr, site.scope, site.line) {
            if let Entity::Definition(symbol) = value.entity
                && is_class(self.query.kind(symbol))
            {
                makes = true;
                self.add_called(value, site);
            }
        }
        if !makes {
            self.add_read(expr, site);
        }
    }

    /// Adds the calls of the methods by which a loop runs over an object of the project.
    pub fn add_iteration(&mut self, binding: &Binding) {
        let Some(value) = binding.value else { return };
        let query = self.query;
        let site = Site { source: self.source(binding.scope), scope: binding.scope, line: binding.line, expr: value };
        let objects = query.receivers(value, binding.scope, binding.line);
        for object in query.flat_map(objects, |object| query.held(object)) {
            let Entity::Instance(class) = object.entity else { continue };
            for &name in &query.file.rules.iterator_methods {
                for member in query.class_member(class, name, object.via) {
                    let Entity::Definition(method) = member.entity else { continue };
                    self.add_target(EdgeType::Calls, query.canonical(method), member.via, site);
                    for iterator in query.call_result(member, Some(object)) {
                        self.add_next(iterator, site);
                    }
                }
            }
        }
    }

    /// Adds the call of the setter that `x.part = value` runs.
    fn add_store(&mut self, binding: &Binding) {
        let query = self.query;
        let Expr::Attribute { base, name } = *query.file.expr(binding.target) else { return };
        let name = query.file.sym(name);
        let site =
            Site { source: self.source(binding.scope), scope: binding.scope, line: binding.line, expr: binding.target };
        for receiver in query.receivers(base, binding.scope, binding.line) {
            for member in query.attribute(receiver, name) {
                if let Entity::Definition(symbol) = member.entity
                    && query.kind(symbol) == Kind::Property
                    && let Some(setter) = self.setter_of(symbol)
                    && !self.is_source(setter, site)
                {
                    self.add_target(EdgeType::Calls, setter, member.via, site);
                } else if let Entity::Definition(symbol) = member.entity
                    && query.is_read_accessor(symbol, name)
                {
                    if let Some(setter) = query.set_accessor(symbol, name) {
                        self.add_target(EdgeType::Calls, setter, member.via, site);
                    }
                } else if let Entity::Definition(symbol) = member.entity {
                    self.add_descriptor(symbol, 1, site);
                }
            }
        }
    }

    /// Returns the definition of a property that takes a value.
    fn setter_of(&self, property: SymbolId) -> Option<SymbolId> {
        let query = self.query;
        let (file, definition) = query.definition(property);
        let (_, entries) = query.entries(file.symbols[definition.parent as usize], definition.name);
        let takes_value = |def: DefId| {
            let params = &file.def(def).params;
            file.outline(def).kind == Kind::Property && params.iter().any(|param| param.kind == ParamKind::Normal)
        };
        entries.iter().find_map(|entry| match entry.bound {
            Bound::Definition(def) if takes_value(def) => Some(file.symbols[def as usize]),
            _ => None,
        })
    }

    fn add_next(&mut self, iterator: Value, site: Site) {
        let Entity::Instance(class) = iterator.entity else { return };
        let query = self.query;
        for &name in &query.file.rules.next_methods {
            for member in query.class_member(class, name, iterator.via) {
                if let Entity::Definition(method) = member.entity {
                    self.add_target(EdgeType::Calls, query.canonical(method), member.via, site);
                }
            }
        }
    }

    fn add_called(&mut self, value: Value, site: Site) -> Outcome {
        match value.entity {
            Entity::Definition(symbol) => self.add_called_definition(symbol, value.via, site),
            Entity::Instance(class) => self.add_called_instance(class, value.via, site),
            Entity::Super(class) => match self.query.ancestors(class).first() {
                Some(Entity::Definition(base)) => self.add_constructor(*base, Strategy::Super, site),
                Some(Entity::External(external)) => {
                    self.add_external(EdgeType::Calls, *external, Strategy::Super, site)
                }
                _ => Outcome::Outside,
            },
            Entity::External(external) => self.add_external(EdgeType::Calls, external, value.via, site),
            Entity::Missing => Outcome::Unresolved,
            Entity::Builtin(name) => {
                self.add_builtin(name, site);
                Outcome::Outside
            }
            Entity::Opaque | Entity::Nothing | Entity::ExternalInstance(_) => Outcome::Outside,
            _ => Outcome::Outside,
        }
    }

    fn add_called_definition(&mut self, symbol: SymbolId, via: Strategy, site: Site) -> Outcome {
        let symbol = self.query.canonical(symbol);
        match self.query.kind(symbol) {
            kind if (is_class(kind) || kind == Kind::TypeAlias) && self.query.file.rules.conversions => {
                self.add_target(EdgeType::UsesType, symbol, via, site)
            }
            kind if is_class(kind)
                && let Some(maker) = self.companion_maker(symbol, site) =>
            {
                self.add_overload(maker, via, site)
            }
            kind if is_class(kind) => {
                self.add_constructor(symbol, Strategy::Constructor, site);
                self.add_further_constructors(symbol, site);
                self.add_target(EdgeType::Calls, symbol, Strategy::Constructor, site)
            }
            Kind::Function | Kind::Method | Kind::Constructor => {
                let mut made = self.query.decorated(symbol);
                // What a decorator receives is the function as it is written.
                if via == Strategy::Passed && !made.is_empty() && self.is_named_callee(symbol, site) {
                    made.clear();
                }
                for made in made {
                    if let Entity::Instance(class) = made.entity
                        && self.query.file.rules.call_method.is_some()
                        && self.query.class_of(site.scope) != Some(class)
                    {
                        self.add_called_instance(class, Strategy::ReturnType, site);
                    }
                    if let Entity::Definition(wrapper) = made.entity
                        && is_callable(self.query.kind(wrapper))
                        && !self.is_source(wrapper, site)
                        && let Some(target) = self.target(wrapper)
                    {
                        self.add(site.source, EdgeType::Calls, target, site.line, Strategy::ReturnType);
                    }
                }
                self.add_implementation(symbol, site);
                self.add_overload(symbol, via, site)
            }
            Kind::Property => {
                // The getter runs, then its result is called.
                let outcome = self.add_target(EdgeType::Calls, symbol, via, site);
                match self.query.file.rules.prototypes {
                    true => outcome.max(self.add_called_holder(symbol, site)),
                    false => outcome,
                }
            }
            Kind::Constant | Kind::Field if self.query.file.rules.indexed_by_call => {
                self.add_called_holder(symbol, site)
            }
            Kind::Constant | Kind::Field if self.holds_container(symbol) => Outcome::Outside,
            Kind::Constant | Kind::Field => {
                let outcome = self.add_target(EdgeType::Calls, symbol, via, site);
                outcome.max(self.add_called_holder(symbol, site))
            }
            Kind::TypeAlias => self.add_called_holder(symbol, site),
            _ => Outcome::Unresolved,
        }
    }

    /// Returns whether a variable that is called holds the function around the call. It held another one before, as in
    /// `old = x.run; x.run = function () { old() }`: a function that calls itself does so by its own name.
    fn is_caller_itself(&self, value: Value, site: Site) -> bool {
        let query = self.query;
        let is_followed = matches!(value.via, Strategy::Passed | Strategy::Alias | Strategy::Element);
        let (true, Entity::Definition(symbol)) = (is_followed, value.entity) else { return false };
        let Expr::Call { callee, .. } = *query.file.expr(site.expr) else { return false };
        let called = match *query.file.expr(callee) {
            Expr::Name(name) | Expr::Attribute { name, .. } => query.file.sym(name),
            _ => EMPTY,
        };
        let definition = query.definition(symbol).1;
        is_callable(definition.kind) && definition.name != called && self.is_source(symbol, site)
    }

    /// Returns whether a call names what it calls, and this is a function.
    fn is_named_callee(&self, function: SymbolId, site: Site) -> bool {
        let Expr::Call { callee, .. } = *self.query.file.expr(site.expr) else { return false };
        let Expr::Name(name) = *self.query.file.expr(callee) else { return false };
        let found = self.query.resolve_called_name(site.scope, self.query.file.sym(name), site.line);
        found.is_some_and(|values| values.iter().any(|value| value.entity == Entity::Definition(function)))
    }

    fn is_source(&self, symbol: SymbolId, site: Site) -> bool {
        site.source != FILE_NODE && self.query.file.symbols[site.source as usize] == symbol
    }

    /// Returns whether a field holds a container, so that `table(key)` is an access to an element.
    fn holds_container(&self, symbol: SymbolId) -> bool {
        let held = self.query.stored_values(symbol);
        let is_container = |value: &Value| matches!(value.entity, Entity::Elements(_) | Entity::Mapped(_));
        !self.query.file.rules.field_accessors && !held.is_empty() && held.iter().all(is_container)
    }

    /// Adds calls of the known values of a called variable.
    fn add_called_holder(&mut self, symbol: SymbolId, site: Site) -> Outcome {
        let mut outcome = Outcome::Unresolved;
        let variable = Value::new(Entity::Definition(symbol), Strategy::Alias);
        let held = self.query.held_at(variable, site.scope, site.line, false);
        for held in held.unwrap_or_else(|| self.query.stored_values(symbol)) {
            let via = match held.entity {
                Entity::Definition(inner) => {
                    let kind = self.query.kind(inner);
                    if !is_class(kind) && !matches!(kind, Kind::Function | Kind::Method) {
                        continue;
                    }
                    Strategy::Alias
                }
                _ => held.via,
            };
            if self.is_caller_itself(Value { via, ..held }, site) {
                continue;
            }
            outcome = outcome.max(self.add_called(Value { via, ..held }, site));
        }
        outcome
    }

    /// Adds the call of a method that calling an instance runs.
    fn add_called_instance(&mut self, class: SymbolId, via: Strategy, site: Site) -> Outcome {
        let Some(name) = self.query.file.rules.call_method else {
            return match self.query.called_type(class) {
                Some(owner) if self.query.kind(owner) == Kind::Extension => Outcome::Outside,
                Some(owner) => self.add_target(EdgeType::Calls, owner, via, site),
                None => Outcome::Unresolved,
            };
        };
        let members = self.query.class_member(class, name, via);
        let mut outcome = Outcome::Unresolved;
        for member in members {
            outcome = outcome.max(match member.entity {
                Entity::Definition(symbol) if is_callable(self.query.kind(symbol)) => {
                    self.add_target(EdgeType::Calls, symbol, member.via, site)
                }
                Entity::External(_) | Entity::Opaque | Entity::Builtin(_) => Outcome::Outside,
                _ => Outcome::Unresolved,
            });
        }
        outcome
    }

    fn add_constructor(&mut self, class: SymbolId, via: Strategy, site: Site) -> Outcome {
        let place = self.query.index.symbols.get(class);
        let (file, _) = self.query.definition(class);
        // The parameters of the class are those of its primary constructor.
        if !file.def(place.def).params.is_empty() && self.takes(file, place.def, site.expr) {
            return Outcome::Outside;
        }
        match self.query.constructor_of(class) {
            Some(symbol) => self.add_overload(symbol, via, site),
            None => Outcome::Outside,
        }
    }

    pub(super) fn add_overload(&mut self, symbol: SymbolId, via: Strategy, site: Site) -> Outcome {
        let caller = match site.source {
            FILE_NODE => self.query.file.file_symbol,
            source => self.query.file.symbols[source as usize],
        };
        let (symbol, via) = self.overload(symbol, via, site.expr, caller);
        self.add_target(EdgeType::Calls, symbol, via, site)
    }

    /// Adds an edge to a definition. A call from a test to other code is also a `TESTS` edge.
    pub(super) fn add_target(&mut self, kind: EdgeType, symbol: SymbolId, via: Strategy, site: Site) -> Outcome {
        let Some(target) = self.target(symbol) else { return Outcome::Unresolved };
        self.add(site.source, kind, target, site.line, via);
        if kind == EdgeType::Calls && self.query.file.is_in_test(site.scope) {
            let (file, definition) = self.query.definition(symbol);
            if !file.is_test && definition.flags & flags::TEST == 0 {
                self.add(self.test_source(site), EdgeType::Tests, target, site.line, via);
            }
        }
        Outcome::Edge
    }

    /// Returns the nearest enclosing node that is marked as a test, else the node at the position.
    fn test_source(&self, site: Site) -> DefId {
        let file = self.query.file;
        let mut here = site.source;
        while here != FILE_NODE && here != 0 {
            if file.outline(here).flags & flags::TEST != 0 && file.is_node(here) {
                return here;
            }
            here = file.outline(here).parent;
        }
        site.source
    }

    fn add_external(&mut self, kind: EdgeType, external: u32, via: Strategy, site: Site) -> Outcome {
        self.add(site.source, kind, Target::External(external), site.line, via);
        Outcome::Edge
    }

    /// Adds an edge for a function or class used as a value. Reading a property calls it.
    fn add_read(&mut self, expr: ExprId, site: Site) {
        let query = self.query;
        if let Some(path) = query.key_of(expr).filter(|_| !query.file.rules.path_functions.is_empty()) {
            if let Some(symbol) = query.at_path(path).filter(|&symbol| is_referable(query.kind(symbol))) {
                self.add_target(EdgeType::References, symbol, Strategy::Import, site);
            }
            return;
        }
        if !matches!(query.file.expr(expr), Expr::Name(_) | Expr::Attribute { .. } | Expr::Generic { .. }) {
            return;
        }
        let values = query.eval(expr, site.scope, site.line);
        self.add_added_property(expr, &values, site);
        for value in values {
            match value.entity {
                Entity::Definition(symbol) if value.via != Strategy::Alias => {
                    let symbol = query.canonical(symbol);
                    let kind = query.kind(symbol);
                    self.add_descriptor(symbol, 0, site);
                    let is_bare = matches!(query.file.expr(expr), Expr::Name(_)) && !query.file.rules.implicit_this;
                    // The bare name of a property, in its class, is the property and not its value.
                    let is_getter = kind == Kind::Property || self.is_read_accessor(symbol, expr);
                    if is_getter && !is_bare && !query.is_assumed(expr, site.scope, site.line) {
                        self.add_target(EdgeType::Calls, symbol, value.via, site);
                    } else if is_referable(kind) && !matches!(value.via, Strategy::Passed | Strategy::Element) {
                        self.add_target(EdgeType::References, symbol, value.via, site);
                    }
                }
                Entity::External(external) if let Some(variable) = query.setting_variable(external) => {
                    self.add_target(EdgeType::References, variable, Strategy::UniqueName, site);
                }
                Entity::External(external) if query.index.externals.name(external).1 != EMPTY => {
                    self.add_external(EdgeType::References, external, value.via, site);
                }
                _ => {}
            }
        }
    }

    /// Adds the call of a property that the project adds to a type of the language: `n.half` of `extension (n: Int) def
    /// half`.
    fn add_added_property(&mut self, expr: ExprId, values: &Values, site: Site) {
        let Expr::Attribute { name, .. } = *self.query.file.expr(expr) else { return };
        let rules = &self.query.file.rules;
        let is_outside = !values.is_empty() && values.iter().all(|value| value.entity == Entity::Builtin(EMPTY));
        if !rules.open_classes || rules.extension_functions || rules.extension_methods || !is_outside {
            return;
        }
        if let Some(added) = self.added_member(self.query.file.sym(name))
            && let Entity::Definition(symbol) = added.entity
            && self.query.kind(symbol) == Kind::Property
        {
            self.add_target(EdgeType::Calls, symbol, added.via, site);
        }
    }

    /// Adds the call of a property whose value has the member that is named next.
    fn add_getter(&mut self, expr: ExprId, site: Site) {
        for value in self.query.eval(expr, site.scope, site.line) {
            if let Entity::Definition(symbol) = value.entity
                && (self.query.kind(symbol) == Kind::Property || self.is_read_accessor(symbol, expr))
                && value.via != Strategy::Alias
                && !self.query.is_assumed(expr, site.scope, site.line)
            {
                self.add_target(EdgeType::Calls, self.query.canonical(symbol), value.via, site);
            }
        }
    }

    fn is_read_accessor(&self, symbol: SymbolId, expr: ExprId) -> bool {
        let Expr::Attribute { name, .. } = *self.query.file.expr(expr) else { return false };
        self.query.is_read_accessor(symbol, self.query.file.sym(name))
    }

    fn add_type(&mut self, expr: ExprId, site: Site) -> Outcome {
        let query = self.query;
        if let Expr::Name(name) = query.file.expr(expr)
            && query.file.rules.self_types.contains(&query.file.sym(*name))
        {
            return Outcome::Outside;
        }
        let mut outcome = Outcome::Unresolved;
        for value in query.in_position(true, || query.eval(expr, site.scope, site.line)) {
            outcome = outcome.max(match value.entity {
                Entity::Definition(symbol) => {
                    let symbol = query.canonical(symbol);
                    let kind = query.kind(symbol);
                    if is_class(kind) || matches!(kind, Kind::TypeAlias | Kind::Constant) {
                        self.add_target(EdgeType::UsesType, symbol, value.via, site)
                    } else {
                        Outcome::Outside
                    }
                }
                Entity::External(external) => self.add_external(EdgeType::UsesType, external, value.via, site),
                Entity::Missing | Entity::Opaque => Outcome::Unresolved,
                _ => Outcome::Outside,
            });
        }
        outcome
    }

    /// Adds an edge for a decorator, which runs at its definition: the definition refers to it.
    fn add_decorator(&mut self, def: DefId, decorator: ExprId) {
        let query = self.query;
        let definition = query.file.def(def);
        let expr = match *query.file.expr(decorator) {
            Expr::Call { callee, .. } => callee,
            _ => decorator,
        };
        let (scope, line) = (definition.parent, definition.start_line);
        let site = Site { source: self.source(def), scope, line: definition.name_line, expr: decorator };
        self.add_read(expr, site);
        // In Python, the code around runs the decorator, which a call may make.
        if query.file.rules.member_order == MemberOrder::C3 {
            let values = query.eval(decorator, scope, line);
            // Which of several functions a call gives depends on its arguments.
            let is_open = expr != decorator && values.len() > 1;
            for value in values.into_iter().filter(|_| !is_open) {
                let via = if expr == decorator { value.via } else { Strategy::ReturnType };
                if matches!(value.entity, Entity::Definition(symbol) if query.kind(symbol) != Kind::Property) {
                    let site = Site { source: self.source(scope), scope, line, expr: decorator };
                    self.add_called(Value { via, ..value }, site);
                }
            }
        }
    }
}
