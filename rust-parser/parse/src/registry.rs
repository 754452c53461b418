//! The registry of languages: folders with `<name>/language.toml` and `<name>/tags.scm`. A later folder overrides
//! earlier ones of the same name.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::detect::rules::{Detectors, Source};
use crate::language::Language;
use crate::languages;
use atlas_facts::content_digest::hex;
use atlas_facts::{FACTS_VERSION, WindowKind};
use atlas_languages::{Settings, read_all};
use atlas_manifests as manifests;

/// Bytes at the start of a file that are read for a `#!` line.
const SHEBANG_BYTES: usize = 256;
/// Words of it that are looked at.
const MAX_SHEBANG_WORDS: usize = 8;
/// Largest file of a programming language without a grammar, in bytes; larger ones are generated.
const MAX_CODE_BYTES: u64 = 512 << 10;
/// Largest file of another format without definitions, in bytes; larger ones are data.
const MAX_PLAIN_BYTES: u64 = 128 << 10;
/// Name of the language of notes.
const NOTE: &str = "note";
/// Names of the languages of lock files, and of manifests that no other language claims.
const LOCK: &str = "dependency-lock";
const MANIFEST: &str = "dependency-manifest";

/// The registered languages and how files are mapped to them.
#[derive(Default, Clone)]
pub struct Registry {
    by_name: BTreeMap<String, Arc<Language>>,
    by_extension: FxHashMap<String, String>,
    by_file_name: FxHashMap<String, String>,
    by_shebang: FxHashMap<String, String>,
    /// The folder below the project's root whose Markdown files are notes; "" for none.
    note_folder: String,
    detectors: Arc<Detectors>,
    /// What `detectors` was compiled from, without the project's own rules.
    detector_sources: Vec<Source>,
    /// Hash of all loaded files, in order; the project's own rules are not among them.
    sources: blake3::Hasher,
}

impl Registry {
    /// Loads all languages of the folders, and rules of detectors. The Markdown files in `note_folder` are notes.
    ///
    /// # Errors
    /// A message with file and position.
    pub fn load(folders: &[String], note_folder: &str, detectors: &[Source]) -> Result<Registry, String> {
        let mut registry = Registry { note_folder: note_folder.to_owned(), ..Registry::default() };
        for folder in read_all(folders)? {
            let language = Language::load(folder, languages::hooks)?;
            registry.sources.update(language.sources.as_bytes());
            registry.by_name.insert(language.settings.name.clone(), language);
        }
        for (name, text) in detectors {
            registry.sources.update(name.as_bytes()).update(&[0]).update(text.as_bytes());
        }
        registry.detector_sources = detectors.to_vec();
        registry.index()?;
        registry.with_own_rules(&[])
    }

    /// Returns the same languages with rules of the project itself, instead of any earlier ones.
    ///
    /// # Errors
    /// `name: rule 3: message`
    pub fn with_own_rules(&self, own: &[Source]) -> Result<Registry, String> {
        let languages =
            self.by_name.values().map(|language| (language.settings.name.as_str(), language.grammar.as_ref()));
        let detectors = Arc::new(Detectors::compile(&self.detector_sources, own, languages)?);
        Ok(Registry { detectors, ..self.clone() })
    }

    fn index(&mut self) -> Result<(), String> {
        for (name, language) in self.by_name.iter().filter(|(_, language)| language.settings.dialect_of.is_empty()) {
            let settings = &language.settings;
            for (table, keys) in [
                (&mut self.by_extension, &settings.extensions),
                (&mut self.by_file_name, &settings.file_names),
                (&mut self.by_shebang, &settings.shebangs),
            ] {
                for key in keys {
                    let other = match table.get(key) {
                        Some(_) if settings.plain.is_some() => continue,
                        Some(other) if self.by_name[other].settings.plain.is_none() => other,
                        _ => {
                            table.insert(key.clone(), name.clone());
                            continue;
                        }
                    };
                    return Err(format!("{key:?} is claimed by the languages {other} and {name}"));
                }
            }
        }
        Ok(())
    }

    /// Returns a fingerprint of everything that determines facts: their layout, the parser's version, the rules for
    /// secrets, the folder of notes, and the files of all languages.
    pub fn fingerprint(&self) -> String {
        let mut hasher = self.sources.clone();
        hasher.update(&FACTS_VERSION.to_le_bytes());
        hasher.update(self.note_folder.as_bytes());
        hasher.update(env!("CARGO_PKG_VERSION").as_bytes());
        atlas_secrets::RULE_FILES.iter().for_each(|text| {
            hasher.update(text.as_bytes());
        });
        hex(&hasher.finalize().as_bytes()[..16])
    }

    /// Returns the largest size of an indexed file of a language, in bytes, if it is smaller than that of other files.
    pub fn max_bytes(&self, language: &str) -> Option<u64> {
        let plain = self.by_name.get(language)?.settings.plain?;
        Some(if plain.kind == WindowKind::Code { MAX_CODE_BYTES } else { MAX_PLAIN_BYTES })
    }

    /// Returns whether files of a language may be data instead of a part of the program.
    pub fn may_be_data(&self, language: &str) -> bool {
        let plain = self.by_name.get(language).and_then(|language| language.settings.plain);
        plain.is_some_and(|plain| plain.kind != WindowKind::Code)
    }

    /// Returns the names of all languages, sorted.
    pub fn names(&self) -> Vec<String> {
        self.by_name.keys().cloned().collect()
    }

    /// Returns the settings of all languages, sorted by name.
    pub fn settings(&self) -> impl Iterator<Item = &Settings> {
        self.by_name.values().map(|language| &language.settings)
    }

    /// Returns a language by its name.
    pub fn get(&self, name: &str) -> Option<&Arc<Language>> {
        self.by_name.get(name)
    }

    /// Returns the rules of detectors.
    pub fn detectors(&self) -> &Detectors {
        &self.detectors
    }

    /// Returns the folder whose Markdown files are notes, or "".
    pub fn note_folder(&self) -> &str {
        &self.note_folder
    }

    /// Returns whether the path is that of a note.
    fn is_note(&self, path: &str) -> bool {
        let below = path.strip_prefix(self.note_folder.as_str()).and_then(|rest| rest.strip_prefix('/'));
        !self.note_folder.is_empty() && below.is_some_and(|name| name.ends_with(".md"))
    }

    /// Returns the language of a path: that of notes in their folder, else by complete file name, then by the longest
    /// extension. Lock files and other manifests are recognised by name.
    pub fn of_path(&self, path: &str) -> Option<&str> {
        if self.is_note(path)
            && let Some((name, _)) = self.by_name.get_key_value(NOTE)
        {
            return Some(name);
        }
        let file = path.rsplit('/').next().unwrap_or(path);
        if manifests::is_lock(file)
            && let Some((name, _)) = self.by_name.get_key_value(LOCK)
        {
            return Some(name);
        }
        if let Some(name) = self.by_file_name.get(file) {
            return Some(name);
        }
        let mut rest = file;
        while let Some(dot) = rest.find('.') {
            rest = &rest[dot + 1..];
            if let Some(name) = self.by_extension.get(rest) {
                return Some(name);
            }
            let lower = rest.to_ascii_lowercase();
            if let Some(name) = self.by_extension.get(&lower) {
                return Some(name);
            }
        }
        self.of_first_part(file)
            .or_else(|| manifests::format_of(path).and_then(|_| Some(self.by_name.get_key_value(MANIFEST)?.0.as_str())))
    }

    /// Returns the format of `Dockerfile.test`, `LICENSE-MIT` and other names with an addition.
    fn of_first_part(&self, file: &str) -> Option<&str> {
        let (first, _) = file.split_once(['.', '-', '_'])?;
        let name = self.by_file_name.get(first)?;
        self.by_name[name].settings.plain.map(|_| name.as_str())
    }

    /// Returns the language of the interpreter in a `#!` line.
    pub fn of_shebang(&self, data: &[u8]) -> Option<&str> {
        let head = &data[..data.len().min(SHEBANG_BYTES)];
        let line =
            head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).strip_prefix(b"#!")?.split(|&b| b == b'\n').next()?;
        let line = std::str::from_utf8(line).ok()?;
        // `env -S uv run python3`: the first word that is an interpreter.
        let known = |word: &str| {
            let program = word.rsplit('/').next()?;
            let bare = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
            self.by_shebang.get(program).or_else(|| self.by_shebang.get(bare)).map(String::as_str)
        };
        line.split_whitespace().take(MAX_SHEBANG_WORDS).find_map(known)
    }

    /// Returns the language of a file: by name, by `#!` line, and by content where languages share an extension.
    pub fn of_file(&self, path: &str, data: &[u8]) -> Option<&Arc<Language>> {
        let name = self.of_path(path).or_else(|| self.of_shebang(data))?;
        let language = self.by_name.get(name)?;
        match language.hooks.language_of_content(path, data) {
            Some(other) => self.by_name.get(other).or(Some(language)),
            None => Some(language),
        }
    }
}
