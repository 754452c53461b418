//! `tsconfig.json` and `jsconfig.json`: JSON with comments and trailing commas. What they inherit is applied by the
//! linker.

use super::json::Json;
use super::reader::{Lines, Reader};
use atlas_facts::SettingKind;

/// Reads a `tsconfig.json`.
pub fn read(reader: &mut Reader, text: &str) {
    let plain = plain_json(text);
    let lines = Lines::of(&plain);
    let document = match Json::parse(&plain, &lines) {
        Ok(document) => document,
        Err((line, message)) => return reader.problem(line, &message),
    };
    let list = |key: &str| document.get(key).map(Json::items).unwrap_or_default();
    let texts = |key: &str| list(key).into_iter().filter_map(Json::text).collect::<Vec<String>>();
    let extended = document.text_of("extends").map_or_else(|| texts("extends"), |one| vec![one]);
    if !extended.is_empty() {
        reader.set(SettingKind::Extends, "", extended);
    }
    for (key, kind) in
        [("files", SettingKind::Files), ("include", SettingKind::Include), ("exclude", SettingKind::Exclude)]
    {
        if document.get(key).is_some() {
            reader.set(kind, "", texts(key));
        }
    }
    let references: Vec<String> = list("references").into_iter().filter_map(|one| one.text_of("path")).collect();
    if !references.is_empty() {
        reader.set(SettingKind::References, "", references);
    }
    let Some(options) = document.get("compilerOptions") else { return };
    if let Some(base) = options.text_of("baseUrl") {
        reader.set(SettingKind::Base, "", vec![base]);
    }
    let roots: Vec<String> =
        options.get("rootDirs").map(Json::items).unwrap_or_default().into_iter().filter_map(Json::text).collect();
    if !roots.is_empty() {
        reader.set(SettingKind::Roots, "", roots);
    }
    if let Some(output) = options.text_of("outDir") {
        let root = options.text_of("rootDir").unwrap_or_default();
        reader.set(SettingKind::Output, "", vec![output, root]);
    }
    for (pattern, targets, line) in options.get("paths").map(Json::members).unwrap_or_default() {
        if pattern.matches('*').count() > 1 {
            reader.problem(line, "the pattern has more than one *");
            continue;
        }
        let targets = targets.items().into_iter().filter_map(Json::text).collect();
        reader.set(SettingKind::Paths, &pattern, targets);
    }
}

/// Returns JSON of the same length with blanks in place of comments and trailing commas.
pub fn plain_json(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = bytes.to_vec();
    let (mut at, mut comma) = (0, None);
    while at < bytes.len() {
        let end = match (bytes[at], bytes.get(at + 1)) {
            (b'"', _) => {
                comma = None;
                at = end_of_string(bytes, at);
                continue;
            }
            (b'/', Some(b'/')) => memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |length| at + length),
            (b'/', Some(b'*')) => {
                memchr::memmem::find(&bytes[at + 2..], b"*/").map_or(bytes.len(), |length| at + length + 4)
            }
            (sign, _) => {
                match sign {
                    b',' => comma = Some(at),
                    b'}' | b']' => drop(comma.take().map(|comma| plain[comma] = b' ')),
                    _ if sign.is_ascii_whitespace() => {}
                    _ => comma = None,
                }
                at += 1;
                continue;
            }
        };
        plain[at..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        at = end;
    }
    String::from_utf8(plain).unwrap_or_default()
}

fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, read};

    #[test]
    fn comments_and_trailing_commas_are_no_json() {
        let text = "{ // a \"x\"\n \"a\": \"//b,}\", /* é */ \"c\": [1, 2, ],\n}";
        assert_eq!(plain_json(text).len(), text.len());
        let value: serde_json::Value = serde_json::from_str(&plain_json(text)).unwrap();
        assert_eq!(value, serde_json::json!({"a": "//b,}", "c": [1, 2]}));
        assert_eq!(plain_json("\"a\\").len(), 3);
        assert_eq!(plain_json("/*").trim(), "");
    }

    #[test]
    fn reads_paths_and_what_is_inherited() {
        let text = "{\"extends\": [\"./a\", \"@s/b\"], \"files\": [], \"references\": [{\"path\": \"./app\"}],\n\
                    \"compilerOptions\": {\"baseUrl\": \"src\", \"paths\": {\"@/*\": [\"./*\", \"../lib/*\"], \"a*b*\": []}}}";
        let (manifest, problems) = read(Format::TsConfig, "tsconfig.json", text);
        let told = manifest.settings.iter().map(|one| format!("{:?} {} {:?}", one.kind, one.name, one.values));
        let told: Vec<String> = told.collect();
        let expected = [
            "Extends  [\"./a\", \"@s/b\"]",
            "Files  []",
            "References  [\"./app\"]",
            "Base  [\"src\"]",
            "Paths @/* [\"./*\", \"../lib/*\"]",
        ];
        assert_eq!(told, expected);
        assert_eq!(problems[0].line, 2);
    }
}
