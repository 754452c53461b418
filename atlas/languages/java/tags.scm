; The comment above the package, in package-info.java

(package_declaration) @hook

; Imports

(import_declaration) @import

; Definitions

(class_declaration
  (modifiers
    "static"? @flag.static
    "abstract"? @flag.abstract
    "private"? @flag.private
    [(annotation) (marker_annotation)]? @decorator)?
  name: (_) @name
  superclass: (superclass (_) @base)?
  interfaces: (super_interfaces (type_list (_) @base))?
  body: (_) @body) @definition.class
(record_declaration
  (modifiers "private"? @flag.private [(annotation) (marker_annotation)]? @decorator)?
  name: (_) @name
  parameters: (_) @parameters
  interfaces: (super_interfaces (type_list (_) @base))?
  body: (_) @body) @definition.class
(enum_declaration
  (modifiers "private"? @flag.private [(annotation) (marker_annotation)]? @decorator)?
  name: (_) @name
  interfaces: (super_interfaces (type_list (_) @base))?
  body: (_) @body) @definition.enum
(interface_declaration
  (modifiers "private"? @flag.private [(annotation) (marker_annotation)]? @decorator)?
  name: (_) @name
  (extends_interfaces (type_list (_) @base))?
  body: (_) @body) @definition.interface
(annotation_type_declaration
  (modifiers "private"? @flag.private [(annotation) (marker_annotation)]? @decorator)?
  name: (_) @name
  body: (_) @body) @definition.interface
; Of `new T() { ... }` and of enum members; the code drops the bodies of named classes.
(class_body) @definition.class

(constructor_declaration
  (modifiers "private"? @flag.private [(annotation) (marker_annotation)]? @decorator)?
  name: (_) @name
  parameters: (_) @parameters
  body: (_) @body) @definition.constructor
(compact_constructor_declaration
  (modifiers "private"? @flag.private [(annotation) (marker_annotation)]? @decorator)?
  name: (_) @name
  body: (_) @body) @definition.constructor
(method_declaration
  (modifiers
    "static"? @flag.static
    "abstract"? @flag.abstract
    "private"? @flag.private
    [(annotation) (marker_annotation)]? @decorator)?
  type: (_) @returns
  name: (_) @name
  parameters: (_) @parameters
  body: (_)? @body) @definition.method
(annotation_type_element_declaration type: (_) @returns name: (_) @name @flag.abstract) @definition.method
(lambda_expression parameters: (_) @parameters body: (_) @body) @definition.lambda

(field_declaration
  (modifiers
    "static"? @flag.static
    "private"? @flag.private
    [(annotation) (marker_annotation)]? @decorator)?
  type: (_) @annotation
  declarator: (variable_declarator name: (identifier) @name value: (_)? @value)) @definition.variable
(constant_declaration
  type: (_) @annotation @flag.static
  declarator: (variable_declarator name: (identifier) @name value: (_)? @value)) @definition.variable
(enum_constant
  (modifiers [(annotation) (marker_annotation)]? @decorator)?
  name: (_) @name @flag.static) @definition.field
(record_declaration) @hook

(annotation name: (_) @reference.type) @hook
(marker_annotation name: (_) @reference.type)

; Parameters

(formal_parameter type: (_) @annotation name: (_) @name) @parameter
(spread_parameter
  [(type_identifier) (scoped_type_identifier) (generic_type) (array_type) (integral_type) (floating_point_type) (boolean_type)]
    @annotation
  (variable_declarator name: (_) @name)) @parameter.variadic
(identifier) @parameter

; Bindings

(field_declaration) @hook
(constant_declaration) @hook
(local_variable_declaration) @hook
(enhanced_for_statement) @hook
(resource) @hook
(resource [(identifier) (field_access)] @reference.read .)
(assignment_expression
  left: (_) @target
  operator: "="
  right: (_) @value @reference.read) @binding.assign
(catch_formal_parameter (catch_type) @annotation name: (_) @target) @binding.catch
(instanceof_expression right: (_) @annotation name: (_) @target) @binding.assign
(type_pattern . (_) @annotation (identifier) @target .) @binding.assign
(record_pattern_component . (_) @annotation (identifier) @target .) @binding.assign
(type_parameter (type_identifier) @target (type_bound . (_) @annotation)?) @binding.assign
(return_statement (_)? @value @reference.read) @binding.return
; A body of statements returns by its own statements.
(lambda_expression body: (block)) @binding.outer
(lambda_expression body: (_) @value @reference.read) @binding.return

; Variables of a part of a method

(switch_rule (switch_label (pattern) @name)) @local
(switch_block_statement_group (switch_label (pattern) @name)) @local
(instanceof_expression name: (identifier) @name) @local.guarded
(instanceof_expression pattern: (_) @name) @local.guarded
(enhanced_for_statement name: (identifier) @name @scope body: (_) @scope) @local
(catch_clause (catch_formal_parameter name: (identifier) @name)) @local
(for_statement init: (local_variable_declaration declarator: (variable_declarator name: (_) @name))) @local.rest
(try_with_resources_statement resources: (resource_specification (resource name: (_) @name))) @local.rest
(block (local_variable_declaration declarator: (variable_declarator name: (_) @name))) @local.rest
(switch_block_statement_group
  (local_variable_declaration declarator: (variable_declarator name: (_) @name))) @local.rest

; Other places where a name is a value

(argument_list (_) @reference.read)
(array_initializer (_) @reference.read)
(throw_statement (_) @reference.read)
(yield_statement (_) @reference.read)
(element_value_pair value: (_) @reference.read)

; Expressions

(identifier) @expr.name
(this) @expr.this
(super) @expr.super
(field_access object: (_) @annotation field: (this)) @expr.cast
(field_access object: (_) @base field: (_) @name) @expr.attribute
(method_invocation object: (_) (super) @base name: (_) @name arguments: (_) @arguments) @reference.call
(method_invocation object: (_) @base name: (_) @name arguments: (_) @arguments) @reference.call
(method_invocation name: (_) @name arguments: (_) @arguments) @reference.call
(explicit_constructor_invocation constructor: (_) @callee arguments: (_) @arguments) @reference.call
(object_creation_expression type: (_) @callee arguments: (_) @arguments) @reference.new
(annotation name: (_) @callee arguments: (_) @arguments) @reference.call
(element_value_pair key: (_) @keyword value: (_) @value) @argument.named
(method_reference . (_) @inner "new") @expr.same
(method_reference . (_) @base (identifier) @name .) @expr.attribute
(array_access array: (_) @base index: (_) @index) @expr.index
(cast_expression type: (_) @annotation value: (_) @inner) @expr.cast
(parenthesized_expression (_) @inner) @expr.same
(assignment_expression right: (_) @inner) @expr.same
(ternary_expression consequence: (_) @option alternative: (_) @option) @expr.one-of
(switch_expression body: (switch_block (switch_rule (expression_statement (_) @option)))) @expr.one-of
(class_literal (_) @inner) @expr.same
(binary_expression operator: ["==" "!=" "<" "<=" ">" ">=" "&&" "||"]) @literal.bool
(instanceof_expression) @literal.bool
(unary_expression operator: "!") @literal.bool
(array_initializer (_) @item) @elements.list
(array_creation_expression value: (array_initializer (_) @item)) @elements.list
(array_creation_expression) @literal.list
(string_literal) @literal.str
(character_literal) @literal.str
(decimal_integer_literal) @literal.int
(hex_integer_literal) @literal.int
(octal_integer_literal) @literal.int
(binary_integer_literal) @literal.int
(decimal_floating_point_literal) @literal.float
(hex_floating_point_literal) @literal.float
(true) @literal.bool
(false) @literal.bool
(null_literal) @literal.none

; Types: wherever a type's name stands it is referred to

(type_identifier) @reference.type
(scoped_type_identifier) @reference.type

(type_identifier) @expr.name
(scoped_identifier scope: (_) @base name: (_) @name) @type.attribute
(scoped_type_identifier . (_) @base (type_identifier) @name .) @type.attribute
(generic_type . (_) @base (type_arguments (_)? @argument)) @type.generic
(array_type element: (_) @argument) @type.list
(annotated_type (_) @inner .) @type.same
(wildcard (_) @inner .) @type.same
(catch_type . (_) @inner .) @type.same
(catch_type (_) @option) @type.union
(integral_type) @literal.int
(floating_point_type) @literal.float
(boolean_type) @literal.bool
(void_type) @literal.none

; Digests

(line_comment) @comment
(block_comment) @comment
(block) @block
(constructor_body) @block
(class_body) @block
(interface_body) @block
(enum_body) @block
(annotation_type_body) @block
(string_literal) @token

; Methods that operators and blocks run

(try_with_resources_statement
  resources: (resource_specification (resource [(identifier) (field_access)] @base .))) @reference.enter
(try_with_resources_statement resources: (resource_specification (resource value: (_) @base))) @reference.enter
