//! The definitions that a name of one scope may have.

use smallvec::{SmallVec, smallvec};

use crate::entity::MAX_VALUES;
use crate::project::file_entry::{Bound, FileEntry, NameEntry};
use atlas_facts::{DefId, Kind, flags};

/// Returns the definition of a name: the first with a body, else the first.
fn best_definition(file: &FileEntry, entries: &[NameEntry]) -> Option<DefId> {
    let defs = entries.iter().filter_map(|entry| match entry.bound {
        Bound::Definition(def) => Some(def),
        _ => None,
    });
    let is_bodiless = |def: &DefId| file.outline(*def).flags & (flags::DECLARATION | flags::OVERLOAD) != 0;
    defs.clone().find(|def| !is_bodiless(def)).or_else(|| defs.clone().next())
}

/// Returns the definitions that a name may have: all of which conditions choose at run time, else the best one. A
/// function or class takes precedence over a variable of the same scope.
pub fn chosen_definitions(file: &FileEntry, entries: &[NameEntry]) -> SmallVec<[DefId; 2]> {
    let Some(best) = best_definition(file, entries) else { return SmallVec::new() };
    let is_value = |def: DefId| matches!(file.outline(def).kind, Kind::Constant | Kind::Field);
    if entries.len() == 1 || file.rules.overloads || file.rules.fields_beside_methods {
        return smallvec![best];
    }
    let others = entries.iter().filter_map(|entry| match entry.bound {
        Bound::Definition(def) if !is_value(def) => Some(def),
        _ => None,
    });
    let bodiless = flags::DECLARATION | flags::OVERLOAD;
    let real: SmallVec<[DefId; 2]> = others.filter(|&def| file.outline(def).flags & bodiless == 0).collect();
    if real.iter().any(|&def| file.outline(def).flags & flags::CONDITIONAL != 0) {
        return real.into_iter().take(MAX_VALUES).collect();
    }
    match real.first() {
        Some(&first) if is_value(best) => smallvec![first],
        _ => smallvec![best],
    }
}
