import { existsSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { root } from "./tarball.ts";

/** The entry points of the package, by the names of their built declarations. */
export const entryPoints = ["index", "callbacks", "node", "opentelemetry", "postgres", "redis", "sqlite", "testing"];

const dist = join(root, "dist");
const fileOf = (door: string): string => join(dist, `${door}.d.ts`);
const printer = ts.createPrinter({ removeComments: true });

/** The declarations at the top level of one of the built files, each in a statement of its own. */
function statementOf(declaration: ts.Declaration): ts.Statement | undefined {
  const node = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
  const isOurs = node.getSourceFile().fileName.startsWith(dist);
  return isOurs && ts.isSourceFile(node.parent) ? (node as ts.Node as ts.Statement) : undefined;
}

const isStatement = (statement: ts.Statement | undefined): statement is ts.Statement => statement !== undefined;

function* identifiersIn(node: ts.Node): Generator<ts.Identifier> {
  if (ts.isIdentifier(node)) yield node;
  for (const child of node.getChildren()) yield* identifiersIn(child);
}

/** Reads the declarations of the entry points as a user's compiler does. */
class Declarations {
  readonly #program = ts.createProgram(entryPoints.map(fileOf), {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    lib: ["lib.es2024.d.ts", "lib.esnext.disposable.d.ts"],
    types: ["node"],
  });
  readonly #checker = this.#program.getTypeChecker();

  exportsOf(door: string): ReadonlyMap<string, ts.Symbol> {
    if (!existsSync(fileOf(door))) throw new Error("There is no build to read: run `npm run build`.");
    const source = this.#program.getSourceFile(fileOf(door));
    const symbol = source && this.#checker.getSymbolAtLocation(source);
    const names = symbol === undefined ? [] : this.#checker.getExportsOfModule(symbol);
    return new Map(names.map((name) => [name.name, this.#resolved(name)]));
  }

  /** The names that a declaration uses and that the package declares itself. */
  usedBy(symbol: ts.Symbol): readonly ts.Symbol[] {
    const statements = (symbol.declarations ?? []).map(statementOf).filter(isStatement);
    return statements
      .flatMap((statement) => [...identifiersIn(statement)])
      .map((identifier) => this.#checker.getSymbolAtLocation(identifier))
      .filter((used) => used !== undefined)
      .map((used) => this.#resolved(used))
      .filter((used) => used !== symbol && used.declarations?.some((one) => statementOf(one) !== undefined));
  }

  #resolved(symbol: ts.Symbol): ts.Symbol {
    return symbol.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol;
  }
}

/** A declaration without its comments. */
const print = ({ declarations = [] }: ts.Symbol): string =>
  declarations
    .map(statementOf)
    .filter(isStatement)
    .map((statement) => printer.printNode(ts.EmitHint.Unspecified, statement, statement.getSourceFile()))
    .join("\n");

const byName = ([left]: readonly [string, unknown], [right]: readonly [string, unknown]) => (left < right ? -1 : 1);

const section = (title: string, symbols: Iterable<readonly [string, ts.Symbol]>): string =>
  [`// ${title}`, ...[...symbols].sort(byName).map(([name, symbol]) => `// ${name}\n${print(symbol)}`)].join("\n\n");

const declarations = new Declarations();

/** All exports of an entry point with their declarations, and the types that these use without being exported. */
export function surfaceOf(door: string): string {
  const exported = declarations.exportsOf(door);
  const known = new Set(exported.values());
  const hidden = new Map<string, ts.Symbol>();
  // This set grows while it is iterated: the types that hidden names use are hidden, too.
  for (const symbol of known) {
    for (const used of declarations.usedBy(symbol)) {
      if (known.has(used)) continue;
      known.add(used);
      hidden.set(used.name, used);
    }
  }
  return `${section("Exported", exported)}\n\n${section("Used by these, not exported", hidden)}\n`;
}
