//! Operators are calls of methods of the objects beside them: `a + b`, `-a`, `a[k]`, `with a`.

use crate::facts_builder::UNKNOWN;
use crate::flat_tree::NodeId;
use crate::query::matching::{all, first};
use crate::query::vocabulary::{Capture, Role};
use crate::walk::state::{TYPE_CLAIMED, Walk};
use atlas_facts::{Arg, Expr, ExprId, Name, ReferenceKind, SLICE};

/// Largest depth of operands that are followed; `a + b + ...` may be thousands long.
const MAX_OPERANDS: u32 = 12;

impl Walk<'_> {
    /// Returns the call that an operator is: unknown if no method may stand behind it.
    pub fn operator_call(&mut self, captures: &[(Capture, NodeId)]) -> ExprId {
        let (Some(base), Some(operator)) = (first(captures, Capture::Base), first(captures, Capture::Name)) else {
            return UNKNOWN;
        };
        if self.operand_depth >= MAX_OPERANDS {
            return UNKNOWN;
        }
        self.operand_depth += 1;
        let left = self.expression(base);
        let right = first(captures, Capture::Argument).map(|node| self.expression(node));
        self.operand_depth -= 1;
        self.method_call(operator, left, right)
    }

    /// Returns the call of the method behind an operator on operands.
    fn method_call(&mut self, operator: NodeId, left: ExprId, right: Option<ExprId>) -> ExprId {
        let Some(method) = self.method_of(operator, right.is_none()) else { return UNKNOWN };
        let both = self.language.settings.link.operators_of_arguments;
        let is_open = |expr: ExprId| self.may_be_object(expr);
        if !(is_open(left) || both && right.is_some_and(is_open)) {
            return UNKNOWN;
        }
        let args = [Some(left).filter(|_| both), right].into_iter().flatten();
        let args = args.map(|value| Arg { keyword: None, value }).collect();
        let callee = self.builder.attribute(left, method);
        self.builder.expr(Expr::Call { callee, args, new: false })
    }

    /// Records the call of an operator whose value a pattern of its own describes.
    pub fn operator(&mut self, node: NodeId, captures: &[(Capture, NodeId)]) {
        if !self.is_claimed(node, TYPE_CLAIMED) {
            self.chained_operator(node, captures);
        }
    }

    /// Records an operator and those among its operands, whose values such patterns describe, too: `a | b | c`.
    fn chained_operator(&mut self, node: NodeId, captures: &[(Capture, NodeId)]) -> ExprId {
        let (Some(base), Some(operator)) = (first(captures, Capture::Base), first(captures, Capture::Name)) else {
            return UNKNOWN;
        };
        if self.operand_depth >= MAX_OPERANDS {
            return UNKNOWN;
        }
        self.operand_depth += 1;
        let left = self.operand(base);
        let right = first(captures, Capture::Argument).map(|node| self.operand(node));
        self.operand_depth -= 1;
        let call = self.method_call(operator, left, right);
        self.refer_operator(node, call);
        call
    }

    fn operand(&mut self, node: NodeId) -> ExprId {
        let language = self.language;
        for number in &language.rules(self.tree.node(node).kind).walk {
            if let Some((role, captures)) = self.first_match(std::slice::from_ref(number), node) {
                let call = (role == Role::Operator).then(|| {
                    self.claim_type(node);
                    self.chained_operator(node, &captures)
                });
                self.recycle(captures);
                if let Some(call) = call {
                    return call;
                }
            }
        }
        self.expression(node)
    }

    pub fn refer_operator(&mut self, node: NodeId, call: ExprId) {
        let base = match *self.builder.get(call) {
            Expr::Call { callee, .. } => match *self.builder.get(callee) {
                Expr::Attribute { base, .. } => base,
                _ => UNKNOWN,
            },
            Expr::Index { base, .. } => base,
            _ => UNKNOWN,
        };
        if self.may_be_object(base) || self.language.settings.link.operators_of_arguments && base != UNKNOWN {
            self.refer(ReferenceKind::Operator, call, self.tree.line(node));
        }
    }

    /// Records that an element of an object is read.
    pub fn read_element(&mut self, node: NodeId) {
        if !self.language.settings.link.item_methods.is_empty() {
            let expr = self.expression(node);
            let is_element = match *self.builder.get(expr) {
                Expr::Index { .. } => true,
                Expr::Call { callee, .. } => match *self.builder.get(callee) {
                    Expr::Attribute { name, .. } => self.builder.text(name) == SLICE,
                    _ => false,
                },
                _ => false,
            };
            if is_element {
                self.refer_operator(node, expr);
            }
        }
    }

    /// Records the objects that a block is entered with, as awaited ones in an asynchronous block.
    pub fn enter(&mut self, captures: &[(Capture, NodeId)]) {
        let is_async = captures.iter().any(|(capture, _)| matches!(capture, Capture::Flag(_)));
        for node in all(captures, Capture::Base) {
            let expr = self.expression(node);
            if self.may_be_object(expr) {
                let expr = if is_async { self.builder.expr(Expr::Await(expr)) } else { expr };
                self.refer(ReferenceKind::Enter, expr, self.tree.line(node));
            }
        }
    }

    fn may_be_object(&self, expr: ExprId) -> bool {
        !matches!(
            self.builder.get(expr),
            Expr::Unknown
                | Expr::Key(_)
                | Expr::Literal(_)
                | Expr::Lambda(_)
                | Expr::Elements { .. }
                | Expr::TypeUnion(_)
        )
    }

    /// Returns the name of the method behind an operator.
    fn method_of(&mut self, operator: NodeId, is_prefix: bool) -> Option<Name> {
        let settings = &self.language.settings.operators;
        let text = self.text_of(operator);
        let known = if is_prefix { &settings.prefix } else { &settings.binary };
        let method = match known.get(text.as_ref()) {
            Some(method) => method.clone(),
            None if settings.pattern.is_empty() => return None,
            None => settings.pattern.replacen('*', &text, 1),
        };
        (!method.is_empty()).then(|| self.builder.owned_name(method))
    }
}
