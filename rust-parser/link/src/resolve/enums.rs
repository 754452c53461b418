//! Members of enumerations, which are instances of them.

use crate::project::query::Query;
use atlas_facts::{DefId, Kind, flags};

impl Query<'_> {
    /// Returns whether a field is a member of the enumeration around it.
    pub(super) fn is_enum_member(&self, field: DefId) -> bool {
        let definition = self.file.outline(field);
        definition.kind == Kind::Field
            && definition.flags & flags::STATIC != 0
            && self.file.outline(definition.parent).kind == Kind::Enum
    }
}
