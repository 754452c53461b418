//! The graph of one file (or of the structure) as rows: nodes, edges and words for search, in the order of `atlas.model`.
//!
//! A row is described once, as a list of fields; the digest hashes the fields and Python gets them as tuples.

mod row;
mod search_text;

use std::sync::Arc;

use crate::content_digest::hex;
use crate::facts::{DefId, FileFacts, Kind, ScopeRule, flags};
use crate::link::edge::FileEdges;
use crate::link::emit::structure::Structure;
use crate::link::project::file_entry::is_class;
use crate::link::project::index::Index;
use crate::link::project::names::FILE_NODE;
use crate::link::project::paths::{file_name_of, is_package_file};

pub use row::Field;
use row::{add_fields, digits};

/// First 16 bytes of BLAKE3 over a unit's rows.
pub type UnitDigest = [u8; 16];

/// A node of a unit.
pub(crate) struct UnitNode {
    uid: String,
    qualified_name: String,
    place: NodePlace,
}

enum NodePlace {
    /// A definition of the file or [`FILE_NODE`].
    File(DefId),
    Structure {
        label: &'static str,
        kind: &'static str,
        name: String,
        language: String,
    },
}

pub(crate) struct UnitEdge {
    /// Position of the node.
    source: usize,
    /// Without the project.
    target: String,
    kind: &'static str,
    line: u32,
    strategy: &'static str,
    confidence: f64,
}

/// Everything that the rows of one unit are made from.
pub struct UnitSource {
    project: String,
    pub(crate) path: String,
    facts: Option<Arc<FileFacts>>,
    pub(crate) nodes: Vec<UnitNode>,
    /// By node: the nearest enclosing node of the unit.
    parents: Vec<Option<usize>>,
    pub(crate) edges: Vec<UnitEdge>,
    pub(crate) resolved: u32,
    pub(crate) unresolved: u32,
}

/// The unit of a file; `targets` are the uids of its edges' far ends, without the project.
pub fn file_source(project: &str, index: &Index, file: u32, linked: &FileEdges, targets: Vec<String>) -> UnitSource {
    let entry = index.file(file);
    let facts = entry.facts();
    let mut nodes = Vec::new();
    let mut parents = Vec::new();
    let mut positions = vec![usize::MAX; facts.definitions.len()];
    let is_document = facts.scope_rule == ScopeRule::Document;
    if !is_document {
        nodes.push(UnitNode {
            uid: index.full_uid(project, entry.file_symbol),
            qualified_name: index.strings.text(entry.file_name).to_owned(),
            place: NodePlace::File(FILE_NODE),
        });
        parents.push(None);
    }
    for (def, definition) in facts.definitions.iter().enumerate() {
        if !entry.is_node(def as DefId) {
            continue;
        }
        let parent = match entry.node_of(definition.parent) {
            _ if def == 0 => (!is_document).then_some(0),
            Some(parent) => Some(positions[parent as usize]),
            None => Some(0),
        };
        positions[def] = nodes.len();
        parents.push(parent);
        nodes.push(UnitNode {
            uid: index.full_uid(project, entry.symbols[def]),
            qualified_name: index.strings.text(entry.qualified_names[def]).to_owned(),
            place: NodePlace::File(def as DefId),
        });
    }
    let edges = linked.edges.iter().zip(targets).map(|(edge, target)| UnitEdge {
        source: if edge.source == FILE_NODE { 0 } else { positions[edge.source as usize] },
        target,
        kind: edge.kind.name(),
        line: edge.line,
        strategy: edge.via.name(),
        confidence: edge.via.confidence(),
    });
    let edges = edges.collect();
    UnitSource {
        project: project.to_owned(),
        path: facts.path.clone(),
        facts: Some(facts.clone()),
        nodes,
        parents,
        edges,
        resolved: linked.resolved,
        unresolved: linked.unresolved,
    }
}

/// The unit of the structure.
pub fn structure_source(project: &str, structure: &Structure) -> UnitSource {
    let nodes: Vec<UnitNode> = structure
        .nodes
        .iter()
        .map(|node| UnitNode {
            uid: format!("{project}:{}", node.qualified_name),
            qualified_name: node.qualified_name.clone(),
            place: NodePlace::Structure {
                label: node.label,
                kind: node.kind,
                name: node.name.clone(),
                language: node.language.clone(),
            },
        })
        .collect();
    let position = |name: &str| {
        let found = structure.nodes.binary_search_by(|node| node.qualified_name.as_str().cmp(name));
        found.expect("node of the structure")
    };
    let edges = structure.contains.iter().map(|(source, target)| UnitEdge {
        source: position(source),
        target: target.clone(),
        kind: "CONTAINS",
        line: 0,
        strategy: "structure",
        confidence: 1.0,
    });
    UnitSource {
        project: project.to_owned(),
        path: String::new(),
        facts: None,
        parents: vec![None; nodes.len()],
        nodes,
        edges: edges.collect(),
        resolved: 0,
        unresolved: 0,
    }
}

impl UnitSource {
    /// Digest over all rows and the texts they were made from.
    pub fn digest(&self) -> UnitDigest {
        let mut rows = Vec::with_capacity(self.nodes.len() * 400 + self.edges.len() * 150);
        for position in 0..self.nodes.len() {
            add_fields(&self.node_fields(position), &mut rows);
        }
        for edge in &self.edges {
            add_fields(&self.edge_fields(edge), &mut rows);
        }
        rows.extend_from_slice(&self.resolved.to_le_bytes());
        rows.extend_from_slice(&self.unresolved.to_le_bytes());
        let mut digest = [0; 16];
        digest.copy_from_slice(&blake3::hash(&rows).as_bytes()[..16]);
        digest
    }

    /// The fields of `atlas.model.NodeRow`.
    pub(crate) fn node_fields(&self, position: usize) -> [Field<'_>; 24] {
        let node = &self.nodes[position];
        match (&node.place, &self.facts) {
            (NodePlace::File(def), Some(facts)) => self.definition_fields(node, *def, facts, position),
            (NodePlace::Structure { label, kind, name, language }, _) => [
                node.uid.as_str().into(),
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
            ],
            (NodePlace::File(_), None) => unreachable!("only files have definitions"),
        }
    }

    fn definition_fields<'a>(
        &'a self,
        node: &'a UnitNode,
        def: DefId,
        facts: &'a FileFacts,
        position: usize,
    ) -> [Field<'a>; 24] {
        let is_file = def == FILE_NODE;
        let definition = &facts.definitions[if is_file { 0 } else { def as usize }];
        let is_whole = is_file || def == 0;
        let (label, kind) = if is_file { ("File", "file") } else { label_and_kind(definition.kind, &facts.path) };
        let text = |name: u32| &facts.strings[name as usize];
        let name = match definition.kind {
            _ if is_file => file_name_of(&facts.path),
            Kind::Module => node.qualified_name.rsplit('.').next().unwrap_or(&node.qualified_name),
            Kind::DocFile | Kind::Adr if text(definition.name).is_empty() => file_name_of(&facts.path),
            _ => text(definition.name),
        };
        let has_text = !is_file || facts.scope_rule != ScopeRule::File;
        let docstring = if has_text { text(definition.docstring) } else { "" };
        let chunk_name = self.chunk_name(label, name, position, facts);
        let chunk_digest = if is_embedded(label, facts.scope_rule) {
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
        let is_marked = |flag: u32| !is_file && definition.flags & flag != 0;
        [
            node.uid.as_str().into(),
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
        ]
    }

    /// The fields of `atlas.model.EdgeRow`.
    pub(crate) fn edge_fields<'a>(&'a self, edge: &'a UnitEdge) -> [Field<'a>; 6] {
        [
            self.nodes[edge.source].uid.as_str().into(),
            Field::Uid(&self.project, &edge.target),
            edge.kind.into(),
            Field::Number(edge.line),
            edge.strategy.into(),
            Field::Fraction(edge.confidence),
        ]
    }

    /// "Class method" for methods, the name for functions and classes, the path for whole files and sections.
    fn chunk_name(&self, label: &str, name: &str, position: usize, facts: &FileFacts) -> String {
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
            "Module" | "File" | "DocFile" | "DocSection" | "ADR" => facts.path.clone(),
            _ => String::new(),
        }
    }
}

/// The class that a method outside of its class body belongs to, from its definition path.
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

fn label_and_kind(kind: Kind, path: &str) -> (&'static str, &'static str) {
    match kind {
        Kind::Module if is_package_file(path) => ("Module", "package"),
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
    }
}

fn is_embedded(label: &str, rule: ScopeRule) -> bool {
    match label {
        "Function" | "Method" | "Class" | "Module" | "DocSection" | "DocFile" | "ADR" => true,
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
