//! The documentation and signature of definitions.

use crate::doc_text;
use crate::flat_tree::NodeId;
use crate::walk::definitions::is_value;
use crate::walk::drafts::DefinitionDraft;
use crate::walk::state::{CommentRun, Walk};
use atlas_languages::DocStyle;

/// Longest signature in characters.
pub const MAX_SIGNATURE: usize = 400;

impl Walk<'_> {
    /// Returns the start of a definition including the documentation comment directly above it, and that comment.
    pub(crate) fn with_comment(&self, outer: NodeId, first_node: NodeId) -> (u32, u32, Option<String>) {
        let place = self.tree.node(first_node);
        let is_above = |run: &CommentRun, node: NodeId| {
            let below = self.tree.node(node);
            run.end <= below.start && (run.last_line + 1 == below.line || run.last_line == below.line)
        };
        let comment_above = self.language.settings.docs.style == DocStyle::CommentAbove;
        let Some(run) = self.comments.filter(|run| comment_above && self.stands_first_below(run.parent, outer)) else {
            return (place.start, place.line + 1, None);
        };
        // The comment may also be between the decorators and the rest.
        if !is_above(&run, first_node) && !is_above(&run, outer) {
            return (place.start, place.line + 1, None);
        }
        let text = self.written(run.start as usize, run.end as usize).into_owned();
        let first_line = run.first_line.min(place.line) + 1;
        (run.start.min(place.start), first_line, Some(text))
    }

    /// Returns whether a node is a child of another, or the first node inside one: some grammars place the first
    /// comment of a body before it.
    fn stands_first_below(&self, above: NodeId, node: NodeId) -> bool {
        let start = self.tree.node(node).start;
        let mut parent = self.tree.node(node).parent;
        while parent > above && self.tree.node(parent).start == start {
            parent = self.tree.node(parent).parent;
        }
        parent == above
    }

    /// Treats the comment directly above a node as documentation of the whole file.
    pub fn document_file(&mut self, node: NodeId) {
        if let (_, _, Some(comment)) = self.with_comment(node, node) {
            self.set_file_docs(&doc_text::clean_comment(&comment));
        }
    }

    /// Sets the documentation of the whole file, unless it is already set.
    pub fn set_file_docs(&mut self, docs: &str) {
        if self.builder.facts.definitions[0].docstring == 0 {
            let docstring = self.builder.long_text(doc_text::limited(docs));
            let top = &mut self.builder.facts.definitions[0];
            top.docstring = docstring;
            top.docstring_digest = doc_text::text_digest(docs);
        }
    }

    pub(crate) fn line_of_end(&self, node: NodeId) -> u32 {
        let place = self.tree.node(node);
        let text = &self.source[place.start as usize..place.end as usize];
        let breaks = text.trim_ascii_end().iter().filter(|&&b| b == b'\n').count();
        place.line + 1 + breaks as u32
    }

    pub(crate) fn signature(&self, draft: &DefinitionDraft) -> String {
        let first_node = draft.wrapper.signature.unwrap_or(draft.node);
        let mut start = self.tree.node(first_node).start as usize;
        for &decorator in &draft.decorators {
            let place = self.tree.node(decorator);
            let between = self.source.get(start..place.start as usize);
            if between.is_some_and(|text| text.trim_ascii().is_empty()) {
                start = place.end as usize;
            }
        }
        let outer = draft.wrapper.outer.unwrap_or(draft.node);
        let end = match draft.body {
            Some(body) if !is_value(draft.kind) => self.head_end(draft, body),
            _ => self.tree.node(outer).end,
        };
        // Folding white space and stripping closing marks shortens the text, but rarely to a tenth.
        let end = (end as usize).min(start + MAX_SIGNATURE * 10).max(start);
        let text = self.written(start, end);
        let folded = doc_text::fold(&text, MAX_SIGNATURE);
        let head = folded
            .trim_end_matches([' ', ':', '{', ';', ',', '\\'])
            .trim_end_matches("=>")
            .trim_end_matches("->")
            .trim_end();
        // The equals sign before the body of a function or table, but not one that the limit cut a value at.
        let head = if is_value(draft.kind) { head } else { head.trim_end_matches(" =") };
        head.to_owned()
    }

    /// Returns the end of the head: before the body, and before a comment that some grammars place between the two.
    fn head_end(&self, draft: &DefinitionDraft, body: NodeId) -> u32 {
        let name_end = self.tree.node(draft.name_node.unwrap_or(draft.node)).start;
        let is_comment = |&child: &NodeId| self.language.rules(self.tree.node(child).kind).is_comment;
        let mut comments = self.tree.children(draft.node).take_while(|&child| child < body).filter(is_comment);
        let comment = comments.find(|&child| self.tree.node(child).start > name_end);
        comment.map_or(self.tree.node(body).start, |comment| self.tree.node(comment).start)
    }
}
