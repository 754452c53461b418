; What C and C++ have in common. Names stand inside declarators: `*name[3]` is found through `@target.same`.

(preproc_include path: [(string_literal) (system_lib_string)] @module) @import.include

; Definitions

(preproc_function_def name: (_) @name parameters: (_) @parameters value: (_)? @body) @definition.function
(preproc_def name: (_) @name value: (_) @value) @definition.constant

(struct_specifier name: (_) @name body: (_) @body) @definition.struct
(union_specifier name: (_) @name body: (_) @body) @definition.struct
(enum_specifier name: (_) @name body: (_) @body) @definition.enum
(type_definition
  type: (struct_specifier !name body: (_) @body) @scope
  declarator: (type_identifier) @name) @definition.struct
(type_definition
  type: (union_specifier !name body: (_) @body) @scope
  declarator: (type_identifier) @name) @definition.struct
(type_definition
  type: (enum_specifier !name body: (_) @body) @scope
  declarator: (type_identifier) @name) @definition.enum
(type_definition type: (_) @annotation declarator: (_) @name) @definition.type
(enumerator name: (_) @name value: (_)? @value) @definition.variable

(function_definition
  (storage_class_specifier "static"? @flag.static)?
  type: (_) @returns
  declarator: [
    (function_declarator parameters: (_) @parameters)
    (pointer_declarator declarator: (function_declarator parameters: (_) @parameters))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator parameters: (_) @parameters)))
    (parenthesized_declarator (function_declarator parameters: (_) @parameters))
  ] @name
  body: (_) @body) @definition.function
(declaration
  (storage_class_specifier "static"? @flag.static)?
  type: (_) @returns @flag.declaration
  declarator: [
    (function_declarator declarator: (identifier) parameters: (_) @parameters)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) parameters: (_) @parameters))
    (pointer_declarator
      declarator: (pointer_declarator
        declarator: (function_declarator declarator: (identifier) parameters: (_) @parameters)))
  ] @name) @definition.function
(declaration
  (storage_class_specifier "static"? @flag.static "extern"? @flag.declaration)?
  type: (_) @annotation
  declarator: [
    (identifier)
    (init_declarator)
    (array_declarator)
    (pointer_declarator)
    (function_declarator declarator: (parenthesized_declarator))
  ] @name) @definition.variable
(field_declaration
  type: (_) @annotation
  declarator: [
    (field_identifier)
    (array_declarator)
    (pointer_declarator)
    (function_declarator declarator: (parenthesized_declarator))
  ] @name) @definition.variable

; `START_TEST(name) { ... }`
(function_definition
  type: (type_identifier)
  declarator: (parenthesized_declarator (identifier) @name)
  body: (_) @body) @definition.function
; What follows the use of a macro: `TEST_CASE("adds") { ... }`
(compound_statement) @hook
(call_expression function: (identifier)) @hook

; Parameters

(parameter_declaration
  declarator: (function_declarator declarator: (parenthesized_declarator)) @name) @parameter
(parameter_declaration
  type: (_) @annotation
  declarator: [(identifier) (pointer_declarator) (array_declarator) (function_declarator) (parenthesized_declarator)] @name) @parameter
(parameter_declaration type: (primitive_type) @_v !declarator (#eq? @_v "void")) @binding.outer
(parameter_declaration type: (primitive_type) @annotation @_v (#not-eq? @_v "void")) @parameter
(parameter_declaration
  type: [(type_identifier) (struct_specifier) (sized_type_specifier)] @annotation
  !declarator) @parameter
(parameter_declaration type: (_) @annotation declarator: (_)) @parameter
; Of macros, and of C functions in the old style.
(identifier) @parameter

; Bindings

(declaration) @hook
(assignment_expression left: (_) @target operator: "=" right: (_) @value @reference.read) @binding.assign
(assignment_expression right: (_) @reference.read)
(return_statement (_)? @value @reference.read) @binding.return

(init_declarator declarator: (_) @inner) @target.same
(pointer_declarator declarator: (_) @inner) @target.same
(array_declarator declarator: (_) @inner) @target.same
(function_declarator declarator: (_) @inner) @target.same
(parenthesized_declarator (_) @inner) @target.same
(parenthesized_expression (_) @inner) @target.same
(pointer_expression argument: (_) @inner) @target.same

; Other places where a name is a value

(argument_list (_) @reference.read)
(initializer_list (_) @reference.read)
(initializer_pair value: (_) @reference.read)
(conditional_expression consequence: (_) @reference.read)
(conditional_expression alternative: (_) @reference.read)
(comma_expression (_) @reference.read)

; Expressions

(identifier) @expr.name
(field_identifier) @expr.name
(field_expression argument: (_) @base field: (_) @name) @expr.attribute
(call_expression function: (_) @callee arguments: (argument_list) @arguments) @reference.call
(subscript_expression argument: (_) @base) @expr.index
(parenthesized_expression (_) @inner) @expr.same
(pointer_expression argument: (_) @inner) @expr.same
(cast_expression type: (_) @annotation value: (_) @inner) @expr.cast
(compound_literal_expression type: (_) @annotation value: (_) @inner) @expr.cast
(assignment_expression right: (_) @inner) @expr.same
(comma_expression (_) @inner .) @expr.same
(conditional_expression consequence: (_) @option alternative: (_) @option) @expr.one-of
(binary_expression operator: ["==" "!=" "<" "<=" ">" ">=" "&&" "||"]) @literal.bool
(unary_expression operator: "!") @literal.bool
(initializer_list (initializer_pair value: (_) @item)) @elements.dict
(initializer_list (_)? @item) @elements.list
(initializer_pair value: (_) @inner) @expr.same
(initializer_pair
  designator: (field_designator (field_identifier) @keyword)
  value: (_) @value) @argument.named
(string_literal) @literal.str
(concatenated_string) @literal.str
(char_literal) @literal.int
(number_literal) @literal.int
(sizeof_expression) @literal.int
(true) @literal.bool
(false) @literal.bool
(null) @literal.none

; Types: wherever a type's name stands it is referred to

(type_identifier) @reference.type
(type_identifier) @expr.name
(struct_specifier name: (_) @inner) @type.same
(union_specifier name: (_) @inner) @type.same
(enum_specifier name: (_) @inner) @type.same
(type_descriptor type: (_) @inner) @expr.same
(primitive_type) @type.text
(sized_type_specifier) @literal.int

; Digests

(comment) @comment
(translation_unit) @block
(compound_statement) @block
(field_declaration_list) @block
(enumerator_list) @block
(string_literal) @token
(char_literal) @token
(preproc_arg) @token
