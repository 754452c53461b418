//! Regular expressions for Cypher's `=~`: Java syntax on the lazy DFA of `regex-automata`.
//!
//! A match spans the whole string and takes linear time. `regex-syntax` parses the pattern; elements with another
//! meaning in Java (`.`, `\d`, `\b`, ...) are expanded before compilation. Constructs that only one of the two syntaxes
//! has, backreferences and look-around are errors.

mod syntax;

use regex_automata::hybrid::dfa::{Cache, Config, DFA};
use regex_automata::nfa::thompson;
use regex_automata::util::start;
use regex_automata::{Anchored, MatchKind};

/// Largest compiled pattern in bytes.
const MAX_NFA: usize = 1 << 18;
/// Size of the DFA state cache in bytes; the cache is cleared when it is full.
const MAX_CACHE: usize = 1 << 18;
/// Bytes of text between two calls of `check`: 0.2 s if every byte requires a new state of the largest automaton.
const CHUNK: usize = 1 << 12;

/// A compiled pattern.
pub struct CypherRegex {
    dfa: DFA,
}

impl CypherRegex {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// What is wrong in the pattern, and where.
    pub fn new(pattern: &str) -> Result<Self, String> {
        let nfa = thompson::Compiler::new()
            .configure(
                thompson::Config::new().nfa_size_limit(Some(MAX_NFA)).which_captures(thompson::WhichCaptures::None),
            )
            .build_from_hir(&syntax::parse(pattern)?)
            .map_err(|error| match error.size_limit() {
                Some(_) => "it is too large".to_owned(),
                None => error.to_string(),
            })?;
        let config = Config::new().match_kind(MatchKind::All).cache_capacity(MAX_CACHE).skip_cache_capacity_check(true);
        let dfa = DFA::builder().configure(config).build_from_nfa(nfa).map_err(|error| error.to_string())?;
        Ok(Self { dfa })
    }

    /// Creates scratch memory for `is_match`, which can be reused.
    pub fn create_cache(&self) -> Cache {
        self.dfa.create_cache()
    }

    /// Returns the memory of the pattern in bytes, with a full cache.
    pub fn memory(&self) -> usize {
        self.dfa.get_nfa().memory_usage() + self.dfa.get_config().get_cache_capacity()
    }

    /// Returns whether the whole text matches. Calls `check` between chunks of a long text, which may cancel the match.
    pub fn is_match<E>(
        &self,
        cache: &mut Cache,
        text: &str,
        mut check: impl FnMut() -> Result<(), E>,
    ) -> Result<bool, E> {
        let start = start::Config::new().anchored(Anchored::Yes);
        let Ok(mut state) = self.dfa.start_state(cache, &start) else { return Ok(false) };
        for (number, chunk) in text.as_bytes().chunks(CHUNK).enumerate() {
            if number > 0 {
                check()?;
            }
            for &byte in chunk {
                match self.dfa.next_state(cache, state, byte) {
                    Ok(next) if !next.is_dead() => state = next,
                    _ => return Ok(false),
                }
            }
        }
        Ok(self.dfa.next_eoi_state(cache, state).is_ok_and(|end| end.is_match()))
    }
}
