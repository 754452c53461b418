//! Validates facts read from disk: they may refer only to strings, expressions and definitions that they contain.

use atlas_facts::{
    Arg, Binding, DefId, Definition, Detection, Expr, ExprId, FileFacts, Handler, Import, Name, Narrowing, Param,
    Reference,
};

/// Returns whether every index is in range, so that no access can panic.
pub fn is_in_range(facts: &FileFacts) -> bool {
    let check = Check { strings: facts.strings.len(), exprs: facts.exprs.len(), definitions: facts.definitions.len() };
    facts.definitions.iter().enumerate().all(|(number, one)| check.definition(number, one))
        && facts.exprs.iter().all(|one| check.expr(one))
        && facts.imports.iter().all(|one| check.import(one))
        && facts.references.iter().all(|one| check.reference(one))
        && facts.bindings.iter().all(|one| check.binding(one))
        && facts.narrowings.iter().all(|one| check.narrowing(one))
        && facts.properties.iter().all(|&(definition, text)| check.has_definition(definition) && check.has_name(text))
        && facts.relations.iter().all(|one| check.has_name(one.target) && check.has_name(one.properties))
        && facts.detections.iter().all(|one| check.detection(one))
}

struct Check {
    strings: usize,
    exprs: usize,
    definitions: usize,
}

impl Check {
    fn has_name(&self, name: Name) -> bool {
        (name as usize) < self.strings
    }

    fn has_expr(&self, id: ExprId) -> bool {
        (id as usize) < self.exprs
    }

    fn has_exprs(&self, ids: &[ExprId]) -> bool {
        ids.iter().all(|&id| self.has_expr(id))
    }

    fn has_definition(&self, id: DefId) -> bool {
        (id as usize) < self.definitions
    }

    fn definition(&self, number: usize, definition: &Definition) -> bool {
        let Definition { name, path, signature, docstring, .. } = *definition;
        // Parents precede children.
        (definition.parent == 0 || (definition.parent as usize) < number)
            && [name, path, signature, docstring].into_iter().all(|text| self.has_name(text))
            && self.has_exprs(&definition.decorators)
            && self.has_exprs(&definition.bases)
            && definition.params.iter().all(|param| self.param(param))
            && definition.declared_type.is_none_or(|id| self.has_expr(id))
    }

    fn param(&self, param: &Param) -> bool {
        self.has_name(param.name) && [param.annotation, param.default].into_iter().flatten().all(|id| self.has_expr(id))
    }

    fn expr(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Unknown | Expr::This { .. } | Expr::Super | Expr::Literal(_) => true,
            Expr::Name(name) | Expr::Scope(name) | Expr::Key(name) => self.has_name(*name),
            Expr::Attribute { base, name } => self.has_expr(*base) && self.has_name(*name),
            Expr::Call { callee, args, .. } => self.has_expr(*callee) && args.iter().all(|arg| self.arg(arg)),
            Expr::Index { base, index } => self.has_expr(*base) && self.has_expr(*index),
            Expr::Await(inner) | Expr::SuperOf(inner) => self.has_expr(*inner),
            Expr::Lambda(definition) => self.has_definition(*definition),
            Expr::OneOf(items) | Expr::TypeUnion(items) => self.has_exprs(items),
            Expr::Elements { items, keys, .. } => {
                self.has_exprs(items)
                    && (keys.is_empty() || keys.len() == items.len())
                    && keys.iter().all(|&key| self.has_name(key))
            }
            Expr::Generic { base, args } => self.has_expr(*base) && self.has_exprs(args),
        }
    }

    fn arg(&self, arg: &Arg) -> bool {
        self.has_expr(arg.value) && arg.keyword.is_none_or(|name| self.has_name(name))
    }

    fn import(&self, import: &Import) -> bool {
        self.has_definition(import.scope)
            && self.has_name(import.module)
            && [import.member, import.alias].into_iter().flatten().all(|name| self.has_name(name))
    }

    fn reference(&self, reference: &Reference) -> bool {
        self.has_definition(reference.scope) && self.has_expr(reference.expr)
    }

    fn narrowing(&self, narrowing: &Narrowing) -> bool {
        self.has_definition(narrowing.scope) && self.has_expr(narrowing.target) && self.has_expr(narrowing.annotation)
    }

    fn binding(&self, binding: &Binding) -> bool {
        self.has_definition(binding.scope)
            && self.has_expr(binding.target)
            && [binding.annotation, binding.value].into_iter().flatten().all(|id| self.has_expr(id))
    }

    fn detection(&self, one: &Detection) -> bool {
        let names = [one.framework, one.holder.1, one.packages, one.receivers, one.methods, one.path];
        names.into_iter().all(|name| self.has_name(name))
            && [one.scope, one.holder.0].into_iter().all(|id| self.has_definition(id))
            && one.receiver.is_none_or(|id| self.has_expr(id))
            && [one.handler, one.child].into_iter().all(|handler| match handler {
                Handler::None => true,
                Handler::Expr(id) => self.has_expr(id),
                Handler::Definition(id) => self.has_definition(id),
                Handler::Text(name) => self.has_name(name),
            })
    }
}
