//! Places that a JavaScript or TypeScript program names, read without running it: texts, `path.resolve(__dirname, "src")`,
//! `fileURLToPath(new URL("./src", import.meta.url))`, constants and functions of one parameter that return one of these.

use std::cell::Cell;

use rustc_hash::FxHashMap;
use tree_sitter::Node;

/// Nesting depth of expressions that are followed.
const MAX_DEPTH: usize = 24;
/// Largest number of expressions that are read for one file.
const MAX_STEPS: u32 = 50_000;

/// What an expression stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A path relative to the file's folder.
    Path(String),
    Text(String),
}

/// The parameter of a function that is being read, and its argument.
type Argument<'p> = Option<(&'p str, &'p Place)>;

/// A program with its constants and functions.
pub struct Program<'t> {
    text: &'t str,
    constants: FxHashMap<&'t str, Node<'t>>,
    /// By name: the parameter, "" for none, and the result.
    functions: FxHashMap<&'t str, (&'t str, Node<'t>)>,
    steps: Cell<u32>,
}

impl Place {
    fn text(&self) -> &str {
        match self {
            Place::Path(text) | Place::Text(text) => text,
        }
    }

    fn joined(self, other: &Place, separator: &str) -> Place {
        let text = match (self.text(), other.text()) {
            ("", other) => other.to_owned(),
            (own, "") => own.to_owned(),
            (own, other) => format!("{own}{separator}{other}"),
        };
        match (&self, other) {
            (Place::Text(_), Place::Text(_)) => Place::Text(text),
            _ => Place::Path(text),
        }
    }
}

impl<'t> Program<'t> {
    pub fn of(text: &'t str, root: Node<'t>) -> Program<'t> {
        let mut program =
            Program { text, constants: FxHashMap::default(), functions: FxHashMap::default(), steps: Cell::new(0) };
        each(root, |node| program.collect(node));
        program
    }

    pub fn text_of(&self, node: Node) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    fn collect(&mut self, node: Node<'t>) {
        let Some(name) = node.child_by_field_name("name").filter(|name| name.kind() == "identifier") else { return };
        let name = self.text_of(name);
        match node.kind() {
            "variable_declarator" => {
                let Some(value) = node.child_by_field_name("value") else { return };
                match self.function(value) {
                    Some(function) => drop(self.functions.entry(name).or_insert(function)),
                    None => drop(self.constants.entry(name).or_insert(value)),
                }
            }
            "function_declaration" => {
                if let Some(function) = self.function(node) {
                    self.functions.entry(name).or_insert(function);
                }
            }
            _ => {}
        }
    }

    /// Returns the parameter and the result of a function with one `return`.
    fn function(&self, node: Node<'t>) -> Option<(&'t str, Node<'t>)> {
        if !matches!(node.kind(), "arrow_function" | "function_declaration" | "function_expression") {
            return None;
        }
        let single = node.child_by_field_name("parameter").map(|one| self.text_of(one));
        let list = || {
            let first = children(node.child_by_field_name("parameters")?).into_iter().next()?;
            Some(self.text_of(first.child_by_field_name("pattern").unwrap_or(first)))
        };
        let body = node.child_by_field_name("body")?;
        let result = match body.kind() {
            "statement_block" => {
                let last = children(body).into_iter().rfind(|one| one.kind() == "return_statement")?;
                children(last).into_iter().next()?
            }
            _ => body,
        };
        Some((single.or_else(list).unwrap_or_default(), result))
    }

    /// Returns what an expression stands for.
    pub fn place(&self, node: Node<'t>) -> Option<Place> {
        self.read(node, None, 0)
    }

    /// Returns the expression that a name stands for, or the expression itself.
    pub fn value(&self, node: Node<'t>) -> Node<'t> {
        let mut value = node;
        for _ in 0..MAX_DEPTH {
            value = match value.kind() {
                "identifier" | "shorthand_property_identifier" => match self.constants.get(self.text_of(value)) {
                    Some(&constant) => constant,
                    None => break,
                },
                "as_expression" | "satisfies_expression" | "parenthesized_expression" | "non_null_expression" => {
                    match children(value).first() {
                        Some(&inner) => inner,
                        None => break,
                    }
                }
                _ => break,
            };
        }
        value
    }

    /// Returns the entries of an object, with those of the objects that it spreads.
    pub fn entries(&self, object: Node<'t>) -> Vec<(String, Node<'t>)> {
        let (mut found, mut open) = (Vec::new(), vec![(self.value(object), 0)]);
        while let Some((object, depth)) = open.pop() {
            if object.kind() != "object" || depth > MAX_DEPTH || !self.may_go_on() {
                continue;
            }
            for part in children(object) {
                match part.kind() {
                    "pair" => {
                        let (key, value) = (part.child_by_field_name("key"), part.child_by_field_name("value"));
                        let key = key.and_then(|key| self.key(key));
                        found.extend(key.zip(value));
                    }
                    "shorthand_property_identifier" => found.push((self.text_of(part).to_owned(), part)),
                    "spread_element" => {
                        open.extend(children(part).first().map(|&inner| (self.value(inner), depth + 1)));
                    }
                    _ => {}
                }
            }
        }
        found
    }

    fn key(&self, key: Node<'t>) -> Option<String> {
        match key.kind() {
            "property_identifier" => Some(self.text_of(key).to_owned()),
            "computed_property_name" => {
                let Place::Text(text) = self.place(*children(key).first()?)? else { return None };
                Some(text)
            }
            _ => self.string(key),
        }
    }

    fn may_go_on(&self) -> bool {
        self.steps.set(self.steps.get() + 1);
        self.steps.get() < MAX_STEPS
    }

    fn read(&self, node: Node<'t>, argument: Argument, depth: usize) -> Option<Place> {
        if depth > MAX_DEPTH || !self.may_go_on() {
            return None;
        }
        let inner = |node: Node<'t>| self.read(node, argument, depth + 1);
        match node.kind() {
            "string" => self.string(node).map(Place::Text),
            "template_string" => {
                let parts = children(node).into_iter().map(|part| match part.kind() {
                    "template_substitution" => inner(*children(part).first()?),
                    _ => Some(Place::Text(self.text_of(part).to_owned())),
                });
                parts.collect::<Option<Vec<Place>>>()?.into_iter().reduce(|all, part| all.joined(&part, ""))
            }
            "identifier" | "shorthand_property_identifier" => match (self.text_of(node), argument) {
                ("__dirname", _) => Some(Place::Path(String::new())),
                (name, Some((parameter, value))) if name == parameter => Some(value.clone()),
                (name, _) => self.read(*self.constants.get(name)?, None, depth + 1),
            },
            "member_expression" => match self.text_of(node) {
                "import.meta.dirname" => Some(Place::Path(String::new())),
                // `new URL("./src", import.meta.url).pathname`
                text if text.ends_with(".pathname") || text.ends_with(".href") => {
                    inner(node.child_by_field_name("object")?)
                }
                _ => None,
            },
            "binary_expression" => {
                let left = inner(node.child_by_field_name("left")?)?;
                Some(left.joined(&inner(node.child_by_field_name("right")?)?, ""))
            }
            "parenthesized_expression" | "as_expression" | "satisfies_expression" | "await_expression" => {
                inner(*children(node).first()?)
            }
            "call_expression" | "new_expression" => self.read_call(node, argument, depth),
            _ => None,
        }
    }

    fn read_call(&self, node: Node<'t>, argument: Argument, depth: usize) -> Option<Place> {
        let callee = node.child_by_field_name("function").or_else(|| node.child_by_field_name("constructor"))?;
        let callee = self.text_of(callee);
        let arguments = node.child_by_field_name("arguments").map(children).unwrap_or_default();
        let inner = |node: Node<'t>| self.read(node, argument, depth + 1);
        if let Some(&(parameter, result)) = self.functions.get(callee) {
            let Some(&first) = arguments.first() else { return self.read(result, None, depth + 1) };
            return self.read(result, Some((parameter, &inner(first)?)), depth + 1);
        }
        if matches!(callee, "process.cwd" | "cwd") {
            return Some(Place::Path(String::new()));
        }
        if callee == "URL" {
            let base = arguments.get(1).map(|&base| self.text_of(base));
            let text = inner(*arguments.first()?)?.text().to_owned();
            return (base? == "import.meta.url").then_some(Place::Path(text));
        }
        if callee == "require.resolve" {
            return inner(*arguments.first()?);
        }
        match callee.rsplit('.').next().unwrap_or(callee) {
            last @ ("resolve" | "join") => {
                let parts = arguments.into_iter().map(inner).collect::<Option<Vec<Place>>>()?;
                let all = parts.into_iter().reduce(|all, part| all.joined(&part, "/"))?;
                Some(if last == "resolve" { Place::Path(all.text().to_owned()) } else { all })
            }
            "dirname" if self.text_of(*arguments.first()?).contains("import.meta.url") => {
                Some(Place::Path(String::new()))
            }
            // `fileURLToPath`, `normalizePath` and the like keep the place.
            _ => match &arguments[..] {
                [only] => inner(*only).filter(|place| matches!(place, Place::Path(_))),
                _ => None,
            },
        }
    }

    fn string(&self, node: Node) -> Option<String> {
        let text = self.text_of(node);
        let quote = text.chars().next().filter(|sign| matches!(sign, '"' | '\''))?;
        let bare = text.strip_prefix(quote)?.strip_suffix(quote)?;
        if !bare.contains('\\') {
            return Some(bare.to_owned());
        }
        let mut found = String::with_capacity(bare.len());
        let mut signs = bare.chars();
        while let Some(sign) = signs.next() {
            found.push(if sign == '\\' { signs.next()? } else { sign });
        }
        Some(found)
    }
}

pub fn children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    let all = node.named_children(&mut cursor);
    all.filter(|child| child.kind() != "comment").collect()
}

/// Visits all nodes below one, in source order.
pub fn each<'t>(root: Node<'t>, mut visit: impl FnMut(Node<'t>)) {
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        visit(node);
        open.extend(children(node).into_iter().rev());
    }
}
