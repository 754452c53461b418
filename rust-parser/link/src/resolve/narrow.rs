//! Names and attributes whose type a test establishes (`isinstance`) on some lines.

use crate::entity::{Entity, Value, Values};
use crate::project::file_types::{ASSERTS, GUARD};
use crate::project::names::SymbolId;
use crate::project::query::Query;
use atlas_facts::{BindingKind, DefId, Expr, ExprId, Narrowing};

impl Query<'_> {
    /// Returns the values of a name or attribute at a line where tests restrict them; `None` if no test does. `known`
    /// are its values without the tests.
    pub(super) fn narrowed(&self, expr: ExprId, scope: DefId, line: u32, known: &Values) -> Option<Values> {
        let all = &self.file.facts().narrowings;
        let first = all.partition_point(|one| one.target < expr);
        let ours = all[first..].iter().take_while(|one| one.target == expr);
        let valid = ours.filter(|one| one.first_line <= line && line <= one.last_line);
        let mut valid: Vec<&Narrowing> = valid.filter(|one| self.is_around(one.scope, scope)).collect();
        // Both outcomes on one line: `x instanceof A ? x.a() : x.b()`.
        let is_both = |one: &&Narrowing, other: &&Narrowing| {
            one.is_excluded != other.is_excluded
                && (one.test_line, one.annotation) == (other.test_line, other.annotation)
        };
        let outcomes = valid.clone();
        valid.retain(|one| match outcomes.iter().any(|other| is_both(one, other)) {
            true => !one.is_excluded && !self.is_divided(one, known),
            false => true,
        });
        let mut left = known.clone();
        for one in valid.iter().filter(|one| one.is_excluded && !self.is_assigned_since(one, line)) {
            let unwanted = self.tested(one);
            let others = left.iter().filter(|value| match self.has_literal(value, one) {
                Some(has) => !has,
                None => !self.is_kind_of_any(value, &unwanted),
            });
            left = others.copied().collect();
        }
        let is_left = !left.is_empty() && left.len() < known.len();
        // The innermost test is the last that begins before the line.
        let innermost = valid.iter().rev().find(|one| !one.is_excluded);
        let Some(narrowing) = innermost.filter(|one| !self.is_assigned_since(one, line)) else {
            return is_left.then_some(left);
        };
        let wanted = self.tested(narrowing);
        if let Expr::Elements { .. } = self.file.expr(narrowing.annotation) {
            let fitting = left.iter().filter(|value| self.has_literal(value, narrowing) != Some(false));
            let kept: Values = fitting.copied().collect();
            return (!kept.is_empty() && kept.len() < known.len()).then_some(kept);
        }
        if wanted.is_empty() {
            return is_left.then_some(left);
        }
        let candidates = if is_left { &left } else { known };
        let fitting = candidates.iter().filter(|value| self.is_kind_of_any(value, &wanted));
        let kept: Values = fitting.copied().collect();
        Some(if kept.is_empty() { wanted } else { kept })
    }

    /// Returns whether only some of the values are of the type that a test looks for.
    fn is_divided(&self, narrowing: &Narrowing, known: &Values) -> bool {
        let wanted = self.tested(narrowing);
        let fits = |value: &Value| match self.has_literal(value, narrowing) {
            Some(has) => has,
            None => self.is_kind_of_any(value, &wanted),
        };
        known.iter().any(fits) && !known.iter().all(fits)
    }

    /// Returns the type that a function tests its argument for: `(x): x is Shape => ...`.
    pub(super) fn tested_for(&self, function: ExprId, (scope, line): (DefId, u32)) -> Values {
        match *self.file.expr(function) {
            Expr::Lambda(def) if !self.file.is_node(def) => match self.file.def(def).declared_type {
                Some(declared) => self.guarded_type(declared, def),
                None => Values::new(),
            },
            _ => self.flat_map(self.eval(function, scope, line), |value| match value.entity {
                Entity::Definition(function) => self.returned_as(function, GUARD).into(),
                _ => Values::new(),
            }),
        }
    }

    /// Returns the type in `x is T` or `asserts x is T`, the declared result of a function.
    pub(super) fn guarded_type(&self, declared: ExprId, function: DefId) -> Values {
        let Expr::Generic { base, args } = self.file.expr(declared) else { return Values::new() };
        let Expr::Name(mark) = *self.file.expr(*base) else { return Values::new() };
        match (self.file.text(mark), &args[..]) {
            ("is" | "asserts", &[_, tested]) => self.eval_type(tested, function, 0),
            _ => Values::new(),
        }
    }

    /// Returns the elements of the types that a test looks for, or these types where no element is known to have one.
    pub(super) fn tested_elements(&self, elements: &Values, wanted: Values) -> Values {
        if wanted.is_empty() {
            return wanted;
        }
        let fitting = elements.iter().filter(|value| self.is_kind_of_any(value, &wanted));
        let kept: Values = fitting.copied().collect();
        if kept.is_empty() { wanted } else { kept }
    }

    /// Returns the type that a call establishes by its return: `assertShape(x)`, `assert(x instanceof Shape)`.
    pub(super) fn asserted(&self, args: &[ExprId], scope: DefId) -> Values {
        let callees = self.naming_nothing(|| self.in_position(false, || self.eval(args[0], scope, u32::MAX)));
        self.flat_map(callees, |callee| match (callee.entity, args) {
            (Entity::Definition(function), _) if self.returned_as(function, ASSERTS).is_empty() => Values::new(),
            (Entity::Definition(function), &[_]) => self.returned_as(function, GUARD).into(),
            (Entity::Definition(_), &[_, tested]) => self.eval_type(tested, scope, 0),
            (Entity::External(external), &[_, tested]) => {
                let (package, name) = self.index.externals.name(external);
                let is_assertion = [package, name].into_iter().any(|part| {
                    let part = self.text(part);
                    part.contains("assert") || part.contains("invariant")
                });
                if is_assertion { self.eval_type(tested, scope, 0) } else { Values::new() }
            }
            _ => Values::new(),
        })
    }

    /// Returns the values that a test looks for.
    fn tested(&self, narrowing: &Narrowing) -> Values {
        let wanted = self.annotated(narrowing.annotation, narrowing.scope);
        match narrowing.is_class {
            true => wanted.into_iter().filter_map(class_object).collect(),
            false => wanted,
        }
    }

    /// Returns whether the member that a test compares with a literal has just that as its type: `kind: "circle"`.
    fn has_literal(&self, value: &Value, narrowing: &Narrowing) -> Option<bool> {
        let Expr::Elements { items, keys, .. } = self.file.expr(narrowing.annotation) else { return None };
        let (Expr::Key(literal), Entity::Instance(class)) = (self.file.expr(*items.first()?), value.entity) else {
            return None;
        };
        let member = self.class_member(class, self.file.sym(*keys.first()?), value.via);
        let [Value { entity: Entity::Definition(field), .. }] = member[..] else { return None };
        let (file, _) = self.definition(field);
        let signature = file.text(file.def(self.index.symbols.get(field).def).signature);
        let (_, declared) = signature.split_once(':')?;
        let declared = declared.trim().trim_end_matches([';', ',']).trim_end();
        let quoted = declared.len() > 1 && declared.starts_with(['"', '\'']) && declared.ends_with(['"', '\'']);
        let own = declared.get(1..declared.len().saturating_sub(1)).filter(|_| quoted)?;
        (!own.contains(['"', '\''])).then(|| own == self.file.text(*literal))
    }

    fn is_kind_of_any(&self, value: &Value, wanted: &Values) -> bool {
        wanted.iter().any(|wanted| self.is_kind_of(value.entity, wanted.entity))
    }

    fn is_around(&self, outer: DefId, mut scope: DefId) -> bool {
        loop {
            if scope == outer {
                return true;
            }
            if scope == 0 {
                return false;
            }
            scope = self.file.outline(scope).parent;
        }
    }

    /// Returns whether the target gets another value between the test and the line.
    fn is_assigned_since(&self, narrowing: &Narrowing, line: u32) -> bool {
        self.file.facts().bindings.iter().any(|binding| {
            binding.target == narrowing.target
                && binding.kind != BindingKind::Outer
                && binding.line >= narrowing.test_line
                && binding.line < line
        })
    }

    /// Returns whether a value belongs to a class, or to one that inherits from it.
    fn is_kind_of(&self, value: Entity, class: Entity) -> bool {
        let inherits =
            |own: SymbolId, base: SymbolId| own == base || self.ancestors(own).contains(&Entity::Definition(base));
        match (value, class) {
            (Entity::Instance(own), Entity::Instance(base)) | (Entity::Definition(own), Entity::Definition(base)) => {
                inherits(own, base)
            }
            (value, class) => value == class,
        }
    }
}

fn class_object(value: Value) -> Option<Value> {
    match value.entity {
        Entity::Instance(class) => Some(Value { entity: Entity::Definition(class), ..value }),
        _ => None,
    }
}
