//! Functions that several files define for different platforms: `unix/file.c` and `win/file.c`, `open_linux.go` and
//! `open_windows.go`. A file of one platform means the function of its own.

use crate::project::names::{FILE_NODE, SymbolId};
use crate::project::query::Query;
use atlas_facts::flags;

/// Largest number of definitions that are compared.
const MAX_TWINS: usize = 16;

impl Query<'_> {
    /// Returns the one of several definitions with the same signature that is nearest to this file.
    pub(super) fn twin(&self, found: &[SymbolId]) -> Option<SymbolId> {
        if found.len() < 2 || found.len() > MAX_TWINS {
            return None;
        }
        let mut real = found.iter().copied().filter(|&symbol| {
            self.index.symbols.get(symbol).def != FILE_NODE
                && self.definition(symbol).1.flags & (flags::DECLARATION | flags::STATIC) == 0
        });
        let signature = |symbol: SymbolId| {
            let place = self.index.symbols.get(symbol);
            let (file, _) = self.definition(symbol);
            file.text(file.def(place.def).signature)
        };
        let first = real.next()?;
        let mut best = (self.nearness(first), Some(first));
        for symbol in real {
            if signature(symbol) != signature(first) {
                return None;
            }
            let near = self.nearness(symbol);
            if near > best.0 {
                best = (near, Some(symbol));
            } else if near == best.0 {
                best.1 = None;
            }
        }
        best.1
    }

    /// Returns the number of folders that a definition's file shares with this one, and whether the names of both files
    /// end in the same word (`_windows`).
    fn nearness(&self, symbol: SymbolId) -> (usize, bool) {
        let path = &*self.index.file(self.index.symbols.get(symbol).file).path;
        let folders = |path: &str| path.split('/').count() - 1;
        let shared = path.split('/').zip(self.file.path.split('/')).take_while(|(a, b)| a == b).count();
        let word = word_of(path);
        (shared.min(folders(path)), word.is_some() && word == word_of(&self.file.path))
    }
}

/// Returns the last word of a file's name: `windows` of `open_windows.go`.
fn word_of(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next()?;
    let stem = name.split('.').next()?;
    stem.rsplit_once(['_', '-']).map(|(_, word)| word)
}
