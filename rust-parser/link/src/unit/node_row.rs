//! The node rows of a unit: one row for each file, definition or node of the structure.

use serde_json::Value;

use crate::project::file_entry::is_class;
use crate::project::names::FILE_NODE;
use crate::project::paths::file_name_of;
use crate::unit::row::{Field, digits};
use crate::unit::{NodePlace, UnitNode, UnitSource};
use atlas_facts::content_digest::hex;
use atlas_facts::{DefId, FileFacts, Kind, Role, ScopeRule, WindowKind, flags};

/// Number of aliases that are searched for and embedded with an entity's statements.
const MAX_ALIASES: usize = 8;
/// Bytes of a note's source that are searched and embedded.
const MAX_SOURCE_TITLE: usize = 200;

impl UnitSource {
    /// Returns the fields of `atlas.core.model.NodeRow`.
    pub fn node_fields(&self, position: usize) -> [Field<'_>; 25] {
        let node = &self.nodes[position];
        match (&node.place, &self.facts) {
            (NodePlace::File(def), Some(facts)) => self.definition_fields(node, *def, facts, position),
            (NodePlace::Structure { label, kind, name, language, properties }, _) => [
                Field::Uid(&self.project, &node.uid),
                (*label).into(),
                (*kind).into(),
                name.as_str().into(),
                node.qualified_name.as_str().into(),
                "".into(),
                language.as_str().into(),
                Field::Number(0),
                Field::Number(0),
                Field::Number(0),
                Field::Number(0),
                Field::Number(0),
                "".into(),
                "".into(),
                Field::Flag(false),
                Field::Flag(false),
                Field::Flag(true),
                "".into(),
                "".into(),
                "".into(),
                "".into(),
                "".into(),
                "".into(),
                "".into(),
                properties.as_str().into(),
            ],
            (NodePlace::Route(route), Some(facts)) => [
                Field::Uid(&self.project, &node.uid),
                "Route".into(),
                "route".into(),
                node.qualified_name.as_str().into(),
                node.qualified_name.as_str().into(),
                facts.path.as_str().into(),
                facts.language.as_str().into(),
                Field::Number(route.line),
                Field::Number(route.line),
                Field::Number(route.line),
                Field::Number(0),
                Field::Number(0),
                node.qualified_name.as_str().into(),
                "".into(),
                Field::Flag(facts.is_test),
                Field::Flag(facts.is_generated),
                Field::Flag(true),
                "".into(),
                Field::Hex(0),
                Field::Hex(0),
                Field::Hex(0),
                Field::Hex(0),
                "".into(),
                "".into(),
                route.properties.as_str().into(),
            ],
            (NodePlace::File(_) | NodePlace::Route(_), None) => unreachable!("only files have definitions"),
        }
    }

    fn definition_fields<'a>(
        &'a self,
        node: &'a UnitNode,
        def: DefId,
        facts: &'a FileFacts,
        position: usize,
    ) -> [Field<'a>; 25] {
        let is_file = def == FILE_NODE;
        let definition = &facts.definitions[if is_file { 0 } else { def as usize }];
        let is_whole = is_file || (def == 0 && !definition.kind.is_note());
        let (label, kind) = if is_file { ("File", "file") } else { label_and_kind(definition.kind, self.is_package) };
        let text = |name: u32| &facts.strings[name as usize];
        let name = match definition.kind {
            _ if is_file => file_name_of(&facts.path),
            Kind::Module => node.qualified_name.rsplit('.').next().unwrap_or(&node.qualified_name),
            Kind::DocFile | Kind::Adr if text(definition.name).is_empty() => file_name_of(&facts.path),
            _ => text(definition.name),
        };
        let has_text = !is_file || facts.scope_rule != ScopeRule::File;
        let docstring = if has_text { text(definition.docstring) } else { "" };
        // The file of a package is searched like any other module.
        let searched_as = if kind == "package" { "Module" } else { label };
        let chunk_name = self.chunk_name(searched_as, kind, name, position, facts);
        let is_lock = facts.manifest.as_ref().is_some_and(|manifest| manifest.role == Role::Lock) && is_file;
        let chunk_digest = if is_embedded(searched_as, facts.scope_rule) && !is_lock {
            let mut hasher = blake3::Hasher::new();
            hasher.update(chunk_name.as_bytes()).update(&[0]);
            if definition.text_digest != 0 {
                hasher.update(&digits(definition.text_digest));
            }
            hex(&hasher.finalize().as_bytes()[..8])
        } else {
            String::new()
        };
        let whole_lines = (1, facts.lines.max(1), 0, facts.size);
        let (start_line, end_line, start_byte, end_byte) = if is_whole {
            whole_lines
        } else {
            (definition.start_line, definition.end_line, definition.start_byte, definition.end_byte)
        };
        let properties = match facts.properties.binary_search_by_key(&def, |&(definition, _)| definition) {
            Ok(at) => text(facts.properties[at].1),
            Err(_) => match self.properties.binary_search_by_key(&def, |&(definition, _)| definition) {
                Ok(at) => self.properties[at].1.as_str(),
                Err(_) => "",
            },
        };
        let is_marked = |flag: u32| !is_file && definition.flags & flag != 0;
        [
            Field::Uid(&self.project, &node.uid),
            label.into(),
            kind.into(),
            name.into(),
            node.qualified_name.as_str().into(),
            facts.path.as_str().into(),
            facts.language.as_str().into(),
            Field::Number(if is_whole { definition.name_line.max(1) } else { definition.name_line }),
            Field::Number(start_line),
            Field::Number(end_line),
            Field::Number(start_byte),
            Field::Number(end_byte),
            if is_file { "".into() } else { text(definition.signature).into() },
            docstring.into(),
            Field::Flag(facts.is_test || is_marked(flags::TEST)),
            Field::Flag(facts.is_generated),
            Field::Flag(is_whole || is_marked(flags::EXPORTED)),
            if is_file { "".into() } else { modifiers(definition.flags).into() },
            Field::Hex(if is_file { 0 } else { definition.signature_digest }),
            Field::Hex(if is_file { 0 } else { definition.body_digest }),
            Field::Hex(if docstring.is_empty() { 0 } else { definition.docstring_digest }),
            Field::Hex(definition.text_digest),
            chunk_digest.into(),
            chunk_name.into(),
            properties.into(),
        ]
    }

    /// Returns the name in the node's embedded text: "Class method" for methods, the name for functions and classes,
    /// the path for whole files, path and headings for documents and their sections.
    fn chunk_name(&self, label: &str, kind: &str, name: &str, position: usize, facts: &FileFacts) -> String {
        match label {
            "Function" | "Method" => {
                let around = self.parents[position].map(|parent| &self.nodes[parent].place);
                let class = match around {
                    Some(NodePlace::File(def)) if *def != FILE_NODE => Some(&facts.definitions[*def as usize]),
                    _ => None,
                };
                match class.filter(|class| is_class(class.kind)) {
                    Some(class) => format!("{} {name}", &facts.strings[class.name as usize]),
                    None => extended_class(facts, &self.nodes[position])
                        .map_or_else(|| name.to_owned(), |class| format!("{class} {name}")),
                }
            }
            "Class" => name.to_owned(),
            // Statements about an entity are found by any of its names.
            "Entity" | "Observation" => entity_names(facts),
            // A claim is found by the title of the paper, or the meeting, that it is from.
            "Claim" | "Decision" => source_title(facts),
            "DocFile" | "DocSection" | "ADR" => self.document_name(position, name, facts),
            "Chunk" if kind == "text" => format!("{}. {name}", facts.path),
            "Module" | "File" | "Chunk" => facts.path.clone(),
            _ => String::new(),
        }
    }

    /// Returns path and headings of a document or section, outermost first: "docs/cli.md. Commands. atlas index".
    fn document_name(&self, position: usize, name: &str, facts: &FileFacts) -> String {
        let mut around: Vec<&str> = self.headings_around(position).collect();
        around.reverse();
        let mut parts = vec![facts.path.as_str()];
        parts.extend(around);
        if name != file_name_of(&facts.path) {
            parts.push(name);
        }
        parts.join(". ")
    }
}

/// Returns the properties of the note of a file.
fn note_properties(facts: &FileFacts) -> Option<Value> {
    let &(_, text) = facts.properties.first().filter(|&&(definition, _)| definition == 0)?;
    serde_json::from_str(&facts.strings[text as usize]).ok()
}

/// Returns what the source of a note says in words, without addresses and identifiers: "Attention Is All You Need" of
/// "Attention Is All You Need, arXiv:1706.03762".
fn source_title(facts: &FileFacts) -> String {
    let properties = note_properties(facts).unwrap_or_default();
    let source = properties.get("source").and_then(Value::as_str).unwrap_or_default();
    let mut title = String::new();
    for part in source.split_whitespace().filter(|part| !is_identifier(part)) {
        if title.len() + part.len() >= MAX_SOURCE_TITLE {
            break;
        }
        title.push_str(if title.is_empty() { "" } else { " " });
        title.push_str(part);
    }
    title.trim_matches(|letter: char| letter.is_ascii_punctuation()).trim().to_owned()
}

/// Returns whether a word of a source is an address, the identifier of a paper or a number.
fn is_identifier(word: &str) -> bool {
    let bare = word.trim_start_matches(|letter: char| letter.is_ascii_punctuation()).to_ascii_lowercase();
    let is_marked = ["arxiv:", "doi:", "10."].iter().any(|mark| bare.starts_with(mark));
    is_marked || bare.contains("://") || !bare.contains(char::is_alphabetic)
}

/// Returns the name of a file's entity and its first aliases: "Billing team (payments, invoices)".
fn entity_names(facts: &FileFacts) -> String {
    let name = &facts.strings[facts.definitions[0].name as usize];
    let properties = note_properties(facts);
    let aliases: Vec<&str> = properties
        .as_ref()
        .and_then(|properties| properties.get("aliases")?.as_array())
        .map(|aliases| aliases.iter().filter_map(Value::as_str).take(MAX_ALIASES).collect())
        .unwrap_or_default();
    match aliases.is_empty() {
        true => name.to_owned(),
        false => format!("{name} ({})", aliases.join(", ")),
    }
}

/// Returns the class of a method that is defined outside of its class body.
fn extended_class<'a>(facts: &'a FileFacts, node: &UnitNode) -> Option<&'a str> {
    let NodePlace::File(def) = node.place else { return None };
    let definition = &facts.definitions[def as usize];
    let parent = &facts.definitions[definition.parent as usize];
    if parent.kind != Kind::Extension {
        return None;
    }
    let path = &facts.strings[definition.path as usize];
    let mut parts = path.rsplit('.').skip(1);
    parts.next()
}

fn label_and_kind(kind: Kind, is_package: bool) -> (&'static str, &'static str) {
    match kind {
        Kind::Module if is_package => ("Package", "package"),
        Kind::Module => ("Module", "module"),
        Kind::Namespace => ("Package", "namespace"),
        Kind::Class => ("Class", "class"),
        Kind::Interface => ("Class", "interface"),
        Kind::Struct => ("Class", "struct"),
        Kind::Trait => ("Class", "trait"),
        Kind::Enum => ("Class", "enum"),
        Kind::TypeAlias => ("Value", "type_alias"),
        Kind::Function | Kind::Lambda => ("Function", "function"),
        Kind::Method => ("Method", "method"),
        Kind::Constructor => ("Method", "constructor"),
        Kind::Property => ("Method", "property"),
        Kind::Field => ("Value", "field"),
        Kind::Constant => ("Value", "constant"),
        Kind::Extension => ("Package", "namespace"),
        Kind::DocFile => ("DocFile", "docfile"),
        Kind::Adr => ("ADR", "adr"),
        Kind::DocSection => ("DocSection", "docsection"),
        Kind::Window(WindowKind::Code) => ("Chunk", "code"),
        Kind::Window(WindowKind::Config) => ("Chunk", "config"),
        Kind::Window(WindowKind::Markup) => ("Chunk", "markup"),
        Kind::Window(WindowKind::Text) => ("Chunk", "text"),
        Kind::Claim => ("Claim", "claim"),
        Kind::Decision => ("Decision", "decision"),
        Kind::Entity => ("Entity", "entity"),
        Kind::Observation => ("Observation", "observation"),
    }
}

fn is_embedded(label: &str, rule: ScopeRule) -> bool {
    match label {
        "Function" | "Method" | "Class" | "Module" | "DocSection" | "DocFile" | "ADR" | "Chunk" => true,
        "Claim" | "Decision" | "Entity" | "Observation" => true,
        "File" => matches!(rule, ScopeRule::Directory | ScopeRule::Declared),
        _ => false,
    }
}

fn modifiers(bits: u32) -> String {
    const NAMES: [(u32, &str); 7] = [
        (flags::ABSTRACT, "abstract"),
        (flags::ASYNC, "async"),
        (flags::CLASS_METHOD, "classmethod"),
        (flags::DECLARATION, "declaration"),
        (flags::GENERATOR, "generator"),
        (flags::OVERLOAD, "overload"),
        (flags::STATIC, "static"),
    ];
    let set: Vec<&str> = NAMES.iter().filter(|(flag, _)| bits & flag != 0).map(|(_, name)| *name).collect();
    set.join(" ")
}
