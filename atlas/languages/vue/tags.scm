; What only TypeScript has: assertions in angle brackets.

(type_assertion) @expr.text
