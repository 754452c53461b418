//! The rules: `secret-rules/*.toml`, embedded in the binary and parsed once. A regular expression is compiled when its
//! first keyword occurs. The engine is `regex-automata`: linear time, no backtracking.

use std::sync::{LazyLock, OnceLock};

use regex_automata::meta::Regex;
use regex_automata::util::syntax;
use rustc_hash::FxHashSet;
use serde::Deserialize;

const BETTERLEAKS: &str = include_str!("../../secret-rules/betterleaks.toml");
const OWN: &str = include_str!("../../secret-rules/own.toml");
const EXAMPLES: &str = include_str!("../../secret-rules/examples.txt");
const BIGRAMS: &str = include_str!("../../secret-rules/bigrams.txt");

/// The data files that determine what is masked.
pub const RULE_FILES: [&str; 4] = [BETTERLEAKS, OWN, EXAMPLES, BIGRAMS];

/// Bytes after a keyword in which an expression of unbounded length is matched.
const MAX_REACH: usize = 4096;
/// Bytes before a keyword in which a match may start.
pub const BEFORE: usize = 80;
/// Longest token after a provider prefix that an expression matches, in bytes. The rest of a longer token is masked,
/// too.
const LONGEST_TOKEN: usize = 400;

/// An extra check of the value, in addition to the expression.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Check {
    #[default]
    Shape,
    Random,
    Password,
    /// A password that prose states, which may be weak ...
    Stated,
    /// ... or must not be, because what states it may be code.
    Strong,
}

/// A rule: its keywords, its expression and the conditions for a value.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub id: String,
    regex: String,
    pub keywords: Vec<String>,
    /// Least Shannon entropy of the value in bits per character.
    #[serde(default)]
    pub entropy: f64,
    #[serde(default)]
    pub check: Check,
    /// Number of the capture group that holds the value; 0 for the first group that takes part in the match.
    #[serde(default)]
    pub group: usize,
    /// Bytes after a keyword within which a match may start that does not contain the keyword.
    #[serde(default)]
    pub near: usize,
    /// Bytes after the start of a keyword within which a match ends; 0 for what the expression allows.
    #[serde(default)]
    reach: usize,
    #[serde(default)]
    allow: Vec<String>,
    #[serde(default)]
    require: Vec<String>,
    #[serde(skip)]
    compiled: OnceLock<Option<Compiled>>,
}

/// A rule with its compiled expression.
pub struct Compiled {
    pub regex: Regex,
    /// Bytes after the start of a keyword within which a match ends.
    pub reach: usize,
    /// Whether a match may extend beyond `reach`.
    pub unbounded: bool,
    allow: Vec<Regex>,
    require: Vec<Regex>,
}

#[derive(Deserialize)]
struct Imported {
    rules: Vec<Rule>,
}

#[derive(Deserialize)]
struct Own {
    rules: Vec<Rule>,
    prefixes: std::collections::BTreeMap<String, Vec<String>>,
    names: Names,
}

/// The words of names that hold secrets; see `own.toml`.
#[derive(Deserialize, Default)]
pub struct Names {
    pub password: Vec<String>,
    pub secret: Vec<String>,
    pub key_of: Vec<String>,
    pub words: Vec<String>,
    pub about: Vec<String>,
    pub public: Vec<String>,
    pub technical: Vec<String>,
}

/// All rules.
pub struct RuleSet {
    pub rules: Vec<Rule>,
    pub names: Names,
    examples: FxHashSet<[u8; 16]>,
}

/// The rules, parsed on first use.
pub static RULES: LazyLock<RuleSet> = LazyLock::new(RuleSet::load);
/// Cost of a letter after another letter, in half bits.
pub static BIGRAM_COSTS: LazyLock<[[u8; 26]; 26]> = LazyLock::new(|| {
    let mut costs = [[0; 26]; 26];
    for (row, line) in costs.iter_mut().zip(BIGRAMS.lines().filter(|line| !line.starts_with('#'))) {
        for (cost, digit) in row.iter_mut().zip(line.chars()) {
            *cost = digit.to_digit(36).unwrap_or(0) as u8;
        }
    }
    costs
});

impl RuleSet {
    /// Parses the embedded files. Panics if one is invalid, which a test excludes.
    fn load() -> Self {
        let imported: Imported = toml::from_str(BETTERLEAKS).expect("betterleaks.toml");
        let own: Own = toml::from_str(OWN).expect("own.toml");
        let mut rules = own.rules;
        for (id, prefixes) in &own.prefixes {
            rules.extend(prefixes.iter().filter_map(|prefix| prefixed(id, prefix)));
        }
        rules.extend(imported.rules);
        let examples = EXAMPLES.lines().filter_map(digest_of_line).collect();
        RuleSet { rules, names: own.names, examples }
    }

    /// Returns whether the value is one of the example keys that providers publish.
    pub fn is_example(&self, value: &[u8]) -> bool {
        self.examples.contains(&atlas_facts::content_digest::digest_of(value))
    }
}

impl Rule {
    /// Returns the compiled rule, or `None` if its expression is invalid, which a test excludes.
    pub fn compiled(&self) -> Option<&Compiled> {
        self.compiled.get_or_init(|| self.compile()).as_ref()
    }

    fn compile(&self) -> Option<Compiled> {
        let longest = regex_syntax::ParserBuilder::new()
            .unicode(false)
            .utf8(false)
            .build()
            .parse(&self.regex)
            .ok()?
            .properties()
            .maximum_len();
        Some(Compiled {
            regex: expression(&self.regex)?,
            reach: if self.reach > 0 { self.reach } else { longest.map_or(MAX_REACH, |length| length.min(MAX_REACH)) },
            unbounded: longest.is_none_or(|length| length > MAX_REACH),
            allow: self.allow.iter().map(|source| expression(source)).collect::<Option<_>>()?,
            require: self.require.iter().map(|source| expression(source)).collect::<Option<_>>()?,
        })
    }
}

impl Compiled {
    /// Returns whether the value satisfies the rule's own conditions.
    pub fn accepts(&self, value: &[u8]) -> bool {
        !self.allow.iter().any(|regex| regex.is_match(value)) && self.require.iter().all(|regex| regex.is_match(value))
    }
}

/// Compiles an expression over bytes: names and values of secrets are ASCII, and a file need not be UTF-8.
pub fn expression(source: &str) -> Option<Regex> {
    Regex::builder().syntax(syntax::Config::new().unicode(false).utf8(false)).build(source).ok()
}

/// Creates the rule for an entry `prefix|least`.
fn prefixed(id: &str, text: &str) -> Option<Rule> {
    let (prefix, least) = text.rsplit_once('|')?;
    let escaped = regex_syntax::escape(prefix);
    Some(Rule {
        id: format!("{id}-token"),
        regex: format!(r"(?:^|[^A-Za-z0-9_.-]|\\[nrt])({escaped}[A-Za-z0-9_~.-]{{{least},{LONGEST_TOKEN}}}={{0,2}})"),
        keywords: vec![prefix.to_ascii_lowercase()],
        entropy: 3.0,
        check: Check::Random,
        group: 0,
        near: 0,
        reach: 0,
        allow: Vec::new(),
        require: Vec::new(),
        compiled: OnceLock::new(),
    })
}

fn digest_of_line(line: &str) -> Option<[u8; 16]> {
    let mut digest = [0; 16];
    if line.len() != 32 {
        return None;
    }
    for (index, byte) in digest.iter_mut().enumerate() {
        *byte = u8::from_str_radix(line.get(2 * index..2 * index + 2)?, 16).ok()?;
    }
    Some(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_can_be_compiled() {
        assert!(RULES.rules.len() > 500);
        for rule in &RULES.rules {
            assert!(rule.compiled().is_some(), "{}: {}", rule.id, rule.regex);
            assert!(!rule.keywords.is_empty(), "{}", rule.id);
            assert!(
                rule.keywords.iter().all(|word| word.len() > 1 && *word == word.to_ascii_lowercase()),
                "{}",
                rule.id
            );
        }
    }

    /// Cached facts were masked by earlier rules. If this test fails, raise `FACTS_VERSION` and update both values
    /// here.
    #[test]
    fn changed_rules_raise_the_version_of_facts() {
        let mut hasher = blake3::Hasher::new();
        RULE_FILES.iter().for_each(|text| {
            hasher.update(text.as_bytes());
        });
        let digest = atlas_facts::content_digest::hex(&hasher.finalize().as_bytes()[..8]);
        assert_eq!((atlas_facts::FACTS_VERSION, digest.as_str()), (35, "f35de5c3e4cf80a2"));
    }

    #[test]
    fn the_table_of_letters_is_whole() {
        assert!(BIGRAM_COSTS.iter().flatten().filter(|cost| **cost > 0).count() > 600);
        let (common, rare) = (BIGRAM_COSTS[19][7], BIGRAM_COSTS[16][25]);
        assert!(common * 2 < rare, "th {common} qz {rare}");
    }
}
