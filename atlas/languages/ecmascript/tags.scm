; What JavaScript, TypeScript and TSX have in common. Imports come first: a node that is an import is nothing else.

(import_statement) @import
(export_statement) @import
(variable_declarator
  name: (_)
  value: [(call_expression) (member_expression) (await_expression)]) @import
(call_expression function: [(identifier) (import)] @_f (#any-of? @_f "require" "import")) @import

; What stands around definitions: exports, declarations, and the names given to functions and classes as values

(export_statement
  "export" @flag.exported
  "default"? @flag.default
  decorator: (_)? @decorator
  declaration: (_) @wrapped) @wrapper
(export_statement
  "default" @flag.default
  value: [(arrow_function) (function_expression) (generator_function) (class)] @wrapped) @wrapper
(lexical_declaration (variable_declarator) @wrapped) @wrapper.signature
(variable_declaration (variable_declarator) @wrapped) @wrapper.signature
(expression_statement (assignment_expression) @wrapped) @wrapper.signature
(variable_declarator
  name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function) (class)] @wrapped) @wrapper.signature
(assignment_expression
  left: (member_expression property: (_) @name)
  right: [(arrow_function) (function_expression) (generator_function) (class)] @wrapped) @wrapper.signature
(pair
  key: (_) @name
  value: [(arrow_function) (function_expression) (generator_function)] @wrapped) @wrapper.signature
(decorator) @decorator.pending
(decorator (_) @reference.read)

; Variables

(variable_declarator
  name: [(object_pattern (shorthand_property_identifier_pattern) @name) (array_pattern (identifier) @name)]
  value: (_) @value) @definition.variable

; Parameters

(identifier) @parameter
(object_pattern) @parameter
(array_pattern) @parameter
(assignment_pattern left: (identifier) @name right: (_) @default) @parameter
(assignment_pattern left: (_) @target right: (_) @default) @parameter
(rest_pattern (identifier) @name) @parameter.variadic
(rest_pattern (_) @target) @parameter.variadic

; Bindings

(assignment_expression left: (_) @target right: (_) @value @reference.read) @binding.assign
(augmented_assignment_expression
  left: (_) @target
  operator: ["||=" "&&=" "??="]
  right: (_) @value @reference.read) @binding.assign
(for_in_statement left: (_) @target operator: "of" right: (_) @value @reference.read) @binding.iterate
(for_in_statement left: (_) @target) @binding.assign
(catch_clause parameter: (_) @target) @binding.catch
(return_statement (_)? @value @reference.read) @binding.return
(yield_expression "*" (_) @inner @reference.read) @binding.yield
(yield_expression (_)? @value @reference.read) @binding.yield
; A body of statements returns by its own statements.
(arrow_function body: (statement_block)) @binding.outer
(arrow_function body: (_) @value @reference.read) @binding.return

(array_pattern (_) @item) @target.unpack
(object_pattern) @target.hook
(assignment_pattern left: (_) @inner right: (_) @reference.read) @target.same
(rest_pattern (_) @inner) @target.same
(parenthesized_expression (_) @inner) @target.same

; Other places where a name is a value

(arguments (_) @reference.read)
(array (_) @reference.read)
(pair value: (_) @reference.read)
(object (shorthand_property_identifier) @reference.read)
(spread_element (_) @reference.read)
(throw_statement (_) @reference.read)
(assignment_pattern right: (_) @reference.read)
(object_assignment_pattern right: (_) @reference.read)
(template_substitution (_) @reference.read)
(binary_expression operator: "instanceof" right: (_) @reference.type) @hook
(binary_expression left: (member_expression) operator: ["===" "!==" "==" "!="] right: (string)) @hook
(switch_case value: (string)) @hook

; Reading a property runs its getter
(member_expression object: (member_expression) @reference.owner)
(subscript_expression object: (member_expression) @reference.owner)
(parenthesized_expression (member_expression) @reference.owner)
(binary_expression left: (member_expression) @reference.owner)
(binary_expression right: (member_expression) @reference.owner)
(unary_expression argument: (member_expression) @reference.owner)
(ternary_expression condition: (member_expression) @reference.owner)
(for_in_statement right: (member_expression) @reference.owner)

; Expressions

(identifier) @expr.name
(property_identifier) @expr.name
(private_property_identifier) @expr.name
(shorthand_property_identifier) @expr.name
(shorthand_property_identifier_pattern) @expr.name
(this) @expr.this
(super) @expr.super
(member_expression object: (_) @base property: (_) @name) @expr.attribute
(call_expression function: (_) @callee arguments: (arguments) @arguments) @reference.call
(call_expression function: (_) @callee arguments: (template_string) @argument) @reference.call
(new_expression constructor: (_) @callee arguments: (_)? @arguments) @reference.new
(call_expression function: [(identifier) (member_expression) (call_expression)]) @hook
(assignment_expression left: (member_expression)) @hook
(object) @hook
(subscript_expression object: (_) @base index: (_) @index) @expr.index
(await_expression (_) @inner) @expr.await
(parenthesized_expression (_) @inner) @expr.same
(sequence_expression (_) @inner .) @expr.same
(assignment_expression right: (_) @inner) @expr.same
(ternary_expression consequence: (_) @option alternative: (_) @option) @expr.one-of
(binary_expression left: (_) @option operator: ["||" "??"] right: (_) @option) @expr.one-of
(binary_expression operator: "&&" right: (_) @inner) @expr.same
(binary_expression operator: ["==" "===" "!=" "!==" "<" ">" "<=" ">=" "in" "instanceof"]) @literal.bool
(unary_expression operator: "!") @literal.bool
(unary_expression operator: "typeof") @literal.str
(string) @literal.str
(template_string) @literal.str
(number) @literal.int
(true) @literal.bool
(false) @literal.bool
(null) @literal.none
(undefined) @literal.none
(regex) @literal.regex
(spread_element (_) @inner) @expr.spread
(spread_element (_) @value) @argument.spread
(array (_)? @item) @elements.list
(object
  (pair key: (_) @key value: (_) @item)?
  (shorthand_property_identifier)? @item @key
  (spread_element (_) @inner)?) @elements.dict

; Digests

(comment) @comment
(program) @block
(statement_block) @block
(class_body) @block
(string) @token
(template_string) @token
(regex) @token
