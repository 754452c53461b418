//! The names of packages and the names under which code imports them.

use atlas_facts::Ecosystem;

/// `package: names under which it is imported`, where they differ. Normal names; dots for parts of a namespace.
const IMPORT_NAMES: &str = include_str!("import_names.txt");

/// Returns the form of a name in which equal packages have equal names.
pub fn normal(ecosystem: Ecosystem, name: &str) -> String {
    match ecosystem {
        Ecosystem::Python => {
            let mut normal = String::with_capacity(name.len());
            for sign in name.chars() {
                let sign = if matches!(sign, '_' | '.') { '-' } else { sign.to_ascii_lowercase() };
                if sign != '-' || !normal.ends_with('-') {
                    normal.push(sign);
                }
            }
            normal
        }
        Ecosystem::Rust => name.replace('_', "-"),
        Ecosystem::Dotnet | Ecosystem::Php => name.to_ascii_lowercase(),
        _ => name.to_owned(),
    }
}

/// Returns the names under which code may import a package, the most likely first. Dots separate the parts of a
/// namespace, slashes those of a path.
pub fn import_names(ecosystem: Ecosystem, name: &str) -> Vec<String> {
    let key = normal(ecosystem, name);
    if let Some(known) = known_names(ecosystem, &key) {
        return known;
    }
    match ecosystem {
        Ecosystem::Python => {
            let plain = name.replace('-', "_");
            let lower = key.replace('-', "_");
            let mut names = vec![lower.clone(), plain, key.replace('-', ".")];
            let bare = lower.strip_prefix("python_").or_else(|| lower.strip_suffix("_python"));
            let bare = bare.or_else(|| lower.strip_prefix("py").filter(|rest| rest.len() > 2));
            names.extend(bare.map(|bare| bare.trim_start_matches('_').to_owned()));
            names.dedup();
            names
        }
        Ecosystem::Rust => vec![name.replace('-', "_")],
        Ecosystem::Ruby => vec![name.to_owned(), name.replace('-', "/"), name.replace('-', "_")],
        Ecosystem::Php => {
            let (vendor, package) = name.split_once('/').unwrap_or((name, name));
            let (vendor, package) = (camel(vendor), camel(package));
            vec![format!("{vendor}.{package}"), format!("{vendor}.Component.{package}"), package, vendor]
        }
        Ecosystem::Elixir => vec![camel(name)],
        Ecosystem::Maven => {
            let (group, artifact) = name.split_once(':').unwrap_or((name, ""));
            let parent = group.rsplit_once('.').map_or(group, |(parent, _)| parent);
            let words: Vec<&str> = artifact.split(['-', '.', '_']).collect();
            let mut names = vec![group.to_owned()];
            for base in [group, parent] {
                names.extend((0..words.len()).map(|start| format!("{base}.{}", words[start..].join("."))));
            }
            names
        }
        _ => vec![name.to_owned()],
    }
}

fn known_names(ecosystem: Ecosystem, key: &str) -> Option<Vec<String>> {
    let start = format!("{} {key}:", ecosystem.name());
    let found = IMPORT_NAMES.lines().find_map(|line| line.strip_prefix(start.as_str()))?;
    Some(found.split_whitespace().map(str::to_owned).collect())
}

/// Returns the separator of the parts of an imported name.
pub fn separator(ecosystem: Ecosystem) -> char {
    match ecosystem {
        Ecosystem::Go | Ecosystem::Npm | Ecosystem::Ruby => '/',
        _ => '.',
    }
}

/// Returns the ecosystem of a language by its name.
pub fn ecosystem_of(language: &str) -> Option<Ecosystem> {
    Some(match language {
        "python" => Ecosystem::Python,
        "javascript" | "jsx" | "typescript" | "tsx" | "vue" | "svelte" | "astro" => Ecosystem::Npm,
        "go" => Ecosystem::Go,
        "rust" => Ecosystem::Rust,
        "java" | "kotlin" | "scala" => Ecosystem::Maven,
        "csharp" => Ecosystem::Dotnet,
        "php" => Ecosystem::Php,
        "ruby" => Ecosystem::Ruby,
        "elixir" => Ecosystem::Elixir,
        _ => return None,
    })
}

fn camel(name: &str) -> String {
    let parts = name.split(['-', '_', '.']);
    parts
        .map(|part| {
            part.chars()
                .enumerate()
                .map(|(at, sign)| if at == 0 { sign.to_ascii_uppercase() } else { sign })
                .collect::<String>()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_in_their_normal_form() {
        assert_eq!(normal(Ecosystem::Python, "Ruamel._YAML"), "ruamel-yaml");
        assert_eq!(normal(Ecosystem::Rust, "serde_json"), normal(Ecosystem::Rust, "serde-json"));
        assert_eq!(normal(Ecosystem::Npm, "@a/B"), "@a/B");
    }

    #[test]
    fn imported_names_differ_from_those_of_packages() {
        let first = |ecosystem, name| import_names(ecosystem, name).remove(0);
        assert_eq!(first(Ecosystem::Python, "PyYAML"), "yaml");
        assert_eq!(first(Ecosystem::Python, "beautifulsoup4"), "bs4");
        assert_eq!(first(Ecosystem::Python, "typing-extensions"), "typing_extensions");
        assert_eq!(first(Ecosystem::Rust, "tracing-subscriber"), "tracing_subscriber");
        assert!(import_names(Ecosystem::Python, "PyQt5").contains(&"PyQt5".to_owned()));
        assert!(
            import_names(Ecosystem::Maven, "com.fasterxml.jackson.core:jackson-databind")
                .contains(&"com.fasterxml.jackson.databind".to_owned())
        );
    }
}
