//! NuGet: project files, `Directory.Packages.props`, `packages.config` and `packages.lock.json`.

use roxmltree::Node;

use super::json::Json;
use super::reader::{Lines, Reader};
use super::xml::{elements, line_of, parse, text_of};
use atlas_facts::{Dependency, Purpose, SettingKind};

/// Reads a project file or a file of shared properties and versions.
pub fn read(reader: &mut Reader, text: &str) {
    let Some(document) = parse(reader, text) else { return };
    let lines = Lines::of(text);
    let root = document.root_element();
    for group in elements(root, "PropertyGroup") {
        for property in group.children().filter(Node::is_element) {
            let (name, value) = (property.tag_name().name(), property.text().unwrap_or_default().trim());
            match name {
                "AssemblyName" | "PackageId" if !value.contains("$(") => value.clone_into(&mut reader.manifest.name),
                "Version" => value.clone_into(&mut reader.manifest.version),
                _ => {}
            }
            reader.manifest.properties.push((name.to_owned(), value.to_owned()));
        }
    }
    // also in `Choose` and `When`
    for group in root.descendants().filter(|node| node.is_element() && node.tag_name().name() == "ItemGroup") {
        for item in group.children().filter(Node::is_element) {
            let line = line_of(&lines, item);
            let Some(name) = item.attribute("Include").or_else(|| item.attribute("Update")) else { continue };
            let field = |name: &'static str| item.attribute(name).or_else(|| text_of(item, name)).unwrap_or_default();
            let version = match field("VersionOverride") {
                "" => field("Version"),
                version => version,
            };
            match item.tag_name().name() {
                "PackageReference" if item.has_attribute("Include") => {
                    let is_private = field("PrivateAssets").eq_ignore_ascii_case("all");
                    let purpose = if is_private { Purpose::Development } else { Purpose::Runtime };
                    let found = Dependency::new(name, version, purpose, line);
                    reader.add(Dependency { inherited: version.is_empty(), ..found });
                }
                "PackageVersion" | "PackageReference" => {
                    reader.manifest.managed.push(Dependency::new(name, version, Purpose::Runtime, line));
                }
                "GlobalPackageReference" => {
                    reader.add(Dependency::new(name, version, Purpose::Development, line));
                }
                "Using" if field("Alias").is_empty() && item.has_attribute("Include") => {
                    reader.set(SettingKind::Using, name, Vec::new());
                }
                "ProjectReference" => {
                    let path = name.replace('\\', "/");
                    let project = path.rsplit('/').next().unwrap_or(&path);
                    let project = project.rsplit_once('.').map_or(project, |(stem, _)| stem);
                    let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder).to_owned();
                    reader.add(Dependency { path: folder, ..Dependency::new(project, "", Purpose::Runtime, line) });
                }
                _ => {}
            }
        }
    }
}

/// Reads a `packages.config`.
pub fn read_config(reader: &mut Reader, text: &str) {
    let Some(document) = parse(reader, text) else { return };
    let lines = Lines::of(text);
    for package in elements(document.root_element(), "package") {
        let is_development = package.attribute("developmentDependency") == Some("true");
        let purpose = if is_development { Purpose::Development } else { Purpose::Runtime };
        if let Some(name) = package.attribute("id") {
            let version = package.attribute("version").unwrap_or_default();
            reader.add(Dependency::new(name, version, purpose, line_of(&lines, package)));
        }
    }
}

/// Reads a `packages.lock.json`.
pub fn read_lock(reader: &mut Reader, text: &str) {
    let lines = Lines::of(text);
    let document = match Json::parse(text, &lines) {
        Ok(document) => document,
        Err((line, message)) => return reader.problem(line, &message),
    };
    for (_, packages, _) in document.get("dependencies").map(Json::members).unwrap_or_default() {
        for (name, package, line) in packages.members() {
            reader.lock(&name, &package.text_of("resolved").unwrap_or_default(), line);
        }
    }
}
