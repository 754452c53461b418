//! Bundler's `Gemfile` and `*.gemspec`, read line by line without running them.

use super::files::Format;
use super::reader::Reader;
use atlas_facts::{Dependency, IncludeKind, Purpose};

/// Groups of a `Gemfile` that are not needed at run time.
const DEVELOPMENT: &[&str] = &["development", "test", "dev", "docs", "doc", "lint", "rubocop", "ci", "benchmark"];

/// Reads a `Gemfile` or `*.gemspec`.
pub fn read(reader: &mut Reader, text: &str, format: Format) {
    let mut blocks: Vec<Vec<String>> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let number = number as u32 + 1;
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if format == Format::Gemspec {
            read_specification(reader, line, number);
        } else {
            read_line(reader, line, number, &mut blocks);
        }
    }
}

fn read_line(reader: &mut Reader, line: &str, number: u32, blocks: &mut Vec<Vec<String>>) {
    let word = line.split(|sign: char| !(sign.is_alphanumeric() || sign == '_')).next().unwrap_or_default();
    match word {
        "end" => drop(blocks.pop()),
        "gemspec" => reader.include("*.gemspec", IncludeKind::Dependencies, number),
        "gem" => {
            let texts = strings(line);
            let Some(name) = texts.first().filter(|_| line[3..].trim_start().starts_with(['"', '\'', '('])) else {
                reader.problem(number, "the name of the gem is computed");
                return;
            };
            let mut groups: Vec<String> = blocks.iter().flatten().cloned().collect();
            groups.extend(
                ["group:", "groups:", ":group =>", ":groups =>"]
                    .iter()
                    .find_map(|key| {
                        line.split_once(key).map(|(_, rest)| symbols(rest.split(']').next().unwrap_or(rest)))
                    })
                    .unwrap_or_default(),
            );
            let range: Vec<&str> = texts[1..].iter().map(String::as_str).filter(|text| is_range(text)).collect();
            let is_needed = groups.is_empty() || groups.iter().any(|group| !DEVELOPMENT.contains(&group.as_str()));
            let purpose = if is_needed { Purpose::Runtime } else { Purpose::Development };
            let range = if range.is_empty() { computed_range(line, name) } else { range.join(", ") };
            let mut found = Dependency::new(name, &range, purpose, number).of_group(&groups.join(" "));
            let path = ["path:", ":path =>"].iter().find_map(|key| line.split_once(key)).map(|(_, rest)| strings(rest));
            found.path = path.and_then(|texts| texts.into_iter().next()).unwrap_or_default();
            reader.add(found);
        }
        "group" if line.ends_with("do") => blocks.push(symbols(line)),
        _ if line.ends_with(" do")
            || matches!(word, "if" | "unless" | "case" | "def" | "begin")
            || line.ends_with('|') =>
        {
            blocks.push(Vec::new());
        }
        _ => {}
    }
}

fn read_specification(reader: &mut Reader, line: &str, number: u32) {
    let Some((_, call)) = line.split_once('.') else { return };
    let word = call.split(|sign: char| !(sign.is_alphanumeric() || sign == '_')).next().unwrap_or_default();
    let purpose = match word {
        "add_dependency" | "add_runtime_dependency" => Purpose::Runtime,
        "add_development_dependency" => Purpose::Development,
        "name" | "version" => {
            let value = call[word.len()..].trim_start().strip_prefix('=').map(strings).unwrap_or_default();
            if let [value] = &value[..] {
                let field = if word == "name" { &mut reader.manifest.name } else { &mut reader.manifest.version };
                value.clone_into(field);
            }
            return;
        }
        _ => return,
    };
    let texts = strings(call);
    match texts.first() {
        Some(name) => {
            let range: Vec<&str> = texts[1..].iter().map(String::as_str).filter(|text| is_range(text)).collect();
            reader.add(Dependency::new(name, &range.join(", "), purpose, number));
        }
        None => reader.problem(number, "the name of the gem is computed"),
    }
}

/// Returns the constant or variable behind the name of a gem that holds its version: `gem "rails", RAILS_VERSION`.
fn computed_range(line: &str, name: &str) -> String {
    let behind = line.split_once(name).map(|(_, rest)| rest.trim_start_matches(['"', '\'', ' '])).unwrap_or_default();
    let second = behind.strip_prefix(',').and_then(|rest| rest.split(',').next()).unwrap_or_default().trim();
    let is_name = second.chars().all(|sign| sign.is_alphanumeric() || matches!(sign, '_' | '.' | '@'));
    if is_name { second.trim_end_matches(')').to_owned() } else { String::new() }
}

fn is_range(text: &str) -> bool {
    let bare = text.trim_start_matches(['>', '<', '=', '~', '!', ' ']);
    bare.starts_with(|sign: char| sign.is_ascii_digit())
}

/// Returns the texts in quotes.
fn strings(line: &str) -> Vec<String> {
    let (mut found, mut rest) = (Vec::new(), line);
    while let Some(at) = rest.find(['"', '\'', '#']) {
        let quote = rest[at..].chars().next().unwrap_or('"');
        if quote == '#' {
            break;
        }
        let Some((text, after)) = rest[at + 1..].split_once(quote) else { break };
        // `"name".freeze`, and keys such as `"a" => "b"`
        found.push(text.to_owned());
        rest = after;
    }
    found
}

/// Returns the symbols `:name`, and the texts in quotes.
fn symbols(text: &str) -> Vec<String> {
    let is_word = |sign: char| sign.is_alphanumeric() || sign == '_';
    let names = text.match_indices(':').filter_map(|(at, _)| {
        let name: String = text[at + 1..].chars().take_while(|&sign| is_word(sign)).collect();
        (!name.is_empty()).then_some(name)
    });
    names.chain(strings(text)).collect()
}

#[cfg(test)]
mod tests {
    use crate::{Format, read};

    #[test]
    fn reads_groups_and_ranges() {
        let text = "source 'https://h'\ngemspec\ngem 'rails', '~> 7.0', '>= 7.0.4' # x\ngroup :development, :test do\n  gem \
                    \"rspec\"\n  platforms :mri do\n    gem 'byebug', require: 'x'\n  end\nend\ngem 'pg', group: :production\n\
                    gem 'rubocop', group: [:development]\ngem 'local', path: './local'\ngem name\ngem \"web\", WEB_VERSION, require: false\n";
        let (manifest, problems) = read(Format::Gemfile, "Gemfile", text);
        let found: Vec<_> = manifest
            .dependencies
            .iter()
            .map(|one| format!("{} {} {} [{}] {}", one.line, one.purpose.name(), one.name, one.group, one.range))
            .collect();
        let expected = [
            "3 runtime rails [] ~> 7.0, >= 7.0.4",
            "5 development rspec [development test] ",
            "7 development byebug [development test] ",
            "10 runtime pg [production] ",
            "11 development rubocop [development] ",
            "12 runtime local [] ",
            "14 runtime web [] WEB_VERSION",
        ];
        assert_eq!(found, expected);
        assert_eq!((&*manifest.dependencies[5].path, problems[0].line), ("./local", 13));
    }
}
