//! Routes and commands that the path of a file determines: `app/users/[id]/route.ts`, `management/commands/x.py`.

use crate::detect::rules::FileRule;
use crate::walk::state::Walk;
use atlas_facts::{Detection, DetectionKind, Handler, flags};

const EXPORTED_METHODS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

impl Walk<'_> {
    /// Records the routes of a file whose path is one.
    pub(super) fn record_file_routes(&mut self) {
        let Some(rules) = self.file_rules else { return };
        for (framework, rule) in rules {
            let Some(path) = route_path(&self.builder.facts.path, rule) else { continue };
            for (methods, definition) in self.file_handlers(rule) {
                let handler = Handler::Definition(definition);
                let line = self.builder.facts.definitions[definition as usize].name_line;
                let kind = match rule.event_kind.is_empty() {
                    true => DetectionKind::Route,
                    false => DetectionKind::Handles,
                };
                let path = match kind {
                    DetectionKind::Handles => path.trim_matches('/').to_owned(),
                    _ => path.clone(),
                };
                let detection = Detection {
                    kind,
                    framework: self.builder.owned_name(framework.clone()),
                    scope: 0,
                    line,
                    receiver: None,
                    holder: (0, 0),
                    packages: 0,
                    receivers: 0,
                    methods: self.builder.owned_name(methods),
                    path: self.builder.owned_name(path),
                    handler,
                    child: Handler::None,
                    replaces: false,
                };
                self.builder.facts.detections.push(detection);
            }
        }
    }

    fn file_handlers(&self, rule: &FileRule) -> Vec<(String, u32)> {
        let facts = &self.builder.facts;
        let top = facts.definitions.iter().enumerate().skip(1).filter(|(_, one)| one.parent == 0);
        let named = top.map(|(id, one)| (id as u32, &facts.strings[one.name as usize], one.flags));
        match rule.handlers.as_str() {
            "exports" => named
                .filter(|(_, name, flag)| EXPORTED_METHODS.contains(name) && flag & flags::EXPORTED != 0)
                .map(|(id, name, _)| (name.to_owned(), id))
                .collect(),
            "default" => named
                .filter(|(_, _, flag)| flag & flags::DEFAULT_EXPORT == flags::DEFAULT_EXPORT)
                .map(|(id, _, _)| (rule.methods.clone(), id))
                .take(1)
                .collect(),
            wanted => {
                let methods = if rule.event_kind.is_empty() { &rule.methods } else { &rule.event_kind };
                named.filter(|(_, name, _)| *name == wanted).map(|(id, _, _)| (methods.clone(), id)).take(1).collect()
            }
        }
    }
}

/// Returns the route of a path: the part below the root, with parameters as `{name}`.
pub(super) fn route_path(path: &str, rule: &FileRule) -> Option<String> {
    let below = rule.roots.iter().find_map(|root| {
        let inner = format!("/{root}/");
        path.strip_prefix(&inner[1..]).or_else(|| path.find(&inner).map(|at| &path[at + inner.len()..]))
    })?;
    let (folder, file) = below.rsplit_once('/').unwrap_or(("", below));
    // the dots of `[...rest]` begin no ending
    let brackets = file.rfind(']').map_or(0, |at| at + 1);
    let stem = file[brackets..].find('.').map_or(file, |at| &file[..brackets + at]);
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    match rule.stem.as_str() {
        "" if stem.starts_with('_') => return None,
        "" if stem != "index" => parts.push(stem),
        "" => {}
        wanted if wanted != stem => return None,
        _ => {}
    }
    let mut route = rule.prefix.clone();
    for part in parts {
        if part.starts_with(['(', '@']) {
            continue;
        }
        route.push('/');
        match part.strip_prefix('[').and_then(|part| part.strip_suffix(']')) {
            Some(name) => {
                let name = name.trim_matches(['[', ']']);
                match name.strip_prefix("...") {
                    Some(rest) => route.push_str(&format!("{{{rest}*}}")),
                    None => route.push_str(&format!("{{{name}}}")),
                }
            }
            None => route.push_str(part),
        }
    }
    Some(if route.is_empty() { "/".to_owned() } else { route })
}
