//! Build files that are programs, read line by line without running them: Gradle's, with its version catalogs, and
//! Mix's.

use super::reader::Reader;
use super::toml_text::{Toml, Value};
use atlas_facts::{Dependency, Purpose};

/// Endings of Gradle's configurations, the longest first, and what they stand for.
const CONFIGURATIONS: &[(&str, Purpose)] = &[
    ("annotationprocessor", Purpose::Build),
    ("compileonlyapi", Purpose::Provided),
    ("implementation", Purpose::Runtime),
    ("developmentonly", Purpose::Development),
    ("compileonly", Purpose::Provided),
    ("runtimeonly", Purpose::Runtime),
    ("classpath", Purpose::Build),
    ("compile", Purpose::Runtime),
    ("runtime", Purpose::Runtime),
    ("kapt", Purpose::Build),
    ("ksp", Purpose::Build),
    ("api", Purpose::Runtime),
];

/// Reads a `build.gradle` or `build.gradle.kts`.
pub fn read_gradle(reader: &mut Reader, text: &str) {
    let (mut depth, mut inside) = (0_i32, None);
    // The depth around the outermost block of tests: `commonTest { dependencies {`.
    let mut tests = None;
    for (number, line) in text.lines().enumerate() {
        let number = number as u32 + 1;
        let code = line.split("//").next().unwrap_or(line);
        // `https://` in a text
        let code = if code.matches(['"', '\'']).count() % 2 == 1 { line } else { code }.trim();
        let opened = code.rsplit_once('{').filter(|_| inside.is_none()).map(|(block, _)| block);
        if tests.is_none() && opened.is_some_and(is_of_tests) {
            tests = Some(depth);
        }
        let start = reader.manifest.dependencies.len();
        let one_line = code.strip_suffix('}').and_then(|code| code.split_once('{'));
        if inside.is_none() && code.ends_with("dependencies {") {
            inside = Some(depth);
        } else if let Some((_, all)) = one_line.filter(|(head, _)| inside.is_none() && is_dependencies(head)) {
            all.split(';').for_each(|one| read_configuration(reader, one.trim(), number));
        } else if inside.is_some() {
            read_configuration(reader, code, number);
        }
        let found = reader.manifest.dependencies.iter_mut().skip(start).filter(|_| tests.is_some());
        found.for_each(|one| one.purpose = Purpose::Development);
        depth += code.matches('{').count() as i32 - code.matches('}').count() as i32;
        inside = inside.filter(|&around| depth > around);
        tests = tests.filter(|&around| depth > around);
    }
}

/// Returns whether a block is the dependencies of the project or of a source set: `sourceSets.commonMain.dependencies`.
fn is_dependencies(head: &str) -> bool {
    let name = head.trim().trim_end_matches("()");
    name == "dependencies" || name.ends_with(".dependencies")
}

/// Returns whether a block is about tests: `commonTest`, `val jvmTest by getting`, `named("integrationTest")`, `testing`.
fn is_of_tests(head: &str) -> bool {
    let words = head.split(|sign: char| !(sign.is_alphanumeric() || sign == '_'));
    words.into_iter().any(|word| {
        matches!(word, "test" | "testing")
            || word.strip_suffix("Test").is_some_and(|set| !set.is_empty())
            || word.contains("UnitTest")
            || word.contains("InstrumentedTest")
    })
}

fn read_configuration(reader: &mut Reader, code: &str, line: u32) {
    // `"friendsApi"(projects.core)` and `add("friendsApi", projects.core)` name configurations that the script defines
    let named = code.strip_prefix("add(").unwrap_or(code);
    let code = match named.strip_prefix(['"', '\'']).and_then(|rest| rest.split_once(['"', '\''])) {
        Some((name, rest)) => &format!("{name} {}", rest.trim_start_matches([',', ' '])),
        None => code,
    };
    let end = code.find(|sign: char| !(sign.is_alphanumeric() || sign == '_')).unwrap_or(code.len());
    let (configuration, rest) = code.split_at(end);
    let Some(purpose) = purpose_of(configuration) else { return };
    let rest = rest.trim_start().trim_start_matches('(').trim();
    let inner = ["platform(", "enforcedPlatform(", "testFixtures(", "kotlin("]
        .iter()
        .find_map(|call| rest.strip_prefix(call).map(|rest| (*call, rest)));
    let (call, rest) = inner.unwrap_or(("", rest));
    let texts = quoted(rest);
    let accessor = rest.strip_prefix("projects.").map(accessed);
    if let Some(path) = rest.strip_prefix("project").filter(|path| accessor.is_some() || !path.starts_with('.')) {
        let project = accessor.unwrap_or_else(|| quoted(path).into_iter().next().unwrap_or_default());
        let folder = project.trim_start_matches(':').replace(':', "/");
        let name = folder.rsplit('/').next().unwrap_or(&folder).to_owned();
        let found = Dependency::new(&name, "", purpose, line).of_group(configuration);
        reader.add(Dependency { path: format!("/{folder}"), ..found });
    } else if call == "kotlin(" && !texts.is_empty() {
        let name = format!("org.jetbrains.kotlin:kotlin-{}", texts[0]);
        let version = texts.get(1).map(String::as_str).unwrap_or_default();
        reader.add(Dependency::new(&name, version, purpose, line).of_group(configuration));
    } else if let Some(key) = rest.strip_prefix("libs.") {
        let is_key = |sign: &char| sign.is_alphanumeric() || matches!(sign, '.' | '_');
        let key: String = key.chars().take_while(is_key).collect();
        let key = key.trim_end_matches(".get").to_owned();
        let found = Dependency::new(&key, "", purpose, line).of_group(configuration);
        reader.add(Dependency { inherited: true, key, ..found });
    } else if let Some(text) = texts.first().filter(|text| text.matches(':').count() >= 1 && !rest.starts_with("group"))
    {
        let parts = coordinate(text);
        let name = format!("{}:{}", parts[0], parts.get(1).copied().unwrap_or_default());
        let version = parts.get(2).copied().unwrap_or_default().split('@').next().unwrap_or_default();
        reader.add(Dependency::new(&name, version, purpose, line).of_group(configuration));
    } else if rest.contains("group") && rest.contains("name") && texts.len() >= 2 {
        let version = texts.get(2).map(String::as_str).unwrap_or_default();
        let name = format!("{}:{}", texts[0], texts[1]);
        reader.add(Dependency::new(&name, version, purpose, line).of_group(configuration));
    } else if !rest.is_empty()
        && !rest.starts_with(['{', '=', '.'])
        && !["files", "fileTree", "gradleApi", "localGroovy", "gradleTestKit"].iter().any(|call| rest.starts_with(call))
    {
        reader.problem(line, "the dependency is computed");
    }
}

/// Returns the path of a project by its accessor: `core.utilText` is `:core:util-text`.
fn accessed(rest: &str) -> String {
    let mut path = String::new();
    for sign in rest.chars().take_while(|sign| sign.is_alphanumeric() || matches!(sign, '_' | '.')) {
        match sign {
            '.' => path.push(':'),
            _ if sign.is_uppercase() => path.extend(std::iter::once('-').chain(sign.to_lowercase())),
            _ => path.push(sign),
        }
    }
    path
}

fn purpose_of(configuration: &str) -> Option<Purpose> {
    let lower = configuration.to_ascii_lowercase();
    let (ending, purpose) = CONFIGURATIONS.iter().find(|(ending, _)| lower.ends_with(ending))?;
    // `testImplementation`, `androidTestImplementation`, `integrationTestImplementation`
    let before = &configuration[..configuration.len() - ending.len()];
    let is_test = before.ends_with("test") || before.contains("Test") || before.starts_with("test") || before == "jmh";
    Some(if is_test { Purpose::Development } else { *purpose })
}

/// Returns the texts in quotes. Quotes in `${...}` belong to the text around them.
fn quoted(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<(char, usize)> = None;
    let mut depth = 0;
    let mut before = ' ';
    for (at, sign) in code.char_indices() {
        match open {
            None if matches!(sign, '"' | '\'') => open = Some((sign, at + 1)),
            None => {}
            Some((quote, _)) if sign == '{' && quote == '"' && (before == '$' || depth > 0) => depth += 1,
            Some(_) if sign == '}' && depth > 0 => depth -= 1,
            Some((quote, start)) if sign == quote && depth == 0 => {
                found.push(code[start..at].to_owned());
                open = None;
            }
            Some(_) => {}
        }
        before = sign;
    }
    found
}

/// Splits a coordinate at its colons, but for those in `${...}`.
fn coordinate(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0);
    for (at, sign) in text.char_indices() {
        match sign {
            '{' => depth += 1,
            '}' => depth -= 1,
            ':' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Reads a version catalog, `libs.versions.toml`.
pub fn read_catalog(reader: &mut Reader, text: &str) {
    let document = match Toml::parse(text) {
        Ok(document) => document,
        Err((line, message)) => return reader.problem(line, &message),
    };
    let table = |name: &str| document.get(&[name]).map(Value::members).unwrap_or_default();
    let version_of = |value: Value| -> String {
        let version = value.get("version");
        let named = version.and_then(|version| version.text_of("ref"));
        let version = match named {
            Some(name) => document.get(&["versions", name]),
            None => version,
        };
        let rich = |version: Value| {
            ["strictly", "require", "prefer"].iter().find_map(|key| version.text_of(key)).map(str::to_owned)
        };
        version.and_then(|version| version.text().map(str::to_owned).or_else(|| rich(version))).unwrap_or_default()
    };
    for (key, value) in table("libraries") {
        let (name, version) = match value.text() {
            Some(text) => {
                let (name, version) = text.rsplit_once(':').unwrap_or((text, ""));
                (name.to_owned(), version.to_owned())
            }
            None => {
                let text = |key: &str| value.text_of(key).unwrap_or_default();
                let name = match text("module") {
                    "" => format!("{}:{}", text("group"), text("name")),
                    module => module.to_owned(),
                };
                (name, version_of(value))
            }
        };
        let found = Dependency::new(&name, &version, Purpose::Runtime, value.line());
        reader.manifest.managed.push(Dependency { key: key.to_owned(), ..found });
    }
    for (key, value) in table("bundles") {
        let keys = value.items().into_iter().filter_map(Value::text).map(str::to_owned).collect();
        reader.manifest.bundles.push((key.to_owned(), keys));
    }
}

/// Reads a `mix.exs`: the tuples `{:name, "range", options}` of `deps`.
pub fn read_mix(reader: &mut Reader, text: &str) {
    let mut is_inside = false;
    for (number, line) in text.lines().enumerate() {
        let number = number as u32 + 1;
        let code = line.trim();
        if code.starts_with('#') {
            continue;
        }
        if let Some(name) = code.strip_prefix("app: :") {
            reader.manifest.name = name.trim_end_matches(',').to_owned();
        } else if let Some(version) = code.strip_prefix("version: \"") {
            version.split('"').next().unwrap_or_default().clone_into(&mut reader.manifest.version);
        }
        is_inside |= code.starts_with("defp deps") || code.starts_with("def deps");
        if is_inside && code == "end" {
            is_inside = false;
        }
        let Some(rest) = code.trim_start_matches('[').strip_prefix("{:").filter(|_| is_inside) else { continue };
        let name: String = rest.chars().take_while(|sign| sign.is_alphanumeric() || *sign == '_').collect();
        let options = &rest[name.len()..];
        let second = options.trim_start_matches([',', ' ']);
        // A function or an attribute computes it: `{:plug_crypto, plug_crypto_version()}`.
        let is_computed = |text: &&str| text.starts_with(|sign: char| sign == '@' || sign.is_alphabetic());
        let computed = second.split([',', '}']).next().filter(is_computed).filter(|text| !text.contains(':'));
        let range = second.strip_prefix('"').and_then(|text| text.split('"').next()).or(computed);
        let only = options.split_once("only:").map(|(_, rest)| rest.split(']').next().unwrap_or(rest));
        let groups: Vec<&str> = only
            .map(|rest| {
                ["dev", "test", "docs", "prod"]
                    .into_iter()
                    .filter(|group| rest.contains(&format!(":{group}")))
                    .collect()
            })
            .unwrap_or_default();
        let is_needed = only.is_none() || groups.contains(&"prod");
        let purpose = match () {
            () if !is_needed => Purpose::Development,
            () if options.contains("optional: true") => Purpose::Optional,
            () => Purpose::Runtime,
        };
        let mut found = Dependency::new(&name, range.unwrap_or_default(), purpose, number).of_group(&groups.join(" "));
        let path = options.split_once("path: \"").and_then(|(_, rest)| rest.split('"').next());
        path.unwrap_or_default().clone_into(&mut found.path);
        found.inherited = options.contains("in_umbrella: true");
        reader.add(found);
    }
}

#[cfg(test)]
mod tests {
    use crate::{Format, read};

    #[test]
    fn dependencies_of_test_source_sets_are_for_development() {
        let text = "kotlin {\n sourceSets {\n  commonMain {\n   dependencies {\n    api(libs.a)\n   }\n  }\n  val jvmTest by \
                    getting {\n   dependencies {\n    implementation(libs.b)\n   }\n  }\n  named(\"jsMain\") {\n   \
                    dependencies {\n    implementation(\"c:d:1\")\n   }\n  }\n  commonTest.dependencies { \
                    implementation(libs.e) }\n  jvmMain.dependencies { implementation(libs.f) }\n  \
                    nativeTest.dependencies {\n   implementation(libs.g)\n  }\n }\n}\ndependencies {\n \
                    implementation(libs.h)\n}\n";
        let (manifest, _) = read(Format::Gradle, "build.gradle.kts", text);
        let found = manifest.dependencies.iter().map(|one| format!("{} {}", one.name, one.purpose.name()));
        let expected =
            ["a runtime", "b development", "c:d runtime", "e development", "f runtime", "g development", "h runtime"];
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn computed_ranges_of_mix_are_named() {
        let text = "defp deps do\n[\n{:a, a_version()},\n{:b, path: \"x\"},\n{:c, \"~> 1\", only: :test},\n{:d, @d, only: \
                    :dev}\n]\nend\n";
        let (manifest, _) = read(Format::Mix, "mix.exs", text);
        let found = manifest.dependencies.iter().map(|one| format!("{} {}", one.name, one.range));
        assert_eq!(found.collect::<Vec<_>>(), ["a a_version()", "b ", "c ~> 1", "d @d"]);
    }

    #[test]
    fn reads_gradle_in_both_languages() {
        let text = "plugins { id 'java' }\nrepositories { maven { url 'https://h' } }\ndependencies {\n  implementation \
                    'a.b:c:1.0'\n  testImplementation(\"d:e:2@jar\")\n  api(libs.guava.core)\n  compileOnly group: 'f', name: \
                    'g', version: '3'\n  implementation project(':core:util')\n  implementation(platform(\"h:bom:4\")) // x\n  \
                    constraints { }\n  implementation(files('x.jar'))\n  implementation(someVariable)\n  implementation \
                    \"i.j:k:${v(\"a\", \"b:c\")}\"\n  \"friendsApi\"(projects.core.utilText)\n  \
                    add(\"testImplementation\", \"l:m:1\")\n  \"dokka\"(project(\":x\"))\n}\nimplementation 'x:y:1'\n";
        let (manifest, problems) = read(Format::Gradle, "build.gradle", text);
        let found: Vec<_> = manifest
            .dependencies
            .iter()
            .map(|one| format!("{} {} {} {}{}", one.line, one.purpose.name(), one.name, one.range, one.path))
            .collect();
        let expected = [
            "4 runtime a.b:c 1.0",
            "5 development d:e 2",
            "6 runtime guava.core ",
            "7 provided f:g 3",
            "8 runtime util /core/util",
            "9 runtime h:bom 4",
            "13 runtime i.j:k ${v(\"a\", \"b:c\")}",
            "14 runtime util-text /core/util-text",
            "15 development l:m 1",
        ];
        assert_eq!(found, expected);
        assert_eq!(problems.iter().map(|one| one.line).collect::<Vec<_>>(), [12]);
    }
}
