; Imports

(assignment_statement) @import
(function_call name: (identifier) @_f (#eq? @_f "require")) @import

; Definitions: the code knows which tables are classes

(variable_declaration "local" @flag.private (assignment_statement) @wrapped) @wrapper.signature

(function_declaration
  "local"? @flag.private
  name: (identifier) @name
  parameters: (_) @parameters
  body: (_)? @body
  "end" @body) @definition.function
(function_declaration
  name: [
    (dot_index_expression table: (_) @extends field: (identifier) @name)
    (method_index_expression table: (_) @extends method: (identifier) @name)
  ]
  parameters: (_) @parameters
  body: (_)? @body
  "end" @body) @definition.method
(assignment_statement
  (variable_list . name: (identifier) @name .)
  (expression_list
    . value: (function_definition parameters: (_) @parameters body: (_)? @body "end" @body) @scope .)) @definition.function
(assignment_statement
  (variable_list . name: (dot_index_expression table: [(identifier) (dot_index_expression)] field: (identifier) @name) .)
  (expression_list
    . value: (function_definition parameters: (_) @parameters body: (_)? @body "end" @body) @scope .)) @definition.method
(assignment_statement
  (variable_list . name: (dot_index_expression table: (identifier) field: (identifier) @name) .)
  (expression_list . value: (_) @value .)) @definition.field
(assignment_statement
  (variable_list . name: (identifier) @name .)
  (expression_list . value: (_) @value .)) @definition.class
(assignment_statement
  (variable_list name: (identifier) @name)
  (expression_list value: (_) @value)) @definition.variable
(field
  name: (identifier) @name
  value: (function_definition parameters: (_) @parameters body: (_)? @body "end" @body) @scope) @definition.function
(field name: (identifier) @name value: (_) @value) @definition.field
(function_call
  name: (identifier) @_f @flag.test
  arguments: (arguments
    (function_definition parameters: (_) @parameters body: (_)? @body "end" @body) @scope)
  (#any-of? @_f "it" "test")) @definition.lambda
(function_definition parameters: (_) @parameters body: (_)? @body "end" @body) @definition.lambda

; Parameters

(identifier) @parameter
(vararg_expression) @parameter.variadic

; Bindings

(assignment_statement
  (variable_list) @target
  (expression_list (_) @reference.read) @value) @binding.assign
(variable_declaration (variable_list name: (identifier) @target)) @binding.assign
(for_generic_clause (variable_list) @target (expression_list) @value) @binding.iterate
(for_numeric_clause name: (_) @target) @binding.assign
; `setmetatable(object, Class)`
(function_call
  name: (identifier) @_f
  arguments: (arguments . (identifier) @target [(identifier) (dot_index_expression)] @annotation .)
  (#eq? @_f "setmetatable")) @binding.assign
(return_statement (expression_list (_) @reference.read) @value) @binding.return
(return_statement) @hook

(variable_list . (_) @inner .) @target.same
(variable_list name: (_) @item) @target.unpack

; Other places where a name is a value

(arguments (_) @reference.read)
(field value: (_) @reference.read)

; Expressions

(identifier) @expr.text
(dot_index_expression table: (_) @base field: (_) @name) @expr.attribute
(method_index_expression table: (_) @base method: (_) @name) @expr.attribute
(bracket_index_expression table: (_) @base field: (_) @index) @expr.index
(function_call
  name: (identifier) @_f
  arguments: (arguments . (_) @inner [(identifier) (dot_index_expression)] @annotation .)
  (#eq? @_f "setmetatable")) @expr.cast
(function_call
  name: (identifier) @_f
  arguments: (arguments
    . (_) @inner
    (table_constructor (field name: (identifier) @_k value: [(identifier) (dot_index_expression)] @annotation)) .)
  (#eq? @_f "setmetatable")
  (#eq? @_k "__index")) @expr.cast
(function_call name: (_) @callee arguments: (_) @arguments) @reference.call
(parenthesized_expression (_) @inner) @expr.same
(expression_list . (_) @inner .) @expr.same
(expression_list (_) @item) @elements.tuple
(binary_expression left: (_) @option "or" right: (_) @option) @expr.one-of
(binary_expression "and" right: (_) @inner) @expr.same
(binary_expression ["==" "~=" "<" ">" "<=" ">="]) @literal.bool
(binary_expression "..") @literal.str
(unary_expression "not") @literal.bool
(table_constructor
  (field value: [(identifier) (dot_index_expression) (function_call)] @item)?) @elements.dict
(string) @literal.str
(number) @literal.int
(true) @literal.bool
(false) @literal.bool
(nil) @literal.none

; Digests

(comment) @comment
(chunk) @block
(block) @block
(string) @token

; Methods that operators run

(binary_expression
  left: (_) @base
  ["+" "-" "*" "/" "//" "%" "^" "&" "|" "~" "<<" ">>"] @name
  right: (_) @argument) @expr.operator
(binary_expression left: (_) @base [".." "==" "~=" "<" "<=" ">" ">="] @name right: (_) @argument) @reference.operator
(unary_expression ["-" "#" "~"] @name operand: (_) @base) @reference.operator
