; Elements: a component is called with its attributes as named arguments.

(jsx_self_closing_element name: (_) @callee attribute: (_)? @argument) @reference.call
(jsx_opening_element name: (_) @callee attribute: (_)? @argument) @reference.call
(jsx_attribute
  . (property_identifier) @keyword
  [(string) (jsx_expression) (jsx_element) (jsx_self_closing_element)]? @value) @argument.named
(jsx_expression (_) @inner) @expr.same
(jsx_expression (_) @reference.read)
(jsx_closing_element) @hook
