//! Hooks of Python: forms of import, `self`, decorators with a meaning, docstrings, forward references.

mod calls;
mod narrowing;
mod settings;
mod type_strings;

use crate::doc_text::clean_string;
use crate::flat_tree::NodeId;
use crate::hooks::LanguageHooks;
use crate::walk::definitions::holds_members;
use crate::walk::drafts::DefinitionDraft;
use crate::walk::state::Walk;
use atlas_facts::{ExprId, Import, ImportKind, Kind, flags};

pub struct Python;

/// Largest number of enclosing nodes in which a guard of an import is searched for.
const MAX_GUARD_DEPTH: u32 = 64;
/// Base classes of enumerations.
const ENUM_BASES: &[&str] = &["Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"];

impl LanguageHooks for Python {
    fn import(&self, walk: &mut Walk, node: NodeId) -> bool {
        match walk.kind_name(node) {
            "import_statement" => import_modules(walk, node),
            _ => import_members(walk, node),
        }
        true
    }

    fn hook(&self, walk: &mut Walk, node: NodeId) {
        match walk.kind_name(node) {
            "case_clause" => narrowing::narrow_case(walk, node),
            "assignment" | "augmented_assignment" => settings::refer_paths(walk, node),
            _ => {
                calls::type_arguments(walk, node);
                calls::additions(walk, node);
            }
        }
    }

    fn define(&self, walk: &mut Walk, draft: &mut DefinitionDraft) -> bool {
        if draft.kind == Kind::Class {
            class_kind(walk, draft);
            return true;
        }
        if draft.kind == Kind::Lambda {
            place_in_dictionary(walk, draft);
        }
        if draft.kind == Kind::Constant || draft.kind == Kind::Field {
            if let Some(declared) = draft.declared
                && matches!(last_segment(&walk.text_of(declared)), "TypeAlias")
            {
                draft.kind = Kind::TypeAlias;
                draft.declared = draft.body.take();
            }
            return draft.name != "__slots__";
        }
        if is_conditional(walk, draft.node) {
            draft.flags |= flags::CONDITIONAL;
        }
        for decorator in draft.decorators.clone() {
            let text = walk.text_of(decorator).into_owned();
            decorated(draft, text.trim_start_matches('@').trim());
        }
        let stub = walk.builder.facts.path.ends_with(".pyi");
        if stub && draft.kind != Kind::Lambda {
            draft.flags |= flags::DECLARATION;
        }
        if is_test(walk, draft) {
            draft.flags |= flags::TEST;
        }
        true
    }

    fn receiver(&self, _walk: &Walk, draft: &DefinitionDraft) -> Option<bool> {
        if !matches!(draft.kind, Kind::Method | Kind::Constructor | Kind::Property) || draft.flags & flags::STATIC != 0
        {
            return None;
        }
        let implicit_class = matches!(draft.name.as_str(), "__new__" | "__init_subclass__" | "__class_getitem__");
        Some(implicit_class || draft.flags & flags::CLASS_METHOD != 0)
    }

    fn type_text(&self, walk: &mut Walk, node: NodeId) -> ExprId {
        let mut text = walk.text_of(node).into_owned();
        if walk.kind_name(node) == "string" {
            text = clean_string(&text);
        }
        type_strings::parse(&mut walk.builder, &text)
    }

    fn expression(&self, walk: &mut Walk, node: NodeId) -> Option<ExprId> {
        calls::expression(walk, node)
    }

    fn defaults_run_outside(&self) -> bool {
        true
    }

    fn docstring(&self, walk: &Walk, body: NodeId) -> Option<NodeId> {
        let tree = walk.tree;
        let statement = walk.contents(body).next()?;
        if walk.kind_name(statement) != "expression_statement" {
            return None;
        }
        let mut parts = tree.children(statement);
        let string = parts.next()?;
        let text = walk.bytes_of(string);
        let is_plain = !matches!(text.first(), Some(b'f' | b'F' | b'b' | b'B'));
        let alone = parts.next().is_none();
        (alone && is_plain && walk.kind_name(string) == "string").then_some(string)
    }
}

/// Handles `import a.b, c as d`.
fn import_modules(walk: &mut Walk, node: NodeId) {
    let type_only = is_guarded(walk, node);
    let children: Vec<NodeId> = walk.tree.children(node).collect();
    for child in children {
        let (module, alias) = match walk.kind_name(child) {
            "dotted_name" => {
                let module = compact(walk, child);
                let first = module.split('.').next().unwrap_or("").to_owned();
                (module, first)
            }
            "aliased_import" => aliased(walk, child),
            _ => continue,
        };
        push(walk, child, &module, 0, None, Some(alias), type_only);
    }
}

/// Handles `from .a import b as c, d`, `from a import *`, `from __future__ import x`.
fn import_members(walk: &mut Walk, node: NodeId) {
    let type_only = is_guarded(walk, node);
    let mut module = String::new();
    let mut level = 0;
    let mut in_names = false;
    let children: Vec<NodeId> = walk.tree.children(node).collect();
    for child in children {
        match walk.kind_name(child) {
            "import" => in_names = true,
            "__future__" => module = "__future__".to_owned(),
            "relative_import" | "dotted_name" if !in_names => {
                let text = compact(walk, child);
                let bare = text.trim_start_matches('.');
                level = (text.len() - bare.len()) as u32;
                module = bare.to_owned();
            }
            "dotted_name" => {
                let name = compact(walk, child);
                let alias = Some(name.clone());
                push(walk, child, &module, level, Some(name), alias, type_only);
            }
            "aliased_import" => {
                let (name, alias) = aliased(walk, child);
                push(walk, child, &module, level, Some(name), Some(alias), type_only);
            }
            "wildcard_import" => push(walk, child, &module, level, None, None, type_only),
            _ => {}
        }
    }
}

fn aliased(walk: &Walk, node: NodeId) -> (String, String) {
    let mut name = String::new();
    let mut alias = String::new();
    for child in walk.tree.children(node) {
        match walk.kind_name(child) {
            "dotted_name" => name = compact(walk, child),
            "identifier" => alias = walk.text_of(child).into_owned(),
            _ => {}
        }
    }
    (name, alias)
}

fn push(
    walk: &mut Walk,
    node: NodeId,
    module: &str,
    level: u32,
    member: Option<String>,
    alias: Option<String>,
    type_only: bool,
) {
    let kind = match (&member, &alias) {
        (Some(_), _) => ImportKind::Member,
        (None, Some(_)) => ImportKind::Module,
        (None, None) => ImportKind::Star,
    };
    let module = walk.builder.owned_name(module.to_owned());
    let member = member.map(|name| walk.builder.owned_name(name));
    let alias = alias.map(|name| walk.builder.owned_name(name));
    let line = walk.tree.line(node);
    walk.push_import(Import { scope: 0, module, level, member, alias, kind, line, type_only });
}

/// Returns the text without white space, which dotted names may contain.
fn compact(walk: &Walk, node: NodeId) -> String {
    walk.text_of(node).split_whitespace().collect::<Vec<_>>().concat()
}

/// Returns whether an import is under `if TYPE_CHECKING:` or in a `try`.
fn is_guarded(walk: &Walk, node: NodeId) -> bool {
    let tree = walk.tree;
    let mut current = node;
    for _ in 0..MAX_GUARD_DEPTH {
        if current == 0 {
            break;
        }
        let parent = tree.node(current).parent;
        match walk.kind_name(parent) {
            "try_statement" => return true,
            "if_statement" => {
                let condition = tree.children(parent).nth(1);
                if condition.is_some_and(|test| last_segment(&walk.text_of(test)) == "TYPE_CHECKING") {
                    return true;
                }
            }
            "function_definition" | "class_definition" => return false,
            _ => {}
        }
        current = parent;
    }
    false
}

/// Returns whether a condition decides if a definition is made: it stands in an `if`, `try` or `match` of its scope.
fn is_conditional(walk: &Walk, node: NodeId) -> bool {
    let mut here = node;
    for _ in 0..MAX_GUARD_DEPTH {
        here = walk.tree.node(here).parent;
        match walk.kind_name(here) {
            "if_statement" | "try_statement" | "match_statement" => return true,
            "function_definition" | "class_definition" | "module" => return false,
            _ => {}
        }
    }
    false
}

/// Names a lambda in a dictionary that a constant or class attribute holds: `HANDLERS = {"add": lambda x: x}`.
fn place_in_dictionary(walk: &mut Walk, draft: &mut DefinitionDraft) {
    let pair = walk.tree.node(draft.node).parent;
    let dictionary = walk.tree.node(pair).parent;
    let assignment = walk.tree.node(dictionary).parent;
    let is_value = walk.kind_name(pair) == "pair" && walk.child(pair, "value") == Some(draft.node);
    let is_held = walk.kind_name(assignment) == "assignment" && walk.child(assignment, "right") == Some(dictionary);
    let Some(key) = walk.child(pair, "key").filter(|_| is_value && is_held) else { return };
    let name = walk.literal_key(key);
    let name = walk.builder.text(name).to_owned();
    let is_name = name.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    let Some(&(owner, _)) = walk.definition_of.get(&assignment).filter(|_| is_name) else { return };
    if matches!(walk.kind_of(owner), Kind::Constant | Kind::Field) {
        draft.kind = Kind::Function;
        draft.name = name;
        draft.name_node = Some(key);
        draft.parent = owner;
    }
}

fn class_kind(walk: &Walk, draft: &mut DefinitionDraft) {
    for &base in &draft.bases {
        let text = walk.text_of(base);
        let bare = text.split('[').next().unwrap_or("");
        let last = last_segment(bare);
        if last == "Protocol" {
            draft.kind = Kind::Interface;
        } else if ENUM_BASES.contains(&last) {
            draft.kind = Kind::Enum;
        }
    }
    if draft.name.starts_with("Test") && walk.builder.facts.is_test {
        draft.flags |= flags::TEST;
    }
}

fn decorated(draft: &mut DefinitionDraft, decorator: &str) {
    let callee = decorator.split('(').next().unwrap_or("").trim();
    match last_segment(callee) {
        "staticmethod" => draft.flags |= flags::STATIC,
        "classmethod" => draft.flags |= flags::CLASS_METHOD,
        "abstractmethod" | "abstractproperty" => draft.flags |= flags::ABSTRACT,
        "overload" => draft.flags |= flags::OVERLOAD | flags::DECLARATION,
        _ => {}
    }
    let is_property = matches!(
        last_segment(callee),
        "property" | "cached_property" | "abstractproperty" | "setter" | "getter" | "deleter"
    );
    if is_property && draft.kind == Kind::Method {
        draft.kind = Kind::Property;
    }
}

fn is_test(walk: &Walk, draft: &DefinitionDraft) -> bool {
    if !draft.name.starts_with("test") || draft.kind == Kind::Lambda {
        return false;
    }
    let parent = &walk.builder.facts.definitions[draft.parent as usize];
    let name = walk.builder.text(parent.name);
    if holds_members(parent.kind) {
        return walk.builder.facts.is_test || name.starts_with("Test") || name.ends_with("Test");
    }
    walk.builder.facts.is_test && draft.name.starts_with("test_")
}

fn last_segment(dotted: &str) -> &str {
    dotted.rsplit('.').next().unwrap_or(dotted).trim()
}
