//! The table `tool.poetry` of a `pyproject.toml`.

use super::described::described;
use super::reader::Reader;
use super::toml_text::Value;
use atlas_facts::{Dependency, Purpose};

/// Reads the table. Names of `[project]` take precedence.
pub fn read(reader: &mut Reader, table: Value) {
    for (field, key) in [(&mut reader.manifest.name, "name"), (&mut reader.manifest.version, "version")] {
        if field.is_empty() {
            table.text_of(key).unwrap_or_default().clone_into(field);
        }
    }
    add_table(reader, table.get("dependencies"), Purpose::Runtime, "", table);
    add_table(reader, table.get("dev-dependencies"), Purpose::Development, "dev", table);
    for (group, content) in table.get("group").map(Value::members).unwrap_or_default() {
        add_table(reader, content.get("dependencies"), Purpose::Development, group, table);
    }
}

fn add_table(reader: &mut Reader, list: Option<Value>, purpose: Purpose, group: &str, poetry: Value) {
    for (name, value) in list.map(Value::members).unwrap_or_default() {
        if name.eq_ignore_ascii_case("python") {
            continue;
        }
        // Several ranges for several environments are a list of tables.
        let parts = value.items();
        let found = match parts.first() {
            Some(&first) => {
                let mut found = described(name, first, purpose);
                let ranges: Vec<String> = parts.iter().map(|&part| described(name, part, purpose).range).collect();
                found.range = ranges.join(" || ");
                found.line = value.line();
                found
            }
            None => described(name, value, purpose),
        };
        // `[project]` lists it already; here only its source is refined.
        let known = reader.manifest.dependencies.iter_mut().find(|one| {
            purpose == Purpose::Runtime && one.purpose != Purpose::Build && one.name.eq_ignore_ascii_case(name)
        });
        if let Some(known) = known {
            known.path = found.path;
            continue;
        }
        let is_optional = value.get("optional").or_else(|| parts.first()?.get("optional")).is_some_and(Value::is_true);
        let found = found.of_group(group);
        reader.add(match is_optional && purpose == Purpose::Runtime {
            true => Dependency { purpose: Purpose::Optional, group: extra_of(poetry, name), ..found },
            false => found,
        });
    }
}

/// Returns the extra that installs an optional dependency.
fn extra_of(poetry: Value, name: &str) -> String {
    let extras = poetry.get("extras").map(Value::members).unwrap_or_default();
    let holds =
        |list: &Value| list.items().iter().any(|item| item.text().is_some_and(|text| text.eq_ignore_ascii_case(name)));
    extras.into_iter().find(|(_, list)| holds(list)).map_or_else(String::new, |(extra, _)| extra.to_owned())
}
