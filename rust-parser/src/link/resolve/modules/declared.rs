//! The rule `declared`: packages and namespaces that files declare, by dotted name.

use smallvec::smallvec;

use crate::language_data::ExternalName;
use crate::link::project::file_entry::FileEntry;
use crate::link::project::index::Container;
use crate::link::project::names::{EMPTY, Sym};
use crate::link::project::query::View;
use crate::link::strategy::{Strategy, Value, Values, What};

impl View<'_> {
    /// `a.b.C`: the longest declared package, then members; else an external name.
    pub fn declared_module(&self, entry: &FileEntry, written: &str) -> What {
        let name = written.trim_start_matches(['\\', ':']).replace("::", ".").replace(['\\', '/'], ".");
        let mut end = name.len();
        loop {
            if let Some(package) = self.package(&name[..end]) {
                let rest = name[end..].split('.').filter(|part| !part.is_empty());
                let mut what = What::Package(package);
                for part in rest {
                    what = self.module_like_member(what, part);
                }
                return what;
            }
            match name[..end].rfind('.') {
                Some(dot) => end = dot,
                None => break,
            }
        }
        self.external_declared(entry.rules.modules.external, &name)
    }

    fn external_declared(&self, external: ExternalName, name: &str) -> What {
        let is_type = |part: &str| part.starts_with(char::is_uppercase);
        let parts: Vec<&str> = name.split('.').collect();
        let packages = match external {
            ExternalName::UntilType => parts.iter().position(|part| is_type(part)).unwrap_or(parts.len()),
            ExternalName::Whole => parts.len(),
            ExternalName::First => 1,
            ExternalName::None => return What::Missing,
        };
        let package = parts[..packages].join(".");
        if package.is_empty() {
            return What::Missing;
        }
        let strings = &self.index.strings;
        let rest = strings.intern(&parts[packages..].join("."));
        What::External(self.index.externals.intern(strings.intern(&package), rest))
    }

    /// A name with the global prefix: never relative to a namespace or an import.
    pub fn global_name(&self, name: &str) -> Option<Values> {
        let known = self.known(name);
        let found = self.shared(Container::Package(EMPTY), known).first();
        let what = match found {
            Some(&symbol) => What::Definition(self.canonical(symbol)),
            None => match self.package(name) {
                Some(package) => What::Package(package),
                None if self.file.rules.builtins.contains(&known) => What::Builtin(known),
                None => self.external(name, '.'),
            },
        };
        Some(smallvec![Value::new(what, Strategy::Import)])
    }

    /// A member or sub-package of a declared package.
    pub fn package_member(&self, package: Sym, name: Sym) -> Option<What> {
        if let Some(&symbol) = self.shared(Container::Package(package), name).first() {
            return Some(What::Definition(self.canonical(symbol)));
        }
        let below = format!("{}.{}", self.text(package), self.text(name));
        self.package(&below).map(What::Package)
    }
}
