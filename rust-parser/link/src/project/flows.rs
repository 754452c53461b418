//! Values that one place of the project hands to another: arguments for parameters, and what is stored in variables of
//! other classes and files. A file publishes what it hands over; the place that receives it asks for what all files do.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::entity::{Entity, Value, Values, merge};
use crate::project::dependencies::{Contributions, DependencyKind, add_differences, digest_of, key};
use crate::project::index::Index;
use crate::project::names::{FileId, Sym, SymbolId};
use crate::project::query::{Query, Stage};

/// Largest number of values of a parameter; with more, they are unknown.
pub const MAX_PASSED: usize = 4;

/// A place that receives values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// A parameter of a function, by position.
    Parameter(SymbolId, u16),
    /// A variable of a class or module.
    Variable(SymbolId, Sym),
}

impl Place {
    fn key(self) -> u32 {
        match self {
            Place::Parameter(function, position) => key(DependencyKind::Passed, function, position.into()),
            Place::Variable(scope, name) => key(DependencyKind::Stored, scope, name),
        }
    }
}

/// What one file hands over, by place.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FileFlows {
    pub values: FxHashMap<Place, Values>,
}

impl FileFlows {
    /// Adds values for a place. [`Entity::Opaque`] stands for unknown ones. Two more than the most are kept, by which
    /// readers know that there are too many.
    pub fn add(&mut self, place: Place, values: Values, most: usize) {
        let known = self.values.entry(place).or_default();
        merge(known, values);
        known.truncate(most + 2);
    }

    fn contributions(&self) -> Contributions {
        self.values.iter().map(|(place, values)| (place.key(), digest_of(values))).collect()
    }
}

/// What all files hand over.
#[derive(Default)]
pub struct Flows {
    pub files: Vec<FileFlows>,
    /// The files that hand over something to a place.
    givers: FxHashMap<Place, Vec<FileId>>,
}

impl Flows {
    /// Replaces what a file hands over. Adds the keys of the queries whose answers change.
    pub fn put(&mut self, id: FileId, found: FileFlows, keys: &mut FxHashSet<u32>) {
        let old = std::mem::take(&mut self.files[id as usize]);
        if old != found {
            add_differences(old.contributions(), found.contributions(), keys);
            for place in old.values.keys().filter(|place| !found.values.contains_key(place)) {
                if let Some(givers) = self.givers.get_mut(place) {
                    givers.retain(|&giver| giver != id);
                    if givers.is_empty() {
                        self.givers.remove(place);
                    }
                }
            }
            for place in found.values.keys().filter(|place| !old.values.contains_key(place)) {
                self.givers.entry(*place).or_default().push(id);
            }
        }
        self.files[id as usize] = found;
    }

    /// Sets what a file hands over in a restored project.
    pub fn restore(&mut self, id: FileId, found: FileFlows) {
        self.put(id, found, &mut FxHashSet::default());
    }
}

impl Index {
    /// Returns the flows that a stage reads.
    fn flows_of(&self, stage: Stage) -> Option<&Flows> {
        match stage {
            Stage::Bases | Stage::FirstTypes | Stage::FirstFlows => None,
            Stage::Types | Stage::Flows => Some(&self.first_flows),
            Stage::Routers | Stage::Routes | Stage::Support | Stage::Edges => Some(&self.flows),
        }
    }
}

impl Query<'_> {
    /// Returns the values that the project hands to a place, by path of the files; none if there are too many.
    pub(crate) fn handed(&self, place: Place, most: usize) -> Values {
        let Some(flows) = self.index.flows_of(self.stage) else { return Values::new() };
        self.record(place.key());
        let Some(givers) = flows.givers.get(&place) else { return Values::new() };
        let mut sorted = givers.clone();
        sorted.sort_by(|&a, &b| self.index.file(a).path.cmp(&self.index.file(b).path));
        let mut values = Values::new();
        for giver in sorted {
            // What tests pass does not concern other code.
            if self.index.file(giver).is_test && !self.file.is_test {
                continue;
            }
            let given: &[Value] = &flows.files[giver as usize].values[&place];
            merge(&mut values, given.into());
        }
        let known = values.iter().filter(|value| value.entity != Entity::Opaque).count();
        if known == 0 || known > most { Values::new() } else { values }
    }
}
