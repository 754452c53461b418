//! Calls that no call expression shows: the methods that operators, elements, blocks and built-in functions run on objects
//! of the project.

use smallvec::SmallVec;

use crate::edge::EdgeType;
use crate::emit::callees::Site;
use crate::emit::collector::EdgeCollector;
use crate::entity::{Entity, Value};
use crate::project::file_entry::{FileEntry, is_callable};
use crate::project::names::{Sym, SymbolId};
use crate::strategy::Strategy;
use atlas_facts::{Binding, DefId, Expr, ExprId, Kind, SLICE};

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
        let mut names: SmallVec<[Sym; MAX_FALLBACKS]> = SmallVec::new();
        names.push(query.file.sym(name));
        while let Some(&next) = names.last().and_then(|last| rules.operator_fallbacks.get(last))
            && names.len() < MAX_FALLBACKS
        {
            names.push(next);
        }
        if rules.operators_of_arguments {
            args.iter().for_each(|arg| self.add_implied(arg.value, &names, site));
        } else {
            self.add_implied(base, &names, site);
        }
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
            let Entity::Instance(class) = object.entity else { continue };
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
            methods.extend(found.filter(|value| value.via != Strategy::Overload).and_then(|value| match value.entity {
                Entity::Definition(symbol) => Some(symbol),
                _ => None,
            }));
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
