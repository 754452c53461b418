//! Directives of reStructuredText that describe definitions: `.. class:: Model`, `.. autofunction:: pkg.run`. Their names
//! are completed by the module and the class around them.

use crate::markdown::mentions::Mention;

/// Directives whose argument is a definition.
const DEFINITIONS: &[&str] = &[
    "function",
    "class",
    "method",
    "attribute",
    "data",
    "exception",
    "decorator",
    "staticmethod",
    "classmethod",
    "decoratormethod",
    "property",
    "type",
    "enum",
    "struct",
    "member",
    "macro",
    "interface",
    "trait",
    "const",
];
const CLASSES: &[&str] = &["class", "exception", "enum", "struct", "interface", "trait"];
const PATHS: &[&str] = &["literalinclude", "include", "code-include"];
/// Directives whose content is code.
const CODE: &[&str] = &["code-block", "code", "sourcecode", "testcode", "doctest", "ipython", "literalinclude"];
/// Directives whose content is not read.
const SKIPPED: &[&str] =
    &["toctree", "raw", "image", "figure", "graphviz", "math", "csv-table", "productionlist", "index"];

/// What a directive says.
#[derive(Debug, Default, PartialEq)]
pub struct Directive {
    pub mention: Option<Mention>,
    pub content: Content,
}

#[derive(Debug, Default, PartialEq)]
pub enum Content {
    #[default]
    Text,
    Code,
    None,
}

/// The module and the classes around a directive.
#[derive(Default)]
pub struct Scope {
    module: String,
    /// Open classes with their columns.
    classes: Vec<(usize, String)>,
}

impl Scope {
    /// Reads the text of a line after `..`; `column` is that of the dots. Returns `None` for comments and targets.
    pub fn directive(&mut self, text: &str, column: usize) -> Option<Directive> {
        let (name, argument) = text.trim_start().split_once("::")?;
        let name = name.rsplit(':').next().unwrap_or(name).trim();
        if name.is_empty() || name.contains(' ') {
            return None;
        }
        let argument = argument.trim();
        self.classes.retain(|(around, _)| *around < column);
        let documented = name.strip_prefix("auto").unwrap_or(name);
        let content = match name {
            _ if CODE.contains(&name) => Content::Code,
            _ if SKIPPED.contains(&name) || (name.is_empty() && argument.is_empty()) => Content::None,
            _ => Content::Text,
        };
        let mention = match documented {
            "module" | "currentmodule" => {
                argument.clone_into(&mut self.module);
                dotted(argument).map(Mention::Name)
            }
            _ if DEFINITIONS.contains(&documented) => self.definition(documented, argument, column),
            _ if PATHS.contains(&name) => Some(Mention::Path(argument.to_owned())),
            _ => None,
        };
        Some(Directive { mention, content })
    }

    fn definition(&mut self, kind: &str, argument: &str, column: usize) -> Option<Mention> {
        let written = argument.split('(').next()?.split_whitespace().last()?;
        let written = dotted(&written.replace("::", "."))?;
        let is_plain = !written.contains('.');
        let owner = self.classes.last().filter(|_| is_plain).map(|(_, class)| class.clone());
        let owner = owner.unwrap_or_else(|| self.module.clone());
        let is_whole = !self.module.is_empty() && written.starts_with(&format!("{}.", self.module));
        let name = match owner.is_empty() || is_whole {
            true => written,
            false => format!("{owner}.{written}"),
        };
        if CLASSES.contains(&kind) {
            self.classes.push((column, name.clone()));
        }
        Some(Mention::Name(name))
    }
}

/// Returns a dotted name, or `None` for anything else.
fn dotted(text: &str) -> Option<String> {
    let text = text.trim_matches(['.', ' ']);
    let is_part = |part: &str| {
        part.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'))
    };
    (!text.is_empty() && text.len() < 400 && text.split('.').all(is_part)).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_completed_by_module_and_class() {
        let mut scope = Scope::default();
        let mut name = |text: &str, column| match scope.directive(text, column)?.mention? {
            Mention::Name(name) => Some(name),
            Mention::Path(path) => Some(format!("path {path}")),
        };
        assert_eq!(name(" module:: a.b", 0).as_deref(), Some("a.b"));
        assert_eq!(name(" class:: C(x, y=1)", 0).as_deref(), Some("a.b.C"));
        assert_eq!(name(" method:: run()", 4).as_deref(), Some("a.b.C.run"));
        assert_eq!(name(" py:function:: go(x)", 0).as_deref(), Some("a.b.go"));
        assert_eq!(name(" method:: D.stop()", 0).as_deref(), Some("a.b.D.stop"));
        assert_eq!(name(" autofunction:: a.b.end", 0).as_deref(), Some("a.b.end"));
        assert_eq!(name(" literalinclude:: ../x.py", 0).as_deref(), Some("path ../x.py"));
        assert_eq!(name(" note:: class X", 0), None);
        assert_eq!(name(" a comment", 0), None);
    }
}
