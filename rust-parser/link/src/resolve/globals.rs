//! Globals of other files, which are visible through included headers.

use std::rc::Rc;

use smallvec::smallvec;

use crate::entity::{Entity, Value, Values};
use crate::project::names::{FileId, SymbolId};
use crate::project::query::Query;
use crate::strategy::Strategy;
use atlas_facts::{ImportKind, flags};

impl Query<'_> {
    /// Returns a global of another file: declared in an included header, or defined exactly once and not `static`.
    pub(super) fn visible_global(&self, found: &[SymbolId]) -> Option<Values> {
        if found.is_empty() {
            return None;
        }
        let included = self.included_files();
        let file_of = |symbol: SymbolId| self.index.symbols.get(symbol).file;
        if let Some(symbol) = self.twin(found) {
            return Some(smallvec![Value::new(Entity::Definition(symbol), Strategy::Include)]);
        }
        if let Some(&symbol) = found.iter().find(|&&symbol| included.contains(&file_of(symbol))) {
            return Some(smallvec![Value::new(Entity::Definition(self.canonical(symbol)), Strategy::Include)]);
        }
        let mut real: Vec<SymbolId> = Vec::new();
        for &symbol in found {
            let symbol = self.canonical(symbol);
            let is_private = self.definition(symbol).1.flags & flags::STATIC != 0;
            if !is_private && !real.contains(&symbol) {
                real.push(symbol);
            }
        }
        match real[..] {
            [only] => Some(smallvec![Value::new(Entity::Definition(only), Strategy::UniqueName)]),
            [] => None,
            _ => Some(smallvec![Value::new(Entity::Missing, Strategy::UniqueName)]),
        }
    }

    /// Returns the files that this file includes, directly or indirectly, in the order of inclusion.
    fn included_files(&self) -> Rc<Vec<FileId>> {
        if let Some(known) = self.included.borrow().as_ref() {
            return known.clone();
        }
        let mut files = vec![self.home];
        let mut next = 0;
        while next < files.len() && files.len() < 200 {
            let id = files[next];
            next += 1;
            let module = self.module_symbol(id);
            self.stars(module);
            let entry = self.index.file(id);
            for import in entry.facts().imports.iter().filter(|import| import.kind == ImportKind::Include) {
                if let Entity::Definition(symbol) = self.module_of(id, import) {
                    let file = self.index.symbols.get(symbol).file;
                    if !files.contains(&file) {
                        files.push(file);
                    }
                }
            }
        }
        let files = Rc::new(files);
        *self.included.borrow_mut() = Some(files.clone());
        files
    }
}
