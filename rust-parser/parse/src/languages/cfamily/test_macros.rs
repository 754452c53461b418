//! Tests in C and C++: functions that macros define (`TEST(Suite, name) { ... }`), and functions of test files that `main`
//! runs.

use rustc_hash::FxHashSet;

use crate::flat_tree::NodeId;
use crate::languages::cfamily::pasting;
use crate::query::vocabulary::Capture;
use crate::walk::drafts::DefinitionDraft;
use crate::walk::state::Walk;
use atlas_facts::{DefId, Expr, FileFacts, Kind, Name, ReferenceKind, flags};

/// Macros outside of capitals that define tests.
const OTHER_MACROS: &[&str] = &["Test", "Theory", "ParameterizedTest"];

/// Functions and macros that take a test, with its position among the arguments.
const RUNNERS: &[(&str, usize)] = &[
    ("cmocka_unit_test", 0),
    ("g_test_add_func", 1),
    ("CU_add_test", 2),
    ("CU_ADD_TEST", 1),
    ("tcase_add_test", 1),
    ("MU_RUN_TEST", 0),
    ("RUN_TEST", 0),
];

/// Returns whether a name is that of a macro.
fn is_macro(name: &str) -> bool {
    let is_capital = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    (name.len() > 2 && name.bytes().all(is_capital)) || OTHER_MACROS.contains(&name)
}

fn defines_test(name: &str) -> bool {
    name.contains("TEST") || name == "SCENARIO" || OTHER_MACROS.contains(&name)
}

/// Names a function after the arguments of the macro that defines it, and marks tests.
pub fn name(walk: &mut Walk, draft: &mut DefinitionDraft) {
    if walk.kind_name(draft.node) != "function_definition" || draft.flags & flags::TEST != 0 {
        return;
    }
    // `TEST f(void) { ... }`, `START_TEST(name) { ... }`, and a macro without a semicolon before the function.
    let before = walk.child(draft.node, "type").map(|declared| walk.text_of(declared).into_owned());
    if before.as_deref().is_some_and(|before| is_macro(before) && defines_test(before) && !before.starts_with("END")) {
        draft.flags |= flags::TEST;
        return;
    }
    // `HANDLER(open) { ... }` of the name alone, which the grammar takes for a variable in brackets.
    let declarator = walk.child(draft.node, "declarator");
    if let (Some(used), Some(declarator)) = (&before, declarator)
        && walk.kind_name(declarator) == "parenthesized_declarator"
        && let Some(pasted) = pasting::head(walk, used, std::slice::from_ref(&draft.name))
    {
        draft.name = pasted;
        return;
    }
    let Some(list) = draft.parameters.filter(|_| before.as_deref().is_none_or(is_macro)) else { return };
    let parts: Vec<NodeId> = walk.contents(list).collect();
    let is_argument =
        |&part: &NodeId| walk.kind_name(part) == "parameter_declaration" && walk.contents(part).count() == 1;
    let words: Vec<String> = parts.iter().map(|&part| walk.text_of(part).into_owned()).collect();
    let pasted = pasting::head(walk, &draft.name, &words);
    if parts.is_empty() || pasted.is_none() && (!is_macro(&draft.name) || !parts.iter().all(is_argument)) {
        return;
    }
    draft.flags |= if defines_test(&draft.name) { flags::TEST } else { 0 };
    draft.name = pasted.unwrap_or_else(|| named(&draft.name, &words));
    draft.parameters = None;
}

/// Returns the name that a macro makes of its arguments.
fn named(used: &str, words: &[String]) -> String {
    if used.starts_with("BOOST_") { words[0].clone() } else { words.join("_") }
}

/// Opens the function whose body follows the use of a macro, which the grammar reads as a call and a block.
pub fn body(walk: &mut Walk, node: NodeId) {
    let parent = walk.tree.node(node).parent;
    if !matches!(walk.kind_name(parent), "translation_unit" | "declaration_list") {
        return;
    }
    let Some(before) = walk.contents(parent).take_while(|&part| part < node).last() else { return };
    let Some(call) = walk.contents(before).next().filter(|_| walk.kind_name(before) == "expression_statement") else {
        return;
    };
    let Some(callee) = walk.child(call, "function").filter(|_| walk.kind_name(call) == "call_expression") else {
        return;
    };
    let used = walk.text_of(callee).into_owned();
    let Some(list) = walk.child(call, "arguments") else { return };
    let parts: Vec<NodeId> = walk.contents(list).collect();
    let words: Vec<String> = parts.iter().map(|&part| walk.text_of(part).into_owned()).collect();
    let pasted = pasting::head(walk, &used, &words);
    if pasted.is_none() && !is_macro(&used) {
        return;
    }
    let text = parts.iter().find(|&&part| walk.kind_name(part) == "string_literal");
    let name = match text {
        _ if let Some(pasted) = pasted => pasted,
        Some(&text) => walk.text_of(text).trim_matches('"').to_owned(),
        None => {
            let names = parts.iter().filter(|&&part| walk.kind_name(part) == "identifier");
            let words: Vec<String> = names.map(|&part| walk.text_of(part).into_owned()).collect();
            if words.is_empty() { used.clone() } else { named(&used, &words) }
        }
    };
    let captures = [(Capture::Name, callee), (Capture::Body, node)];
    let Some(mut draft) = walk.draft(Kind::Function, node, &captures) else { return };
    draft.name = name.replace('.', " ");
    draft.flags |= if defines_test(&used) { flags::TEST } else { 0 };
    let definition = walk.record(&draft);
    walk.definition_of.insert(node, (definition, true));
    walk.open(definition, &draft);
}

/// Marks the functions that a library of tests runs: `cmocka_unit_test(works)`, `g_test_add_func("/a", works)`.
fn mark_registered(facts: &mut FileFacts) {
    let mut run: FxHashSet<Name> = FxHashSet::default();
    for expr in &facts.exprs {
        let Expr::Call { callee, args, .. } = expr else { continue };
        let Expr::Name(callee) = facts.exprs[*callee as usize] else { continue };
        let callee = &facts.strings[callee as usize];
        let place = RUNNERS.iter().find(|(name, _)| callee.strip_prefix(name).is_some_and(is_variant));
        let given = place.and_then(|&(_, place)| args.get(place)).map(|arg| &facts.exprs[arg.value as usize]);
        if let Some(&Expr::Name(name)) = given {
            run.insert(name);
        }
    }
    for definition in &mut facts.definitions {
        if definition.kind == Kind::Function && run.contains(&definition.name) {
            definition.flags |= flags::TEST;
        }
    }
}

/// `_setup_teardown` of `cmocka_unit_test_setup_teardown`.
fn is_variant(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with("_setup") || rest.starts_with("_teardown") || rest.starts_with("_prestate")
}

/// Marks `main` and the functions without parameters that it names, in a file of tests.
pub fn mark_run(walk: &mut Walk) {
    let facts = &mut walk.builder.facts;
    mark_registered(facts);
    if !facts.is_test {
        return;
    }
    let main = facts
        .definitions
        .iter()
        .position(|one| one.kind == Kind::Function && &facts.strings[one.name as usize] == "main");
    let Some(main) = main else { return };
    let mut run: FxHashSet<Name> = FxHashSet::default();
    for reference in facts.references.iter().filter(|reference| reference.scope == main as DefId) {
        let named = match (reference.kind, &facts.exprs[reference.expr as usize]) {
            (ReferenceKind::Call, Expr::Call { callee, .. }) => *callee,
            (ReferenceKind::Read, _) => reference.expr,
            _ => continue,
        };
        if let Expr::Name(name) = facts.exprs[named as usize] {
            run.insert(name);
        }
    }
    for (number, definition) in facts.definitions.iter_mut().enumerate() {
        let is_run = definition.params.is_empty() && run.contains(&definition.name);
        if definition.kind == Kind::Function && (number == main || is_run) {
            definition.flags |= flags::TEST;
        }
    }
}
