//! Definitions of Elixir: modules, implementations of protocols, and functions of several clauses.

use crate::languages::elixir::modules::{module_name, own_module, push_nested_alias};
use crate::languages::elixir::syntax::option;
use crate::walk::drafts::DefinitionDraft;
use crate::walk::state::{Scope, Walk};
use atlas_facts::{DefId, Kind, flags};

/// Defines a module by its full name, even if it is nested. Returns false if the name is unknown.
pub fn define_module(walk: &mut Walk, draft: &mut DefinitionDraft) -> bool {
    let Some(name) = draft.name_node else {
        return false;
    };
    let own = own_module(walk);
    let full = match (own, walk.kind_name(name)) {
        (Some(own), "alias") if !walk.text_of(name).starts_with("Elixir.") => {
            let text = walk.text_of(name).into_owned();
            let first = text.split('.').next().unwrap_or(&text).to_owned();
            push_nested_alias(walk, draft.node, &format!("{own}.{first}"), &first);
            format!("{own}.{text}")
        }
        (_, "alias") => walk.text_of(name).trim_start_matches("Elixir.").to_owned(),
        _ => match module_name(walk, name) {
            Some(full) => full,
            None => return false,
        },
    };
    draft.name = full;
    draft.parent = 0;
    true
}

/// Defines the implementation in `defimpl Protocol, for: Type`. Returns false if a name is unknown.
pub fn define_implementation(walk: &mut Walk, draft: &mut DefinitionDraft) -> bool {
    let Some(protocol) = draft.name_node else {
        return false;
    };
    let Some(base) = module_name(walk, protocol) else {
        return false;
    };
    let mut types = option(walk, draft.node, "for:");
    if let Some(list) = types.filter(|&list| walk.kind_name(list) == "list") {
        types = walk.contents(list).next();
    }
    let implemented = match types {
        Some(node) => module_name(walk, node),
        None => own_module(walk),
    };
    let Some(implemented) = implemented else {
        return false;
    };
    draft.name = format!("{base}.{implemented}");
    draft.parent = 0;
    draft.bases = vec![protocol];
    walk.claim_read(protocol);
    true
}

/// Defines a function. Returns false for a further clause, which extends the first one.
pub fn define_function(walk: &mut Walk, draft: &mut DefinitionDraft) -> bool {
    claim_head(walk, draft);
    // Outside of a module, or in one whose name a macro computes.
    if draft.parent == 0 {
        return false;
    }
    let parent = &walk.builder.facts.definitions[draft.parent as usize];
    if parent.kind == Kind::Interface {
        draft.flags |= flags::ABSTRACT | flags::DECLARATION;
    }
    let first = note_arity(walk, draft);
    if first as usize == walk.builder.facts.definitions.len() {
        return true;
    }
    let node = *walk.tree.node(draft.node);
    let line = walk.line_of_end(draft.node);
    let definition = &mut walk.builder.facts.definitions[first as usize];
    definition.end_byte = definition.end_byte.max(node.end);
    definition.end_line = definition.end_line.max(line);
    // A callback may have an implementation in its own module.
    definition.flags &= !(flags::DECLARATION | flags::OVERLOAD);
    let layout = &mut walk.layouts[first as usize];
    layout.end = layout.end.max(node.end);
    walk.scopes.push(Scope { definition: first, end: node.next, receiver: None, parameters: Vec::new() });
    false
}

/// Marks the head of a definition, which has the syntax of a call, as not a call.
pub fn claim_head(walk: &mut Walk, draft: &DefinitionDraft) {
    if let Some(name) = draft.name_node {
        walk.claim_call(walk.tree.node(name).parent);
    }
}

/// Returns the first definition with this name and arity in its module, which may be the draft itself.
pub fn note_arity(walk: &mut Walk, draft: &DefinitionDraft) -> DefId {
    let arity = draft.parameters.map_or(0, |list| walk.contents(list).count());
    let key = walk.builder.owned_name(format!("{}/{arity}", draft.name));
    let next = walk.builder.facts.definitions.len() as DefId;
    *walk.reopenable.entry((draft.parent, key, Kind::Function)).or_insert(next)
}
