//! Dotted package names, as in imports of Java, Kotlin and Scala.

use crate::flat_tree::NodeId;
use crate::walk::state::Walk;
use atlas_facts::{Import, ImportKind};

/// Returns the text of a node without white space and comments.
pub fn compact(walk: &Walk, node: NodeId) -> String {
    let mut text = String::new();
    for part in node..walk.tree.node(node).next {
        if walk.tree.is_leaf(part) && walk.kind_name(part) != "block_comment" {
            text.push_str(walk.text_of(part).trim());
        }
    }
    text
}

/// Records an import of `a.b.C`, or of all members of `a.b`, bound to `alias` or to its last part.
pub fn import(walk: &mut Walk, node: NodeId, path: &str, is_star: bool, alias: Option<String>) {
    let (kind, module, member) = match path.rsplit_once('.') {
        _ if is_star => (ImportKind::Star, path, None),
        Some((module, member)) => (ImportKind::Member, module, Some(member)),
        None => (ImportKind::Module, path, None),
    };
    let alias = match kind {
        ImportKind::Star => None,
        _ => Some(alias.unwrap_or_else(|| member.unwrap_or(module).to_owned())),
    };
    let module = walk.builder.owned_name(module.to_owned());
    let member = member.map(|member| walk.builder.owned_name(member.to_owned()));
    let alias = alias.map(|alias| walk.builder.owned_name(alias));
    let line = walk.tree.line(node);
    walk.push_import(Import { scope: 0, module, level: 0, member, alias, kind, line, type_only: false });
}
