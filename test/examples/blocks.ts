import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { root } from "./process.ts";

/** A block of TypeScript in a page. Marked as `ts run` it is run, too. */
export interface Block {
  /** The page and the line, as `docs/orders.md:12`. */
  readonly place: string;
  readonly page: string;
  /** The line of the page that the code begins on. */
  readonly line: number;
  readonly code: string;
  readonly runs: boolean;
  /** What it declares itself. */
  readonly declares: ReadonlySet<string>;
  /** Every name in it. */
  readonly uses: ReadonlySet<string>;
}

const fence = /^```ts( run)?\n([\s\S]*?)^```$/gm;

function bindingNames(name: ts.BindingName): readonly string[] {
  if (ts.isIdentifier(name)) return [name.text];
  return name.elements.flatMap((element) => (ts.isBindingElement(element) ? bindingNames(element.name) : []));
}

function declaredBy(statement: ts.Statement): readonly string[] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.flatMap(({ name }) => bindingNames(name));
  }
  if (ts.isImportDeclaration(statement)) {
    const { name, namedBindings } = statement.importClause ?? {};
    const named = namedBindings !== undefined && ts.isNamedImports(namedBindings) ? namedBindings.elements : [];
    return [name, ...named.map((element) => element.name)].flatMap((identifier) => identifier?.text ?? []);
  }
  if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)) return [statement.name?.text ?? ""];
  return [];
}

function identifiersIn(tree: ts.Node): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) names.add(node.text);
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return names;
}

function blocksOf(page: string): readonly Block[] {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(fence)].map(({ index, 1: run, 2: code = "" }) => {
    const line = text.slice(0, index).split("\n").length + 1;
    const tree = ts.createSourceFile("block.ts", code, ts.ScriptTarget.Latest);
    const declares = new Set(tree.statements.flatMap(declaredBy));
    return {
      place: `${page}:${line}`,
      page,
      line,
      code,
      runs: run !== undefined,
      declares,
      uses: identifiersIn(tree),
    };
  });
}

/** README.md and every page of `docs`. */
export const pages: readonly string[] = [
  "README.md",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name))
    .sort(),
];

export const blocks: readonly Block[] = pages.flatMap(blocksOf);
