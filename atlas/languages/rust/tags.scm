; Imports

(use_declaration) @import
(extern_crate_declaration) @import
(mod_item !body) @import

; Attributes stand before what they describe

(attribute_item) @decorator.pending

; Definitions

(mod_item (visibility_modifier)? @flag.exported name: (_) @name body: (_) @body) @definition.namespace
(struct_item (visibility_modifier)? @flag.exported name: (_) @name body: (_)? @body) @definition.struct
(union_item (visibility_modifier)? @flag.exported name: (_) @name body: (_) @body) @definition.struct
(enum_item (visibility_modifier)? @flag.exported name: (_) @name body: (_) @body) @definition.enum
(trait_item
  (visibility_modifier)? @flag.exported
  name: (_) @name
  bounds: (trait_bounds [(type_identifier) (scoped_type_identifier) (generic_type)] @base)?
  body: (_) @body) @definition.trait
(impl_item type: (_) @base trait: (_)? @base body: (_)? @body) @definition.extension

(function_item
  (visibility_modifier)? @flag.exported
  (function_modifiers "async"? @flag.async)?
  name: (_) @name
  parameters: (_) @parameters
  return_type: (_)? @returns
  body: (_) @body) @definition.function
(function_signature_item
  (visibility_modifier)? @flag.exported
  (function_modifiers "async"? @flag.async)?
  name: (_) @name @flag.declaration
  parameters: (_) @parameters
  return_type: (_)? @returns) @definition.function
(macro_definition name: (_) @name (macro_rule)? @body) @definition.function
(closure_expression
  "async"? @flag.async
  parameters: (_) @parameters
  return_type: (_)? @returns
  body: (_) @body) @definition.lambda

(field_declaration (visibility_modifier)? @flag.exported name: (_) @name type: (_) @annotation) @definition.field
(field_declaration type: (_) @reference.type)
(enum_variant name: (_) @name @flag.static) @definition.field
(const_item
  (visibility_modifier)? @flag.exported
  name: (_) @name
  type: (_) @annotation
  value: (_)? @value) @definition.variable
(static_item
  (visibility_modifier)? @flag.exported
  name: (_) @name
  type: (_) @annotation
  value: (_)? @value) @definition.variable
(type_item (visibility_modifier)? @flag.exported name: (_) @name type: (_) @annotation) @definition.type
(associated_type name: (_) @name @flag.declaration) @definition.type

; Parameters

(self_parameter (self) @name) @parameter.receiver
(parameter pattern: (self) @name type: (_) @annotation) @parameter.receiver
(parameter pattern: (identifier) @name type: (_)? @annotation) @parameter
(parameter pattern: (mut_pattern (identifier) @name) type: (_)? @annotation) @parameter
(parameter pattern: (_) @target type: (_)? @annotation) @parameter
(identifier) @parameter
(tuple_pattern) @parameter
(struct_pattern) @parameter
(tuple_struct_pattern) @parameter
(reference_pattern) @parameter

; Bindings

(const_item name: (_) @target type: (_) @annotation value: (_)? @value @reference.read) @binding.assign
(static_item name: (_) @target type: (_) @annotation value: (_)? @value @reference.read) @binding.assign
(let_declaration pattern: (_) @target type: (_)? @annotation value: (_)? @value @reference.read) @binding.assign
(let_condition pattern: (_) @target value: (_) @value @reference.read) @binding.assign
(for_expression pattern: (_) @target value: (_) @value @reference.read) @binding.iterate
(match_expression) @hook
(enum_variant body: (_)) @hook
(assignment_expression left: (_) @target right: (_) @value @reference.read) @binding.assign
(type_parameter) @hook
(where_predicate) @hook
(return_expression (_)? @value @reference.read) @binding.return
; A body of statements returns by its own statements.
(closure_expression body: (block)) @binding.outer
(closure_expression body: (_) @value @reference.read) @binding.return

(identifier) @target.hook
(shorthand_field_identifier) @target.hook
(struct_pattern) @target.hook
(tuple_struct_pattern) @target.hook
(scoped_identifier) @target.hook
(tuple_pattern (_) @item) @target.unpack
(slice_pattern (_) @item) @target.unpack
(mut_pattern (_) @inner .) @target.same
(ref_pattern (_) @inner .) @target.same
(reference_pattern (_) @inner .) @target.same
(captured_pattern . (_) @inner) @target.same
(or_pattern . (_) @inner) @target.same
(match_pattern . (_) @inner) @target.same

; Variables of a part of a function

(match_arm pattern: (match_pattern . (_) @name)) @local
(if_expression
  condition: (let_condition pattern: (_) @name @scope)
  consequence: (_) @scope) @local
(if_expression
  condition: (let_chain (let_condition pattern: (_) @name)) @scope
  consequence: (_) @scope) @local
(while_expression
  condition: (let_condition pattern: (_) @name @scope)
  body: (_) @scope) @local
(for_expression pattern: (_) @name @scope body: (_) @scope) @local
(block (let_declaration pattern: (_) @name)) @local.rest

; Other places where a name is a value

(arguments (_) @reference.read)
(array_expression (_) @reference.read)
(tuple_expression (_) @reference.read)
(field_initializer value: (_) @reference.read)
(shorthand_field_initializer (identifier) @reference.read)
(base_field_initializer (_) @reference.read)
(break_expression (_) @reference.read)
(match_arm value: (_) @reference.read)

; Expressions

(identifier) @expr.name
(self) @expr.this
(field_identifier) @expr.name
(shorthand_field_identifier) @expr.name
(crate) @expr.name
(super) @expr.name
(metavariable) @expr.unknown
(attribute . (_) @inner) @expr.same
(field_expression value: (_) @base field: (_) @name) @expr.attribute
(scoped_identifier path: (identifier) @scope name: (_) @name) @expr.attribute
(scoped_identifier path: (_) @base name: (_) @name) @expr.attribute
(scoped_identifier !path name: (_) @inner) @expr.same
(call_expression function: (_) @callee arguments: (_) @arguments) @reference.call
(macro_invocation macro: (_) @callee) @reference.call
(macro_invocation) @hook
(struct_expression name: (_) @callee body: (_) @arguments) @reference.new
(field_initializer field: (_) @keyword value: (_) @value) @argument.named
(shorthand_field_initializer (identifier) @keyword @value) @argument.named
(generic_function function: (_) @inner) @expr.same
(bracketed_type (_) @inner) @expr.same
(qualified_type type: (_) @inner) @expr.same
(await_expression (_) @inner) @expr.await
(try_expression (_) @inner) @expr.same
(reference_expression value: (_) @inner) @expr.same
(unary_expression "*" (_) @inner) @expr.same
(unary_expression "!") @literal.bool
(parenthesized_expression (_) @inner) @expr.same
(index_expression . (_) @base (_) @index .) @expr.index
(type_cast_expression value: (_) @inner type: (_) @annotation) @expr.cast
(if_expression
  consequence: (block (_) @option .)
  alternative: (else_clause (block (_) @option .))) @expr.one-of
(block (_) @inner .) @expr.same
(unsafe_block (block) @inner) @expr.same
(match_expression body: (match_block (match_arm value: (_) @option))) @expr.one-of
(binary_expression operator: ["==" "!=" "<" "<=" ">" ">=" "&&" "||"]) @literal.bool
(array_expression (_) @item) @elements.list
(tuple_expression (_) @item) @elements.tuple
(unit_expression) @literal.none
(string_literal) @literal.str
(raw_string_literal) @literal.str
(char_literal) @literal.str
(integer_literal) @literal.int
(float_literal) @literal.float
(boolean_literal) @literal.bool

; Types: wherever a type's name stands it is referred to

(type_identifier) @reference.type
(scoped_type_identifier) @reference.type

(type_identifier) @expr.name
(scoped_type_identifier path: (_) @base name: (_) @name) @type.attribute
(generic_type type: (_) @inner) @expr.same
(generic_type
  type: (_) @base
  type_arguments: (type_arguments
    [(_type) (type_binding type: (_))]? @argument)) @type.generic
(generic_type_with_turbofish type: (_) @inner) @expr.same
(type_binding) @hook
(type_binding type: (_) @inner) @type.same
(lifetime) @type.unknown
(reference_type type: (_) @inner) @type.same
(pointer_type type: (_) @inner) @type.same
(dynamic_type trait: (_) @inner) @type.same
(abstract_type trait: (_) @inner) @type.same
(bounded_type . (_) @inner) @type.same
(function_type) @type.text
(higher_ranked_trait_bound type: (_) @inner) @type.same
(array_type element: (_) @argument) @type.list
(tuple_type (_) @item) @elements.tuple
(unit_type) @literal.none
(primitive_type) @type.text

; Digests

(line_comment) @comment
(block_comment) @comment
(block) @block
(declaration_list) @block
(field_declaration_list) @block
(enum_variant_list) @block
(match_block) @block
(string_literal) @token
(raw_string_literal) @token

; Methods that operators run

(binary_expression
  left: (_) @base
  operator: ["+" "-" "*" "/" "%" "&" "|" "^" "<<" ">>"] @name
  right: (_) @argument) @expr.operator
(binary_expression
  left: (_) @base
  operator: ["==" "!=" "<" "<=" ">" ">="] @name
  right: (_) @argument) @reference.operator
(compound_assignment_expr left: (_) @base operator: _ @name right: (_) @argument) @reference.operator
(unary_expression ["-" "!"] @name (_) @base) @reference.operator
