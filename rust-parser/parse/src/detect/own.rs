//! Which rules of a project's own file apply to a source file. Facts carry a hash of them, so that after a change of the
//! rules only the files that they concern are parsed again.

use crate::detect::files::route_path;
use crate::detect::rules::LanguageRules;
use crate::extract::without_nul_bytes;
use crate::registry::Registry;
use atlas_facts::FileFacts;
use atlas_facts::content_digest::hash_of;
use atlas_scan::files::{Folder, read_capped};
use atlas_scan::searched;
use atlas_secrets as secrets;

impl LanguageRules {
    fn has_own(&self) -> bool {
        self.rules.iter().any(|rule| rule.own.is_some()) || self.own_files.iter().any(Option::is_some)
    }

    /// Returns a hash of the project's own rules that apply to a file, 0 if none does.
    pub fn own_digest(&self, path: &str, source: &[u8]) -> u64 {
        if !self.has_own() {
            return 0;
        }
        let active = self.active(source).unwrap_or_default();
        let rules = self.rules.iter().zip(active).filter(|(_, is_active)| *is_active).filter_map(|(rule, _)| rule.own);
        let files = self.files.iter().zip(&self.own_files);
        let files = files.filter(|((_, rule), _)| route_path(path, rule).is_some()).filter_map(|(_, own)| *own);
        let applied: Vec<u64> = rules.chain(files).collect();
        if applied.is_empty() { 0 } else { hash_of(&applied) }
    }
}

/// Returns whether the facts of an unchanged file below a folder were made with the rules that apply to it now.
pub fn is_read_alike(registry: &Registry, root: &Folder, facts: &FileFacts) -> bool {
    let Some(rules) = registry.detectors().of(&facts.language).filter(|rules| rules.has_own()) else {
        return facts.own_rules == 0;
    };
    let data = root.open_file(&facts.path).and_then(|file| read_capped(file, facts.size.into()));
    let Ok(data) = data else { return false };
    let data = searched(&facts.path, &data);
    let Ok(found) = secrets::find(&data) else { return false };
    facts.own_rules == rules.own_digest(&facts.path, &without_nul_bytes(&secrets::mask(&data, &found)))
}
