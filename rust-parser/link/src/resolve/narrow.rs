//! Names and attributes whose type a test establishes (`isinstance`) on some lines.

use crate::entity::{Entity, Value, Values, merge};
use crate::project::names::SymbolId;
use crate::project::query::Query;
use atlas_facts::{BindingKind, DefId, ExprId, Narrowing};

impl Query<'_> {
    /// Returns the values of a name or attribute at a line where tests restrict them; `None` if no test does. `known`
    /// are its values without the tests.
    pub(super) fn narrowed(&self, expr: ExprId, scope: DefId, line: u32, known: &Values) -> Option<Values> {
        let all = &self.file.facts().narrowings;
        let first = all.partition_point(|one| one.target < expr);
        // The innermost test is the last that begins before the line.
        let ours = all[first..].iter().take_while(|one| one.target == expr);
        let valid = ours.filter(|one| one.first_line <= line && line <= one.last_line);
        let narrowing = valid.filter(|one| self.is_around(one.scope, scope)).last()?;
        if self.is_assigned_since(narrowing, line) {
            return None;
        }
        let mut wanted = self.annotated(narrowing.annotation, narrowing.scope);
        if narrowing.is_class {
            wanted = wanted.into_iter().filter_map(class_object).collect();
        }
        if wanted.is_empty() {
            return None;
        }
        let mut kept = Values::new();
        for &value in known {
            if wanted.iter().any(|wanted| self.is_kind_of(value.entity, wanted.entity)) {
                merge(&mut kept, [value].into_iter().collect());
            }
        }
        Some(if kept.is_empty() { wanted } else { kept })
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
