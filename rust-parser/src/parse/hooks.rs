//! What a language may say in Rust where patterns cannot: forms of imports, conventions of names, documentation inside.

use std::borrow::Cow;

use crate::facts::{ExprId, Kind};
use crate::parse::deadline::Deadline;
use crate::parse::facts_builder::Collector;
use crate::parse::flat_tree::NodeId;
use crate::parse::walk::Walk;
use crate::parse::walk::bindings::BindingDraft;
use crate::parse::walk::definitions::Draft;

/// Code of one language; every method has a default that does nothing.
pub trait LanguageCode: Sync {
    /// Decide the language of a file whose extension is shared, by its content (`.h`).
    fn language_of_content(&self, _path: &str, _data: &[u8]) -> Option<&'static str> {
        None
    }

    /// The text that the grammar reads, of the same length: what it cannot read is blank.
    fn readable<'a>(&self, source: &'a [u8]) -> Cow<'a, [u8]> {
        Cow::Borrowed(source)
    }

    /// Whether `Walk::is_local` is asked.
    fn needs_locals(&self) -> bool {
        false
    }

    /// Whether a second definition of this kind and name is more of the first (namespaces that files declare always are).
    fn reopens(&self, _kind: Kind) -> bool {
        false
    }

    /// Read a whole file of a language without a grammar.
    fn read(&self, _collect: &mut Collector, _source: &[u8], _deadline: Deadline) {}

    /// Once, before the walk; the declared package goes to `walk.collect.facts.module`.
    fn begin(&self, _walk: &mut Walk) {}

    /// A node with the role `@import`. True: it is an import and nothing else.
    fn import(&self, _walk: &mut Walk, _node: NodeId) -> bool {
        false
    }

    /// A node with the role `@hook`.
    fn hook(&self, _walk: &mut Walk, _node: NodeId) {}

    /// A node with the role `@target.hook`.
    fn target(&self, _walk: &mut Walk, _node: NodeId, _binding: BindingDraft) {}

    /// Adjust a definition before it is recorded. False drops it.
    fn define(&self, _walk: &mut Walk, _draft: &mut Draft) -> bool {
        true
    }

    /// The first parameter of this function stands for the object (`Some(false)`) or the class (`Some(true)`).
    fn receiver(&self, _walk: &Walk, _draft: &Draft) -> Option<bool> {
        None
    }

    /// A type written as text (`@type.text`).
    fn type_text(&self, _walk: &mut Walk, _node: NodeId) -> ExprId {
        0
    }

    /// An expression that patterns take for a name or call but that means something else (`self.__class__`).
    fn expression(&self, _walk: &mut Walk, _node: NodeId) -> Option<ExprId> {
        None
    }

    /// The node of the docstring inside a body, for the doc style `first-string`.
    fn docstring(&self, _walk: &Walk, _body: NodeId) -> Option<NodeId> {
        None
    }

    /// Once, after the walk.
    fn end(&self, _walk: &mut Walk) {}
}

struct NoCode;

impl LanguageCode for NoCode {}

/// The code of a name in `language.toml`, or None when there is none of that name.
pub fn code(name: &str) -> Option<&'static dyn LanguageCode> {
    Some(match name {
        "" => &NoCode,
        "python" => &crate::parse::languages::python::Python,
        "ecmascript" => &crate::parse::languages::ecmascript::Ecmascript,
        "go" => &crate::parse::languages::go::Go,
        "java" => &crate::parse::languages::java::Java,
        "kotlin" => &crate::parse::languages::kotlin::Kotlin,
        "scala" => &crate::parse::languages::scala::Scala,
        "swift" => &crate::parse::languages::swift::Swift,
        "ruby" => &crate::parse::languages::ruby::Ruby,
        "php" => &crate::parse::languages::php::Php,
        "csharp" => &crate::parse::languages::csharp::CSharp,
        "cfamily" => &crate::parse::languages::cfamily::CFamily,
        "markdown" => &crate::parse::markdown::Markdown,
        "rust" => &crate::parse::languages::rust::Rust,
        _ => return None,
    })
}
