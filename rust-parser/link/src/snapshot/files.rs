//! A file of the linker as a part of a snapshot. The facts themselves are in the facts cache.

use crate::project::file_entry::{FileEntry, Outline};
use crate::project::names::Sym;
use crate::project::packed_facts::PackedFacts;
use crate::rules::Rules;
use crate::snapshot::codec::{Reader, Stored, Writer};
use atlas_facts::DefId;
use atlas_facts::cache::ContentDigest;

/// Writes a file.
pub fn write_entry(entry: &FileEntry, out: &mut Writer) {
    let FileEntry { path, language, scope_rule, is_test, is_value, rules: _, syms, module, symbols, .. } = entry;
    let FileEntry {
        qualified_names,
        outlines,
        file_symbol,
        file_name,
        manifest,
        has_global_imports,
        given_names,
        packed,
        ..
    } = entry;
    out.text(path);
    out.text(language);
    out.plain(&(packed.digest, scope_rule, is_test, is_value, has_global_imports, manifest));
    out.syms(syms);
    out.sym(*module);
    out.numbers(symbols);
    out.syms(qualified_names);
    out.list(outlines);
    out.list(given_names);
    out.symbol(*file_symbol);
    out.sym(*file_name);
}

/// Reads a file, whose facts are still to be added.
pub fn read_entry(from: &mut Reader, rules: &Rules) -> Option<FileEntry> {
    let (path, language): (Box<str>, Box<str>) = (from.text()?.into(), from.text()?.into());
    let (digest, scope_rule, is_test, is_value, has_global_imports, manifest) =
        from.plain::<(ContentDigest, _, _, _, _, _)>()?;
    let (syms, module, symbols): (_, Sym, _) = (from.syms()?, from.sym()?, from.symbols()?);
    let (qualified_names, outlines) = (from.syms()?, from.list::<Outline>()?);
    let given_names = from.list::<(DefId, Sym)>()?;
    if outlines.len() != symbols.len() || outlines.len() != qualified_names.len() {
        return None;
    }
    Some(FileEntry {
        rules: rules.of(&language),
        path,
        language,
        scope_rule,
        is_test,
        is_value,
        has_global_imports,
        syms,
        module,
        symbols,
        qualified_names,
        outlines: outlines.into(),
        given_names: given_names.into(),
        file_symbol: from.symbol()?,
        file_name: from.sym()?,
        manifest,
        packed: PackedFacts::cached(digest),
    })
}

impl Stored for (DefId, Sym) {
    fn write(&self, out: &mut Writer) {
        out.plain(&self.0);
        out.sym(self.1);
    }

    fn read(from: &mut Reader) -> Option<Self> {
        Some((from.plain()?, from.sym()?))
    }
}

impl Stored for Outline {
    fn write(&self, out: &mut Writer) {
        let Outline { kind, flags, parent, name } = *self;
        out.plain(&(kind, flags, parent));
        out.sym(name);
    }

    fn read(from: &mut Reader) -> Option<Self> {
        let (kind, flags, parent) = from.plain()?;
        Some(Outline { kind, flags, parent, name: from.sym()? })
    }
}
