//! The facts of a note: the note itself, its observations, its relations, anchors and the papers that are its source.

use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use super::fields::title_of;
use super::note::{Anchor, Note, NoteKind, Relation as NoteRelation};
use super::observations::Observation;
use super::papers;
use crate::doc_text::{digest, fold, limited, text_digest};
use crate::facts_builder::FactsBuilder;
use crate::markdown::lines::Lines;
use atlas_facts::{Definition, Kind, Relation, RelationKind, flags};

/// Largest number of papers that one source names.
const MAX_PAPERS: usize = 20;

/// Adds the facts of a note, whose top-level scope is the note.
pub fn add(builder: &mut FactsBuilder, source: &[u8], note: Note) {
    let lines = Lines::new(source);
    let text_at = note.body + source[note.body..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let name = if note.name.is_empty() { note.id.clone() } else { note.name.clone() };
    let signature = match note.entity_type.as_str() {
        "" => name.clone(),
        entity_type => format!("{name} ({entity_type})"),
    };
    // The note is its text; the front matter is in properties and relations.
    let start = text_at.min(source.len());
    let end = start + source[start..].trim_ascii_end().len();
    let start_line = lines.line(start.min(source.len().saturating_sub(1)));
    set_texts(builder, 0, &note.id, &name, &signature, &note.text);
    let top = &mut builder.facts.definitions[0];
    top.kind = match note.kind {
        Some(NoteKind::Decision) => Kind::Decision,
        Some(NoteKind::Entity) => Kind::Entity,
        _ => Kind::Claim,
    };
    (top.start_byte, top.end_byte) = (start as u32, end as u32);
    (top.start_line, top.name_line) = (start_line, start_line);
    top.end_line = lines.line(end.saturating_sub(1).max(start.min(source.len().saturating_sub(1))));
    top.text_digest = digest(&source[start..end]);
    add_properties(builder, 0, properties_of(&note));
    let mut ids: FxHashMap<&str, u32> = FxHashMap::default();
    for (line, observation) in &note.observations {
        let count = ids.entry(&observation.id).or_insert(0);
        *count += 1;
        let path = match *count {
            1 => observation.id.clone(),
            number => {
                builder.problem(*line, "note-observation-id", &format!("the id {} is there twice", observation.id));
                format!("{}#{number}", observation.id)
            }
        };
        add_observation(builder, source, &lines, observation, &path, *line);
    }
    add_relations(builder, &note);
    builder.facts.problems.extend(note.problems);
}

fn add_observation(
    builder: &mut FactsBuilder,
    source: &[u8],
    lines: &Lines,
    observation: &Observation,
    path: &str,
    line: u32,
) {
    let &Observation { start, end, .. } = observation;
    let definition = builder.facts.definitions.len() as u32;
    builder.facts.definitions.push(Definition {
        kind: Kind::Observation,
        name: 0,
        path: 0,
        parent: 0,
        flags: flags::EXPORTED,
        start_byte: start as u32,
        end_byte: end as u32,
        start_line: line,
        end_line: lines.line(end.saturating_sub(1).max(start)),
        name_line: line,
        signature: 0,
        docstring: 0,
        signature_digest: 0,
        body_digest: 0,
        docstring_digest: 0,
        text_digest: digest(&source[start..end]),
        decorators: Vec::new(),
        bases: Vec::new(),
        params: Vec::new(),
        declared_type: None,
    });
    set_texts(builder, definition, path, &title_of(&observation.text), "", &observation.text);
    let mut properties = Map::new();
    set(&mut properties, "created", &observation.created);
    set(&mut properties, "client", &observation.client);
    add_properties(builder, definition, properties);
}

fn set_texts(builder: &mut FactsBuilder, definition: u32, id: &str, name: &str, signature: &str, text: &str) {
    let (path, name) = (builder.owned_name(id.to_owned()), builder.owned_name(name.to_owned()));
    let docstring = builder.long_text(limited(text));
    let signature_digest = if signature.is_empty() { 0 } else { digest(signature.as_bytes()) };
    let signature = builder.long_text(signature.to_owned());
    let record = &mut builder.facts.definitions[definition as usize];
    (record.path, record.name, record.signature, record.docstring) = (path, name, signature, docstring);
    record.signature_digest = signature_digest;
    record.body_digest = digest(fold(text, usize::MAX).as_bytes());
    record.docstring_digest = text_digest(text);
}

fn properties_of(note: &Note) -> Map<String, Value> {
    let mut properties = Map::new();
    properties.insert("status".to_owned(), note.status.into());
    properties.insert("confidence".to_owned(), note.confidence.into());
    set(&mut properties, "source", &note.source);
    set(&mut properties, "created", &note.created);
    set(&mut properties, "updated", &note.updated);
    set(&mut properties, "client", &note.client);
    set(&mut properties, "agent", &note.agent);
    set(&mut properties, "type", &note.entity_type);
    if !note.aliases.is_empty() {
        properties.insert("aliases".to_owned(), note.aliases.clone().into());
    }
    properties
}

fn set(properties: &mut Map<String, Value>, key: &str, text: &str) {
    if !text.is_empty() {
        properties.insert(key.to_owned(), text.into());
    }
}

fn add_properties(builder: &mut FactsBuilder, definition: u32, properties: Map<String, Value>) {
    if !properties.is_empty() {
        let text = builder.owned_name(Value::Object(properties).to_string());
        builder.facts.properties.push((definition, text));
    }
}

/// A relation of the graph, made of all relations of one kind to one target.
struct Stated {
    confidence: f64,
    properties: Map<String, Value>,
    lines: Vec<u32>,
}

/// Adds one relation for each kind and target, because the graph has one edge for these.
fn add_relations(builder: &mut FactsBuilder, note: &Note) {
    let mut order: Vec<(RelationKind, String)> = Vec::new();
    let mut found: FxHashMap<(RelationKind, String), Stated> = FxHashMap::default();
    let anchors = note.about.iter().map(|anchor| (RelationKind::About, anchor_target(anchor), 1.0, anchor.at));
    let anchors = anchors.zip(note.about.iter().map(anchor_properties));
    let relations = note.relations.iter().map(|one| (kind_of(one), target_of(&one.to), one.confidence, one.at));
    let relations = relations.zip(note.relations.iter().map(relation_properties));
    let papers = papers::named_in(&note.source, MAX_PAPERS).into_iter();
    let papers = papers.map(|paper| ((RelationKind::Source, paper, 1.0, note.source_at), Map::new()));
    for ((kind, target, confidence, line), properties) in anchors.chain(relations).chain(papers) {
        let key = (kind, target);
        match found.get_mut(&key) {
            Some(first) => {
                first.confidence = first.confidence.max(confidence);
                first.lines.push(line);
                if !matches!(kind, RelationKind::About | RelationKind::Source) {
                    merge(&mut first.properties, properties);
                }
            }
            None => {
                order.push(key.clone());
                found.insert(key, Stated { confidence, properties, lines: vec![line] });
            }
        }
    }
    for key in order {
        let Some(mut stated) = found.remove(&key) else { continue };
        stated.lines.sort_unstable();
        stated.lines.dedup();
        let properties =
            if stated.properties.is_empty() { String::new() } else { Value::Object(stated.properties).to_string() };
        let (target, properties) = (builder.owned_name(key.1), builder.owned_name(properties));
        let (kind, confidence, lines) = (key.0, stated.confidence, stated.lines);
        builder.facts.relations.push(Relation { kind, target, confidence, properties, lines });
    }
}

/// Adds the properties of a further relation: all types as the list `types`, all reasons below each other.
fn merge(first: &mut Map<String, Value>, further: Map<String, Value>) {
    let text = |properties: &Map<String, Value>, key: &str| {
        properties.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let entity_type = text(&further, "type");
    if !entity_type.is_empty() && entity_type != text(first, "type") {
        let one = first.get("type").cloned().into_iter().collect();
        let types = first.entry("types").or_insert(Value::Array(one));
        if let Some(types) = types.as_array_mut().filter(|types| !types.contains(&entity_type.clone().into())) {
            types.push(entity_type.into());
        }
    }
    let (old, new) = (text(first, "reasoning"), text(&further, "reasoning"));
    if !new.is_empty() && new != old {
        let joined = if old.is_empty() { new } else { [old, new].join("\n") };
        first.insert("reasoning".to_owned(), limited(&joined).into());
    }
    if let Some(created) = further.get("created").filter(|_| !first.contains_key("created")) {
        first.insert("created".to_owned(), created.clone());
    }
}

fn kind_of(relation: &NoteRelation) -> RelationKind {
    match relation.relation_type.to_ascii_lowercase().as_str() {
        "supports" => RelationKind::Supports,
        "refutes" => RelationKind::Refutes,
        "extends" => RelationKind::Extends,
        "implies" => RelationKind::Implies,
        "contradicts" => RelationKind::Contradicts,
        "supersedes" => RelationKind::Supersedes,
        _ => RelationKind::Relates,
    }
}

/// Returns the uid of a target without the project.
fn target_of(target: &str) -> String {
    match target.split_once(':') {
        Some(("package", name)) => format!("ext:{}", name.trim()),
        Some(("symbol" | "file", name)) => name.trim().to_owned(),
        _ => target.to_owned(),
    }
}

fn anchor_target(anchor: &Anchor) -> String {
    target_of(&format!("{}:{}", anchor.kind, anchor.target))
}

fn anchor_properties(anchor: &Anchor) -> Map<String, Value> {
    let mut properties = Map::new();
    set(&mut properties, "signature", &anchor.signature);
    set(&mut properties, "body", &anchor.body);
    set(&mut properties, "docstring", &anchor.docstring);
    set(&mut properties, "path", &anchor.path);
    set(&mut properties, "commit", &anchor.commit);
    if anchor.line > 0 {
        properties.insert("line".to_owned(), anchor.line.into());
    }
    properties
}

fn relation_properties(relation: &NoteRelation) -> Map<String, Value> {
    let mut properties = Map::new();
    set(&mut properties, "reasoning", &relation.reasoning);
    set(&mut properties, "created", &relation.created);
    if kind_of(relation) == RelationKind::Relates {
        set(&mut properties, "type", &relation.relation_type);
    }
    properties
}
