//! Variables that are visible in a part of a function only, such as those of a pattern: in that part the variable gets a
//! name of its own (`v@3`), so that linking, for which a function is one scope, does not confuse it with others.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::flat_tree::NodeId;
use crate::query::matching::{Captures, all};
use crate::query::vocabulary::{Capture, LocalScope, Role};
use crate::walk::name_parts::{MAX_NESTED, Part, Place};
use crate::walk::state::Walk;
use atlas_facts::{Expr, LOCAL_MARK, Name};

/// Largest number of nodes between a declaration and its block.
const MAX_AROUND: u32 = 64;
/// Largest number of names of one pattern.
const MAX_NAMES: usize = 64;

impl Walk<'_> {
    /// Collects the variables that patterns with the role `@local` describe. Comes before the walk, which may build an
    /// expression before it reaches the pattern.
    pub fn collect_local_names(&mut self) {
        let language = self.language;
        if !language.has_locals {
            return;
        }
        for node in 0..self.tree.len() {
            let rules = language.rules(self.tree.node(node).kind);
            if let Some((_, captures)) = self.first_match(&rules.parameter, node) {
                self.count_names(&captures);
                self.recycle(captures);
            }
            for &number in &rules.local {
                let Some((Role::Local(scope), captures)) = self.first_match(&[number], node) else { continue };
                let names = self.pattern_names(all(&captures, Capture::Name));
                match scope {
                    LocalScope::Shared => {
                        let scopes = all(&captures, Capture::Scope).map(|node| self.whole(node));
                        let mut places: Vec<Place> = scopes.collect();
                        if places.is_empty() {
                            places.push(self.whole(node));
                        }
                        self.add_local_names(&names, &places, true);
                    }
                    LocalScope::Each => {
                        for node in all(&captures, Capture::Scope) {
                            self.add_local_names(&names, &[self.whole(node)], false);
                        }
                    }
                    LocalScope::Guarded => {
                        let branches = self.guarded_branches(node).into_iter().map(|branch| self.whole(branch));
                        let mut places: Vec<Place> = branches.collect();
                        if !places.is_empty() {
                            places.push(self.whole(node));
                            self.add_local_names(&names, &places, false);
                        }
                    }
                    LocalScope::Block => {
                        let rest = (self.tree.node(node).next, self.end_of_block(node));
                        for name in names {
                            self.add_local_names(&[name], &[self.whole(name), rest], true);
                        }
                    }
                    LocalScope::Rest => {
                        let end = self.tree.node(node).next;
                        for name in names {
                            let rest = (self.end_of_declarator(name, node), end);
                            self.add_local_names(&[name], &[self.whole(name), rest], true);
                        }
                    }
                }
                self.recycle(captures);
            }
        }
        self.local_names.nest();
    }

    /// Counts the names of parameters, which variables of blocks may hide.
    fn count_names(&mut self, captures: &Captures) {
        for name in all(captures, Capture::Name) {
            let name = self.name_of(self.named(name));
            *self.local_names.counts.entry(name).or_default() += 1;
        }
    }

    fn whole(&self, node: NodeId) -> Place {
        (node, self.tree.node(node).next)
    }

    /// Returns the first node after the block or definition around a node.
    fn end_of_block(&self, node: NodeId) -> NodeId {
        let mut here = self.tree.node(node).parent;
        for _ in 0..MAX_AROUND {
            let rules = self.language.rules(self.tree.node(here).kind);
            if here == 0 || rules.is_block || rules.is_definition {
                break;
            }
            here = self.tree.node(here).parent;
        }
        self.tree.node(here).next
    }

    /// Returns the names in patterns; a capitalised one is a constant or type.
    fn pattern_names(&self, patterns: impl Iterator<Item = NodeId>) -> Vec<NodeId> {
        let leaves = patterns.flat_map(|pattern| pattern..self.tree.node(pattern).next);
        let is_name = |&node: &NodeId| {
            let text = self.bytes_of(node);
            self.tree.is_leaf(node)
                && self.language.is_content(self.tree.node(node).kind)
                && text.first().is_some_and(|&byte| byte.is_ascii_lowercase() || byte == b'_')
        };
        leaves.filter(is_name).take(MAX_NAMES).collect()
    }

    /// Returns the first node after the declaration of a name in a block.
    fn end_of_declarator(&self, name: NodeId, block: NodeId) -> NodeId {
        let mut here = name;
        for _ in 0..MAX_AROUND {
            let parent = self.tree.node(here).parent;
            if parent == block || matches!(self.kind_name(here), "variable_declarator" | "init_declarator") {
                break;
            }
            here = parent;
        }
        self.tree.node(here).next
    }

    /// Gives variables names of their own in some places; with `is_common` only if the file has others of the name.
    fn add_local_names(&mut self, names: &[NodeId], places: &[Place], is_common: bool) {
        for &name in names {
            let plain = self.name_of(name);
            let number = self.local_names.counts.entry(plain).or_default();
            *number += 1;
            let own = format!("{}{LOCAL_MARK}{number}", self.builder.text(plain));
            let own = self.builder.owned_name(own);
            self.local_names.plain.insert(own, plain);
            let parts = self.local_names.parts.entry(plain).or_default();
            parts.extend(places.iter().map(|&(first, end)| Part { first, end, name: own, is_common, outer: None }));
        }
    }

    /// Returns the name that a variable has at a node.
    pub fn local_name(&self, name: Name, node: NodeId) -> Name {
        let Some(part) = self.local_names.at(name, node) else { return name };
        let start = self.tree.node(part.first).start;
        // A parameter of a function inside the part.
        let hides = self.scopes.iter().rev().any(|scope| {
            let definition = &self.builder.facts.definitions[scope.definition as usize];
            scope.parameters.contains(&name) && definition.start_byte >= start
        });
        if hides { name } else { part.name }
    }

    pub fn plain_name(&self, name: Name) -> Name {
        self.local_names.plain.get(&name).copied().unwrap_or(name)
    }

    /// Gives names that nothing bound, which are not those of variables, the meaning that they have around the part.
    pub fn settle_local_names(&mut self) {
        if self.local_names.plain.is_empty() {
            return;
        }
        let facts = &mut self.builder.facts;
        let targets = facts.bindings.iter().filter_map(|binding| match facts.exprs[binding.target as usize] {
            Expr::Name(name) => Some(name),
            _ => None,
        });
        let bound: FxHashSet<Name> = targets.collect();
        let mut around: FxHashMap<Name, Name> = FxHashMap::default();
        for (&plain, parts) in &self.local_names.parts {
            for part in parts {
                around.entry(part.name).or_insert(part.outer.map_or(plain, |outer| parts[outer as usize].name));
            }
        }
        for expr in &mut facts.exprs {
            let Expr::Name(name) = expr else { continue };
            for _ in 0..MAX_NESTED {
                match around.get(name) {
                    Some(&outer) if !bound.contains(name) => *name = outer,
                    _ => break,
                }
            }
        }
    }
}
