//! Configurations of bundlers, test runners and frameworks (`vite.config.ts`, `webpack.prod.js`, `jest.config.json`,
//! `.babelrc`): the aliases that they state literally, and those that a framework provides.

use std::time::Duration;

use tree_sitter::Node;

use super::literals::{Place, Program, children, each};
use super::reader::Reader;
use super::tsconfig::plain_json;
use atlas_facts::SettingKind;
use atlas_languages::deadline::Deadline;
use atlas_languages::syntax::syntax_tree;

/// CPU time for the syntax tree.
const TIMEOUT: Duration = Duration::from_millis(300);
/// Aliases of a framework: words in the name of its configuration, names, and places in order of preference.
const PROVIDED: &[(&str, &[&str], &[&str])] = &[
    ("svelte", &["$lib"], &["./src/lib"]),
    ("vue", &["@"], &["./src"]),
    ("nuxt", &["~~", "@@"], &["."]),
    ("nuxt", &["#shared"], &["./shared"]),
    ("nuxt", &["#server"], &["./server"]),
    ("quasar", &["src", "~", "@"], &["./src"]),
    ("quasar", &["components"], &["./src/components"]),
    ("quasar", &["layouts"], &["./src/layouts"]),
    ("quasar", &["pages"], &["./src/pages"]),
    ("quasar", &["stores"], &["./src/stores"]),
    ("quasar", &["boot"], &["./src/boot"]),
];

struct Aliases<'r, 't> {
    reader: &'r mut Reader,
    program: Program<'t>,
    /// Folder that `<rootDir>` stands for.
    root: String,
    /// Folder of a framework's sources.
    source: Option<String>,
    library: Option<String>,
}

/// Reads a configuration by its name.
pub fn read(reader: &mut Reader, path: &str, text: &str) {
    let file = path.rsplit('/').next().unwrap_or(path);
    if file.ends_with(".json") || file == ".babelrc" {
        return read_literals(reader, &format!("x={}", plain_json(text)), "");
    }
    read_literals(reader, text, file.split(['.', '-']).next().unwrap_or(file));
    if text.contains("laravel-vite-plugin") {
        set(reader, "@", &["./resources/js".to_owned()]);
    }
}

/// Reads the aliases of a program; `framework` is the first word of its name.
pub fn read_literals(reader: &mut Reader, text: &str, framework: &str) {
    let grammar = tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into();
    let Some(tree) = syntax_tree(&grammar, text.as_bytes(), Deadline::after(TIMEOUT)) else { return };
    let program = Program::of(text, tree.root_node());
    let mut aliases = Aliases { reader, program, root: String::new(), source: None, library: None };
    each(tree.root_node(), |node| aliases.read_folders(node));
    each(tree.root_node(), |node| aliases.read(node));
    let (source, library) = (aliases.source, aliases.library);
    for (name, names, places) in PROVIDED.iter().filter(|(name, ..)| *name == framework) {
        let library = library.as_ref().filter(|_| *name == "svelte");
        let places =
            library.map_or_else(|| places.iter().map(|one| (*one).to_owned()).collect(), |one| vec![one.clone()]);
        names.iter().for_each(|name| set(reader, name, &places));
    }
    if framework == "nuxt" {
        // The sources are in `app` from version 4 on.
        let places = source.map_or_else(|| vec!["./app".to_owned(), ".".to_owned()], |source| vec![source]);
        ["~", "@"].iter().for_each(|name| set(reader, name, &places));
    }
}

impl<'t> Aliases<'_, 't> {
    /// Reads the folders that others are relative to.
    fn read_folders(&mut self, node: Node<'t>) {
        let Some((key, value)) = self.pair(node) else { return };
        let text = || self.program.place(value).map(path_of);
        match key {
            "rootDir" => self.root = text().unwrap_or_default(),
            "srcDir" => self.source = text().map(relative),
            "lib" => self.library = text().map(relative),
            _ => {}
        }
    }

    fn pair(&self, node: Node<'t>) -> Option<(&'t str, Node<'t>)> {
        match node.kind() {
            "pair" => {
                let key = self.program.text_of(node.child_by_field_name("key")?).trim_matches(['"', '\'']);
                Some((key, node.child_by_field_name("value")?))
            }
            "shorthand_property_identifier" => Some((self.program.text_of(node), node)),
            _ => None,
        }
    }

    fn read(&mut self, node: Node<'t>) {
        match node.kind() {
            "pair" | "shorthand_property_identifier" => {
                let Some((key, value)) = self.pair(node) else { return };
                match key {
                    "alias" | "extraNodeModules" => self.add_all(value),
                    "entries" if self.is_of_alias(node) => self.add_all(value),
                    "moduleNameMapper" => self.add_mapped(value),
                    "root" if self.is_of_resolver(node) => self.add_bases(value, true),
                    "modules" => self.add_bases(value, false),
                    "modulePaths" | "moduleDirectories" => self.add_bases(value, true),
                    _ => {}
                }
            }
            "assignment_expression" => self.read_assignment(node),
            "call_expression" => self.read_call(node),
            _ => {}
        }
    }

    /// `config.resolve.alias["@"] = path`, `config.resolve.alias = {...}`
    fn read_assignment(&mut self, node: Node<'t>) {
        let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right")) else {
            return;
        };
        let text = self.program.text_of(left);
        if text.ends_with(".alias") {
            return self.add_all(right);
        }
        let object = left.child_by_field_name("object").map(|object| self.program.text_of(object)).unwrap_or_default();
        if !object.ends_with(".alias") {
            return;
        }
        let key = match left.child_by_field_name("index").map(|index| self.program.place(index)) {
            Some(Some(Place::Text(key))) => key,
            Some(_) => return,
            None => text[object.len()..].trim_start_matches('.').to_owned(),
        };
        self.add(&key, right);
    }

    /// `config.resolve.alias.set("@", path)` of webpack-chain, `mix.alias({...})`
    fn read_call(&mut self, node: Node<'t>) {
        let Some(callee) = node.child_by_field_name("function") else { return };
        let arguments = node.child_by_field_name("arguments").map(children).unwrap_or_default();
        match (self.program.text_of(callee), &arguments[..]) {
            (callee, [key, value]) if callee.ends_with(".set") && callee.contains(".alias") => {
                if let Some(Place::Text(key)) = self.program.place(*key) {
                    self.add(&key, *value);
                }
            }
            (callee, [only]) if callee.ends_with(".alias") => self.add_all(*only),
            _ => {}
        }
    }

    /// Returns whether an entry is an argument of a plug-in for aliases.
    fn is_of_alias(&self, node: Node<'t>) -> bool {
        let call = node.parent().and_then(|object| object.parent()).and_then(|list| list.parent());
        let callee = call.and_then(|call| call.child_by_field_name("function"));
        callee.is_some_and(|callee| self.program.text_of(callee).to_ascii_lowercase().contains("alias"))
    }

    /// Returns whether an entry is an option of Babel's resolver of modules.
    fn is_of_resolver(&self, node: Node<'t>) -> bool {
        let list = node.parent().and_then(|object| object.parent()).filter(|list| list.kind() == "array");
        let first = list.and_then(|list| children(list).into_iter().next());
        first.is_some_and(|first| self.program.text_of(first).contains("module-resolver"))
    }

    /// Adds the entries of an object, or the `{find, replacement}` of a list.
    fn add_all(&mut self, value: Node<'t>) {
        let value = self.program.value(value);
        if value.kind() != "array" {
            for (key, target) in self.program.entries(value) {
                self.add(&key, target);
            }
            return;
        }
        for item in children(value) {
            let entries = self.program.entries(item);
            let part = |name: &str| entries.iter().find(|(key, _)| key == name).map(|(_, value)| *value);
            let (Some(find), Some(target)) = (part("find"), part("replacement")) else { continue };
            let find = self.program.value(find);
            if find.kind() == "regex" {
                let pattern = children(find).first().map(|one| self.program.text_of(*one)).unwrap_or_default();
                self.add_expression(pattern, target);
            } else if let Some(Place::Text(key)) = self.program.place(find) {
                self.add(&key, target);
            }
        }
    }

    fn add(&mut self, key: &str, target: Node<'t>) {
        if let Some(pattern) = key.strip_prefix('^') {
            return self.add_expression(&format!("^{pattern}"), target);
        }
        if let Some(place) = self.program.place(target) {
            set(self.reader, key, &[self.target(place)]);
        }
    }

    /// Adds what names that fit a regular expression stand for.
    fn add_expression(&mut self, expression: &str, target: Node<'t>) {
        let (Some((pattern, is_whole)), Some(place)) = (pattern_of(expression), self.program.place(target)) else {
            return;
        };
        let target = self.target(place).replace("$1", "*").replace("\\1", "*");
        match is_whole || pattern.contains('*') {
            true => self.reader.set(SettingKind::Alias, &pattern, vec![target]),
            false => {
                let slash = if target.ends_with('/') || !pattern.ends_with('/') { "" } else { "/" };
                self.reader.set(SettingKind::Alias, &format!("{pattern}*"), vec![format!("{target}{slash}*")]);
            }
        }
    }

    /// Adds the entries of Jest's `moduleNameMapper`.
    fn add_mapped(&mut self, value: Node<'t>) {
        for (key, target) in self.program.entries(value) {
            let target = self.program.value(target);
            let first = if target.kind() == "array" { children(target).first().copied() } else { Some(target) };
            if let Some(target) = first {
                self.add_expression(&key, target);
            }
        }
    }

    /// Adds the folders of a list from which names of modules start. Plain names are folders only where `with_names`.
    fn add_bases(&mut self, value: Node<'t>, with_names: bool) {
        let value = self.program.value(value);
        let items = if value.kind() == "array" { children(value) } else { vec![value] };
        for item in items {
            match self.program.place(item) {
                Some(Place::Text(text)) if !with_names || text.contains("node_modules") => drop(text),
                Some(place) => {
                    let folder = relative(path_of(match place {
                        Place::Text(text) => Place::Path(self.rooted(&text)),
                        path @ Place::Path(_) => path,
                    }));
                    self.reader.set(SettingKind::Base, "", vec![folder]);
                }
                None => {}
            }
        }
    }

    fn rooted(&self, text: &str) -> String {
        text.strip_prefix("<rootDir>").map_or_else(|| text.to_owned(), |rest| format!("{}{rest}", self.root))
    }

    /// Returns a target as settings state it.
    fn target(&self, place: Place) -> String {
        match place {
            Place::Path(path) => relative(path),
            Place::Text(text) if text.starts_with("<rootDir>") => relative(self.rooted(&text)),
            // To Vite, `/` is the folder of the project.
            Place::Text(text) if text.starts_with(['.', '/']) => relative(text),
            Place::Text(text) => text,
        }
    }
}

fn path_of(place: Place) -> String {
    match place {
        Place::Path(text) | Place::Text(text) => text,
    }
}

/// Returns a path that begins with `.`.
fn relative(path: String) -> String {
    if path.starts_with("./") || path.starts_with("../") || path == "." || path == ".." {
        return path;
    }
    format!("./{}", path.trim_start_matches('/'))
}

/// Adds an alias as bundlers mean it: for the name itself and for what is below it. `name$` is the name only, `name/` only
/// what is below.
fn set(reader: &mut Reader, name: &str, places: &[String]) {
    let below = |place: &String| format!("{}/*", place.trim_end_matches('/'));
    if let Some(exact) = name.strip_suffix('$').filter(|exact| !exact.is_empty()) {
        return reader.set(SettingKind::Alias, exact, places.to_vec());
    }
    if name.contains('*') {
        return reader.set(SettingKind::Alias, name, places.to_vec());
    }
    if !name.ends_with('/') {
        reader.set(SettingKind::Alias, name, places.to_vec());
    }
    reader.set(SettingKind::Alias, &format!("{}/*", name.trim_end_matches('/')), places.iter().map(below).collect());
}

/// Returns the pattern with `*` of a regular expression for the beginning of a name, and whether it ends with the name.
/// `None` for one that says more than a pattern can.
fn pattern_of(expression: &str) -> Option<(String, bool)> {
    let inner = expression.strip_prefix('^')?;
    let (inner, is_whole) = inner.strip_suffix('$').map_or((inner, false), |inner| (inner, true));
    let mut pattern = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(sign) = rest.chars().next() {
        if let Some(after) = ["(.*)", "(.+)", ".*", ".+"].iter().find_map(|any| rest.strip_prefix(any)) {
            if pattern.contains('*') {
                return None;
            }
            pattern.push('*');
            rest = after;
            continue;
        }
        rest = &rest[sign.len_utf8()..];
        match sign {
            '\\' => {
                let escaped = rest.chars().next().filter(|sign| !sign.is_alphanumeric())?;
                pattern.push(escaped);
                rest = &rest[escaped.len_utf8()..];
            }
            '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '$' | '^' => return None,
            _ => pattern.push(sign),
        }
    }
    Some((pattern, is_whole))
}

#[cfg(test)]
mod tests {
    use crate::{format_of, read};

    fn told(path: &str, text: &str) -> Vec<String> {
        let (manifest, problems) = read(format_of(path).unwrap(), path, text);
        assert!(problems.is_empty(), "{problems:?}");
        manifest.settings.iter().map(|one| format!("{} {}", one.name, one.values.join(" "))).collect()
    }

    #[test]
    fn reads_the_forms_of_places() {
        let text = "import path from 'path'\nconst src = path.resolve(__dirname, 'src')\nconst r = (p: string) => \
                    path.join(__dirname, '..', p)\nfunction resolve(dir) { return path.join(__dirname, dir) }\nexport default \
                    defineConfig({ resolve: { alias: {\n '@': src, '~': fileURLToPath(new URL('./lib', import.meta.url)),\n \
                    'up$': r('x'), 'own/': resolve('own'), [`t`]: `${__dirname}/t`, c: __dirname + '/c',\n react: \
                    'preact/compat', v: '/v', unknown: compute(1), ...more } } })\nconst more = { m: './m' }\n";
        let expected = [
            "@ ./src",
            "@/* ./src/*",
            "~ ./lib",
            "~/* ./lib/*",
            "up ../x",
            "own/* ./own/*",
            "t ./t",
            "t/* ./t/*",
            "c ./c",
            "c/* ./c/*",
            "react preact/compat",
            "react/* preact/compat/*",
            "v ./v",
            "v/* ./v/*",
            "m ./m",
            "m/* ./m/*",
        ];
        assert_eq!(told("vite.config.ts", text), expected);
    }

    #[test]
    fn reads_lists_expressions_and_chains() {
        let list = "export default { resolve: { alias: [{ find: '@', replacement: '/src' }, { find: /^~\\//, replacement: \
                    '/lib/' }, { find: /x|y/, replacement: 'z' }] } }";
        assert_eq!(told("vite.config.mjs", list), ["@ ./src", "@/* ./src/*", "~/* ./lib/*"]);
        let jest = "module.exports = { rootDir: 'src', moduleNameMapper: { '^@/(.*)$': '<rootDir>/$1', '\\\\.css$': 'x', \
                    '^one$': '<rootDir>/one' }, moduleDirectories: ['node_modules', 'lib'] }";
        assert_eq!(told("jest.config.js", jest), ["@/* ./src/*", "one ./src/one", " ./lib"]);
        let chain = "module.exports = { chainWebpack: (c) => { c.resolve.alias.set('a', __dirname).set('b', './b') } }";
        let chain = told("vue.config.js", chain);
        assert!(["a ./", "b ./b", "@/* ./src/*"].iter().all(|one| chain.contains(&(*one).to_owned())), "{chain:?}");
        let babel = "{\"plugins\": [[\"module-resolver\", {\"root\": [\"./src\"], \"alias\": {\"^@a/(.+)\": \"./a/\\\\1\"}}]],}";
        assert_eq!(told(".babelrc", babel), [" ./src", "@a/* ./a/*"]);
        let next = "module.exports = { webpack(c) { c.resolve.alias['@'] = path.join(__dirname, 'src'); return c } }";
        assert_eq!(told("next.config.js", next), ["@ ./src", "@/* ./src/*"]);
    }

    #[test]
    fn frameworks_provide_aliases() {
        let nuxt = told("nuxt.config.ts", "export default defineNuxtConfig({ srcDir: 'client/' })");
        assert!(nuxt.contains(&"~/* ./client/*".to_owned()) && nuxt.contains(&"@@/* ./*".to_owned()), "{nuxt:?}");
        assert_eq!(told("svelte.config.js", "export default {}"), ["$lib ./src/lib", "$lib/* ./src/lib/*"]);
    }
}
