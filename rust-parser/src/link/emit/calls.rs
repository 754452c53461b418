//! References of one file to edges: calls, values, types; and tests to what they call.

use smallvec::smallvec;

use crate::facts::{DefId, Expr, ExprId, Kind, Reference, ReferenceKind, flags};
use crate::link::edge::{EdgeType, Target};
use crate::link::emit::collector::{EdgeCollector, is_referable};
use crate::link::entity::{Entity, Value, Values};
use crate::link::project::file_entry::{is_callable, is_class};
use crate::link::project::names::{FILE_NODE, Sym, SymbolId};
use crate::link::rules::Family;
use crate::link::strategy::Strategy;

/// Shortest name that says anything about who is meant.
const MIN_UNIQUE_NAME: usize = 4;
/// Names with more definitions than this are not even counted.
const MAX_NAMED: usize = 64;

/// Where a reference is made.
#[derive(Clone, Copy)]
struct Site {
    source: DefId,
    scope: DefId,
    line: u32,
    /// Of a call; 0 for other references.
    arguments: usize,
}

/// What came of one possible value of a reference.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Unresolved,
    /// Outside of what is indexed: neither an edge nor a gap.
    Outside,
    Edge,
}

/// Add the edges of all references of a code file.
pub fn add_references(collector: &mut EdgeCollector) {
    let facts = collector.query.file.facts().clone();
    for reference in &facts.references {
        let source = collector.source(reference.scope);
        let arguments = match collector.query.file.expr(reference.expr) {
            Expr::Call { args, .. } => args.len(),
            _ => 0,
        };
        let site = Site { source, scope: reference.scope, line: reference.line, arguments };
        collector.add_reference(reference, site);
    }
    for (def, definition) in facts.definitions.iter().enumerate() {
        for &decorator in &definition.decorators {
            collector.add_decorator(def as DefId, decorator);
        }
    }
}

impl EdgeCollector<'_, '_> {
    fn add_reference(&mut self, reference: &Reference, site: Site) {
        match reference.kind {
            ReferenceKind::Call => {
                if let Expr::Call { callee, .. } = *self.query.file.expr(reference.expr) {
                    let outcome = self.add_call(callee, site);
                    self.count(outcome);
                }
            }
            ReferenceKind::Read => self.add_read(reference.expr, site),
            ReferenceKind::Type => {
                let outcome = self.add_type(reference.expr, site);
                self.count(outcome);
            }
            ReferenceKind::DocName | ReferenceKind::DocPath => {}
        }
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
        for value in values {
            outcome = outcome.max(self.add_called(value, site));
        }
        outcome
    }

    /// Possible callees; a method that only one class of the project has is the last resort for an unknown receiver.
    fn callee_values(&self, callee: ExprId, site: Site) -> Values {
        let query = self.query;
        match *query.file.expr(callee) {
            Expr::Attribute { base, name } => {
                let name = query.file.sym(name);
                let bases = query.eval(base, site.scope, site.line);
                if bases.is_empty() && self.is_foreign_class(base, site) {
                    return Values::new();
                }
                if bases.is_empty() {
                    let unique = self.unique(name, |kind, is_member| is_callable(kind) && is_member);
                    return unique
                        .map(|symbol| Value::new(Entity::Definition(symbol), Strategy::UniqueName))
                        .into_iter()
                        .collect();
                }
                if query.file.family == Family::Ruby && query.text(name) == "new" {
                    return bases;
                }
                query.each(bases, |value| query.called_attribute(value, name))
            }
            Expr::Name(name) => {
                let name = query.file.sym(name);
                match query.resolve_called_name(site.scope, name, site.line) {
                    Some(values) => values,
                    None if query.file.family.has_global_functions() => {
                        let unique = self.unique(name, |kind, is_member| kind == Kind::Function && !is_member);
                        unique
                            .map(|symbol| Value::new(Entity::Definition(symbol), Strategy::UniqueName))
                            .into_iter()
                            .collect()
                    }
                    None => Values::new(),
                }
            }
            Expr::Lambda(_) => smallvec![Value::new(Entity::Opaque, Strategy::Local)],
            _ => query.eval(callee, site.scope, site.line),
        }
    }

    /// A name that can only be a class, of which the project knows nothing: its methods are not the project's.
    fn is_foreign_class(&self, base: ExprId, site: Site) -> bool {
        let query = self.query;
        let Expr::Name(name) = *query.file.expr(base) else { return false };
        let has_class_case = matches!(query.file.family, Family::CSharp | Family::Ruby | Family::Php);
        has_class_case
            && query.file.text(name).starts_with(char::is_uppercase)
            && query.resolve_name(site.scope, query.file.sym(name), site.line).is_none()
    }

    /// The only callable of this family with a name that says something.
    fn unique(&self, name: Sym, fits: impl Fn(Kind, bool) -> bool) -> Option<SymbolId> {
        let query = self.query;
        let text = query.text(name);
        if text.len() < MIN_UNIQUE_NAME
            || text.starts_with("__")
            || query.index.rules.is_common_method(name)
            || query.index.rules.is_builtin(query.file.family, name)
        {
            return None;
        }
        let named = query.named(name);
        if named.len() > MAX_NAMED {
            return None;
        }
        let mut found = None;
        for &symbol in named {
            if query.index.symbols.get(symbol).def == FILE_NODE {
                continue;
            }
            let (file, definition) = query.definition(symbol);
            if file.family != query.file.family || !is_callable(definition.kind) {
                continue;
            }
            let symbol = query.canonical(symbol);
            if found.is_some_and(|known| known != symbol) {
                return None;
            }
            found = Some(symbol);
        }
        let (file, definition) = query.definition(found?);
        let parent = file.outline(definition.parent).kind;
        let is_member = is_class(parent) || parent == Kind::Extension;
        let is_top = definition.parent == 0 || parent == Kind::Namespace;
        let is_reachable = (is_member || is_top) && (!file.is_test || query.file.is_test);
        found.filter(|_| is_reachable && fits(definition.kind, is_member))
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
            Entity::Builtin(_) | Entity::Opaque | Entity::Nothing | Entity::ExternalInstance(_) => Outcome::Outside,
            Entity::Elements(_) | Entity::Mapped(_) | Entity::SelfType | Entity::Package(_) | Entity::Folder(_) => {
                Outcome::Outside
            }
        }
    }

    fn add_called_definition(&mut self, symbol: SymbolId, via: Strategy, site: Site) -> Outcome {
        let symbol = self.query.canonical(symbol);
        match self.query.kind(symbol) {
            kind if is_class(kind) => {
                self.add_constructor(symbol, Strategy::Constructor, site);
                self.add_target(EdgeType::Calls, symbol, Strategy::Constructor, site)
            }
            Kind::Function | Kind::Method | Kind::Constructor => self.add_overload(symbol, via, site),
            Kind::Property => {
                // The getter runs, then what it gave is called.
                self.add_target(EdgeType::Calls, symbol, via, site)
            }
            Kind::Constant | Kind::Field => {
                let outcome = self.add_target(EdgeType::Calls, symbol, via, site);
                outcome.max(self.add_called_holder(symbol, site))
            }
            Kind::TypeAlias => self.add_called_holder(symbol, site),
            _ => Outcome::Unresolved,
        }
    }

    /// Calling a variable also calls what it is known to hold.
    fn add_called_holder(&mut self, symbol: SymbolId, site: Site) -> Outcome {
        let mut outcome = Outcome::Unresolved;
        for held in self.query.held(symbol) {
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
            outcome = outcome.max(self.add_called(Value { via, ..held }, site));
        }
        outcome
    }

    /// Calling an instance calls its `__call__`.
    fn add_called_instance(&mut self, class: SymbolId, via: Strategy, site: Site) -> Outcome {
        if self.query.file.family != Family::Python {
            return Outcome::Unresolved;
        }
        let members = self.query.class_member(class, self.query.known("__call__"), via);
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
        match self.query.constructor_of(class) {
            Some(symbol) => self.add_overload(symbol, via, site),
            None => Outcome::Outside,
        }
    }

    fn add_overload(&mut self, symbol: SymbolId, via: Strategy, site: Site) -> Outcome {
        let caller = match site.source {
            FILE_NODE => self.query.file.file_symbol,
            source => self.query.file.symbols[source as usize],
        };
        let (symbol, via) = self.overload(symbol, via, site.arguments, caller);
        self.add_target(EdgeType::Calls, symbol, via, site)
    }

    /// An edge to a definition; a call from a test to what is no test is also a `TESTS` edge.
    fn add_target(&mut self, kind: EdgeType, symbol: SymbolId, via: Strategy, site: Site) -> Outcome {
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

    /// The test around a place: the nearest node that is marked as one, else the node of the place.
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

    /// A function or class used as a value; reading a property calls it.
    fn add_read(&mut self, expr: ExprId, site: Site) {
        let query = self.query;
        if !matches!(query.file.expr(expr), Expr::Name(_) | Expr::Attribute { .. } | Expr::Generic { .. }) {
            return;
        }
        for value in query.eval(expr, site.scope, site.line) {
            match value.entity {
                Entity::Definition(symbol) if value.via != Strategy::Alias => {
                    let symbol = query.canonical(symbol);
                    let kind = query.kind(symbol);
                    if kind == Kind::Property {
                        self.add_target(EdgeType::Calls, symbol, value.via, site);
                    } else if is_referable(kind) {
                        self.add_target(EdgeType::References, symbol, value.via, site);
                    }
                }
                Entity::External(external)
                    if query.index.externals.name(external).1 != crate::link::project::names::EMPTY =>
                {
                    self.add_external(EdgeType::References, external, value.via, site);
                }
                _ => {}
            }
        }
    }

    fn add_type(&mut self, expr: ExprId, site: Site) -> Outcome {
        let query = self.query;
        if let Expr::Name(name) = query.file.expr(expr)
            && query.index.rules.self_types.contains(&query.file.sym(*name))
        {
            return Outcome::Outside;
        }
        let mut outcome = Outcome::Unresolved;
        for value in query.eval(expr, site.scope, site.line) {
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
                Entity::Missing => Outcome::Unresolved,
                _ => Outcome::Outside,
            });
        }
        outcome
    }

    /// A decorator is run when its definition is: the definition refers to it.
    fn add_decorator(&mut self, def: DefId, decorator: ExprId) {
        let query = self.query;
        let definition = query.file.def(def);
        let expr = match *query.file.expr(decorator) {
            Expr::Call { callee, .. } => callee,
            _ => decorator,
        };
        let site =
            Site { source: self.source(def), scope: definition.parent, line: definition.name_line, arguments: 0 };
        self.add_read(expr, site);
    }
}
