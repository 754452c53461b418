//! What the path of a file says: the part of a project that a title names, a translation, a copy, an old version.
//!
//! Subjects of commits and titles of reports often name a file, folder or package in front of a colon (`httputil:
//! reject duplicate headers`). It is a name of one word, so words and vectors hardly see it. Translations
//! (`docs/zh/guide.md`, `README.ja.md`) and copies (legacy, vendored, example and benchmark code) are seldom what a
//! question means.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::roots::root_of;

/// For files of a folder with the name, and files that have the name as a part of theirs.
const FOLDER: f64 = 0.5;
const PART: f64 = 0.4;

/// Codes of languages (ISO 639-1) that documents are translated to, and of countries in use for them; not English.
const CODES: &str = "ar bg bn ca cs da de el es fa fi fr he hi hr hu hy id it ja jp ka kk ko kr lt lv ms my nb nl no pl \
                     pt ro ru sk sl sr sv th tr tw ua uk ur uz vi vn zh cn";
/// Names of translated documents, before the code of a language.
const TITLED: [&str; 5] = ["readme", "changelog", "contributing", "install", "code_of_conduct"];
/// Extensions of documents.
const DOCUMENTS: &str = "md mdx markdown rst txt adoc";
const PLACES: &str = "doc docs documentation i18n locale locales translation translations content site website";
/// Folders and files of copies; those with `legacy` in their name are, too.
const COPIES: &str = "deprecated compat backport backports vendor vendored vendors _vendor _vendored _vendors thirdparty \
                      third_party third-party extern external node_modules bundled archive attic example examples \
                      sample samples demo demos bench benchmark benchmarks fixtures";
/// Characters of a name before `legacy`.
const LEGACY_PREFIX: usize = 60;
/// Words before a colon that say what kind of text follows.
const NO_COMPONENTS: &str = "fix fixes fixed feat feature bug bugfix chore refactor perf security sec usr upstream build \
                             ci style revert warning warnings error errors note notes issue question request proposal \
                             regression crash problem help idea todo update expected actual result example summary \
                             description title steps http https";
/// Names in front of the colon of a title, the lengths of a name, and of the text in its parentheses and brackets.
const MORE_NAMES: usize = 2;
const NAME: std::ops::RangeInclusive<usize> = 2..=60;
const ENCLOSED: usize = 40;

/// The major number, 0 to 2 for alpha, beta and neither, and the number behind that.
pub type Version = (u64, u8, u64);

fn is_listed(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == word)
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Returns the names that a title has in front of its colon, as `[tag] name(scope), name: text` or `name: name: text`.
fn names_of_title(text: &str) -> Option<&str> {
    let mut rest = text;
    while let Some(inside) = rest.strip_prefix('[') {
        let (tag, after) = inside.split_once(']')?;
        if tag.chars().count() > ENCLOSED {
            return None;
        }
        rest = after.trim_start();
    }
    let mut after = after_name(rest)?;
    if let Some(inside) = after.strip_prefix('(') {
        let (scope, behind) = inside.split_once(')')?;
        let is_scope = scope.chars().all(|character| is_in_name(character) || matches!(character, ',' | ' '));
        if !is_scope || !(1..=ENCLOSED).contains(&scope.chars().count()) {
            return None;
        }
        after = behind;
    }
    let behind = after_more_names(after, MORE_NAMES)?;
    Some(&rest[..rest.len() - behind.len()])
}

/// Returns what follows after up to `most` further names: the colon before the text.
fn after_more_names(text: &str, most: usize) -> Option<&str> {
    let first_blank = |text: &str| text.chars().next().filter(|character| character.is_whitespace());
    let next = if let Some(rest) = text.strip_prefix(',') {
        Some(rest.strip_prefix(char::is_whitespace).unwrap_or(rest))
    } else {
        text.strip_prefix(':').and_then(|rest| rest.strip_prefix(char::is_whitespace))
    };
    let further = next.filter(|_| most > 0).and_then(after_name).and_then(|rest| after_more_names(rest, most - 1));
    further.or_else(|| {
        let behind = text.strip_prefix(':')?;
        (first_blank(behind).is_some() && !behind.trim_start().is_empty()).then_some(text)
    })
}

fn after_name(text: &str) -> Option<&str> {
    let end = text.find(|character| !is_in_name(character)).unwrap_or(text.len());
    NAME.contains(&text[..end].chars().count()).then(|| &text[end..])
}

fn is_in_name(character: char) -> bool {
    is_word(character) || matches!(character, '.' | '+' | '/' | '-')
}

/// Whether a word before a colon says what kind of text follows.
fn is_no_component(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.chars().all(char::is_numeric);
    let is_cve = |rest: &str| rest.chars().all(|character| character == '-' || character.is_numeric());
    let names_error = ["error", "exception", "warning"]
        .iter()
        .any(|ending| name.strip_suffix(ending).is_some_and(|before| !before.is_empty() && name.chars().all(is_word)));
    is_listed(NO_COMPONENTS, name) || is_number(name) || names_error || name.strip_prefix("cve").is_some_and(is_cve)
}

/// Returns the names in front of the first colon of a text, in lower case.
pub fn read_components(text: &str) -> Vec<String> {
    let names = names_of_title(text).unwrap_or("");
    names
        .split(|character: char| ",:()".contains(character) || character.is_whitespace())
        .map(|name| name.trim_matches(['/', '.']).to_lowercase())
        .filter(|name| name.chars().nth(1).is_some() && !is_no_component(name))
        .collect()
}

/// Returns how well a path is that of one of the components, 0..1.
pub fn component_share(path: &str, components: &[String]) -> f64 {
    let path = path.to_lowercase();
    components.iter().map(|name| share(&path, name)).fold(0.0, f64::max)
}

fn share(path: &str, name: &str) -> f64 {
    let (folders, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = before_dot(file);
    if name == file || name == stem {
        return 1.0;
    }
    let ends = |written: &str| format!("/{written}").ends_with(&format!("/{name}"));
    if name.contains('/') && (ends(path) || ends(&format!("{folders}/{stem}"))) {
        return 1.0;
    }
    if format!("/{folders}/").contains(&format!("/{name}/")) {
        return FOLDER;
    }
    if stem.split(['_', '-']).any(|part| part == name) { PART } else { 0.0 }
}

/// Returns a file's name up to its first dot.
pub fn before_dot(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

/// Returns whether a document's name, or a folder below one of documents, names a language other than English.
pub fn is_translation(path: &str) -> bool {
    let path = path.to_lowercase();
    let folders = || path.split('/').rev().skip(1);
    is_translated_file(&path) || folders().any(is_language) && folders().any(|folder| is_listed(PLACES, folder))
}

fn is_translated_file(path: &str) -> bool {
    let Some((front, ending)) = path.rsplit_once('.') else { return false };
    let name = front.rsplit('/').next().unwrap_or(front);
    let behind_title = |title: &str| name.strip_prefix(title).and_then(|rest| rest.strip_prefix(['-', '_']));
    is_listed(DOCUMENTS, ending)
        && (front.rsplit_once('.').is_some_and(|(_, code)| is_language(code))
            || TITLED.into_iter().filter_map(behind_title).any(is_language))
}

/// Whether a lower-case name is the code of a language, maybe with a region: `pt-br`, `zh_hans`.
fn is_language(name: &str) -> bool {
    let (code, region) = name.split_once(['-', '_']).map_or((name, None), |(code, region)| (code, Some(region)));
    let is_region = |region: &str| {
        matches!(region, "hans" | "hant" | "419")
            || region.len() == 2 && region.bytes().all(|byte| byte.is_ascii_lowercase())
    };
    is_listed(CODES, code) && region.is_none_or(is_region)
}

/// Returns whether a folder or file of the path says that its code is legacy, vendored, a benchmark or an example.
///
/// `asked`: roots of a question's words; what it asks for by that word is no copy.
pub fn is_copy(path: &str, asked: &FxHashSet<String>) -> bool {
    let is_asked = |word: &str| asked.contains(root_of(word));
    if is_benchmark(path) && !is_asked("benchmark") && !is_asked("bench") {
        return true;
    }
    let mut kinds = path.split('/').map(|name| before_dot(name).to_lowercase());
    kinds.find(|kind| is_listed(COPIES, kind) || is_legacy(kind)).is_some_and(|kind| !is_asked(&kind))
}

fn is_legacy(name: &str) -> bool {
    name.find("legacy").is_some_and(|start| name[..start].chars().count() <= LEGACY_PREFIX) && name.chars().all(is_word)
}

/// Whether it is a benchmark file: `str_cat_benchmark.cc`, `parse.bench.ts`, `MapBenchmark.java`.
fn is_benchmark(path: &str) -> bool {
    let Some((front, ending)) = path.rsplit_once('.') else { return false };
    let behind =
        |name: &str, before: fn(char) -> bool| front.strip_suffix(name).is_some_and(|rest| rest.ends_with(before));
    let separates = |character| matches!(character, '_' | '.' | '-');
    let continues = |character: char| character.is_ascii_lowercase() || character.is_ascii_digit();
    !ending.is_empty()
        && ending.chars().all(is_word)
        && (["bench", "benchs", "benchmark", "benchmarks"].iter().any(|name| behind(name, separates))
            || ["Benchmark", "Benchmarks"].iter().any(|name| behind(name, continues)))
}

/// Returns the newest version by the folder that has folders of versions.
pub fn newest_versions<'p>(paths: impl Iterator<Item = &'p str>) -> FxHashMap<&'p str, Version> {
    let mut newest = FxHashMap::default();
    for (folder, version) in paths.filter_map(version_of) {
        let known = newest.entry(folder).or_insert(version);
        *known = version.max(*known);
    }
    newest
}

/// Returns the path up to its first folder that is a version (`src/v3/`, `apis/v1beta2/`), and the version.
fn version_of(path: &str) -> Option<(&str, Version)> {
    let mut start = 0;
    while let Some(length) = path[start..].find('/') {
        if let Some(version) = path[start..start + length].strip_prefix('v').and_then(read_version) {
            return Some((&path[..start], version));
        }
        start += length + 1;
    }
    None
}

fn read_version(text: &str) -> Option<Version> {
    let number = |digits: &str| {
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse().unwrap_or(u64::MAX))
    };
    let staged = [("alpha", 0), ("beta", 1)].iter().find_map(|(name, stage)| Some((text.split_once(name)?, *stage)));
    match staged {
        Some(((major, minor), stage)) => Some((number(major)?, stage, number(minor)?)),
        None => Some((number(text)?, 2, 0)),
    }
}

/// Returns whether a path is in the folder of a version that has a newer sibling: `v3/` beside `v4/`.
pub fn is_old_version(path: &str, newest: &FxHashMap<&str, Version>) -> bool {
    version_of(path).is_some_and(|(folder, version)| newest.get(folder).is_some_and(|newest| version < *newest))
}

/// Returns whether a question names the version of a path: "in v3".
pub fn asks_version(text: &str, path: &str) -> bool {
    let path = format!("/{path}");
    text.to_lowercase().split_whitespace().any(|word| path.contains(&format!("/{word}/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_stand_before_a_colon() {
        for (title, names) in [
            ("httputil: reject duplicate headers", "httputil"),
            ("[PATCH] nl80211: fix the length", "nl80211"),
            ("feat(cookies): keep the port", "cookies"),
            ("net/http: keep the port", "net/http"),
            ("compat,build: read the first entry", "compat"),
            ("lib: xmlparse.c: free the model", "lib xmlparse.c"),
            ("a/b, c.d, e-f: g", "a/b c.d e-f"),
            ("aa, bb, cc, dd: e", ""),
            ("aa: bb: cc: dd: e", "aa bb cc"),
            ("one:two", ""),
            ("[x] [y]  net.c (a, b): c", ""),
            ("[x] [y]  net.c(a, bb): c", "net.c bb"),
            ("fix: keep the port", ""),
            ("ValueError: no dots in the domain", ""),
            ("Expected: a list", ""),
            ("CVE-2024-12345: keep the port", ""),
            ("the jar keeps this: a port", ""),
            ("see https://example.org/a", ""),
            ("httputil", ""),
        ] {
            assert_eq!(read_components(title).join(" "), names, "{title}");
        }
    }

    #[test]
    fn paths_of_a_component() {
        for (path, name, share) in [
            ("src/httputil.py", "httputil", 1.0),
            ("src/HttpUtil.py", "httputil", 1.0),
            ("src/xmlparse.c", "xmlparse.c", 1.0),
            ("src/net/http/server.go", "net/http", FOLDER),
            ("src/net/http.go", "net/http", 1.0),
            ("src/net/http.go", "net/http.go", 1.0),
            ("src/mynet/http.go", "net/http", 0.0),
            ("src/httputil/read.py", "httputil", FOLDER),
            ("common/flatpak-run.c", "run", PART),
            ("common/prune.c", "run", 0.0),
        ] {
            assert_eq!(component_share(path, &[name.to_owned()]), share, "{path} {name}");
        }
        assert_eq!(component_share("a.py", &[]), 0.0);
    }

    #[test]
    fn translations_are_recognised_by_their_path() {
        for path in ["README.ja.md", "README_CN.md", "docs/zh/guide.md", "docs/pt-BR/index.rst"] {
            assert!(is_translation(path), "{path}");
        }
        for path in ["README.md", "docs/en/guide.md", "docs/how-to-get-it.md", "it/notes.md"] {
            assert!(!is_translation(path), "{path}");
        }
    }

    #[test]
    fn copies_unless_they_are_asked_for() {
        for (path, asked, expected) in [
            ("src/_vendor/six.py", "joined", true),
            ("legacy/cart.py", "cart", true),
            ("src/old_legacy_api.py", "cart", true),
            ("examples/cart.py", "cart", true),
            ("examples/cart.py", "examples", false),
            ("shop/cart.py", "cart", false),
            ("shop/cart_benchmark.cc", "cart", true),
            ("shop/cart.bench.ts", "cart", true),
            ("shop/CartBenchmark.java", "cart", true),
            ("shop/cart_benchmark.cc", "benchmark", false),
            ("shop/workbench.py", "cart", false),
        ] {
            let asked = FxHashSet::from_iter([root_of(asked).to_owned()]);
            assert_eq!(is_copy(path, &asked), expected, "{path}");
        }
    }

    #[test]
    fn a_version_beside_a_newer_one_is_old_unless_it_is_asked_for() {
        let paths = ["src/v3/a.ts", "src/v4/a.ts", "lib/v1/b.ts", "v1beta2/c.go", "v1/c.go"];
        let newest = newest_versions(paths.into_iter());
        assert_eq!(paths.map(|path| is_old_version(path, &newest)), [true, false, false, true, false]);
        assert!(asks_version("what is new in V3", "src/v3/a.ts") && !asks_version("what is new", "src/v3/a.ts"));
    }
}
