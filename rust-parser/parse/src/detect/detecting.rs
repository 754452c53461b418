//! The rules that apply to a file, and the matches of their queries.

use crate::detect::rules::LanguageRules;
use crate::flat_tree::NodeId;
use crate::query::matching::Captures;
use atlas_facts::DefId;

/// The rules that apply to a file, and what they matched so far.
pub struct Detecting<'a> {
    pub rules: &'a LanguageRules,
    pub(super) active: Vec<bool>,
    pub candidates: Vec<Candidate>,
}

/// A match of a rule's query.
pub struct Candidate {
    pub rule: u16,
    pub node: NodeId,
    pub scope: DefId,
    pub captures: Captures,
}

impl<'a> Detecting<'a> {
    /// Returns `None` if no rule of the language applies to the file.
    pub fn new(rules: &'a LanguageRules, source: &[u8]) -> Option<Detecting<'a>> {
        let active = rules.active(source)?;
        Some(Detecting { rules, active, candidates: Vec::new() })
    }
}
