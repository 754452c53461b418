//! Lock files that tools write line by line in a fixed form. Reading lines is faster than parsing, and independent of the
//! rest of the file.

use super::npm::split_version;
use super::reader::Reader;
use atlas_facts::{Ecosystem, Locked};

/// Reads `[[package]]` tables: `poetry.lock`, `uv.lock`, `pdm.lock`, `Cargo.lock`, `pylock.toml`.
pub fn read_toml(reader: &mut Reader, text: &str) {
    let is_cargo = reader.manifest.ecosystem == Ecosystem::Rust;
    let (mut name, mut version, mut start) = (String::new(), String::new(), 0);
    // A package without a source is one of the repository; its list says which of several versions it uses.
    let (mut is_package, mut is_local, mut needs) = (false, false, Vec::new());
    let mut is_listing = false;
    let mut finish =
        |name: &mut String, version: &mut String, start: u32, is_local: bool, needs: &mut Vec<(String, u32)>| {
            let (name, version) = (std::mem::take(name), std::mem::take(version));
            for (needed, line) in std::mem::take(needs) {
                let mut words = needed.split_whitespace();
                if let (Some(package), Some(chosen), true) = (words.next(), words.next(), is_local) {
                    reader.lock_for(package, chosen, &format!("={name}"), line);
                }
            }
            reader.lock(&name, &version, start);
        };
    for (number, line) in text.lines().enumerate() {
        let number = number as u32 + 1;
        if line.starts_with('[') {
            if line == "[[package]]" || line == "[[packages]]" {
                finish(&mut name, &mut version, start, is_local, &mut needs);
                // Other lock files do not list versions there.
                (is_package, is_local, start) = (true, is_cargo, number);
            } else {
                is_package = false;
            }
            is_listing = false;
        } else if !is_package {
        } else if let Some(value) = line.strip_prefix("name = ") {
            name = unquoted(value);
            start = number;
        } else if let Some(value) = line.strip_prefix("version = ") {
            version = unquoted(value);
        } else if line.starts_with("source = ") {
            is_local = false;
        } else if line.starts_with("dependencies = [") {
            is_listing = true;
        } else if is_listing && line.starts_with(']') {
            is_listing = false;
        } else if is_listing {
            needs.push((unquoted(line.trim().trim_end_matches(',')), number));
        }
    }
    finish(&mut name, &mut version, start, is_local, &mut needs);
}

fn unquoted(value: &str) -> String {
    value.trim().trim_matches(['"', '\'']).to_owned()
}

/// Reads a `yarn.lock` of either generation.
pub fn read_yarn(reader: &mut Reader, text: &str) {
    let mut keys: Vec<(String, String)> = Vec::new();
    let mut start = 0;
    for (number, line) in text.lines().enumerate() {
        if line.starts_with('#') || line.trim().is_empty() {
            continue;
        }
        if line.starts_with("__metadata:") {
            keys.clear();
        } else if !line.starts_with(' ') {
            let specs = line.trim_end_matches(':').split(',').map(|spec| spec.trim().trim_matches('"'));
            keys = specs
                .filter_map(split_version)
                .map(|(name, range)| (name.to_owned(), range.trim_start_matches("npm:").to_owned()))
                .collect();
            start = number as u32 + 1;
        } else if let Some(version) = line.trim().strip_prefix("version") {
            let version = version.trim_start_matches([':', ' ']).trim_matches('"').to_owned();
            for (name, range) in keys.drain(..).filter(|(_, range)| !range.starts_with("workspace:")) {
                let owner = String::new();
                reader.manifest.locked.push(Locked { name, range, version: version.clone(), owner, line: start });
            }
        }
    }
}

/// Reads the importers of a `pnpm-lock.yaml`.
pub fn read_pnpm(reader: &mut Reader, text: &str) {
    const TABLES: [&str; 3] = ["dependencies:", "devDependencies:", "optionalDependencies:"];
    let (mut owner, mut name) = (String::new(), String::new());
    let (mut is_importer, mut table) = (false, None);
    for (number, line) in text.lines().enumerate() {
        let number = number as u32 + 1;
        let code = line.trim();
        if code.is_empty() || code.starts_with('#') {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        if indent == 0 {
            is_importer = code == "importers:";
            table = TABLES.contains(&code).then_some(0);
            owner.clear();
            continue;
        }
        if is_importer && indent == 2 {
            owner = unquoted(code.trim_end_matches(':'));
            owner = if owner == "." { String::new() } else { owner };
            table = None;
            continue;
        }
        if is_importer && indent == 4 {
            table = TABLES.contains(&code).then_some(4);
            continue;
        }
        let Some(base) = table else { continue };
        let Some((key, value)) = code.split_once(": ").or_else(|| code.strip_suffix(':').map(|key| (key, ""))) else {
            continue;
        };
        let (key, value) = (unquoted(key), unquoted(value));
        // The version is followed by those of peers: `18.2.0(react@18.2.0)`, `18.2.0_react@18.2.0`.
        let version = value.split(['(', '_']).next().unwrap_or_default();
        let is_linked = version.starts_with("link:") || version.starts_with("file:");
        if indent == base + 2 {
            name = key;
            if !value.is_empty() && !is_linked {
                reader.lock_for(&name, version, &owner, number);
            }
        } else if indent == base + 4 && key == "version" && !is_linked {
            reader.lock_for(&name, version, &owner, number);
        }
    }
}

/// Reads a `Gemfile.lock`.
pub fn read_gemfile(reader: &mut Reader, text: &str) {
    for (number, line) in text.lines().enumerate() {
        // Exactly four blanks: a package; six: what it needs.
        let Some(package) = line.strip_prefix("    ").filter(|rest| !rest.starts_with(' ')) else { continue };
        if let Some((name, version)) = package.split_once(" (") {
            // `nokogiri (1.15.0-x86_64-linux)`
            let version = version.trim_end_matches(')');
            let version = version.split('-').next().unwrap_or(version);
            reader.lock(name, version, number as u32 + 1);
        }
    }
}

/// Reads a `gradle.lockfile`: `group:artifact:version=configurations`.
pub fn read_gradle(reader: &mut Reader, text: &str) {
    for (number, line) in text.lines().enumerate() {
        let package = line.split('=').next().unwrap_or_default();
        if let Some((name, version)) = package.rsplit_once(':').filter(|_| !line.starts_with('#')) {
            reader.lock(name, version, number as u32 + 1);
        }
    }
}

/// Reads a `mix.lock`: `"name": {:hex, :name, "version", ...`.
pub fn read_mix(reader: &mut Reader, text: &str) {
    for (number, line) in text.lines().enumerate() {
        let mut parts = line.split('"');
        let name = parts.nth(1).unwrap_or_default();
        if line.contains("{:hex") {
            reader.lock(name, parts.nth(1).unwrap_or_default(), number as u32 + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Format, read};

    fn locked(format: Format, text: &str) -> Vec<String> {
        let (manifest, problems) = read(format, "lock", text);
        assert!(problems.is_empty());
        let one =
            |one: &atlas_facts::Locked| format!("{} {} {}{}:{}", one.name, one.version, one.owner, one.range, one.line);
        manifest.locked.iter().map(one).collect()
    }

    #[test]
    fn reads_what_each_tool_writes() {
        let cargo = "version = 3\n\n[[package]]\nname = \"app\"\nversion = \"0.1.0\"\ndependencies = [\n \"rand 0.8.5\",\n \"log\",\n]\n\n\
                     [[package]]\nname = \"rand\"\nversion = \"0.7.3\"\nsource = \"registry\"\n";
        assert_eq!(locked(Format::CargoLock, cargo), ["rand 0.8.5 =app:7", "app 0.1.0 :4", "rand 0.7.3 :12"]);
        let uv = "[[package]]\nname = \"a\"\nversion = \"1\"\nsource = { registry = \"h\" }\ndependencies = [\n    { name = \"b\" },\n]\n";
        assert_eq!(locked(Format::PythonLock, uv), ["a 1 :2"]);
        let yarn = "# yarn lockfile v1\n\n\"@a/b@^1.0.0\", \"@a/b@^1.1\":\n  version \"1.2.3\"\n\nlodash@4:\n  version \"4.17.21\"\n";
        assert_eq!(locked(Format::YarnLock, yarn), ["@a/b 1.2.3 ^1.0.0:3", "@a/b 1.2.3 ^1.1:3", "lodash 4.17.21 4:6"]);
        let berry = "__metadata:\n  version: 8\n\n\"react@npm:^18.0.0\":\n  version: 18.2.0\n\n\"w@workspace:.\":\n  version: 0.0.0\n";
        assert_eq!(locked(Format::YarnLock, berry), ["react 18.2.0 ^18.0.0:4"]);
        let pnpm = "lockfileVersion: '9.0'\n\nimporters:\n\n  .:\n    dependencies:\n      react:\n        specifier: ^18\n        version: \
                    18.2.0(x@1)\n  packages/a:\n    devDependencies:\n      '@s/t':\n        specifier: '1'\n        version: 1.0.0\n      b:\n        \
                    version: link:../b\n\npackages:\n  react@18.2.0:\n    version: 1\n";
        assert_eq!(locked(Format::PnpmLock, pnpm), ["react 18.2.0 :9", "@s/t 1.0.0 packages/a:14"]);
        let old = "lockfileVersion: 5.3\nspecifiers:\n  a: ^1\ndependencies:\n  a: 1.2.3_b@2\n";
        assert_eq!(locked(Format::PnpmLock, old), ["a 1.2.3 :5"]);
        let gems = "GEM\n  remote: h\n  specs:\n    rails (7.0.4)\n      rack (>= 2)\n    nokogiri (1.15.0-x86_64-linux)\n\nDEPENDENCIES\n  rails\n";
        assert_eq!(locked(Format::GemfileLock, gems), ["rails 7.0.4 :4", "nokogiri 1.15.0 :6"]);
        assert_eq!(locked(Format::GradleLock, "# x\na.b:c:1.0=compileClasspath\nempty=\n"), ["a.b:c 1.0 :2"]);
        assert_eq!(
            locked(Format::MixLock, "%{\n  \"jason\": {:hex, :jason, \"1.4.0\", \"x\"},\n}\n"),
            ["jason 1.4.0 :2"]
        );
    }
}
