//! `pom.xml`. Properties and the parents of the tree are applied by the linker.

use roxmltree::Node;

use super::reader::{Lines, Reader};
use super::xml::{at, elements, line_of, parse, text_of};
use atlas_facts::{Dependency, IncludeKind, Purpose};

/// Reads a `pom.xml`.
pub fn read(reader: &mut Reader, text: &str) {
    let Some(document) = parse(reader, text) else { return };
    let lines = Lines::of(text);
    let root = document.root_element();
    let parent = at(root, &["parent"]);
    let inherited = |name: &'static str| text_of(root, name).or_else(|| text_of(parent?, name)).unwrap_or_default();
    let (group, version) = (inherited("groupId"), inherited("version"));
    let artifact = text_of(root, "artifactId").unwrap_or_default();
    reader.manifest.name = format!("{group}:{artifact}");
    version.clone_into(&mut reader.manifest.version);
    if let Some(parent) = parent {
        let path = text_of(parent, "relativePath");
        // An empty element means: not in the tree.
        if path != Some("") && !(path.is_none() && elements(parent, "relativePath").next().is_some()) {
            let path = path.unwrap_or("../pom.xml");
            let file = if path.ends_with(".xml") {
                path.to_owned()
            } else {
                format!("{}/pom.xml", path.trim_end_matches('/'))
            };
            reader.include(&file, IncludeKind::Parent, line_of(&lines, parent));
        }
        let of_parent = [("groupId", "groupId"), ("version", "version"), ("artifactId", "artifactId")];
        for (key, element) in of_parent {
            let value = text_of(parent, element).unwrap_or_default();
            reader.manifest.properties.push((format!("project.parent.{key}"), value.to_owned()));
        }
    }
    for (key, value) in [("project.groupId", group), ("project.version", version), ("project.artifactId", artifact)] {
        reader.manifest.properties.push((key.to_owned(), value.to_owned()));
    }
    if let Some(properties) = at(root, &["properties"]) {
        for property in properties.children().filter(Node::is_element) {
            let value = property.text().unwrap_or_default().trim();
            reader.manifest.properties.push((property.tag_name().name().to_owned(), value.to_owned()));
        }
    }
    if let Some(list) = at(root, &["dependencies"]) {
        for one in elements(list, "dependency") {
            match dependency(one, &lines) {
                Some(found) => reader.add(found),
                None => reader.problem(line_of(&lines, one), "a dependency without groupId or artifactId"),
            }
        }
    }
    if let Some(list) = at(root, &["dependencyManagement", "dependencies"]) {
        reader.manifest.managed.extend(elements(list, "dependency").filter_map(|one| dependency(one, &lines)));
    }
}

fn dependency(node: Node, lines: &Lines) -> Option<Dependency> {
    let name = format!("{}:{}", text_of(node, "groupId")?, text_of(node, "artifactId")?);
    let scope = text_of(node, "scope").unwrap_or_default();
    let purpose = match scope {
        "test" => Purpose::Development,
        "provided" => Purpose::Provided,
        _ if text_of(node, "optional") == Some("true") => Purpose::Optional,
        _ => Purpose::Runtime,
    };
    let version = text_of(node, "version").unwrap_or_default();
    let found = Dependency::new(&name, version, purpose, line_of(lines, node)).of_group(scope);
    Some(Dependency { inherited: version.is_empty() || scope.is_empty(), ..found })
}
