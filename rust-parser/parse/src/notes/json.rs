//! Renders a note as JSON for Python.

use serde_json::{Value, json};

use super::note::{Anchor, Note, NoteKind, Relation};
use super::observations::Observation;

/// Returns the note as a JSON object. Byte positions refer to the text that was read.
pub fn render(note: &Note) -> String {
    json!({
        "kind": note.kind.map_or("", NoteKind::name),
        "id": note.id,
        "status": note.status,
        "confidence": note.confidence,
        "source": note.source,
        "created": note.created,
        "updated": note.updated,
        "name": note.name,
        "type": note.entity_type,
        "aliases": note.aliases,
        "author": {"client": note.client, "agent": note.agent},
        "about": note.about.iter().map(anchor).collect::<Vec<_>>(),
        "relations": note.relations.iter().map(relation).collect::<Vec<_>>(),
        "observations": note.observations.iter().map(observation).collect::<Vec<_>>(),
        "keys": note.keys.iter().map(|key| json!([key.name, key.start, key.end])).collect::<Vec<_>>(),
        "front_end": note.front_end,
        "body": note.body,
        "text": note.text,
        "problems": note.problems.iter().map(|one| json!([one.line, one.code, one.message])).collect::<Vec<_>>(),
    })
    .to_string()
}

fn anchor(anchor: &Anchor) -> Value {
    json!({
        "kind": anchor.kind,
        "target": anchor.target,
        "signature": anchor.signature,
        "body": anchor.body,
        "docstring": anchor.docstring,
        "path": anchor.path,
        "line": anchor.line,
        "commit": anchor.commit,
        "at": anchor.at,
    })
}

fn relation(relation: &Relation) -> Value {
    json!({
        "type": relation.relation_type,
        "to": relation.to,
        "reasoning": relation.reasoning,
        "confidence": relation.confidence,
        "created": relation.created,
        "at": relation.at,
    })
}

fn observation((line, observation): &(u32, Observation)) -> Value {
    json!({
        "id": observation.id,
        "created": observation.created,
        "text": observation.text,
        "client": observation.client,
        "at": line,
        "start": observation.start,
        "end": observation.end,
    })
}
