//! `go.mod` and `go.work`.

use super::reader::Reader;
use atlas_facts::{Dependency, Purpose, SettingKind};

/// Reads a `go.mod`, or a `go.work`, whose folders (`use`) hold modules with a `go.mod` of their own.
pub fn read(reader: &mut Reader, text: &str) {
    let mut block = String::new();
    let mut replaced: Vec<(String, String, String)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let number = number as u32 + 1;
        let (code, comment) = line.split_once("//").unwrap_or((line, ""));
        let code = code.trim();
        if code.is_empty() {
            continue;
        }
        if code == ")" {
            block.clear();
            continue;
        }
        let around = block.clone();
        let (verb, rest) = match around.is_empty() {
            false => (around.as_str(), code),
            true => code.split_once([' ', '\t', '(']).map_or((code, ""), |(verb, _)| (verb, code[verb.len()..].trim())),
        };
        if block.is_empty() && rest == "(" {
            block = verb.to_owned();
            continue;
        }
        let words: Vec<&str> = rest.split_whitespace().map(|word| word.trim_matches(['"', '`'])).collect();
        match (verb, &words[..]) {
            ("module", [name, ..]) => (*name).clone_into(&mut reader.manifest.name),
            ("require", [name, version, ..]) => {
                let is_indirect = comment.trim().split([';', ' ']).next() == Some("indirect");
                let purpose = if is_indirect { Purpose::Indirect } else { Purpose::Runtime };
                reader.add(Dependency::new(name, version, purpose, number));
            }
            ("replace", words) => {
                let Some(arrow) = words.iter().position(|word| *word == "=>") else {
                    reader.problem(number, "a replacement without =>");
                    continue;
                };
                if let (Some(name), Some(target)) = (words.first().filter(|_| arrow > 0), words.get(arrow + 1)) {
                    let version = words.get(arrow + 2).copied().unwrap_or_default();
                    replaced.push(((*name).to_owned(), (*target).to_owned(), version.to_owned()));
                }
            }
            ("tool", [name, ..]) => reader.manifest.properties.push(("tool".to_owned(), (*name).to_owned())),
            ("go" | "toolchain" | "exclude" | "retract" | "godebug" | "ignore" | "use", _) => {}
            _ => reader.problem(number, "no directive of a go.mod"),
        }
    }
    for (name, target, _) in replaced.iter().filter(|(_, target, _)| target.starts_with('.')) {
        reader.set(SettingKind::Alias, name, vec![target.clone()]);
    }
    for one in &mut reader.manifest.dependencies {
        let Some((_, target, version)) = replaced.iter().find(|(name, ..)| *name == one.name) else { continue };
        if target.starts_with(['.', '/']) {
            target.clone_into(&mut one.path);
        } else {
            one.range = format!("{} => {target} {version}", one.range).trim_end().to_owned();
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Format, read};

    #[test]
    fn reads_blocks_comments_and_replacements() {
        let text = "module example.com/a // x\n\ngo 1.22\nrequire golang.org/x/text v0.3.0\nrequire (\n\tgithub.com/b/c/v2 \
                    v2.1.0 // indirect\n\t\"gopkg.in/d.v1\" v1.0.0 // indirect; why\n\tlocal.test/e v0.0.0\n)\nreplace (\n\
                    local.test/e v0.0.0 => ../e\n\tgolang.org/x/text => fork.test/text v1.2.3\n)\nretract [v1.0.0, v1.1.0]\n\
                    nonsense\n";
        let (manifest, problems) = read(Format::GoMod, "go.mod", text);
        let found: Vec<_> = manifest
            .dependencies
            .iter()
            .map(|one| format!("{} {} {} {}:{}", one.purpose.name(), one.name, one.range, one.path, one.line))
            .collect();
        let expected = [
            "runtime golang.org/x/text v0.3.0 => fork.test/text v1.2.3 :4",
            "indirect github.com/b/c/v2 v2.1.0 :6",
            "indirect gopkg.in/d.v1 v1.0.0 :7",
            "runtime local.test/e v0.0.0 ../e:8",
        ];
        assert_eq!(found, expected);
        assert_eq!((&*manifest.name, problems[0].line, problems.len()), ("example.com/a", 15, 1));
    }
}
