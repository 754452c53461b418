//! The unit of the structure: built again when it may have changed.

use crate::Project;
use crate::emit::structure::{self, Structure};
use crate::packages::Imported;
use crate::unit::{self, UnitSource};

impl Project {
    /// Builds the structure again. Returns whether its unit has changed.
    pub(super) fn refresh_structure(&mut self) -> bool {
        let (structure, dependencies) = self.build_structure();
        self.structure_dependencies = dependencies;
        if self.structure_digest.is_some() && self.structure.get() == Some(&structure) {
            return false;
        }
        let digest = unit::structure_source(&self.name, &structure).digest();
        self.structure = structure.into();
        self.structure_digest.replace(digest) != Some(digest)
    }

    /// Returns the graph of the structure.
    pub(super) fn structure_unit(&self) -> UnitSource {
        let structure = match self.structure_digest {
            Some(_) => self.structure.get_or_init(|| self.build_structure().0),
            None => &Structure::default(),
        };
        unit::structure_source(&self.name, structure)
    }

    /// Returns the structure of the linked files, and the keys of the queries that this made.
    fn build_structure(&self) -> (Structure, Box<[u32]>) {
        let mut imported = Imported::default();
        for (id, entry) in self.index.present() {
            for &external in &self.links[id as usize].externals {
                let languages = imported.entry(external).or_default();
                if !languages.contains(&*entry.language) {
                    languages.insert(entry.language.clone());
                }
            }
        }
        let referents = self.links.iter().flat_map(|link| link.referents.iter().copied()).collect();
        structure::build(&self.index, &self.name, &imported, referents)
    }
}
