//! Names that annotations give functions and files for other languages: `@JvmName("of")`.

use crate::project::file_entry::is_callable;
use atlas_facts::{DefId, Expr, ExprId, FileFacts};

/// The annotation that names the class of a file, and a function.
const NAMING: &str = "JvmName";

/// Returns the name that an annotation gives.
pub fn given_name(facts: &FileFacts, decorator: ExprId) -> Option<&str> {
    let Expr::Call { callee, args, .. } = &facts.exprs[decorator as usize] else { return None };
    let (Expr::Name(name) | Expr::Attribute { name, .. }) = facts.exprs[*callee as usize] else { return None };
    match facts.exprs[args.first()?.value as usize] {
        Expr::Key(key) if &facts.strings[name as usize] == NAMING => Some(&facts.strings[key as usize]),
        _ => None,
    }
}

/// Returns the functions of a file that other languages know by another name.
pub fn given_names(facts: &FileFacts) -> impl Iterator<Item = (DefId, &str)> {
    let functions = (0..).zip(&facts.definitions).filter(|(_, definition)| is_callable(definition.kind));
    functions.filter_map(|(def, definition)| {
        let named = definition.decorators.iter().find_map(|&decorator| given_name(facts, decorator))?;
        Some((def, named))
    })
}
