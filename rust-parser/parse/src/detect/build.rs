//! Turns the matches of rules into detections, once all definitions of the file are known.

use std::collections::BTreeMap;

use crate::detect::annotated::RESULT;
use crate::detect::arguments::{Argument, positional, value_of};
use crate::detect::commands::VARIANTS;
use crate::detect::detecting::{Candidate, Detecting};
use crate::detect::draft::{Draft, MAX_OF_ONE};
use crate::detect::names::{singular, split_methods};
use crate::detect::outer::Outer;
use crate::detect::rules::{Rule, RuleKind, Slot, capture_of};
use crate::flat_tree::NodeId;
use crate::query::matching::first;
use crate::walk::state::Walk;
use atlas_facts::route_path::{SHALLOW, has_constant, join, template_of, without_shallow_prefix};
use atlas_facts::{DefId, Detection, DetectionKind, Handler, Kind};
use atlas_languages::deadline::Deadline;

/// Number of matches between two checks of the deadline.
const CLOCK_INTERVAL: usize = 64;

impl Walk<'_> {
    /// Records what the rules found. Called after the walk. Returns whether the deadline let it record everything.
    pub(crate) fn record_detections(&mut self, deadline: Deadline) -> bool {
        let mut in_time = true;
        if let Some(detecting) = self.detecting.take() {
            let Detecting { rules, candidates, .. } = detecting;
            let mut drafts = Vec::new();
            for (number, candidate) in candidates.iter().enumerate() {
                if number.is_multiple_of(CLOCK_INTERVAL) && deadline.has_passed() {
                    in_time = false;
                    break;
                }
                drafts.extend(self.draft_of(&rules.rules[candidate.rule as usize], candidate));
            }
            let drafts = self.with_created(without_shadowed(drafts));
            let outer = Outer::of(&drafts);
            for (number, draft) in drafts.iter().enumerate() {
                if number.is_multiple_of(CLOCK_INTERVAL) && deadline.has_passed() {
                    in_time = false;
                    break;
                }
                self.record_draft(draft, &outer);
            }
        }
        self.record_file_routes();
        in_time
    }

    fn draft_of<'r>(&mut self, rule: &'r Rule, candidate: &Candidate) -> Option<Draft<'r>> {
        let settings = &rule.settings;
        let node = candidate.node;
        let captured = |name: &str| capture_of(name).and_then(|capture| first(&candidate.captures, capture));
        let name_node = captured("name");
        let name = name_node.map(|node| self.text_of(node).into_owned()).unwrap_or_default();
        let list = captured("arguments");
        let arguments = list.map(|list| self.arguments_in(list)).unwrap_or_default();
        let annotated = match settings.on.as_str() {
            "" if settings.within != "definition" => None,
            on => {
                let (definition, place) = self.annotated_definition(node)?;
                let is_class = crate::walk::definitions::holds_members(self.kind_of(definition));
                if (on == "class") != is_class && !on.is_empty() || self.has_annotation(place, &settings.unless) {
                    return None;
                }
                Some((definition, place))
            }
        };
        if settings.kind == RuleKind::Reads && self.is_written(node) {
            return None;
        }
        let is_in = |names: &[String]| self.is_in_class(node, names);
        if (!settings.class.is_empty() && !is_in(&settings.class)) || is_in(&settings.unless_class) {
            return None;
        }
        let receiver = captured("receiver");
        if !settings.held.is_empty() && !receiver.is_some_and(|node| self.holds_any(node, &settings.held)) {
            return None;
        }
        let variants = match annotated.filter(|_| has_slot(&settings.event, VARIANTS)) {
            Some((definition, _)) => self.command_variants(definition),
            None => Vec::new(),
        };
        let mut paths = match settings.kind {
            _ if !variants.is_empty() => variants.iter().map(|(_, name)| name.clone()).collect(),
            kind if kind.is_named() => self.event_names(rule, &arguments, annotated, captured, node),
            RuleKind::Injects => vec![String::new()],
            _ => self.paths(rule, &arguments, captured)?,
        };
        if paths.is_empty() {
            return None;
        }
        let mut handlers = self.handlers(rule, &name, &arguments, annotated, captured, node);
        if settings.kind == RuleKind::Route && handlers.is_empty() {
            return None;
        }
        if !settings.expand.is_empty() {
            (paths, handlers) = self.expanded(rule, &paths, &arguments, captured, node);
        }
        for path in &mut paths {
            let class = annotated.map(|(definition, _)| definition);
            self.replace_tokens(path, class);
            if !settings.suffix.is_empty() {
                let last = singular(path.rsplit('/').next().unwrap_or(path));
                *path = join(path, &settings.suffix.replace("{singular}", &last).replace("{shallow}", SHALLOW));
            }
            let shallow = arguments.iter().find(|one| one.keyword.as_deref() == Some("shallow"));
            if settings.kind == RuleKind::Scope && shallow.is_some_and(|one| self.bytes_of(one.value) == b"true") {
                *path = join(path, SHALLOW);
            }
            if let Some(place) = self.place_of(&arguments, &settings.places) {
                *path = join(place, path);
            }
        }
        let children = match value_of(&arguments, &settings.child, captured) {
            Some(node) if self.kind_name(node) == "macro_invocation" => self.listed_handlers(node),
            Some(node) => vec![self.handler_of(node, "path")],
            None if has_slot(&settings.child, RESULT) => vec![self.result_type(annotated?.0)?],
            None if settings.kind == RuleKind::Mount => return None,
            None if settings.kind == RuleKind::Scope && receiver.is_some() => vec![self.given_function(&arguments)],
            None => vec![Handler::None],
        };
        let tree = self.tree;
        let span = |node: NodeId| (node, tree.node(node).next);
        let within = match settings.within.as_str() {
            "definition" => annotated.map(|(_, place)| span(place)),
            "arguments" => list.map(span),
            "body" => captured("body").map(span),
            "chain" => Some(span(self.chain_around(node))),
            _ => Some(span(node)),
        }?;
        Some(Draft {
            rule,
            node,
            within,
            receiver,
            line: self.tree.line(name_node.unwrap_or(node)),
            scope: candidate.scope,
            paths,
            handlers,
            children,
            variants: variants.into_iter().map(|(variant, _)| variant).collect(),
            owner: self.owner_of(settings, receiver, annotated),
        })
    }

    /// Returns the paths of a match, or `None` if they are not known.
    fn paths(
        &self,
        rule: &Rule,
        arguments: &[Argument],
        captured: impl Fn(&str) -> Option<NodeId>,
    ) -> Option<Vec<String>> {
        let settings = &rule.settings;
        if has_slot(&settings.path, "$chain") {
            return Some(vec![String::new()]);
        }
        let nodes = match value_of(arguments, &settings.path, captured) {
            Some(node) => vec![node],
            None if has_slot(&settings.path, "$all") => positional(arguments),
            None if has_slot(&settings.path, "$rest") => positional(arguments).into_iter().skip(1).collect(),
            None => Vec::new(),
        };
        if nodes.is_empty() {
            return settings.optional.then(|| vec![String::new()]);
        }
        let mut paths: Vec<String> = nodes.into_iter().flat_map(|node| self.templates_of(node)).collect();
        if settings.url {
            paths.truncate(MAX_OF_ONE);
            return (!paths.is_empty()).then_some(paths);
        }
        // An address of another server.
        paths.retain(|path| !path.contains("://"));
        if settings.absolute {
            paths.retain(|path| {
                path.starts_with(['/', '*', '{'])
                    || (has_constant(path) && path.contains('/'))
                    || split_methods(path).is_some()
            });
        }
        for path in &mut paths {
            match settings.regex {
                true => *path = template_of(path),
                // the end of a path of Go's `net/http`
                false => path.truncate(path.strip_suffix("{$}").unwrap_or(path).len()),
            }
        }
        paths.truncate(MAX_OF_ONE);
        (!paths.is_empty()).then_some(paths)
    }

    /// Returns the handlers that a macro lists: `routes!(users::list, users::create)`.
    fn listed_handlers(&mut self, node: NodeId) -> Vec<Handler> {
        let text = self.text_of(node);
        let inner = text.split_once('!').map_or("", |(_, rest)| rest.trim());
        let inner = inner.trim_matches(|letter: char| "()[]{}".contains(letter));
        let is_path = |part: &str| part.chars().all(|letter| letter.is_alphanumeric() || "_:".contains(letter));
        let parts = inner.split(',').map(str::trim).filter(|part| !part.is_empty() && is_path(part));
        let names: Vec<String> = parts.take(MAX_OF_ONE).map(str::to_owned).collect();
        names.into_iter().map(|name| Handler::Text(self.builder.owned_name(name))).collect()
    }

    /// Returns the function among the arguments of a scope, which receives the router.
    fn given_function(&mut self, arguments: &[Argument]) -> Handler {
        let is_function = |kind: &str| kind.contains("func") || kind.contains("lambda") || kind.contains("closure");
        let given = arguments.iter().map(|argument| argument.value).rfind(|&node| is_function(self.kind_name(node)));
        given.map_or(Handler::None, |node| self.handler_of(node, ""))
    }

    pub(super) fn name_of_definition(&self, definition: DefId) -> String {
        let definition = &self.builder.facts.definitions[definition as usize];
        self.builder.text(definition.name).to_owned()
    }

    /// Returns what comes before a path: `get :search, on: :collection`.
    fn place_of<'s>(&self, arguments: &[Argument], places: &'s BTreeMap<String, String>) -> Option<&'s str> {
        let on = arguments.iter().find(|one| one.keyword.as_deref() == Some("on")).filter(|_| !places.is_empty())?;
        places.get(&self.string_of(on.value)?).map(String::as_str)
    }

    /// Replaces `[controller]` and `[action]`.
    fn replace_tokens(&self, path: &mut String, definition: Option<DefId>) {
        if !path.contains('[') {
            return;
        }
        let Some(definition) = definition else { return };
        let is_method = matches!(self.kind_of(definition), Kind::Method);
        let class = if is_method { self.builder.facts.definitions[definition as usize].parent } else { definition };
        let class = self.name_of_definition(class);
        let class = class.strip_suffix("Controller").unwrap_or(&class);
        *path = path.replace("[controller]", class);
        if is_method {
            *path = path.replace("[action]", &self.name_of_definition(definition));
        }
    }

    fn record_draft(&mut self, draft: &Draft, outer: &Outer) {
        let settings = &draft.rule.settings;
        let kind = match settings.kind {
            RuleKind::Scope if draft.children.iter().any(|child| *child != Handler::None) => DetectionKind::Scope,
            RuleKind::Scope => return,
            RuleKind::Route => DetectionKind::Route,
            RuleKind::Router => DetectionKind::Router,
            RuleKind::Mount => DetectionKind::Mount,
            RuleKind::Handles => DetectionKind::Handles,
            RuleKind::Emits => DetectionKind::Emits,
            RuleKind::Injects => DetectionKind::Injects,
            RuleKind::Requests => DetectionKind::Requests,
            RuleKind::Client => DetectionKind::Client,
            RuleKind::Reads => DetectionKind::Reads,
            RuleKind::Sets => DetectionKind::Sets,
        };
        let is_event =
            !matches!(kind, DetectionKind::Route | DetectionKind::Router | DetectionKind::Mount | DetectionKind::Scope);
        let (prefix, is_prefixed) = match settings.kind.is_named() {
            true => (String::new(), false),
            false => outer.prefix_of(self, draft),
        };
        if has_slot(&settings.path, "$chain") && !is_prefixed {
            return;
        }
        let holder = match draft.owner {
            Some(function) => (function, None),
            None => self.holder(draft.node, draft.scope),
        };
        let holder = (holder.0, holder.1.map_or(0, |node| self.name_of(node)));
        let receiver = draft.receiver.map(|node| self.chain_base(node)).map(|node| self.expression(node));
        let framework = self.builder.owned_name(draft.rule.framework.clone());
        let packages = self.builder.owned_name(draft.rule.packages.clone());
        let receivers = self.builder.owned_name(draft.rule.receivers.clone());
        for (number, path) in draft.paths.iter().enumerate() {
            let variant = draft.variants.get(number).map(|&variant| Handler::Definition(variant));
            for (methods, handler, more) in draft.handlers.iter().take(MAX_OF_ONE) {
                let (methods, path) = match split_methods(path).filter(|_| !is_event) {
                    Some((method, path)) => (method.to_owned(), path),
                    None => (methods.clone(), path.as_str()),
                };
                let is_absolute = settings.replaces && path.starts_with(['/', '~']);
                let path = match is_event {
                    true if prefix.is_empty() => path.to_owned(),
                    true => join(&prefix, path),
                    false if is_absolute && kind == DetectionKind::Route => join("", path.trim_start_matches('~')),
                    false => without_shallow_prefix(&join(&join(&prefix, path), more)),
                };
                let path = self.builder.owned_name(path);
                let methods = self.builder.owned_name(methods);
                let detections = draft.children.iter().map(|&child| Detection {
                    kind,
                    framework,
                    scope: draft.scope,
                    line: draft.line,
                    receiver,
                    holder,
                    packages,
                    receivers,
                    methods,
                    path,
                    handler: variant.unwrap_or(*handler),
                    child,
                    replaces: settings.replaces,
                });
                self.builder.facts.detections.extend(detections);
            }
        }
    }
}

fn has_slot(slots: &[Slot], name: &str) -> bool {
    slots.iter().any(|slot| slot.is_keyword(name))
}

/// Keeps one detection of several rules of a framework for the same node: the first.
fn without_shadowed(drafts: Vec<Draft>) -> Vec<Draft> {
    let mut seen = rustc_hash::FxHashSet::default();
    drafts
        .into_iter()
        .filter(|draft| {
            let kind = draft.rule.settings.kind as u8;
            seen.insert((draft.node, kind, draft.rule.framework.clone()))
        })
        .collect()
}
