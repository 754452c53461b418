//! Methods, handlers and names of events of a match: from arguments, annotations, chains of calls and strings.

use crate::detect::arguments::{Argument, positional, value_of};
use crate::detect::commands::kebab;
use crate::detect::created::CREATED;
use crate::detect::draft::{Handling, MAX_OF_ONE};
use crate::detect::names::{controller, has_name, is_method, named_handler};
use crate::detect::rules::{Rule, RuleKind, Slot};
use crate::detect::text::is_list;
use crate::detect::variables::FIELD;
use crate::flat_tree::NodeId;
use crate::walk::state::Walk;
use atlas_facts::route_path::join;
use atlas_facts::{DefId, Handler};

/// In a rule's `outer`: the method is the name of a call on the result that `verbs` has.
const VERBS_AROUND: &str = "$verbs";

/// Names that routers give to HTTP methods.
const VERBS: [&str; 9] = ["get", "post", "put", "patch", "delete", "head", "options", "any", "all"];

impl Walk<'_> {
    /// Returns methods, handlers and further paths: usually one.
    pub(super) fn handlers(
        &mut self,
        rule: &Rule,
        name: &str,
        arguments: &[Argument],
        annotated: Option<(DefId, NodeId)>,
        captured: impl Fn(&str) -> Option<NodeId>,
        node: NodeId,
    ) -> Vec<Handling> {
        let settings = &rule.settings;
        let found = value_of(arguments, &settings.handler, &captured);
        if let Some(node) = found {
            let text = self.text_of(node);
            let is_skipped =
                |word: &String| if word.ends_with('(') { text.starts_with(word) } else { text.ends_with(word) };
            let is_named = settings.handlers.is_empty() || has_name(&settings.handlers, text.as_bytes());
            if settings.skip.iter().any(is_skipped) || !is_named {
                return Vec::new();
            }
        }
        if settings.chained {
            let parts = found.map(|node| self.chained(node)).unwrap_or_default();
            return parts
                .into_iter()
                .map(|(verb, node)| {
                    let handler = node.map_or(Handler::None, |node| self.handler_of(node, ""));
                    (verb, handler, String::new())
                })
                .collect();
        }
        if let Some(parts) = found.and_then(|node| self.mapped_actions(node)) {
            return parts;
        }
        let is_route = settings.kind == RuleKind::Route && settings.notation.is_empty();
        let is_path = found.is_some() && found == value_of(arguments, &settings.path, &captured);
        if is_route && !settings.handler.is_empty() && (found.is_none() || is_path) {
            return Vec::new();
        }
        let handler = match (found, annotated) {
            _ if settings.kind == RuleKind::Router => self.handler_of(node, ""),
            (Some(node), _) => self.handler_of(node, &settings.notation),
            (None, None) if settings.notation == "rails" => self.named_action(arguments),
            (None, Some((definition, _))) => Handler::Definition(definition),
            (None, None) => Handler::None,
        };
        let is_event = settings.kind.is_named();
        let named = |one: &&Argument| {
            one.keyword.as_deref().is_some_and(|word| settings.method.iter().any(|slot| slot.is_keyword(word)))
        };
        // `method = "GET", method = "HEAD"`
        let repeated: Vec<NodeId> = arguments.iter().filter(named).map(|one| one.value).collect();
        let mut methods = match value_of(arguments, &settings.method, &captured) {
            Some(_) if repeated.len() > 1 => {
                repeated.iter().flat_map(|&node| self.words_of(node)).collect::<Vec<_>>().join(" ")
            }
            Some(node) => match self.words_of(node).join(" ") {
                words if words.is_empty() => "ANY".to_owned(),
                words => words,
            },
            None => String::new(),
        };
        if !settings.outer.is_empty() {
            let mut here = node;
            while let Some((call, called, list)) = self.call_around(here) {
                match list {
                    _ if settings.outer == VERBS_AROUND => {
                        methods = settings.verbs.get(&called).cloned().unwrap_or(methods);
                    }
                    Some(list) if called == settings.outer => methods = self.words_of(list).join(" "),
                    _ => {}
                }
                here = call;
            }
        }
        if methods.is_empty() {
            methods = match settings.verbs.get(name) {
                _ if is_event => settings.event_kind.clone(),
                Some(verb) => verb.clone(),
                None if !settings.methods.is_empty() => settings.methods.clone(),
                None => name.to_ascii_uppercase(),
            };
        }
        if settings.kind == RuleKind::Client && !methods.split(' ').all(is_method) {
            methods = "ANY".to_owned();
        }
        vec![(methods, handler, String::new())]
    }

    /// Reads `Users.as_view({"get": "list", "post": "create"})`.
    fn mapped_actions(&mut self, node: NodeId) -> Option<Vec<Handling>> {
        let callee = self.child(node, "function")?;
        if self.bytes_of(self.child(callee, "attribute")?) != b"as_view" {
            return None;
        }
        let class = self.text_of(self.object_of(callee)?);
        let class = class.rsplit('.').next().unwrap_or("").to_owned();
        let arguments = self.arguments_in(self.child(node, "arguments")?);
        let pairs = arguments.iter().filter(|one| one.value > node);
        let pairs: Vec<(String, String)> = pairs
            .filter_map(|one| Some((one.keyword.clone()?, self.string_of(one.value)?)))
            .filter(|(verb, _)| VERBS.contains(&verb.as_str()))
            .collect();
        let handling = |(verb, action): (String, String)| {
            let text = self.builder.owned_name(format!("{class}.{action}"));
            (verb.to_ascii_uppercase(), Handler::Text(text), String::new())
        };
        let found: Vec<Handling> = pairs.into_iter().map(handling).collect();
        (!found.is_empty()).then_some(found)
    }

    /// Reads `controller: "users", action: "show"`.
    fn named_action(&mut self, arguments: &[Argument]) -> Handler {
        let named = |word: &str| {
            let found = arguments.iter().find(|one| one.keyword.as_deref() == Some(word))?;
            self.string_of(found.value)
        };
        match (named("controller"), named("action")) {
            (Some(name), Some(action)) => {
                Handler::Text(self.builder.owned_name(format!("{}.{action}", controller(&name))))
            }
            _ => Handler::None,
        }
    }

    /// Returns the strings or the last parts of the names in a node, in upper case: HTTP methods.
    fn words_of(&self, node: NodeId) -> Vec<String> {
        let strings = self.strings_of(node);
        let texts = if strings.is_empty() {
            let text = self.text_of(node);
            text.split(',').map(|part| part.rsplit(['.', ':']).next().unwrap_or("").to_owned()).collect()
        } else {
            strings
        };
        let is_word = |letter: char| letter.is_ascii_alphabetic();
        texts
            .iter()
            .map(|text| text.trim_matches(|letter| !is_word(letter)).to_ascii_uppercase())
            .map(|text| text.strip_prefix("METHOD").unwrap_or(&text).to_owned())
            .filter(|text| !text.is_empty() && text.chars().all(is_word))
            .collect()
    }

    /// Returns the handler that a node denotes.
    pub(super) fn handler_of(&mut self, node: NodeId, notation: &str) -> Handler {
        if let Some(definition) = self.definition_of_node(node) {
            return Handler::Definition(definition);
        }
        if !notation.is_empty() {
            if let Some(text) = self.class_and_method(node) {
                return Handler::Text(self.builder.owned_name(text));
            }
            if let Some(text) = self.string_of(node).filter(|_| self.kind_name(node).contains("string")) {
                return match named_handler(&text, notation) {
                    Some(text) => Handler::Text(self.builder.owned_name(text)),
                    None => Handler::None,
                };
            }
        }
        match self.expression(node) {
            0 => Handler::None,
            expr => Handler::Expr(expr),
        }
    }

    /// Reads `[Users::class, 'show']` and `Users::class`.
    fn class_and_method(&self, node: NodeId) -> Option<String> {
        let text = self.text_of(node);
        let (class, rest) = text.trim_start_matches('[').split_once("::class")?;
        let class = class.rsplit('\\').next().unwrap_or(class).trim();
        let method = rest.trim_matches(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
        Some(format!("{class}.{}", if method.is_empty() { "__invoke" } else { method }))
    }

    /// Returns the methods and handlers of `get(list).post(create)` and `web::get().to(list)`.
    fn chained(&self, node: NodeId) -> Vec<(String, Option<NodeId>)> {
        let mut found = Vec::new();
        let mut here = Some(node);
        let mut pending = None;
        while let Some(call) = here {
            let Some(callee) = self.child(call, "function") else { break };
            let argument = self.child(call, "arguments").and_then(|list| self.contents(list).next());
            here = self.object_of(callee);
            let text = self.text_of(callee);
            let name = text.rsplit(['.', ':']).next().unwrap_or("").trim().to_owned();
            match name.as_str() {
                "to" => pending = argument,
                name if VERBS.contains(&name) => {
                    let verb = if matches!(name, "any" | "all") { "ANY".to_owned() } else { name.to_ascii_uppercase() };
                    found.push((verb, argument.or(pending.take())));
                }
                _ => {}
            }
        }
        if found.is_empty() && pending.is_some() {
            found.push(("ANY".to_owned(), pending));
        }
        found.reverse();
        found
    }

    /// Returns the routes of a resource: each with its path in the place of the empty one.
    pub(super) fn expanded(
        &mut self,
        rule: &Rule,
        paths: &[String],
        arguments: &[Argument],
        captured: impl Fn(&str) -> Option<NodeId>,
        node: NodeId,
    ) -> (Vec<String>, Vec<Handling>) {
        let named = |word: &str| {
            let found = arguments.iter().find(|one| one.keyword.as_deref() == Some(word));
            found.map(|one| self.strings_of(one.value)).or_else(|| self.called_with(node, word))
        };
        let (only, except) = (named("only"), named("except").unwrap_or_default());
        let handler = value_of(arguments, &rule.settings.handler, captured);
        let class = handler.and_then(|node| self.class_and_method(node));
        let class = class.and_then(|text| text.split_once('.').map(|(class, _)| class.to_owned()));
        // `new UserController()`
        let made = handler.and_then(|node| self.child(node, "type"));
        let class = class.or_else(|| made.map(|node| self.text_of(node).into_owned()));
        let class = class.or_else(|| named("controller")?.first().map(|name| controller(name)));
        let viewset = handler.filter(|_| class.is_none()).map(|node| self.handler_of(node, ""));
        let mut handlers = Vec::new();
        for path in paths {
            let own = class.clone().unwrap_or_else(|| controller(path));
            for part in &rule.settings.expand {
                let action = &part.action;
                if only.as_ref().is_some_and(|only| !only.contains(action)) || except.contains(action) {
                    continue;
                }
                let handler = match viewset {
                    Some(handler) if handler != Handler::None => handler,
                    _ => Handler::Text(self.builder.owned_name(format!("{own}.{action}"))),
                };
                handlers.push((part.methods.clone(), handler, join(path, &part.path)));
            }
        }
        (vec![String::new()], handlers)
    }

    /// Returns the strings with which a method is called on the result of a node: `Route::resource(...)->only([...])`.
    fn called_with(&self, node: NodeId, method: &str) -> Option<Vec<String>> {
        let mut here = node;
        while let Some((call, called, list)) = self.call_around(here) {
            if called == method {
                return list.map(|list| self.contents(list).flat_map(|part| self.strings_of(part)).collect());
            }
            here = call;
        }
        None
    }

    pub(super) fn event_names(
        &self,
        rule: &Rule,
        arguments: &[Argument],
        annotated: Option<(DefId, NodeId)>,
        captured: impl Fn(&str) -> Option<NodeId>,
        node: NodeId,
    ) -> Vec<String> {
        let name = captured("name").map(|name| self.text_of(name).into_owned()).unwrap_or_default();
        let inside = self.names_inside(node, &rule.settings.inside);
        if !inside.is_empty() {
            return inside;
        }
        let last = |text: &str| {
            let text = text.trim_end_matches(".class").trim_end_matches("::class");
            text.rsplit(['.', ':', '>', '\\']).next().unwrap_or("").trim().to_owned()
        };
        let is_command = rule.settings.event_kind == "command";
        for slot in &rule.settings.event {
            let found = match slot {
                Slot::Keyword(word) if word == "$name" => vec![name.clone()],
                Slot::Keyword(word) if word == "$all" => {
                    positional(arguments).into_iter().flat_map(|node| self.strings_of(node)).collect()
                }
                // Replaced by the names of the command that the receiver is.
                Slot::Keyword(word) if word == CREATED => vec![CREATED.to_owned()],
                Slot::Keyword(word) if word == "$receiver" => captured("receiver")
                    .map(|node| self.signal_of(node).unwrap_or_else(|| last(&self.text_of(node))))
                    .into_iter()
                    .collect(),
                Slot::Keyword(word) if word == "$handler" => {
                    let name = annotated.map(|(definition, _)| self.name_of_definition(definition));
                    name.map(|name| if is_command { kebab(&name) } else { name }).into_iter().collect()
                }
                Slot::Keyword(word) if word == "$parameter" => {
                    annotated.and_then(|(definition, _)| self.parameter_type(definition)).into_iter().collect()
                }
                Slot::Keyword(word) if word == FIELD => self.field_variable(node).into_iter().collect(),
                slot => match value_of(arguments, std::slice::from_ref(slot), &captured) {
                    Some(node) => match self.strings_of(node) {
                        found if !found.is_empty() => found,
                        _ if rule.settings.literal || self.kind_name(node).contains("string") => Vec::new(),
                        _ => self.names_in(node).iter().map(|text| last(text)).collect(),
                    },
                    None => Vec::new(),
                },
            };
            // `get [options] <key>`: the name of a command is the first word of its usage.
            let cut = |text: String| match is_command {
                true => text.split_whitespace().next().unwrap_or_default().to_owned(),
                false => text,
            };
            let is_name = |text: &String| !text.is_empty() && text.len() <= 120 && !text.contains(['\n', '(', '{']);
            let found: Vec<String> = found.into_iter().map(cut).filter(is_name).take(MAX_OF_ONE).collect();
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    /// Returns the texts of the names that a node stands for: itself, or the elements of a list.
    fn names_in(&self, node: NodeId) -> Vec<String> {
        if self.kind_name(node) == "object_pattern" {
            return self.pattern_keys(node);
        }
        if is_list(self.kind_name(node)) {
            return self.contents(node).map(|part| self.text_of(part).into_owned()).collect();
        }
        vec![self.text_of(node).into_owned()]
    }
}
