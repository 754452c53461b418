; Imports: `import struct Module.Type`, `import Module`

(import_declaration
  ["class" "struct" "enum" "protocol" "func" "typealias" "let" "var"]
  (identifier (simple_identifier) @alias .) @module) @import.module
(import_declaration (identifier) @module) @import.star

; Definitions. The code finds the parameters, which stand in no list, and what is private.

(class_declaration
  (modifiers (attribute)? @decorator)?
  declaration_kind: "extension"
  name: (user_type) @base
  (inheritance_specifier inherits_from: (user_type) @base)?
  body: (_) @body) @definition.extension
(class_declaration
  (modifiers (attribute)? @decorator)?
  declaration_kind: "struct"
  name: (_) @name
  (inheritance_specifier inherits_from: (user_type) @base)?
  body: (_) @body) @definition.struct
(class_declaration
  (modifiers (attribute)? @decorator)?
  declaration_kind: "enum"
  name: (_) @name
  (inheritance_specifier inherits_from: (user_type) @base)?
  body: (_) @body) @definition.enum
(class_declaration
  (modifiers (attribute)? @decorator)?
  name: (type_identifier) @name
  (inheritance_specifier inherits_from: (user_type) @base)?
  body: (_) @body) @definition.class
(protocol_declaration
  (modifiers (attribute)? @decorator)?
  name: (_) @name
  (inheritance_specifier inherits_from: (user_type) @base)?
  body: (_) @body) @definition.interface
(function_declaration
  (modifiers
    (attribute)? @decorator
    (property_modifier "static"? @flag.static)?)?
  "class"? @flag.static
  name: _ @name
  "async"? @flag.async
  body: (_)? @body) @definition.function
(protocol_function_declaration
  (modifiers
    (attribute)? @decorator
    (property_modifier "static"? @flag.static)?)?
  name: _ @name @flag.declaration @flag.abstract
  "async"? @flag.async) @definition.method
(init_declaration
  (modifiers (attribute)? @decorator)?
  name: _ @name
  body: (_)? @body) @definition.constructor
(deinit_declaration "deinit" @name body: (_) @body) @definition.method
(subscript_declaration
  (modifiers
    (attribute)? @decorator
    (property_modifier "static"? @flag.static)?)?
  "subscript" @name
  (computed_property) @body) @definition.method
(function_declaration) @hook
(protocol_function_declaration) @hook
(init_declaration) @hook
(subscript_declaration) @hook
(enum_entry
  (modifiers (attribute)? @decorator)?
  name: (simple_identifier) @name @flag.static) @definition.variable
(typealias_declaration
  (modifiers (attribute)? @decorator)?
  name: (type_identifier) @name
  name: [(user_type) (optional_type) (array_type) (dictionary_type) (tuple_type) (function_type) (opaque_type) (existential_type) (protocol_composition_type)] @annotation) @definition.type
(associatedtype_declaration name: (_) @name) @definition.type
(lambda_literal
  type: (lambda_function_type (lambda_function_type_parameters)? @parameters)?) @definition.lambda
; What a condition, a case or a loop binds is its own.
(if_statement bound_identifier: (_)) @definition.lambda
(if_statement condition: "case") @definition.lambda
(while_statement bound_identifier: (_)) @definition.lambda
(for_statement) @definition.lambda
(switch_entry) @definition.lambda
(catch_block) @definition.lambda

; A property that runs code is read by a call; one that only holds a value is a field.
(property_declaration
  (modifiers
    (attribute)? @decorator
    (property_modifier "static"? @flag.static)?)?
  "class"? @flag.static
  name: (pattern bound_identifier: (_) @name)
  (type_annotation (_) @returns .)?
  computed_value: (_) @body) @definition.property
(property_declaration
  (modifiers
    (attribute)? @decorator
    (property_modifier "static"? @flag.static)?)?
  name: (pattern bound_identifier: (_)? @name (pattern (simple_identifier) @name)?)
  (type_annotation (_) @annotation .)?
  value: (_)? @value) @definition.variable
(protocol_property_declaration
  (modifiers
    (attribute)? @decorator
    (property_modifier "static"? @flag.static)?)?
  name: (pattern bound_identifier: (_) @name @flag.declaration @flag.abstract)
  (type_annotation (_) @returns .)) @definition.property

; Parameters

(parameter name: (simple_identifier) @name [(user_type) (optional_type) (array_type) (dictionary_type) (tuple_type) (function_type) (opaque_type) (existential_type) (protocol_composition_type)] @annotation "...") @parameter.variadic
(parameter name: (simple_identifier) @name [(user_type) (optional_type) (array_type) (dictionary_type) (tuple_type) (function_type) (opaque_type) (existential_type) (protocol_composition_type)] @annotation) @parameter
(lambda_parameter name: (simple_identifier) @name name: [(user_type) (optional_type) (array_type) (dictionary_type) (tuple_type) (function_type) (opaque_type) (existential_type) (protocol_composition_type)]? @annotation) @parameter

; Bindings

(property_declaration) @hook
(if_statement bound_identifier: (_)) @hook
(while_statement bound_identifier: (_)) @hook
(guard_statement bound_identifier: (_)) @hook
(pattern (value_binding_pattern)) @hook
(for_statement item: (_) @target collection: (_) @value @reference.read) @binding.iterate
(assignment target: (_) @target operator: "=" result: (_) @value @reference.read) @binding.assign
(assignment result: (_) @reference.read)
(type_parameter (type_identifier) @target [(user_type)]? @annotation) @binding.assign
(control_transfer_statement "return" result: (_) @value @reference.read) @binding.return
(function_body (statements . (_) @value @reference.read .)) @binding.return
(computed_property (statements . (_) @value @reference.read .)) @binding.return
(computed_getter (statements . (_) @value @reference.read .)) @binding.return
(lambda_literal (statements . (_) @value @reference.read .)) @binding.return
(simple_identifier) @target.hook
(directly_assignable_expression (_) @inner) @target.same
(pattern bound_identifier: (_) @inner) @target.same
(pattern . (simple_identifier) @inner .) @target.same
(pattern (pattern) @item) @target.unpack

; Other places where a name is a value

(value_argument value: (_) @reference.read)
(array_literal element: (_) @reference.read)
(dictionary_literal value: (_) @reference.read)
(selector_expression (_) @reference.read .)
(control_transfer_statement (throw_keyword) (_) @reference.read .)

; Expressions

(simple_identifier) @expr.name
(self_expression) @expr.this
(super_expression) @expr.super
; Properties whose value has the member that is named next, or is compared.
(navigation_expression target: [(navigation_expression) (simple_identifier)] @reference.owner)
(equality_expression lhs: (navigation_expression) @reference.owner)
(comparison_expression lhs: (navigation_expression) @reference.owner)
(navigation_expression
  target: (_) @inner
  suffix: (navigation_suffix suffix: (simple_identifier) @_c)
  (#any-of? @_c "self" "Type")) @expr.same
(navigation_expression target: (_) @base suffix: (navigation_suffix suffix: (simple_identifier) @name)) @expr.attribute
; The grammar reads `a + f(x)` as `(a + f)(x)`.
(call_expression
  . [
    (additive_expression rhs: (_) @base)
    (multiplicative_expression rhs: (_) @base)
    (bitwise_operation rhs: (_) @base)
    (infix_expression rhs: (_) @base)
  ]
  (call_suffix (value_arguments "[" (value_argument value: (_) @index)))) @expr.index
(call_expression
  . [
    (additive_expression rhs: (_) @callee)
    (multiplicative_expression rhs: (_) @callee)
    (bitwise_operation rhs: (_) @callee)
    (infix_expression rhs: (_) @callee)
  ]
  (call_suffix
    (value_arguments (value_argument)? @argument)?
    (lambda_literal)? @argument)) @reference.call
(call_expression . (_) @base (call_suffix (value_arguments "[" (value_argument value: (_) @index)))) @expr.index
(call_expression
  . (_) @callee
  (call_suffix
    (value_arguments (value_argument)? @argument)?
    (lambda_literal)? @argument)) @reference.call
(constructor_expression
  constructed_type: (_) @callee
  (constructor_suffix
    (value_arguments (value_argument)? @argument)?
    (lambda_literal)? @argument)) @reference.new
(value_argument name: (value_argument_label (simple_identifier) @keyword) value: (_) @value) @argument.named
(value_argument value: (_) @value) @argument.named
; `.member` of a type that the context says
(prefix_expression operation: ".") @expr.unknown
; The grammar reads `!f(x)` as `(!f)(x)`.
(prefix_expression target: (_) @inner) @expr.same
(postfix_expression target: (_) @inner operation: (bang)) @expr.same
(as_expression expr: (_) @inner (_) @annotation .) @expr.cast
(try_expression expr: (_) @inner) @expr.same
(await_expression expr: (_) @inner) @expr.await
(tuple_expression . value: (_) @inner .) @expr.same
(tuple_expression value: (_) @item) @elements.tuple
(ternary_expression if_true: (_) @option if_false: (_) @option) @expr.one-of
(nil_coalescing_expression value: (_) @option if_nil: (_) @option) @expr.one-of
(array_literal element: (_)? @item) @elements.list
(dictionary_literal value: (_)? @item) @elements.dict
(comparison_expression) @literal.bool
(equality_expression) @literal.bool
(conjunction_expression) @literal.bool
(disjunction_expression) @literal.bool
(check_expression) @literal.bool
(line_string_literal) @literal.str
(multi_line_string_literal) @literal.str
(raw_string_literal) @literal.str
(integer_literal) @literal.int
(real_literal) @literal.float
(boolean_literal) @literal.bool
(nil_literal) @literal.none
(attribute . (user_type) @inner) @expr.same

; Types: wherever a type's name stands it is referred to

(user_type) @reference.type

(type_identifier) @expr.name
(user_type ".") @expr.text
(function_type) @expr.text
(user_type . (type_identifier) @base (type_arguments (_)? @argument)) @expr.generic
(user_type (type_identifier) @inner) @expr.same
(optional_type wrapped: (_) @inner) @expr.same
(opaque_type (_) @inner .) @expr.same
(existential_type (_) @inner .) @expr.same
(array_type (_) @argument .) @expr.list
(dictionary_type (_) @argument) @expr.map
(protocol_composition_type (_) @option) @expr.union
(tuple_type . element: (tuple_type_item name: (_) @inner) .) @expr.same
(tuple_type element: (tuple_type_item name: (_) @item)) @elements.tuple

; Digests

(comment) @comment
(multiline_comment) @comment
(function_body) @block
(class_body) @block
(enum_class_body) @block
(protocol_body) @block
(line_string_literal) @token
(multi_line_string_literal) @token
(raw_string_literal) @token

; Methods that operators run

(additive_expression lhs: (_) @base op: _ @name rhs: (_) @argument) @expr.operator
(multiplicative_expression lhs: (_) @base op: _ @name rhs: (_) @argument) @expr.operator
(infix_expression lhs: (_) @base op: (custom_operator) @name rhs: (_) @argument) @expr.operator
(bitwise_operation lhs: (_) @base op: _ @name rhs: (_) @argument) @expr.operator
(comparison_expression lhs: (_) @base op: _ @name rhs: (_) @argument) @reference.operator
(equality_expression lhs: (_) @base op: ["==" "!="] @name rhs: (_) @argument) @reference.operator
(assignment target: (_) @base operator: ["+=" "-=" "*=" "/=" "%="] @name result: (_) @argument) @reference.operator
(prefix_expression operation: ["-" "+" "~" (bang)] @name target: (_) @base) @reference.operator
