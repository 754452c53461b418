//! `setup.py`, read without running it: the lists in the call of `setup`, also where a variable holds them.

use std::time::Duration;

use rustc_hash::FxHashMap;
use tree_sitter::Node;

use super::reader::Reader;
use super::requirement;
use atlas_facts::{IncludeKind, Purpose, SettingKind};
use atlas_languages::deadline::Deadline;
use atlas_languages::syntax::syntax_tree;

/// Nesting depth of expressions that are followed.
const MAX_DEPTH: usize = 20;
/// Largest number of values of one expression.
const MAX_VALUES: usize = 5_000;

/// A text in the source, with its line.
type Text = (String, u32);

/// What an expression is known to hold.
#[derive(Default)]
struct Found {
    texts: Vec<Text>,
    /// Files whose lines are the values.
    files: Vec<Text>,
    /// Whether a part is computed in a way that is not read.
    is_partial: bool,
}

struct Source<'t> {
    text: &'t str,
    /// The values assigned to names at the top level; the last assignment counts.
    variables: FxHashMap<&'t str, Node<'t>>,
    /// What is added later: `name += [...]`, `name.append(x)`, `name['key'] = [...]`.
    additions: FxHashMap<&'t str, Vec<Node<'t>>>,
    entries: FxHashMap<&'t str, Vec<(String, Node<'t>)>>,
}

/// CPU time for the syntax tree.
const TIMEOUT: Duration = Duration::from_millis(300);

/// Reads a `setup.py`.
pub fn read(reader: &mut Reader, text: &str) {
    let grammar = tree_sitter_python::LANGUAGE.into();
    let Some(tree) = syntax_tree(&grammar, text.as_bytes(), Deadline::after(TIMEOUT)) else { return };
    let mut source = Source {
        text,
        variables: FxHashMap::default(),
        additions: FxHashMap::default(),
        entries: FxHashMap::default(),
    };
    let mut calls = Vec::new();
    source.collect(tree.root_node(), &mut calls);
    let Some(arguments) = calls.last().and_then(|call| call.child_by_field_name("arguments")) else { return };
    let mut options: Vec<(String, Node)> = Vec::new();
    for argument in children(arguments) {
        match argument.kind() {
            "keyword_argument" => options.extend(source.keyword(argument)),
            // `setup(**options)`
            "dictionary_splat" => {
                let inner = children(argument).into_iter().next();
                options.extend(inner.map(|inner| source.pairs(inner, 0)).unwrap_or_default());
            }
            _ => {}
        }
    }
    for (key, value) in options {
        source.add_option(reader, &key, value);
    }
}

impl<'t> Source<'t> {
    fn text_of(&self, node: Node) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// Collects the calls of `setup` and the values of variables, wherever they are.
    fn collect(&mut self, root: Node<'t>, calls: &mut Vec<Node<'t>>) {
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            match node.kind() {
                "call" => {
                    let function =
                        node.child_by_field_name("function").map(|node| self.text_of(node)).unwrap_or_default();
                    if function == "setup" || function.ends_with(".setup") {
                        calls.push(node);
                    } else if let Some((name, "append" | "extend")) = function.rsplit_once('.')
                        && let Some(arguments) = node.child_by_field_name("arguments")
                    {
                        self.additions.entry(name).or_default().extend(children(arguments));
                    }
                }
                "assignment" | "augmented_assignment" => {
                    let side = |name| node.child_by_field_name(name);
                    match (side("left"), side("right")) {
                        (Some(left), Some(right)) if node.kind() == "assignment" => self.assign(left, right),
                        (Some(left), Some(right)) => self.additions.entry(self.text_of(left)).or_default().push(right),
                        _ => {}
                    }
                }
                _ => {}
            }
            // In source order: the last one is on top of the stack.
            open.extend(children(node).into_iter().rev());
        }
    }

    fn assign(&mut self, left: Node<'t>, right: Node<'t>) {
        match left.kind() {
            "identifier" => drop(self.variables.insert(self.text_of(left), right)),
            "subscript" => {
                let name = left.child_by_field_name("value").map(|node| self.text_of(node));
                let key = left.child_by_field_name("subscript").and_then(|node| self.string(node));
                if let (Some(name), Some((key, _))) = (name, key) {
                    self.entries.entry(name).or_default().push((key, right));
                }
            }
            _ => {}
        }
    }

    fn keyword(&self, argument: Node<'t>) -> Option<(String, Node<'t>)> {
        let name = self.text_of(argument.child_by_field_name("name")?);
        Some((name.to_owned(), argument.child_by_field_name("value")?))
    }

    fn add_option(&self, reader: &mut Reader, key: &str, value: Node<'t>) {
        let purpose = match key {
            "name" | "version" => {
                let mut found = Found::default();
                self.values(value, &mut found, 0);
                if let [(text, _)] = &found.texts[..] {
                    let field = if key == "name" { &mut reader.manifest.name } else { &mut reader.manifest.version };
                    text.clone_into(field);
                }
                return;
            }
            "package_dir" => {
                for (_, folder) in self.pairs(value, 0).into_iter().filter(|(name, _)| name.is_empty()) {
                    let folder = self.string(folder).map(|(folder, _)| folder);
                    reader.set(SettingKind::Base, "", folder.into_iter().collect());
                }
                return;
            }
            "install_requires" => Purpose::Runtime,
            "setup_requires" => Purpose::Build,
            "tests_require" => Purpose::Development,
            "extras_require" => {
                let pairs = self.pairs(value, 0);
                if pairs.is_empty() && value.kind() != "dictionary" {
                    reader.problem(line_of(value), "extras_require is computed, so its dependencies are unknown");
                }
                for (extra, list) in pairs {
                    let start = reader.manifest.dependencies.len();
                    // `extra:condition`; without an extra, a condition on what is always needed
                    let (extra, condition) = extra.split_once(':').unwrap_or((&extra, ""));
                    let purpose = if extra.is_empty() { Purpose::Runtime } else { Purpose::Optional };
                    self.add_list(reader, list, purpose, extra);
                    for one in reader.manifest.dependencies[start..].iter_mut().filter(|one| one.marker.is_empty()) {
                        condition.clone_into(&mut one.marker);
                    }
                }
                return;
            }
            _ => return,
        };
        self.add_list(reader, value, purpose, if purpose == Purpose::Development { "tests" } else { "" });
    }

    fn add_list(&self, reader: &mut Reader, list: Node<'t>, purpose: Purpose, group: &str) {
        let mut found = Found::default();
        self.values(list, &mut found, 0);
        for (text, line) in found.texts {
            // A text of several lines is a list as well.
            for part in text.lines().map(str::trim).filter(|part| !part.is_empty() && !part.starts_with('#')) {
                match requirement::read(part, purpose, line) {
                    Some(requirement) => reader.add(requirement.of_group(group)),
                    None => reader.problem(line, "no requirement"),
                }
            }
        }
        for (file, line) in found.files {
            reader.include(&file, IncludeKind::Dependencies, line);
        }
        if found.is_partial {
            reader.problem(line_of(list), "a part of the list is computed, so its dependencies are unknown");
        }
    }

    /// Returns the entries of a dictionary with keys that are texts.
    fn pairs(&self, node: Node<'t>, depth: usize) -> Vec<(String, Node<'t>)> {
        if depth > MAX_DEPTH {
            return Vec::new();
        }
        match node.kind() {
            "dictionary" => {
                let mut found = Vec::new();
                for pair in children(node) {
                    match pair.kind() {
                        "pair" => {
                            let key = pair.child_by_field_name("key").and_then(|key| self.string(key));
                            let value = pair.child_by_field_name("value");
                            found.extend(key.zip(value).map(|((key, _), value)| (key, value)));
                        }
                        "dictionary_splat" => {
                            let inner = children(pair).into_iter().next();
                            found.extend(inner.map(|inner| self.pairs(inner, depth + 1)).unwrap_or_default());
                        }
                        _ => {}
                    }
                }
                found
            }
            "call" if node.child_by_field_name("function").is_some_and(|node| self.text_of(node) == "dict") => {
                let arguments = node.child_by_field_name("arguments").map(children).unwrap_or_default();
                arguments.into_iter().filter_map(|argument| self.keyword(argument)).collect()
            }
            "identifier" => {
                let name = self.text_of(node);
                let mut found = self.variables.get(name).map(|&value| self.pairs(value, depth + 1)).unwrap_or_default();
                found.extend(self.entries.get(name).into_iter().flatten().cloned());
                found
            }
            "parenthesized_expression" => {
                children(node).first().map(|&inner| self.pairs(inner, depth + 1)).unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }

    /// Adds the texts that an expression holds.
    fn values(&self, node: Node<'t>, found: &mut Found, depth: usize) {
        if depth > MAX_DEPTH || found.texts.len() > MAX_VALUES {
            found.is_partial = true;
            return;
        }
        let each = |nodes: Vec<Node<'t>>, found: &mut Found| {
            nodes.into_iter().for_each(|node| self.values(node, found, depth + 1));
        };
        match node.kind() {
            "list" | "tuple" | "set" | "parenthesized_expression" | "list_splat" => each(children(node), found),
            "string" | "concatenated_string" => match self.string(node) {
                Some(text) => found.texts.push(text),
                None => found.is_partial = true,
            },
            "comment" | "none" => {}
            "binary_operator" => {
                let sides = ["left", "right"].into_iter().filter_map(|side| node.child_by_field_name(side));
                each(sides.collect(), found);
            }
            "identifier" => {
                let name = self.text_of(node);
                let known = self.variables.get(name);
                if known.is_none() {
                    found.is_partial = true;
                }
                each(known.into_iter().chain(self.additions.get(name).into_iter().flatten()).copied().collect(), found);
            }
            "subscript" => {
                let name = node.child_by_field_name("value").map(|node| self.pairs(node, depth + 1));
                let key = node.child_by_field_name("subscript").and_then(|node| self.string(node));
                match name.zip(key).and_then(|(pairs, (key, _))| pairs.into_iter().find(|pair| pair.0 == key)) {
                    Some((_, value)) => self.values(value, found, depth + 1),
                    None => found.is_partial = true,
                }
            }
            // `open("requirements.txt").read().splitlines()`, `read_requirements("requirements.txt")`
            _ => match self.requirements_file(node) {
                Some(file) => found.files.push(file),
                None => found.is_partial = true,
            },
        }
    }

    /// Returns the only text of an expression that names a file of requirements.
    fn requirements_file(&self, node: Node<'t>) -> Option<Text> {
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            if node.kind() == "string" {
                let (text, line) = self.string(node)?;
                if text.ends_with(".txt") || text.ends_with(".in") {
                    return Some((text, line));
                }
            }
            open.extend(children(node));
        }
        None
    }

    /// Returns the text of a string without interpolation.
    fn string(&self, node: Node<'t>) -> Option<Text> {
        if node.kind() == "concatenated_string" {
            let parts: Option<Vec<Text>> = children(node).into_iter().map(|part| self.string(part)).collect();
            return Some((parts?.into_iter().map(|(text, _)| text).collect(), line_of(node)));
        }
        let parts = children(node);
        if node.kind() != "string" || parts.iter().any(|part| part.kind() == "interpolation") {
            return None;
        }
        let content = parts.iter().filter(|part| part.kind() == "string_content");
        Some((content.map(|part| self.text_of(*part)).collect(), line_of(node)))
    }
}

fn children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).collect()
}

fn line_of(node: Node) -> u32 {
    node.start_position().row as u32 + 1
}

#[cfg(test)]
mod tests {
    use crate::{Format, read};

    #[test]
    fn follows_variables_and_files_without_running_anything() {
        let text = "
from setuptools import setup
BASE = ['a>=1', 'b']
BASE += ['c']
tests = dict(x=1)
extras = {'async': ['d'], 'all': BASE + ['e']}
extras['late'] = ('f',)
setup(
    name='demo',
    install_requires=BASE,
    setup_requires=[x for x in y],
    extras_require=extras,
    tests_require=open('requirements-test.txt').read().splitlines(),
)
";
        let (manifest, problems) = read(Format::SetupPy, "setup.py", text);
        let found: Vec<_> = manifest
            .dependencies
            .iter()
            .map(|one| format!("{} {} {} {}", one.purpose.name(), one.group, one.name, one.line))
            .collect();
        let expected = [
            "runtime  a 3",
            "runtime  b 3",
            "runtime  c 4",
            "optional async d 6",
            "optional all a 3",
            "optional all b 3",
            "optional all c 4",
            "optional all e 6",
            "optional late f 7",
        ];
        assert_eq!(found, expected);
        assert_eq!((&*manifest.name, &*manifest.includes[0].path), ("demo", "requirements-test.txt"));
        assert_eq!(problems.iter().map(|one| one.line).collect::<Vec<_>>(), [11]);
    }
}
