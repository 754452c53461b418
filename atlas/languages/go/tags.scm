; The package, and the comment above it

(package_clause) @hook

; Imports

(import_spec) @import

; Definitions

(const_declaration (const_spec) @wrapped) @wrapper.signature
(var_declaration (var_spec) @wrapped) @wrapper.signature
(type_declaration (type_spec) @wrapped) @wrapper.signature
(type_declaration (type_alias) @wrapped) @wrapper.signature

(const_spec name: (identifier) @name type: (_)? @annotation value: (_)? @value) @definition.variable
(var_spec name: (identifier) @name type: (_)? @annotation value: (_)? @value) @definition.variable

(type_spec
  name: (type_identifier) @name
  type: (struct_type (field_declaration_list (field_declaration !name type: (_) @base)*) @body)) @definition.struct
(type_spec
  name: (type_identifier) @name
  type: (interface_type
    "{" @body
    (type_elem . [(type_identifier) (qualified_type) (generic_type)] @base .)*)) @definition.interface
; A type of its own, not another name of one: it may have methods.
(type_spec name: (type_identifier) @name type: (_) @annotation) @definition.class
(type_alias name: (type_identifier) @name type: (_) @annotation) @definition.type

(field_declaration name: (field_identifier) @name type: (_) @annotation) @definition.variable
(method_elem
  name: (field_identifier) @name @flag.abstract @flag.declaration
  parameters: (_) @parameters
  result: (_)? @returns) @definition.method

(function_declaration
  name: (identifier) @name
  parameters: (_) @parameters
  result: (_)? @returns
  body: (_)? @body) @definition.function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: (_) @extends)) @receiver
  name: (field_identifier) @name
  parameters: (_) @parameters
  result: (_)? @returns
  body: (_)? @body) @definition.method
(func_literal
  parameters: (_) @parameters
  result: (_)? @returns
  body: (_) @body) @definition.lambda

; Parameters

(parameter_declaration name: (identifier)? @name type: (_) @annotation) @parameter
(variadic_parameter_declaration name: (identifier)? @name type: (_) @annotation) @parameter.variadic

; Bindings

(function_declaration result: (parameter_list)) @hook
(method_declaration) @hook
(func_literal result: (parameter_list)) @hook
(field_declaration name: (_) type: (_) @reference.type)
(type_parameter_declaration
  name: (identifier) @target
  type: (type_constraint . [(type_identifier) (qualified_type)]? @annotation .)) @binding.assign
(var_spec) @hook
(const_spec value: (expression_list (_) @reference.read))
(short_var_declaration
  left: (_) @target
  right: (expression_list (_) @reference.read) @value) @binding.assign
(assignment_statement
  left: (_) @target
  operator: "="
  right: (expression_list (_) @reference.read) @value) @binding.assign
(assignment_statement right: (expression_list (_) @reference.read))
(receive_statement left: (_) @target right: (_) @value) @binding.assign
(range_clause left: (_) @target right: (_) @value @reference.read) @binding.iterate
(type_switch_statement alias: (_)) @hook
(return_statement (expression_list (_) @reference.read) @value) @binding.return

(expression_list) @target.hook

; Variables of a part of a function

(type_switch_statement
  alias: (expression_list (identifier) @name)
  [(type_case) (default_case)] @scope) @local.each
(statement_list (short_var_declaration left: (expression_list) @name)) @local.rest
(if_statement
  initializer: (short_var_declaration left: (expression_list) @name @scope)
  condition: (_) @scope
  consequence: (_) @scope
  alternative: (_)? @scope) @local

; Other places where a name is a value

(argument_list (_) @reference.read)
(variadic_argument (_) @reference.read)
(keyed_element value: (literal_element (_) @reference.read))
(literal_value (literal_element (_) @reference.read))
(send_statement value: (_) @reference.read)

; Expressions

(identifier) @expr.name
(selector_expression operand: (_) @base field: (_) @name) @expr.attribute
(call_expression
  function: (identifier) @_f
  arguments: (argument_list . (_) @callee .)
  (#eq? @_f "new")) @reference.new
(call_expression function: (_) @callee arguments: (argument_list) @arguments) @reference.call
(type_conversion_expression type: (_) @callee operand: (_) @argument) @reference.call
(composite_literal
  type: [(type_identifier) (qualified_type) (generic_type)] @callee
  body: (literal_value) @arguments) @reference.new
(composite_literal) @expr.text
(keyed_element key: (literal_element (identifier) @keyword) value: (literal_element (_) @value)) @argument.named
(literal_element (_) @inner) @expr.same
(parenthesized_expression (_) @inner) @expr.same
(variadic_argument (_) @inner) @expr.same
(expression_list . (_) @inner .) @expr.same
(expression_list (_) @item) @elements.tuple
(unary_expression operator: ["&" "*"] operand: (_) @inner) @expr.same
(unary_expression operator: "<-" operand: (_) @base) @expr.index
(unary_expression operator: "!") @literal.bool
(binary_expression operator: ["==" "!=" "<" "<=" ">" ">=" "&&" "||"]) @literal.bool
(index_expression operand: (_) @base index: (_) @index) @expr.index
(slice_expression operand: (_) @inner) @expr.same
(type_assertion_expression operand: (_) @inner type: (_) @annotation) @expr.cast
(type_instantiation_expression type: (_) @inner) @expr.same
(interpreted_string_literal) @literal.str
(raw_string_literal) @literal.str
(rune_literal) @literal.int
(int_literal) @literal.int
(float_literal) @literal.float
(true) @literal.bool
(false) @literal.bool
(nil) @literal.none

; Types: wherever a type's name stands it is referred to

(type_identifier) @reference.type
(qualified_type) @reference.type

(type_identifier) @expr.name
(package_identifier) @expr.name
(qualified_type package: (_) @base name: (_) @name) @type.attribute
(generic_type type: (_) @inner) @expr.same
(generic_type type: (_) @base type_arguments: (type_arguments (type_elem (_) @argument))) @type.generic
(pointer_type (_) @inner) @type.same
(parenthesized_type (_) @inner) @type.same
(type_elem . (_) @inner .) @type.same
(type_elem (_) @option) @type.union
(type_constraint . (_) @inner .) @type.same
(type_constraint (_) @option) @type.union
(negated_type (_) @inner) @type.same
(slice_type element: (_) @argument) @type.list
(array_type element: (_) @argument) @type.list
(implicit_length_array_type element: (_) @argument) @type.list
(channel_type value: (_) @argument) @type.list
(map_type key: (_) @argument value: (_) @argument) @type.map
(parameter_list) @type.text
(function_type) @type.text

; Digests

(comment) @comment
(block) @block
(field_declaration_list) @block
(interface_type) @block
(interpreted_string_literal) @token
(raw_string_literal) @token
