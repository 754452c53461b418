//! Dotted paths of definitions, unique within a file.

use crate::facts_builder::shorten;
use crate::walk::drafts::DefinitionDraft;
use crate::walk::state::Walk;
use atlas_facts::{DefId, Kind, Name};

impl Walk<'_> {
    /// Returns name and dotted path of a definition. The second definition of a name in a scope becomes `name#2`.
    pub fn unique_path(&mut self, draft: &DefinitionDraft) -> (u32, u32) {
        let fallback = match draft.kind {
            Kind::Lambda => "<lambda>",
            _ => "<anonymous>",
        };
        let text = if draft.name.is_empty() { fallback } else { shorten(&draft.name, 1000) };
        let name = self.builder.owned_name(text.to_owned());
        let text = match draft.kind {
            Kind::Extension => format!("{text}.<extension>"),
            _ => text.to_owned(),
        };
        let counted = self.builder.owned_name(text.clone());
        let prefix = self.member_prefix(draft.parent);
        loop {
            let count = self.name_counts.entry((prefix, counted)).or_insert(0);
            *count += 1;
            let last = match *count {
                1 => text.clone(),
                number => format!("{text}#{number}"),
            };
            let path = self.joined(prefix, &last);
            if self.paths.insert(path) {
                return (name, path);
            }
        }
    }

    /// Returns the path to which a scope's members belong: members of an extension belong to the extended type.
    pub fn member_prefix(&mut self, scope: DefId) -> Name {
        if let Some(&prefix) = self.member_prefixes.get(&scope) {
            return prefix;
        }
        let record = &self.builder.facts.definitions[scope as usize];
        if record.kind == Kind::Lambda && self.language.hooks.skips_anonymous() {
            let parent = record.parent;
            return self.member_prefix(parent);
        }
        if record.kind != Kind::Extension {
            return record.path;
        }
        let (parent, name) = (record.parent, self.builder.text(record.name).to_owned());
        let prefix = self.member_prefix(parent);
        self.joined(prefix, &name)
    }

    pub(crate) fn joined(&mut self, prefix: Name, last: &str) -> Name {
        let path = match self.builder.text(prefix) {
            "" => last.to_owned(),
            prefix => format!("{prefix}.{last}"),
        };
        self.builder.owned_name(path)
    }
}
