; Imports

(call target: (identifier) @_f (arguments) (#any-of? @_f "alias" "import" "require" "use")) @import

; Attributes that stand before what they describe

(unary_operator
  operand: (call target: (identifier) @_a)
  (#any-of? @_a "doc" "typedoc" "spec" "impl" "deprecated" "dialyzer")) @decorator.pending

; Definitions

(call
  target: (identifier) @_d
  (arguments . (_) @name)
  (do_block) @body
  (#any-of? @_d "defmodule" "defimpl")) @definition.class
(call
  target: (identifier) @_d
  (arguments . (alias) @name (keywords) @body)
  (#eq? @_d "defmodule")) @definition.class
(call
  target: (identifier) @_d
  (arguments . (_) @name)
  (do_block) @body
  (#eq? @_d "defprotocol")) @definition.interface

(call
  target: (identifier) @_d
  (arguments
    . [
      (call target: (identifier) @name (arguments)? @parameters)
      (binary_operator left: (call target: (identifier) @name (arguments)? @parameters) operator: "when")
    ]
    (keywords)? @body)
  (do_block)? @body
  (#any-of? @_d "def" "defmacro" "defguard" "defdelegate" "defn")) @definition.function
(call
  target: (identifier) @_d
  (arguments
    . [(identifier) (binary_operator left: (identifier) operator: "when")] @name
    (keywords)? @body)
  (do_block)? @body
  (#any-of? @_d "def" "defmacro" "defguard" "defdelegate" "defn")) @definition.function
(call
  target: (identifier) @_d @flag.private
  (arguments
    . [
      (call target: (identifier) @name (arguments)? @parameters)
      (binary_operator left: (call target: (identifier) @name (arguments)? @parameters) operator: "when")
    ]
    (keywords)? @body)
  (do_block)? @body
  (#any-of? @_d "defp" "defmacrop" "defguardp" "defnp")) @definition.function
(call
  target: (identifier) @_d @flag.private
  (arguments . (identifier) @name (keywords)? @body)
  (do_block)? @body
  (#any-of? @_d "defp" "defmacrop" "defguardp" "defnp")) @definition.function

(call
  target: (identifier) @_d
  (arguments (list (atom)? @name (keywords (pair key: (keyword) @name))?))
  (#any-of? @_d "defstruct" "defexception")) @definition.variable
(call
  target: (identifier) @_d
  (arguments (keywords (pair key: (keyword) @name)))
  (#any-of? @_d "defstruct" "defexception")) @definition.variable

(call
  target: (identifier) @_t @flag.test
  (arguments . (string))
  (do_block) @body
  (#any-of? @_t "test" "property")) @definition.lambda

(unary_operator
  operand: (call
    target: (identifier) @_c
    (arguments
      [
        (binary_operator
          left: (call target: (identifier) @name @flag.abstract @flag.declaration (arguments)? @parameters)
          operator: "::")
        (binary_operator
          left: (binary_operator
            left: (call target: (identifier) @name @flag.abstract @flag.declaration (arguments)? @parameters))
          operator: "when")
      ]))
  (#any-of? @_c "callback" "macrocallback")) @definition.method
(unary_operator
  operand: (call
    target: (identifier) @_c
    (arguments (binary_operator left: (identifier) @name operator: "::")))
  (#any-of? @_c "type" "opaque")) @definition.type
(unary_operator
  operand: (call
    target: (identifier) @_c
    (arguments (binary_operator left: (call target: (identifier) @name) operator: "::")))
  (#any-of? @_c "type" "opaque")) @definition.type
(unary_operator
  operator: "@"
  operand: (call target: (identifier) @name (arguments . (_) @value .))
  (#not-any-of? @name
    "doc" "moduledoc" "typedoc" "spec" "type" "typep" "opaque" "callback" "macrocallback" "impl" "behaviour"
    "optional_callbacks" "deprecated" "dialyzer" "derive" "enforce_keys" "compile" "tag" "moduletag" "describetag"
    "external_resource" "on_load" "before_compile" "after_compile" "on_definition" "since" "vsn")) @definition.variable

; Parameters

(identifier) @parameter
(binary_operator left: (identifier) @name operator: "\\\\" right: (_) @default) @parameter
(binary_operator operator: "\\\\" right: (_) @default) @parameter
(binary_operator operator: "=" right: (identifier) @name) @parameter
(binary_operator left: (identifier) @name operator: "=") @parameter
(binary_operator) @parameter
(unary_operator) @parameter
(call) @parameter
(tuple) @parameter
(map) @parameter
(list) @parameter
(keywords) @parameter
(bitstring) @parameter
(string) @parameter
(charlist) @parameter
(sigil) @parameter
(atom) @parameter
(quoted_atom) @parameter
(alias) @parameter
(integer) @parameter
(float) @parameter
(char) @parameter
(boolean) @parameter
(nil) @parameter

; References

(struct (alias) @reference.type)
(alias) @hook
(unary_operator operator: "&" operand: (binary_operator)) @hook
(unary_operator operator: "@") @hook
(binary_operator operator: "|>" right: (identifier)) @hook
(call target: (identifier) @_d (#eq? @_d "defdelegate")) @hook

; Expressions: names of modules are written out in full by the code

(alias) @expr.text
(identifier) @expr.text
(dot) @expr.text
(call target: (_)) @reference.call
(string) @literal.str
(integer) @literal.int
(float) @literal.float
(boolean) @literal.bool
(nil) @literal.none
(list) @literal.list
(map) @literal.dict
(tuple) @literal.tuple

; Digests

(comment) @comment
(source) @block
(do_block) @block
(string) @token
(sigil) @token
(charlist) @token
