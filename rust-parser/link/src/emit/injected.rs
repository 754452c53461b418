//! Calls through dependency injection: of functions that provide arguments, and of the only implementation of an
//! interface that a container passes to a class.

use crate::edge::EdgeType;
use crate::emit::callees::Site;
use crate::emit::collector::EdgeCollector;
use crate::entity::Entity;
use crate::project::file_entry::{is_callable, is_class};
use crate::project::names::{FILE_NODE, SymbolId};
use crate::strategy::Strategy;
use atlas_facts::{DefId, DetectionKind, Kind, flags};

/// Annotations of classes whose objects a container makes, and of members that it fills.
const CLASS_MARKS: [&str; 16] = [
    "Service",
    "Component",
    "Controller",
    "RestController",
    "Repository",
    "Configuration",
    "Injectable",
    "Resolver",
    "Named",
    "ApplicationScoped",
    "RequestScoped",
    "Singleton",
    "Stateless",
    "Path",
    "WebSocketGateway",
    "SpringBootTest",
];
const MEMBER_MARKS: [&str; 4] = ["Autowired", "Inject", "Resource", "Reference"];
/// Largest number of methods with one name that are examined.
const MAX_NAMED: usize = 200;

impl EdgeCollector<'_, '_> {
    /// Adds calls of the functions that a framework calls to provide arguments.
    pub(super) fn add_injected(&mut self) {
        let query = self.query;
        let facts = query.file.facts().clone();
        for detection in facts.detections.iter().filter(|one| one.kind == DetectionKind::Injects) {
            let found = query.handler_symbol(detection.handler, detection.scope, detection.line);
            if let Some(target) = found.and_then(|(symbol, _)| self.target(symbol)) {
                let source = self.source(detection.scope);
                self.add(source, EdgeType::Calls, target, detection.line, Strategy::Injected);
            }
        }
    }

    /// Adds, for the call of a method of an interface in an injected class, the call of its only implementation.
    pub(super) fn add_implementation(&mut self, method: SymbolId, site: Site) {
        let query = self.query;
        if !self.is_injected(site.scope) || query.index.symbols.get(method).def == FILE_NODE {
            return;
        }
        let (file, definition) = query.definition(method);
        let owner = file.outline(definition.parent);
        let is_abstract = definition.flags & flags::ABSTRACT != 0;
        if owner.kind != Kind::Interface && !(is_class(owner.kind) && is_abstract) {
            return;
        }
        let interface = Entity::Definition(file.symbols[definition.parent as usize]);
        let named = query.named(definition.name);
        if named.len() > MAX_NAMED {
            return;
        }
        let mut found: Vec<SymbolId> = Vec::new();
        for &symbol in named {
            let place = query.index.symbols.get(symbol);
            if symbol == method || place.def == FILE_NODE {
                continue;
            }
            let (file, other) = query.definition(symbol);
            let class = file.symbols[other.parent as usize];
            let is_real = is_callable(other.kind) && other.flags & flags::ABSTRACT == 0 && !file.is_test;
            if is_real && is_class(file.outline(other.parent).kind) && query.ancestors(class).contains(&interface) {
                found.push(symbol);
            }
        }
        let mut classes: Vec<SymbolId> = found
            .iter()
            .map(|&symbol| {
                let (file, other) = query.definition(symbol);
                file.symbols[other.parent as usize]
            })
            .collect();
        classes.sort_unstable();
        classes.dedup();
        if classes.len() == 1
            && let Some(&symbol) = found.first()
        {
            self.add_overload(symbol, Strategy::Injected, site);
        }
    }

    /// Returns whether a container makes the objects of the class around a scope.
    fn is_injected(&self, scope: DefId) -> bool {
        let query = self.query;
        let Some(class) = query.file.enclosing_class(scope) else { return false };
        let facts = query.file.facts();
        let has_mark = |def: DefId, marks: &[&str]| {
            let decorators = facts.definitions[def as usize].decorators.iter();
            decorators.copied().any(|decorator| query.mark_name(decorator).is_some_and(|name| marks.contains(&name)))
        };
        has_mark(class, &CLASS_MARKS)
            || facts
                .definitions
                .iter()
                .enumerate()
                .any(|(def, one)| one.parent == class && has_mark(def as DefId, &MEMBER_MARKS))
    }
}
