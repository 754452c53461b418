//! Settings of frameworks that name classes and functions by their dotted path: `MIDDLEWARE = ["shop.middleware.Timing"]`.

use crate::flat_tree::NodeId;
use crate::walk::state::Walk;
use atlas_facts::{Expr, ReferenceKind};

/// Largest depth of containers in a setting.
const MAX_SETTING_DEPTH: u32 = 8;
/// Keys of dictionaries in settings whose values are paths, and endings of such keys.
const PATH_KEYS: &[&str] =
    &["BACKEND", "ENGINE", "EXCEPTION_HANDLER", "NAME", "class", "()", "task", "context_processors"];
const PATH_KEY_ENDINGS: &[&str] = &["_CLASS", "_CLASSES", "_BACKENDS"];

/// Records that a module reads what the paths in a setting name; the linker follows them.
pub fn refer_paths(walk: &mut Walk, assignment: NodeId) {
    if walk.scope() != 0 {
        return;
    }
    if let Some(value) = walk.child(assignment, "right") {
        let is_mapping = walk.kind_name(value) == "dictionary";
        refer_below(walk, value, !is_mapping, 0);
    }
}

/// Records the paths in a value; `is_path` says whether a string there is one.
fn refer_below(walk: &mut Walk, node: NodeId, is_path: bool, depth: u32) {
    if depth > MAX_SETTING_DEPTH {
        return;
    }
    match walk.kind_name(node) {
        "string" if is_path => {
            let key = walk.literal_key(node);
            if is_dotted_name(walk.builder.text(key)) {
                let path = walk.builder.expr(Expr::Key(key));
                walk.refer(ReferenceKind::Read, path, walk.tree.line(node));
            }
        }
        "pair" => {
            let (Some(key), Some(value)) = (walk.child(node, "key"), walk.child(node, "value")) else { return };
            let key = walk.text_of(key).trim_matches(['"', '\'']).to_owned();
            let names_path = PATH_KEYS.contains(&&*key) || PATH_KEY_ENDINGS.iter().any(|ending| key.ends_with(ending));
            refer_below(walk, value, names_path, depth + 1);
        }
        "list" | "tuple" | "set" | "dictionary" | "parenthesized_expression" | "binary_operator" => {
            let children: Vec<NodeId> = walk.contents(node).collect();
            children.into_iter().for_each(|child| refer_below(walk, child, is_path, depth + 1));
        }
        _ => {}
    }
}

fn is_dotted_name(text: &str) -> bool {
    let is_name = |part: &str| {
        let starts_well = part.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
        starts_well && part.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    };
    text.contains('.') && text.split('.').all(is_name)
}
