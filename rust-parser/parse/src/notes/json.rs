//! Renders a note as JSON for Python.

use serde_json::{Value, json};

use super::note::{Anchor, Note, NoteKind, Relation};
use super::observations::Observation;
use super::yaml::{Node, Value as Yaml};

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

/// Returns a value of YAML as one of JSON: plain scalars are numbers, true, false and null where they look like these.
pub fn value_of(node: Node) -> serde_json::Value {
    match node.value {
        Yaml::Scalar { text, is_plain: true } => plain_value(text),
        Yaml::Scalar { text, .. } => text.into(),
        Yaml::List(items) => items.into_iter().map(value_of).collect(),
        Yaml::Map(pairs) => {
            let named = pairs.into_iter().filter_map(|(key, value)| match key.value {
                Yaml::Scalar { text, .. } => Some((text, value_of(value))),
                _ => None,
            });
            serde_json::Value::Object(named.collect())
        }
    }
}

fn plain_value(text: String) -> serde_json::Value {
    match text.as_str() {
        "" | "~" | "null" | "Null" | "NULL" => serde_json::Value::Null,
        "true" | "True" | "TRUE" => true.into(),
        "false" | "False" | "FALSE" => false.into(),
        number if number.starts_with(|first: char| first.is_ascii_digit() || first == '-') => {
            match (number.parse::<i64>(), number.parse::<f64>()) {
                (Ok(whole), _) => whole.into(),
                (_, Ok(part)) if part.is_finite() => part.into(),
                _ => text.into(),
            }
        }
        _ => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::yaml_as_json;

    #[test]
    fn yaml_is_json() {
        let text = "a: {b: [1, 2.5, '3', true, ~, x]}\n\"200\":\n  c: |\n    text\nv: 3.1.0\n";
        let json = yaml_as_json(text).unwrap();
        assert_eq!(json, r#"{"200":{"c":"text\n"},"a":{"b":[1,2.5,"3",true,null,"x"]},"v":"3.1.0"}"#);
        assert!(yaml_as_json("a: &x 1\nb: *x\n").is_err());
        assert!(yaml_as_json(&"[".repeat(100)).is_err());
    }
}
