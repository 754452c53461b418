//! From an import as written to the module, folder, package or external name it means, by the rules of each language.

use smallvec::smallvec;

use crate::facts::{Import, ImportKind};
use crate::link::entity::{Entity, Value, Values};
use crate::link::project::file_entry::FileEntry;
use crate::link::project::index::Container;
use crate::link::project::names::{EMPTY, FileId, Sym};
use crate::link::project::paths::{folder_of, join, normalised, shared_prefix};
use crate::link::project::query::Query;
use crate::link::rules::Family;
use crate::link::strategy::Strategy;

/// Endings tried after a JavaScript or TypeScript module path, best first.
const SCRIPT_ENDINGS: [&str; 9] = [".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts"];

/// Folders that hold a Python project's packages and are on `sys.path` when its tests run.
const PYTHON_LAYOUTS: [&str; 2] = ["src", "lib"];

impl Query<'_> {
    /// What the module of an import is; [`Entity::Missing`] when it should be in the project and is not.
    pub fn module_of(&self, file: FileId, import: &Import) -> Entity {
        let entry = self.index.file(file);
        // Several names of one module are several imports.
        let place = (file, entry.sym(import.module), import.level, import.kind as u8);
        if let Some(&known) = self.modules.borrow().get(&place) {
            return known;
        }
        let is_plain = self.following.borrow().len() <= 1;
        let found = self.find_module(file, entry, import);
        if is_plain {
            self.modules.borrow_mut().insert(place, found);
        }
        found
    }

    fn find_module(&self, file: FileId, entry: &FileEntry, import: &Import) -> Entity {
        let module = entry.text(import.module);
        if import.kind == ImportKind::Include && entry.family != Family::Python {
            return self.included_file(entry, module);
        }
        match entry.family {
            Family::Python if import.level > 0 => self.python_relative(entry, module, import.level),
            Family::Python => self
                .python_absolute(file, entry, module)
                .map_or_else(|| self.external(module, '.'), |(_, entity)| entity),
            Family::JavaScript => self.script_module(file, entry, module),
            Family::Go => self.go_package(module),
            Family::Rust => self.rust_module(file, module, import.level),
            Family::Document => Entity::Missing,
            _ => self.declared_module(entry, module),
        }
    }

    /// A file included by its path: relative to the including file, else by the end of its path, nearest first.
    fn included_file(&self, entry: &FileEntry, written: &str) -> Entity {
        let endings: &[&str] = match entry.family {
            Family::Ruby => &[".rb", ""],
            Family::Php => &["", ".php"],
            _ => &[""],
        };
        let folder = folder_of(&entry.path);
        for ending in endings {
            let name = format!("{written}{ending}");
            let relative = normalised(folder, &name);
            if let Some(found) = relative.and_then(|path| self.file_at(&path)) {
                return Entity::Definition(self.module_symbol(found));
            }
            let suffix = name.trim_start_matches(['.', '/']);
            let candidates = self.files_ending_in(suffix);
            let nearest = candidates.into_iter().max_by_key(|&id| {
                let path = &self.index.file(id).path;
                (shared_prefix(path, &entry.path), std::cmp::Reverse(path))
            });
            if let Some(found) = nearest {
                return Entity::Definition(self.module_symbol(found));
            }
        }
        if written.starts_with('.') {
            return Entity::Missing;
        }
        match entry.family {
            Family::C => Entity::External(self.index.externals.intern(self.index.strings.intern(written), EMPTY)),
            _ => self.external(written, '/'),
        }
    }

    /// `a.b.c` as external package `a` and name `b.c`.
    pub fn external(&self, name: &str, separator: char) -> Entity {
        let (package, rest) = name.split_once(separator).unwrap_or((name, ""));
        if package.is_empty() {
            return Entity::Missing;
        }
        let rest = rest.replace(separator, ".");
        let strings = &self.index.strings;
        Entity::External(self.index.externals.intern(strings.intern(package), strings.intern(&rest)))
    }

    // --- Python ---

    fn python_relative(&self, entry: &FileEntry, module: &str, level: u32) -> Entity {
        let mut folder = folder_of(&entry.path);
        for _ in 1..level {
            folder = folder_of(folder);
        }
        let path = join(folder, &module.replace('.', "/"));
        self.python_file(&path).or_else(|| self.python_folder(&path)).unwrap_or(Entity::Missing)
    }

    /// The folder under which an absolute module was found, and the module: under each ancestor of the importing file that
    /// is not itself a package (`sys.path` holds no packages), and its `src` and `lib`, nearest first; files before folders
    /// without files of their own.
    pub fn python_absolute(&self, file: FileId, entry: &FileEntry, module: &str) -> Option<(String, Entity)> {
        let path = module.replace('.', "/");
        let own = Entity::Definition(self.module_symbol(file));
        let roots = self.python_roots(entry);
        let as_file = roots.iter().find_map(|root| {
            let found = self.python_file(&join(root, &path)).filter(|&found| found != own)?;
            Some((root.clone(), found))
        });
        as_file.or_else(|| roots.iter().find_map(|root| Some((root.clone(), self.python_folder(&join(root, &path))?))))
    }

    fn python_roots(&self, entry: &FileEntry) -> Vec<String> {
        let mut roots = Vec::new();
        let mut folder = folder_of(&entry.path);
        loop {
            if folder.is_empty() || !self.is_python_package(folder) {
                roots.push(folder.to_owned());
                let layouts = PYTHON_LAYOUTS.iter().map(|layout| join(folder, layout));
                roots.extend(layouts.filter(|root| self.is_python_root(root)));
            }
            if folder.is_empty() {
                return roots;
            }
            folder = folder_of(folder);
        }
    }

    fn is_python_package(&self, folder: &str) -> bool {
        ["__init__.py", "__init__.pyi"].iter().any(|file| self.file_at(&format!("{folder}/{file}")).is_some())
    }

    fn is_python_root(&self, folder: &str) -> bool {
        self.folder(Family::Python, folder).is_some() && !self.is_python_package(folder)
    }

    fn python_file(&self, path: &str) -> Option<Entity> {
        let endings: &[&str] = match path.is_empty() || path.ends_with('/') {
            true => &["__init__.py", "__init__.pyi"],
            false => &["/__init__.py", ".py", "/__init__.pyi", ".pyi"],
        };
        let found = endings.iter().find_map(|ending| self.file_at(&format!("{path}{ending}")))?;
        Some(Entity::Definition(self.module_symbol(found)))
    }

    fn python_folder(&self, path: &str) -> Option<Entity> {
        self.folder(Family::Python, path).map(Entity::Folder)
    }

    /// A module inside a package file's folder or inside a folder without one.
    pub fn python_submodule(&self, folder: &str, name: &str) -> Option<Entity> {
        let path = join(folder, name);
        self.python_file(&path).or_else(|| self.python_folder(&path))
    }

    // --- JavaScript and TypeScript ---

    fn script_module(&self, file: FileId, entry: &FileEntry, module: &str) -> Entity {
        if module.is_empty() {
            return Entity::Definition(self.module_symbol(file));
        }
        if module.starts_with('.') {
            let path = normalised(folder_of(&entry.path), module);
            let found = path.and_then(|path| self.script_file(&path));
            return found.map_or(Entity::Missing, |found| Entity::Definition(self.module_symbol(found)));
        }
        for project in self.index.subprojects.iter().filter(|project| project.kind == "npm") {
            let Some(rest) = module.strip_prefix(project.name.as_str()) else { continue };
            let found = match rest.strip_prefix('/') {
                Some(rest) => ["", "src/"]
                    .iter()
                    .find_map(|below| self.script_file(&join(&project.folder, &format!("{below}{rest}")))),
                None if rest.is_empty() => ["src/index", "index", "lib/index", "src/main", "main"]
                    .iter()
                    .find_map(|main| self.script_file(&join(&project.folder, main))),
                None => continue,
            };
            if let Some(found) = found {
                return Entity::Definition(self.module_symbol(found));
            }
        }
        let bare = module.strip_prefix("node:").unwrap_or(module);
        match bare.strip_prefix('@').and_then(|scoped| scoped.split_once('/')) {
            Some((scope, rest)) => {
                let (name, below) = rest.split_once('/').unwrap_or((rest, ""));
                let strings = &self.index.strings;
                let package = strings.intern(&format!("@{scope}/{name}"));
                Entity::External(self.index.externals.intern(package, strings.intern(&below.replace('/', "."))))
            }
            None => self.external(bare, '/'),
        }
    }

    fn script_file(&self, path: &str) -> Option<FileId> {
        if let Some(found) = self.file_at(path).filter(|&id| self.index.file(id).family == Family::JavaScript) {
            return Some(found);
        }
        let with_endings =
            |stem: &str| SCRIPT_ENDINGS.iter().find_map(|ending| self.file_at(&format!("{stem}{ending}")));
        // `./x.js` in TypeScript sources means x.ts.
        let stem = [".js", ".jsx", ".mjs", ".cjs"].iter().find_map(|ending| path.strip_suffix(ending));
        with_endings(path).or_else(|| stem.and_then(with_endings)).or_else(|| with_endings(&join(path, "index")))
    }

    // --- Go ---

    fn go_package(&self, module: &str) -> Entity {
        let projects = self.index.subprojects.iter().filter(|project| project.kind == "go");
        let inside = projects.filter_map(|project| {
            let rest = module.strip_prefix(project.name.as_str())?;
            let rest = if rest.is_empty() { rest } else { rest.strip_prefix('/')? };
            Some((project.name.len(), join(&project.folder, rest)))
        });
        match inside.max() {
            Some((_, folder)) => self.folder(Family::Go, &folder).map_or(Entity::Missing, Entity::Folder),
            None => Entity::External(self.index.externals.intern(self.index.strings.intern(module), EMPTY)),
        }
    }

    // --- Rust ---

    fn rust_module(&self, file: FileId, module: &str, level: u32) -> Entity {
        let mut here = Entity::Definition(self.module_symbol(file));
        let mut segments = module.split("::").filter(|segment| !segment.is_empty()).peekable();
        for _ in 0..level {
            here = self.rust_parent(here);
        }
        if level == 0 {
            here = match segments.peek().copied() {
                None => return here,
                Some("crate") => {
                    segments.next();
                    self.rust_crate_root(file)
                }
                Some("self" | "super") => here,
                Some(first) => {
                    let first = first.to_owned();
                    segments.next();
                    match self.rust_first_segment(file, &first) {
                        Entity::External(_) => return self.external(&module.replace("::", "."), '.'),
                        found => found,
                    }
                }
            };
        }
        for segment in segments {
            here = match segment {
                "self" => here,
                "super" => self.rust_parent(here),
                _ => self.module_like_member(here, segment),
            };
        }
        here
    }

    /// First segment of a path in `use`: a module declared here, a crate of the project, or an external crate.
    fn rust_first_segment(&self, file: FileId, name: &str) -> Entity {
        let here = Entity::Definition(self.module_symbol(file));
        let child = self.module_like_member(here, name);
        if child != Entity::Missing {
            return child;
        }
        self.rust_crate(name).unwrap_or_else(|| self.external(name, '.'))
    }

    /// Another crate of the project by the name that paths use.
    pub fn rust_crate(&self, name: &str) -> Option<Entity> {
        let crates = self.index.subprojects.iter().filter(|project| project.kind == "rust");
        let own = crates.into_iter().find(|project| project.name.replace('-', "_") == name)?;
        self.rust_root_in(&own.folder)
    }

    pub fn rust_super(&self) -> Entity {
        self.rust_parent(Entity::Definition(self.module_symbol(self.home)))
    }

    fn module_like_member(&self, module: Entity, name: &str) -> Entity {
        let sym = self.index.strings.intern(name);
        let found = self.member_of_module_like(module, sym);
        found.first().map_or(Entity::Missing, |value| value.entity)
    }

    /// The file that declares the modules of a Rust source file's crate.
    pub fn rust_crate_root(&self, file: FileId) -> Entity {
        let mut folder = folder_of(&self.index.file(file).path);
        loop {
            if let Some(root) = self.rust_file_in(folder, &["lib.rs", "main.rs"]).or_else(|| self.rust_root_in(folder))
            {
                return root;
            }
            if folder.is_empty() {
                return Entity::Definition(self.module_symbol(file));
            }
            folder = folder_of(folder);
        }
    }

    fn rust_root_in(&self, folder: &str) -> Option<Entity> {
        self.rust_file_in(&join(folder, "src"), &["lib.rs", "main.rs"])
    }

    fn rust_file_in(&self, folder: &str, names: &[&str]) -> Option<Entity> {
        let found = names.iter().find_map(|name| self.file_at(&join(folder, name)))?;
        Some(Entity::Definition(self.module_symbol(found)))
    }

    fn rust_parent(&self, module: Entity) -> Entity {
        let Entity::Definition(symbol) = module else { return Entity::Missing };
        let place = self.index.symbols.get(symbol);
        let entry = self.index.file(place.file);
        if place.def != 0 {
            let parent = entry.outline(place.def).parent;
            return Entity::Definition(entry.symbols[parent as usize]);
        }
        let own_folder = rust_children_folder(&entry.path);
        let folder = folder_of(&own_folder);
        let by_name = (!folder.is_empty()).then(|| self.file_at(&format!("{folder}.rs"))).flatten();
        match by_name {
            Some(found) => Entity::Definition(self.module_symbol(found)),
            None => self.rust_file_in(folder, &["mod.rs", "lib.rs", "main.rs"]).unwrap_or(Entity::Missing),
        }
    }

    /// A file module declared by `mod name;` in a Rust source file.
    pub fn rust_child_file(&self, path: &str, name: &str) -> Option<Entity> {
        let folder = rust_children_folder(path);
        let path = join(&folder, name);
        let found = self.file_at(&format!("{path}.rs")).or_else(|| self.file_at(&format!("{path}/mod.rs")))?;
        Some(Entity::Definition(self.module_symbol(found)))
    }

    // --- Declared packages ---

    /// `a.b.C`: the longest declared package, then members; else an external name.
    pub fn declared_module(&self, entry: &FileEntry, written: &str) -> Entity {
        let name = written.trim_start_matches(['\\', ':']).replace("::", ".").replace(['\\', '/'], ".");
        let mut end = name.len();
        loop {
            if let Some(package) = self.package(&name[..end]) {
                let rest = name[end..].split('.').filter(|part| !part.is_empty());
                let mut entity = Entity::Package(package);
                for part in rest {
                    entity = self.module_like_member(entity, part);
                }
                return entity;
            }
            match name[..end].rfind('.') {
                Some(dot) => end = dot,
                None => break,
            }
        }
        if entry.family == Family::C {
            return Entity::Missing;
        }
        self.external_declared(entry.family, &name)
    }

    fn external_declared(&self, family: Family, name: &str) -> Entity {
        let is_type = |part: &str| part.starts_with(char::is_uppercase);
        let parts: Vec<&str> = name.split('.').collect();
        let packages = match family {
            Family::Java => parts.iter().position(|part| is_type(part)).unwrap_or(parts.len()),
            Family::CSharp => parts.len(),
            _ => 1,
        };
        let package = parts[..packages].join(".");
        if package.is_empty() {
            return Entity::Missing;
        }
        let strings = &self.index.strings;
        let rest = strings.intern(&parts[packages..].join("."));
        Entity::External(self.index.externals.intern(strings.intern(&package), rest))
    }

    /// `\name` in PHP: never relative to a namespace or `use`.
    pub fn php_global(&self, name: &str) -> Option<Values> {
        let known = self.known(name);
        let found = self.shared(Container::Package(EMPTY), known).first();
        let entity = match found {
            Some(&symbol) => Entity::Definition(self.canonical(symbol)),
            None => match self.package(name) {
                Some(package) => Entity::Package(package),
                None if self.index.rules.is_builtin(Family::Php, known) => Entity::Builtin(known),
                None => self.external(name, '.'),
            },
        };
        Some(smallvec![Value::new(entity, Strategy::Import)])
    }

    /// A member or sub-package of a declared package.
    pub fn package_member(&self, package: Sym, name: Sym) -> Option<Entity> {
        if let Some(&symbol) = self.shared(Container::Package(package), name).first() {
            return Some(Entity::Definition(self.canonical(symbol)));
        }
        let below = format!("{}.{}", self.text(package), self.text(name));
        self.package(&below).map(Entity::Package)
    }
}

/// Folder that holds the child modules of a Rust source file.
fn rust_children_folder(path: &str) -> String {
    let folder = folder_of(path);
    let name = path.rsplit('/').next().unwrap_or(path);
    match name {
        "mod.rs" | "lib.rs" | "main.rs" => folder.to_owned(),
        _ => join(folder, name.trim_end_matches(".rs")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_of_rust_files_are_in_their_folder() {
        assert_eq!(rust_children_folder("src/lib.rs"), "src");
        assert_eq!(rust_children_folder("src/a/mod.rs"), "src/a");
        assert_eq!(rust_children_folder("src/a.rs"), "src/a");
    }
}
