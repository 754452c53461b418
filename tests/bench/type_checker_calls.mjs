// Prints what TypeScript's checker resolves each call of a tree to, one JSON object a line.
// node type_checker_calls.mjs TYPESCRIPT_FOLDER TREE [FILE_LIST]: files are named relative to TREE, one a line.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative } from "node:path";

const [folder, tree, list] = process.argv.slice(2);
const ts = createRequire(join(folder, "package.json"))("typescript");
const files = readFileSync(list, "utf8").split("\n").filter(Boolean).map((name) => join(tree, name));
const known = new Set(files);
const program = ts.createProgram(files, {
  allowJs: true, checkJs: true, noEmit: true, strict: true, skipLibCheck: true, jsx: ts.JsxEmit.Preserve,
  target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler,
  allowImportingTsExtensions: true, esModuleInterop: true, maxNodeModuleJsDepth: 0, types: ["node"],
  typeRoots: [join(folder, "node_modules/@types")], experimentalDecorators: true,
});
const checker = program.getTypeChecker();

const lineOf = (node) => {
  const file = node.getSourceFile();
  return file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
};
const endOf = (node) => {
  const file = node.getSourceFile();
  return file.getLineAndCharacterOfPosition(node.end).line + 1;
};
const textOf = (name) => (name && !ts.isComputedPropertyName(name) ? name.text ?? name.getText() : "");

// The name that a person would give a function: its own, or that of what it is assigned to.
function nameOf(node) {
  if (ts.isConstructorDeclaration(node)) return node;
  let holder = node;
  while (ts.isParenthesizedExpression(holder.parent) || ts.isAsExpression(holder.parent) ||
         ts.isSatisfiesExpression(holder.parent)) holder = holder.parent;
  const parent = holder.parent;
  if ((ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent) || ts.isPropertyDeclaration(parent)) &&
      parent.initializer === holder && (ts.isIdentifier(parent.name) || textOf(parent.name))) return parent.name;
  if (ts.isBinaryExpression(parent) && parent.right === holder &&
      parent.operatorToken.kind === ts.SyntaxKind.EqualsToken) {
    const isExports = parent.left.getText() === "module.exports";
    if (ts.isPropertyAccessExpression(parent.left) && !(isExports && node.name)) return parent.left.name;
  }
  return node.name && textOf(node.name) ? node.name : undefined;
}

function place(node, name) {
  const text = name === undefined ? "" : ts.isConstructorDeclaration(name) ? "constructor" : textOf(name);
  return {
    path: relative(tree, node.getSourceFile().fileName), name: text,
    first: lineOf(node), line: name === undefined ? lineOf(node) : lineOf(name), last: endOf(node),
  };
}

// Functions with a name around a call, the innermost first.
function callers(node) {
  const found = [];
  let from = node;
  for (let here = node.parent; here; from = here, here = here.parent) {
    if (!ts.isFunctionLike(here) || here.decorators?.includes?.(from)) continue;
    const name = nameOf(here);
    if (name !== undefined && here.body) found.push(place(here, name));
  }
  return found;
}

const isFunction = (node) => node && (ts.isFunctionLike(node) || ts.isClassLike(node));
const bare = (node) => {
  while (node && (ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isNonNullExpression(node) ||
         ts.isSatisfiesExpression(node))) node = node.expression;
  return node;
};

// A declaration as a callee: the implementation of overloads, and what `exports.x = f` and `{ x: f }` lead to.
let neutral = [];
function targets(symbol, depth = 0) {
  if (!symbol || depth > 5) return [];
  if (symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  let declarations = symbol.declarations ?? [];
  const bodies = declarations.filter((node) => node.body || ts.isClassLike(node));
  if (bodies.length) declarations = bodies;
  const found = [];
  for (const declaration of declarations) {
    let node = declaration;
    let value;
    if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isParameter(node)) continue;
    if (ts.isPropertyAccessExpression(node) && ts.isBinaryExpression(node.parent)) value = bare(node.parent.right);
    else if (ts.isBinaryExpression(node)) value = bare(node.right);
    else if (node.initializer) value = bare(node.initializer);
    while (value && ts.isBinaryExpression(value) && value.operatorToken.kind === ts.SyntaxKind.EqualsToken)
      value = bare(value.right);
    const name = ts.isPropertyAccessExpression(node) ? node.name : ts.isBinaryExpression(node) &&
      ts.isPropertyAccessExpression(node.left) ? node.left.name : ts.isConstructorDeclaration(node) ? node : node.name;
    const isLocal = ts.isVariableDeclaration(node) || ts.isBindingElement(node);
    const others = [];
    if (value && (ts.isIdentifier(value) || ts.isPropertyAccessExpression(value)))
      others.push(...targets(checker.getSymbolAtLocation(value), depth + 1));
    if (ts.isShorthandPropertyAssignment(node)) {
      found.push(...targets(checker.getShorthandAssignmentValueSymbol(node), depth + 1));
      continue;
    }
    found.push(...others);
    // `const slice = Array.prototype.slice`: the name of a function elsewhere, which a graph may or may not show.
    if (ts.isVariableDeclaration(node) && isTop(node) && !others.some(isInside)) neutral.push(place(node, name));
    if (ts.isBindingElement(node) && ts.isIdentifier(node.name)) neutral.push(place(node, node.name));
    const isMember = ts.isPropertyAccessExpression(node) || ts.isBinaryExpression(node);
    const isMade = value && (isFunction(value) || ts.isCallExpression(value));
    if (name === undefined && !isFunction(value)) continue;
    if (isLocal || isMember ? isFunction(value) || (isMade && (isMember || isTop(node))) : true) {
      const at = place(node, name);
      if (value && isFunction(value)) at.inner = [value.name ? textOf(value.name) : "", lineOf(value)];
      found.push(at);
    }
  }
  return found;
}

const isTop = (node) => ts.isVariableDeclaration(node) && ts.isSourceFile(node.parent.parent.parent);

function resolved(call, callee) {
  const found = [];
  let symbol = checker.getSymbolAtLocation(ts.isPropertyAccessExpression(callee) ? callee.name : callee);
  if (ts.isElementAccessExpression(callee)) symbol = checker.getSymbolAtLocation(callee.argumentExpression) ?? symbol;
  if (callee.kind === ts.SyntaxKind.SuperKeyword) symbol = checker.getTypeAtLocation(callee).symbol;
  if (ts.isPropertyAccessExpression(callee) && ["call", "apply"].includes(callee.name.text) &&
      (!symbol || symbol.declarations?.every((node) => !known.has(node.getSourceFile().fileName)))) {
    found.push(...targets(checker.getSymbolAtLocation(bare(callee.expression).name ?? bare(callee.expression))));
  }
  found.push(...targets(symbol));
  const declaration = checker.getResolvedSignature(call)?.declaration;
  if (declaration && !ts.isJSDocSignature(declaration)) {
    const own = declaration.symbol;
    const isType = own && (own.flags & (ts.SymbolFlags.TypeLiteral | ts.SymbolFlags.Signature));
    let holder = declaration;
    if (isType) while (holder && !ts.isPropertySignature(holder) && !ts.isTypeAliasDeclaration(holder) &&
                       !ts.isSourceFile(holder)) holder = holder.parent;
    if (own && !isType) {
      found.push(...targets(own));
      if (found.length === 0 && nameOf(declaration)) found.push(place(declaration, nameOf(declaration)));
    } else if (holder && ts.isPropertySignature(holder)) found.push(place(holder, holder.name));
    const named = declaration.parent && (ts.isInterfaceDeclaration(declaration.parent) || ts.isClassLike(declaration.parent));
    if (ts.isConstructorDeclaration(declaration)) found.push(place(declaration.parent, declaration.parent.name));
    else if (isType && named) found.push(place(declaration, declaration.parent.name));
    const name = nameOf(declaration);
    if (name && declaration.body) found.push(place(declaration, name));
  }
  return { found, isKnown: symbol !== undefined || declaration !== undefined };
}

const isInside = (at) => !at.path.startsWith("..") && known.has(join(tree, at.path));

// Names that a getter or setter of the tree has, as `get x()` or `defineGetter(o, "x", ...)`.
const accessorNames = new Set();
function noteAccessor(node) {
  if (ts.isAccessor(node)) accessorNames.add(textOf(node.name));
  if (ts.isCallExpression(node) && /[dD]efine(Getter|Property)__?$|[dD]efine(Getter|Property)$/.test(node.expression.getText()))
    for (const argument of node.arguments) if (ts.isStringLiteral(argument)) accessorNames.add(argument.text);
  ts.forEachChild(node, noteAccessor);
}

// Reading or setting an accessor runs it, without a call in the text. A read that the checker leaves open may run one.
function accessor(node) {
  const symbol = checker.getSymbolAtLocation(node.name);
  if (!symbol && accessorNames.has(node.name.text)) print(node, node.name, [], [], false, false);
  if (!symbol || !(symbol.flags & ts.SymbolFlags.Accessor)) return;
  const found = symbol.declarations.map((declaration) => place(declaration, declaration.name)).filter(isInside);
  if (found.length) print(node, node.name, [], found, true, false);
}

function print(node, last, found, neutral, isKnown, isOutside) {
  console.log(JSON.stringify({
    path: relative(tree, node.getSourceFile().fileName), line: lineOf(last), text: last.getText().slice(0, 60),
    callers: callers(node), found, neutral, isKnown, isOutside,
  }));
}

function visit(node) {
  let callee;
  if (ts.isPropertyAccessExpression(node)) accessor(node);
  if (ts.isCallExpression(node) || ts.isNewExpression(node)) callee = bare(node.expression);
  else if (ts.isTaggedTemplateExpression(node)) callee = bare(node.tag);
  else if (ts.isJsxOpeningLikeElement(node)) callee = /^[a-z][^.]*$/.test(node.tagName.getText()) ? undefined : node.tagName;
  else if (ts.isDecorator(node) && !ts.isCallExpression(node.expression)) callee = node.expression;
  if (callee && callee.kind !== ts.SyntaxKind.ImportKeyword) {
    neutral = [];
    const { found, isKnown } = resolved(node, callee);
    const inside = found.filter(isInside);
    const last = ts.isPropertyAccessExpression(callee) ? callee.name : callee;
    print(node, last, inside, neutral.filter(isInside), isKnown, found.length > 0 && inside.length === 0);
  }
  ts.forEachChild(node, visit);
}

const sources = program.getSourceFiles().filter((file) => known.has(file.fileName));
sources.forEach(noteAccessor);
sources.forEach(visit);
