//! Functions that make a class from another one: `const Timed = Base => class extends Base {...}`.

use smallvec::smallvec;

use crate::entity::{Entity, Value, Values, merge};
use crate::inherit::base_value;
use crate::project::file_entry::{Bound, is_class};
use crate::project::names::{FileId, SymbolId};
use crate::project::query::Query;
use crate::resolve::arguments::Arguments;
use crate::strategy::Strategy;
use atlas_facts::{BindingKind, DefId, Expr, ExprId, Kind};

/// Largest number of nested mixins and of variables that hold what one makes.
const MAX_MIXINS: usize = 6;

/// Returns the bases that a mixin gives: `class X extends Timed(Base)` has the members of the class that `Timed` defines,
/// and those of `Base`; so has `class X extends Y` after `const Y = Timed(Base)`.
pub fn mixed_bases(query: &Query, class: DefId, base: ExprId) -> Option<Vec<Value>> {
    if !query.file.rules.prototypes || query.file.def(class).kind != Kind::Class {
        return None;
    }
    match query.file.expr(base) {
        Expr::Call { .. } => mixed(query, query.home, class, base, 0),
        Expr::Name(_) | Expr::Attribute { .. } => {
            let definition = query.file.def(class);
            let values = query.eval(base, definition.parent, definition.name_line);
            mixed_constant(query, class, &values, 0)
        }
        _ => None,
    }
}

/// Returns the classes that a call of a mixin in a file combines.
fn mixed(query: &Query, file: FileId, class: DefId, call: ExprId, level: usize) -> Option<Vec<Value>> {
    let Expr::Call { callee, args, .. } = query.index.file(file).expr(call) else { return None };
    if level > MAX_MIXINS {
        return None;
    }
    let made = values_in(query, file, class, *callee).into_iter().find_map(|value| match value.entity {
        Entity::Definition(function) if query.is_function(value) => {
            query.made_class(function).map(|class| Value { entity: Entity::Definition(class), ..value })
        }
        _ => None,
    })?;
    let mut found = vec![made];
    for arg in args {
        match query.index.file(file).expr(arg.value) {
            Expr::Call { .. } => found.extend(mixed(query, file, class, arg.value, level + 1).unwrap_or_default()),
            Expr::Name(_) | Expr::Attribute { .. } => {
                let values = values_in(query, file, class, arg.value);
                match mixed_constant(query, class, &values, level + 1) {
                    Some(more) => found.extend(more),
                    None if file == query.home => {
                        let value = base_value(query, class, arg.value);
                        found.extend(Some(value).filter(|value| value.entity != Entity::Missing));
                    }
                    None => found.extend(values.into_iter().find(|value| is_class_value(query, value))),
                }
            }
            _ => {}
        }
    }
    Some(found)
}

/// Returns the classes that a constant of any file holds as the result of a mixin.
fn mixed_constant(query: &Query, class: DefId, values: &Values, level: usize) -> Option<Vec<Value>> {
    let [Value { entity: Entity::Definition(constant), .. }] = values[..] else { return None };
    if query.kind(constant) != Kind::Constant || level > MAX_MIXINS {
        return None;
    }
    let (file, definition) = query.definition(constant);
    let (_, entries) = query.entries(file.symbols[definition.parent as usize], definition.name);
    let mut values = entries.iter().filter_map(|entry| match entry.bound {
        Bound::Binding(binding) => {
            let binding = &file.facts().bindings[binding as usize];
            binding.value.filter(|_| binding.kind == BindingKind::Assign)
        }
        _ => None,
    });
    let (value, None) = (values.next()?, values.next()) else { return None };
    mixed(query, query.index.symbols.get(constant).file, class, value, level + 1)
}

fn values_in(query: &Query, file: FileId, class: DefId, expr: ExprId) -> Values {
    let definition = query.file.def(class);
    match file == query.home {
        true => query.eval(expr, definition.parent, definition.name_line),
        false => query.follow_path(file, expr),
    }
}

fn is_class_value(query: &Query, value: &Value) -> bool {
    matches!(value.entity, Entity::Definition(symbol) if is_class(query.kind(symbol)))
}

impl Query<'_> {
    /// Returns what a call of a mixin makes: a class with the members of the one that the function defines, and of those
    /// that it receives.
    pub(crate) fn mixed_result(&self, function: SymbolId, arguments: &Arguments) -> Option<Values> {
        let (file, definition) = self.definition(function);
        if !file.rules.prototypes || definition.kind != Kind::Function {
            return None;
        }
        let Arguments::Written(args, scope, line, _) = *arguments else { return None };
        let made = self.made_class(function).filter(|&class| self.extends_parameter(function, class))?;
        let mut found: Values = smallvec![Value::new(Entity::Definition(made), Strategy::ReturnType)];
        for arg in args {
            let given = self.flat_map(self.eval(arg.value, scope, line), |value| match value.entity {
                Entity::Definition(symbol) if self.kind(symbol) == Kind::Constant => self.held(value),
                _ => smallvec![value],
            });
            merge(&mut found, given.into_iter().filter(|value| is_class_value(self, value)).collect());
        }
        Some(found)
    }

    /// Returns whether a class within a function extends what the function receives.
    fn extends_parameter(&self, function: SymbolId, class: SymbolId) -> bool {
        let (file, _) = self.definition(function);
        let params = &file.def(self.index.symbols.get(function).def).params;
        let bases = &file.def(self.index.symbols.get(class).def).bases;
        bases.iter().any(|&base| match *file.expr(base) {
            Expr::Name(name) => params.iter().any(|param| param.name == name),
            _ => false,
        })
    }
}
