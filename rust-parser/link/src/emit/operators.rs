//! Calls that no call expression shows: the methods that operators, elements, blocks and built-in functions run on objects
//! of the project.

use smallvec::SmallVec;

use crate::edge::EdgeType;
use crate::emit::callees::Site;
use crate::emit::collector::EdgeCollector;
use crate::entity::{Entity, Value};
use crate::project::file_entry::{FileEntry, is_callable, is_class};
use crate::project::names::{FILE_NODE, Sym, SymbolId};
use crate::strategy::Strategy;
use atlas_facts::{Binding, DefId, Expr, ExprId, Kind, SLICE};

/// Largest number of functions of one operator that are compared.
const MAX_FREE: usize = 64;
/// Largest number of methods that stand in for one another.
const MAX_FALLBACKS: usize = 3;

impl EdgeCollector<'_, '_> {
    /// Adds the methods that an operator, or reading an element, runs.
    pub fn add_operator(&mut self, site: Site) {
        let query = self.query;
        let rules = &query.file.rules;
        let (callee, args) = match query.file.expr(site.expr) {
            &Expr::Index { base, .. } => return self.add_implied(base, &rules.item_methods, site),
            Expr::Call { callee, args, .. } => (*callee, args),
            _ => return,
        };
        let Expr::Attribute { base, name } = *query.file.expr(callee) else { return };
        if query.file.text(name) == SLICE {
            return self.add_implied(base, &rules.item_methods, site);
        }
        if self.begins_with_class(base, query.file.sym(name), site) {
            return;
        }
        let mut names: SmallVec<[Sym; MAX_FALLBACKS]> = SmallVec::new();
        names.push(query.file.sym(name));
        while let Some(&next) = names.last().and_then(|last| rules.operator_fallbacks.get(last))
            && names.len() < MAX_FALLBACKS
        {
            names.push(next);
        }
        if rules.free_operators {
            let operands: SmallVec<[ExprId; 2]> =
                std::iter::once(base).chain(args.iter().map(|arg| arg.value)).collect();
            self.add_free_operator(&operands, names[0], site);
        }
        if rules.operators_of_arguments {
            args.iter().for_each(|arg| self.add_implied(arg.value, &names, site));
        } else {
            self.add_implied(base, &names, site);
        }
    }

    /// Returns whether a chain of an operator begins with a class itself, as a union of types does: `A | B | None`.
    fn begins_with_class(&self, base: ExprId, operator: Sym, site: Site) -> bool {
        let query = self.query;
        let mut first = base;
        while let Expr::Call { callee, .. } = query.file.expr(first)
            && let Expr::Attribute { base, name } = *query.file.expr(*callee)
            && query.file.sym(name) == operator
        {
            first = base;
        }
        let is_class_object =
            |value: &Value| matches!(value.entity, Entity::Definition(symbol) if is_class(query.kind(symbol)));
        first != base && query.receivers(first, site.scope, site.line).iter().any(is_class_object)
    }

    /// Adds the method of an object in an attribute of a class that reading (0) or storing (1) the attribute runs.
    pub(super) fn add_descriptor(&mut self, attribute: SymbolId, number: usize, site: Site) {
        let query = self.query;
        let Some(&name) = query.file.rules.descriptor_methods.get(number) else { return };
        if query.kind(attribute) != Kind::Field || !matches!(query.file.expr(site.expr), Expr::Attribute { .. }) {
            return;
        }
        let held = query.stored_values(attribute);
        if let [Value { entity: Entity::Instance(class), .. }] = held[..] {
            for member in query.class_member(class, name, Strategy::AttributeType) {
                if let Entity::Definition(method) = member.entity {
                    self.add_target(EdgeType::Calls, query.canonical(method), member.via, site);
                }
            }
        }
    }

    /// Adds the methods that making an object runs besides its constructor.
    pub(super) fn add_further_constructors(&mut self, class: SymbolId, site: Site) {
        let query = self.query;
        for &name in &query.file.rules.further_constructors {
            for member in query.class_member(class, name, Strategy::Constructor) {
                if let Entity::Definition(method) = member.entity {
                    self.add_target(EdgeType::Calls, query.canonical(method), Strategy::Constructor, site);
                }
            }
        }
    }

    /// Adds the function outside of all classes that an operator runs: the only one of its name with a parameter of the
    /// class of an operand in the place of the operand.
    fn add_free_operator(&mut self, operands: &[ExprId], name: Sym, site: Site) {
        let query = self.query;
        let named = query.named(name);
        if named.is_empty() || named.len() > MAX_FREE {
            return;
        }
        let mut found: SmallVec<[(SymbolId, Strategy); 2]> = SmallVec::new();
        for (position, &operand) in operands.iter().enumerate() {
            for object in query.receivers(operand, site.scope, site.line) {
                let Entity::Instance(class) = object.entity else { continue };
                for &function in named {
                    let is_known = found.iter().any(|&(known, _)| known == function);
                    if !is_known && self.has_operand(function, operands.len(), position, class) {
                        found.push((function, object.via));
                    }
                }
            }
        }
        if let [(function, via)] = found[..] {
            self.add_target(EdgeType::Calls, query.canonical(function), via, site);
        }
    }

    /// Returns whether a function outside of classes takes this many operands and names a class as the type of one.
    fn has_operand(&self, function: SymbolId, count: usize, position: usize, class: SymbolId) -> bool {
        let query = self.query;
        let place = query.index.symbols.get(function);
        if place.def == FILE_NODE || query.kind(function) != Kind::Function {
            return false;
        }
        let file = query.index.file(place.file);
        let params = &file.def(place.def).params;
        let annotation = params.get(position).filter(|_| params.len() == count).and_then(|param| param.annotation);
        let name = match annotation.map(|annotation| file.expr(annotation)) {
            Some(Expr::Name(name) | Expr::Attribute { name, .. }) => file.sym(*name),
            _ => return false,
        };
        name == query.definition(class).1.name
    }

    /// Adds the methods by which a block is entered and left.
    pub fn add_entered(&mut self, site: Site) {
        let rules = &self.query.file.rules;
        let (object, number) = match *self.query.file.expr(site.expr) {
            Expr::Await(inner) => (inner, 1),
            _ => (site.expr, 0),
        };
        for names in [&rules.enter_methods, &rules.exit_methods] {
            if let Some(name) = names.get(number) {
                self.add_implied(object, std::slice::from_ref(name), site);
            }
        }
    }

    /// Adds the method that storing an element runs: `x[key] = value`.
    pub fn add_stored_element(&mut self, binding: &Binding) {
        let query = self.query;
        if let Expr::Index { base, .. } = *query.file.expr(binding.target) {
            let (scope, line, expr) = (binding.scope, binding.line, binding.target);
            let site = Site { source: self.source(scope), scope, line, expr };
            self.add_implied(base, &query.file.rules.item_setters, site);
        }
    }

    /// Adds the method that a built-in function runs on its argument: `len(x)`.
    pub(super) fn add_builtin(&mut self, function: Sym, site: Site) {
        let query = self.query;
        let rules = &query.file.rules;
        let (Some(&name), Expr::Call { args, .. }) = (rules.builtin_methods.get(&function), query.file.expr(site.expr))
        else {
            return;
        };
        let names = [Some(name), rules.operator_fallbacks.get(&name).copied()];
        let names: SmallVec<[Sym; MAX_FALLBACKS]> = names.into_iter().flatten().collect();
        if let [first, ..] = &args[..]
            && first.keyword.is_none()
        {
            self.add_implied(first.value, &names, site);
        }
    }

    /// Adds calls of the first of the methods that the class of an object has, for each object that an expression may be.
    fn add_implied(&mut self, object: ExprId, names: &[Sym], site: Site) {
        let query = self.query;
        let objects = query.receivers(object, site.scope, site.line);
        let objects = query.flat_map(objects, |value| query.held(value));
        // Any object has such methods: those of the known ones say nothing about others.
        if objects.iter().any(Value::is_unknown) {
            return;
        }
        for object in objects {
            let class = match object.entity {
                Entity::Instance(class) => class,
                // `Registry["key"]` of an `object`.
                Entity::Definition(class) if query.file.rules.extension_functions && is_class(query.kind(class)) => {
                    class
                }
                _ => continue,
            };
            for &name in names {
                let found = self.implied_method(object, class, name, site);
                for &method in &found {
                    self.add_implied_method(method, object, site);
                }
                if !found.is_empty() {
                    break;
                }
            }
        }
    }

    fn implied_method(&self, object: Value, class: SymbolId, name: Sym, site: Site) -> SmallVec<[SymbolId; 2]> {
        let query = self.query;
        // Several implementations for other operands: `impl Mul<f64> for V`, `impl Mul<V> for V`.
        let has_own = |scope: &SymbolId| !query.entries(*scope, name).1.is_empty();
        if query.extensions(class).iter().filter(|extension| has_own(&extension.symbol)).count() > 1 {
            return SmallVec::new();
        }
        let before = query.calling.replace(true);
        let members = query.class_member(class, name, object.via).into_iter();
        query.calling.set(before);
        let methods = members.filter_map(|member| match member.entity {
            Entity::Definition(symbol) => Some(query.canonical(symbol)),
            _ => None,
        });
        let is_method = |symbol: &SymbolId| is_callable(query.kind(*symbol)) || query.kind(*symbol) == Kind::Property;
        let mut methods: SmallVec<[SymbolId; 2]> = methods.filter(is_method).collect();
        if methods.is_empty() && query.file.rules.extension_functions {
            let is_call = matches!(query.file.expr(site.expr), Expr::Call { .. });
            let takes = |file: &FileEntry, def: DefId| !is_call || self.takes(file, def, site.expr);
            let found = query.extension_of(&query.receiver(&[object]), name, site.scope, takes);
            methods.extend(found.filter(|value| value.via != Strategy::Overload).and_then(
                |value| match value.entity {
                    Entity::Definition(symbol) => Some(symbol),
                    _ => None,
                },
            ));
        }
        methods
    }

    /// Adds the call of a method unless several overloads fit, whose parameters are not compared.
    fn add_implied_method(&mut self, method: SymbolId, object: Value, site: Site) {
        let (chosen, via) = self.overload(method, object.via, site.expr, method);
        if via != Strategy::Overload {
            self.add_target(EdgeType::Calls, chosen, via, site);
        }
    }
}
