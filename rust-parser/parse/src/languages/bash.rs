//! Hooks of Bash: assignments for a single command, and the handler that `trap` runs.

use crate::flat_tree::NodeId;
use crate::hooks::LanguageHooks;
use crate::walk::drafts::DefinitionDraft;
use crate::walk::state::Walk;
use atlas_facts::{Kind, ReferenceKind};

pub struct Bash;

impl LanguageHooks for Bash {
    /// Drops `NAME=value command`, which sets the variable for that command only.
    fn define(&self, walk: &mut Walk, draft: &mut DefinitionDraft) -> bool {
        draft.kind != Kind::Constant || walk.kind_name(walk.tree.node(draft.node).parent) != "command"
    }

    /// `trap 'handler "$file"' EXIT`: the command inside the string.
    fn hook(&self, walk: &mut Walk, node: NodeId) {
        let Some(handler) = walk.in_field(node, "argument").next() else {
            return;
        };
        let text = walk.text_of(handler);
        let Some(inner) = text.strip_prefix(['"', '\'']) else {
            return;
        };
        let end = inner.find(|c: char| !(c.is_alphanumeric() || "_-:".contains(c))).unwrap_or(inner.len());
        if end > 0 {
            let name = walk.builder.owned_name(inner[..end].to_owned());
            let expr = walk.builder.name_expr(name);
            walk.refer(ReferenceKind::Read, expr, walk.tree.line(handler));
        }
    }
}
