; Imports: the path as far as it is written out ("$DIR/lib/x.sh" is the file that ends in lib/x.sh)

(command
  name: (command_name (word) @_n)
  argument: (string (string_content) @module .)
  (#any-of? @_n "source" ".")) @import.include
(command
  name: (command_name (word) @_n)
  argument: (concatenation (word) @module .)
  (#any-of? @_n "source" ".")) @import.include
(command
  name: (command_name (word) @_n)
  argument: [(word) (raw_string)] @module
  (#any-of? @_n "source" ".")) @import.include

; Definitions

(function_definition name: (word) @name body: (_) @body) @definition.function
(declaration_command (variable_assignment) @wrapped) @wrapper.signature
(variable_assignment name: (variable_name) @name value: (_)? @value) @definition.variable

; Calls, and commands that take the name of a function

(command name: (command_name (word) @name)) @reference.call
(command
  name: (command_name (word) @_n)
  argument: (word) @reference.read
  (#any-of? @_n "trap" "complete" "eval" "time" "run"))
(command name: (command_name (word) @_n) (#eq? @_n "trap")) @hook
(word) @expr.name

; Digests

(comment) @comment
(program) @block
(compound_statement) @block
(subshell) @block
(do_group) @block
(if_statement) @block
(case_statement) @block
(string) @token
(heredoc_body) @token
