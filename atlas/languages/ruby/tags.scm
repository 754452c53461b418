; Imports

(call
  !receiver
  method: (identifier) @_f
  arguments: (argument_list (string))
  (#any-of? @_f "require" "require_relative" "load" "autoload")) @import

; Definitions

(call
  !receiver
  method: (identifier) @_f @flag.private
  arguments: (argument_list [(method) (singleton_method) (call)] @wrapped)
  (#any-of? @_f "private" "protected" "private_class_method")) @wrapper
(call
  !receiver
  method: (identifier) @_f @flag.static
  arguments: (argument_list (method) @wrapped)
  (#any-of? @_f "module_function" "public_class_method")) @wrapper
(body_statement (identifier)) @hook
(program (identifier)) @hook

(module name: (_) @name body: (_)? @body "end" @body) @definition.namespace
(class name: (_) @name superclass: (superclass (_) @base)? body: (_)? @body "end" @body) @definition.class
(assignment
  left: (constant) @name
  right: (call
    receiver: (constant) @_c
    method: (identifier) @_n
    arguments: (argument_list [(constant) (scope_resolution)] @base)?
    block: (_ body: (_)? @body "end"? @body "}"? @body)? @scope)
  (#any-of? @_c "Struct" "Class" "Data")
  (#any-of? @_n "new" "define")) @definition.class
(assignment
  left: (constant) @name
  right: (call
    receiver: (constant) @_c
    method: (identifier) @_n
    block: (_ body: (_)? @body "end"? @body "}"? @body)? @scope)
  (#eq? @_c "Module")
  (#eq? @_n "new")) @definition.namespace
(method
  name: (_) @name
  parameters: (_)? @parameters
  "="? @body
  body: (_)? @body
  "end"? @body) @definition.function
(singleton_method
  object: (_) @flag.static
  name: (_) @name
  parameters: (_)? @parameters
  "="? @body
  body: (_)? @body
  "end"? @body) @definition.function
(call
  !receiver
  method: (identifier) @_f
  arguments: (argument_list . [(simple_symbol) (string) (delimited_symbol)] @name)
  block: (_ parameters: (_)? @parameters body: (_)? @body "end"? @body "}"? @body) @scope
  (#any-of? @_f "define_method" "define_singleton_method")) @definition.function
(alias name: (_) @name) @definition.function
(block parameters: (_)? @parameters body: (_)? @body "}" @body) @definition.lambda
(do_block parameters: (_)? @parameters body: (_)? @body "end" @body) @definition.lambda
(lambda parameters: (_)? @parameters body: (_) @body @scope) @definition.lambda
(assignment left: (constant) @name right: (_)? @value) @definition.variable

; Calls that define members, say who sees them, mark tests, or name methods by symbols

(call method: (identifier)) @hook
(constant) @hook
(return) @hook
(yield) @hook

; Parameters

(identifier) @parameter
(optional_parameter name: (_) @name value: (_) @default) @parameter
(keyword_parameter name: (_) @name value: (_)? @default) @parameter
(splat_parameter name: (_) @name) @parameter.variadic
(hash_splat_parameter name: (_) @name) @parameter.keywords
(block_parameter name: (_) @name) @parameter
(destructured_parameter) @parameter
(block_parameters locals: (_) @target) @binding.assign

; Bindings

(assignment left: (_) @target right: (_) @value) @binding.assign
(operator_assignment left: (_) @target operator: ["||=" "&&="] right: (_) @value) @binding.assign
(operator_assignment left: (_) @target) @binding.assign
(for pattern: (_) @target value: (in (_) @value)) @binding.iterate
(rescue
  exceptions: (exceptions . (_) @value)
  variable: (exception_variable (_) @target)) @binding.catch
(rescue variable: (exception_variable (_) @target)) @binding.catch
(exceptions [(constant) (scope_resolution)] @reference.type)
(pattern [(constant) (scope_resolution)] @reference.type)
(in_clause pattern: (identifier) @target) @binding.assign
(in_clause pattern: [(constant) (scope_resolution)] @reference.type)
(as_pattern name: (_) @target) @binding.assign
(array_pattern (identifier) @target) @binding.assign
(find_pattern (identifier) @target) @binding.assign
(alternative_pattern [(constant) (scope_resolution)] @reference.type)
(keyword_pattern value: (identifier) @target) @binding.assign
(keyword_pattern !value key: (hash_key_symbol) @target) @binding.assign
(array_pattern (splat_parameter name: (_) @target)) @binding.assign
(find_pattern (splat_parameter name: (_) @target)) @binding.assign
(hash_pattern (hash_splat_parameter name: (_) @target)) @binding.assign
(call
  method: (identifier) @_f
  arguments: (argument_list . [(constant) (scope_resolution)] @reference.type)
  (#any-of? @_f "is_a?" "kind_of?" "instance_of?"))

(left_assignment_list (_) @item) @target.unpack
(destructured_left_assignment (_) @item) @target.unpack
(destructured_parameter (_) @item) @target.unpack
(rest_assignment (_) @inner) @target.same
(splat_parameter name: (_) @inner) @target.same
(optional_parameter name: (_) @inner) @target.same
(call receiver: (_)) @target.hook
(identifier) @target.hook

; Expressions

(constant) @expr.name
(global_variable) @expr.name
(hash_key_symbol) @expr.name
(self) @expr.text
(instance_variable) @expr.text
(class_variable) @expr.text
; A bare word is a variable or a call: the code knows which.
(identifier) @reference.call
(super) @reference.call
(scope_resolution scope: (_) @base name: (_) @name) @expr.attribute
(scope_resolution name: (_) @inner) @expr.same
(call
  receiver: (_) @base
  method: (_) @name
  arguments: (argument_list)? @arguments
  block: (_)? @argument) @reference.call
(call
  !receiver
  method: (_) @callee
  arguments: (argument_list)? @arguments
  block: (_)? @argument) @reference.call
(call receiver: (_) @callee arguments: (argument_list)? @arguments) @reference.call
(pair key: (hash_key_symbol) @keyword value: (_) @value) @argument.named
(block_argument (_) @inner) @expr.same
(block_argument (simple_symbol)) @hook
(splat_argument (_) @base) @expr.index
(element_reference object: (_) @base) @expr.index
(assignment right: (_) @inner) @expr.same
(operator_assignment left: (_) @option operator: "||=" right: (_) @option) @expr.one-of
(parenthesized_statements (_) @inner .) @expr.same
(begin (_) @inner .) @expr.same
(then (_) @inner .) @expr.same
(else (_) @inner .) @expr.same
(if consequence: (_)? @option alternative: (_)? @option) @expr.one-of
(elsif consequence: (_)? @option alternative: (_)? @option) @expr.one-of
(unless consequence: (_)? @option alternative: (_)? @option) @expr.one-of
(case (when body: (_) @option) (else)? @option) @expr.one-of
(if_modifier body: (_) @inner) @expr.same
(unless_modifier body: (_) @inner) @expr.same
(conditional consequence: (_) @option alternative: (_) @option) @expr.one-of
(binary left: (_) @option operator: ["||" "or"] right: (_) @option) @expr.one-of
(binary operator: ["&&" "and"] right: (_) @inner) @expr.same
(binary operator: ["==" "!=" "===" "=~" "!~" "<" ">" "<=" ">="]) @literal.bool
(unary operator: ["!" "not" "defined?"]) @literal.bool
(rescue_modifier body: (_) @option handler: (_) @option) @expr.one-of
(string) @literal.str
(chained_string) @literal.str
(heredoc_beginning) @literal.str
(subshell) @literal.str
(simple_symbol) @literal.str
(delimited_symbol) @literal.str
(integer) @literal.int
(float) @literal.float
(true) @literal.bool
(false) @literal.bool
(nil) @literal.none
(regex) @literal.regex
(array (_)? @item) @elements.list
(right_assignment_list (_) @item) @elements.tuple
(hash (pair value: (_) @item)?) @elements.dict
(string_array) @literal.list
(symbol_array) @literal.list

; Digests

(comment) @comment
(program) @block
(body_statement) @block
(block_body) @block
(then) @block
(else) @block
(do) @block
(begin) @block
(string_content) @token
(heredoc_body) @token
(regex) @token
(simple_symbol) @token

; Methods that operators run

(binary
  left: (_) @base
  operator: ["+" "-" "*" "/" "%" "**" "&" "|" "^" "<<" ">>"] @name
  right: (_) @argument) @expr.operator
(binary
  left: (_) @base
  operator: ["==" "!=" "===" "=~" "<" "<=" ">" ">=" "<=>"] @name
  right: (_) @argument) @reference.operator
(operator_assignment
  left: (_) @base
  operator: ["+=" "-=" "*=" "/=" "%=" "**=" "&=" "|=" "^=" "<<=" ">>="] @name
  right: (_) @argument) @reference.operator
(unary operator: ["-" "+" "~"] @name operand: (_) @base) @reference.operator
