//! Manifests of sub-projects: their file names, and the project name in each. A manifest that cannot be parsed gives no
//! name; it never fails a scan.

use serde_json::Value;

/// Largest manifest that is read, in bytes.
pub const MAX_BYTES: u64 = 256 << 10;
const MAX_NAME_CHARS: usize = 200;

/// Returns the kind of project for a manifest's file name, and its rank among the manifests of that kind (0 takes
/// precedence).
pub fn kind_of(file: &str) -> Option<(&'static str, usize)> {
    Some(match file {
        "pyproject.toml" => ("python", 0),
        "setup.cfg" => ("python", 1),
        "setup.py" => ("python", 2),
        "Pipfile" => ("python", 3),
        "package.json" => ("npm", 0),
        "go.mod" => ("go", 0),
        "Cargo.toml" => ("rust", 0),
        "pom.xml" => ("maven", 0),
        "build.gradle.kts" => ("maven", 1),
        "build.gradle" => ("maven", 2),
        "Gemfile" | "gems.rb" => ("ruby", 1),
        "mix.exs" => ("elixir", 0),
        "composer.json" => ("php", 0),
        _ if is_msbuild(file) => ("dotnet", 0),
        _ if file.ends_with(".gemspec") => ("ruby", 0),
        _ => return None,
    })
}

fn is_msbuild(file: &str) -> bool {
    [".csproj", ".fsproj", ".vbproj"].iter().any(|ending| file.ends_with(ending))
}

/// Returns the name of the project in a manifest's content; `file` is the manifest's file name.
pub fn name_of(file: &str, content: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(content);
    let text = text.trim_start_matches('\u{feff}');
    let name = match file {
        "pyproject.toml" => toml_name(text, &[&["project"], &["tool", "poetry"]]),
        "Cargo.toml" => toml_name(text, &[&["package"]]),
        "setup.cfg" => ini_name(text),
        "setup.py" => call_name(text),
        "package.json" | "composer.json" => {
            serde_json::from_str::<Value>(text).ok().and_then(|json| Some(json.get("name")?.as_str()?.to_owned()))
        }
        "go.mod" => module_name(text),
        "pom.xml" => element(text, &["project", "artifactId"]),
        "Pipfile" | "build.gradle" | "build.gradle.kts" | "Gemfile" | "gems.rb" | "mix.exs" => None,
        _ if file.ends_with(".gemspec") => file.strip_suffix(".gemspec").map(str::to_owned),
        _ => element(text, &["Project", "PropertyGroup", "AssemblyName"])
            .filter(|name| !name.contains("$("))
            .or_else(|| file.rsplit_once('.').map(|(stem, _)| stem.to_owned())),
    }?;
    let name: String = name.trim().chars().filter(|character| !character.is_control()).take(MAX_NAME_CHARS).collect();
    (!name.is_empty()).then_some(name)
}

/// Returns `name` of the first of the given tables that has one.
fn toml_name(text: &str, tables: &[&[&str]]) -> Option<String> {
    let document: toml::Table = text.parse().ok()?;
    tables.iter().find_map(|keys| {
        let mut table = &document;
        for key in *keys {
            table = table.get(*key)?.as_table()?;
        }
        table.get("name")?.as_str().map(str::to_owned)
    })
}

/// Returns `name` of the section `[metadata]`.
fn ini_name(text: &str) -> Option<String> {
    let section = text.lines().skip_while(|line| line.trim() != "[metadata]").skip(1);
    section.take_while(|line| !line.starts_with('[')).find_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == "name").then(|| value.trim().to_owned())
    })
}

/// Returns the string passed as `name=` in a call.
fn call_name(text: &str) -> Option<String> {
    text.match_indices("name").find_map(|(at, word)| {
        let before = text[..at].chars().next_back();
        if before.is_some_and(|character| character.is_alphanumeric() || character == '_') {
            return None;
        }
        let value = text[at + word.len()..].trim_start().strip_prefix('=')?.trim_start();
        let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        value[1..].split_once(quote).map(|(name, _)| name.to_owned())
    })
}

/// Returns the path of `module path`, which may be quoted.
fn module_name(text: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let rest = line.trim().strip_prefix("module")?.strip_prefix([' ', '\t'])?;
        let path = rest.split("//").next()?.trim().trim_matches(['"', '`']);
        (!path.is_empty()).then(|| path.to_owned())
    })
}

/// Returns the text of the first XML element at a path of names from the root.
fn element(text: &str, path: &[&str]) -> Option<String> {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        if open == path {
            return Some(before.trim().to_owned());
        }
        if let Some(comment) = after.strip_prefix("!--") {
            rest = comment.split_once("-->")?.1;
            continue;
        }
        let (tag, next) = after.split_once('>')?;
        rest = next;
        if tag.starts_with('/') {
            open.pop();
        } else if !tag.starts_with(['!', '?']) && !tag.ends_with('/') {
            open.push(tag.split_whitespace().next().unwrap_or_default());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::name_of;

    fn named(file: &str, text: &str) -> Option<String> {
        name_of(file, text.as_bytes())
    }

    #[test]
    fn reads_the_name_of_each_kind() {
        let cases = [
            ("pyproject.toml", "\u{feff}[project]\nname = 'a'\n"),
            ("pyproject.toml", "[tool.poetry]\nname = \"a\"\n"),
            ("setup.cfg", "[options]\nname = b\n[metadata]\nversion = 1\nname = a\n"),
            ("setup.py", "package_name = 'b'\nsetup(\n    name = \"a\",\n)"),
            ("package.json", "{\"name\": \"a\", \"private\": true}"),
            ("go.mod", "// module b\nmodule a // old\n\ngo 1.22\n"),
            ("Cargo.toml", "[package]\nname = \"a\"\n"),
            ("composer.json", "{\"name\": \"a\"}"),
            ("a.csproj", "<Project Sdk=\"x\"><PropertyGroup><OutputType>Exe</OutputType></PropertyGroup></Project>"),
            ("b.csproj", "<Project><PropertyGroup>\n<AssemblyName>a</AssemblyName></PropertyGroup></Project>"),
        ];
        for (file, text) in cases {
            assert_eq!(named(file, text).as_deref(), Some("a"), "{file}: {text}");
        }
        let pom = "<?xml version=\"1.0\"?><!-- <x> --><project xmlns=\"y\"><parent><artifactId>b</artifactId></parent>
            <modules/><artifactId> a </artifactId><dependencies><dependency><artifactId>c</artifactId></dependency>";
        assert_eq!(named("pom.xml", pom).as_deref(), Some("a"));
    }

    #[test]
    fn damaged_manifests_have_no_name() {
        let cases = [
            ("pyproject.toml", "[project\nname = 'a'"),
            ("package.json", "{\"name\": 1}"),
            ("package.json", "[]"),
            ("go.mod", "modules a"),
            ("Cargo.toml", "[workspace]\nmembers = []\n"),
            ("pom.xml", "<project><artifactId"),
            ("setup.py", "setup(name=NAME)"),
            ("composer.json", ""),
        ];
        for (file, text) in cases {
            assert_eq!(named(file, text), None, "{file}: {text}");
        }
    }
}
