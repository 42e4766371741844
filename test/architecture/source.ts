import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

/** One import or re-export as the source writes it. */
export interface Dependency {
  readonly specifier: string;
  /** The imported file, from `src/`, for a relative specifier; undefined for a package. */
  readonly file: string | undefined;
  readonly reexport: boolean;
}

/** A file of `src/`, parsed. */
export interface SourceFile {
  /** From `src/`, for example `http/endpoint.ts`. */
  readonly path: string;
  readonly lines: number;
  readonly dependencies: readonly Dependency[];
  readonly tree: ts.SourceFile;
}

const root = fileURLToPath(new URL("../../src/", import.meta.url));

/** Every node of a tree, outermost first. */
export function* nodesOf(node: ts.Node): Generator<ts.Node> {
  yield node;
  const children: ts.Node[] = [];
  ts.forEachChild(node, (child) => void children.push(child));
  for (const child of children) yield* nodesOf(child);
}

/** The module that a node names: `import`, `export … from`, `import()` and `import("…").Type` alike. */
function specifierOf(node: ts.Node): ts.Node | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier;
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) return node.arguments[0];
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return node.argument.literal;
  return undefined;
}

function parse(path: string): SourceFile {
  const text = readFileSync(root + path, "utf8");
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const dependencies = [...nodesOf(tree)].flatMap((node) => {
    const specifier = specifierOf(node);
    if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return [];
    const file = specifier.text.startsWith(".") ? posix.join(posix.dirname(path), specifier.text) : undefined;
    return [{ specifier: specifier.text, file, reexport: ts.isExportDeclaration(node) }];
  });
  return { path, lines: text.trimEnd().split("\n").length, dependencies, tree };
}

/** The whole of `src/`. */
export const sources: readonly SourceFile[] = readdirSync(root, { recursive: true, encoding: "utf8" })
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => /\.tsx?$/.test(path))
  .sort()
  .map(parse);

/** The entry points that users import: only these may re-export from several files. */
export const entryPoints: readonly string[] = [
  "index.ts",
  "callbacks/index.ts",
  "node/index.ts",
  "postgres/index.ts",
  "redis/index.ts",
  "opentelemetry/index.ts",
  "sqlite/index.ts",
  "emulator/index.ts",
];

/** The files, or folders, on a cycle through `start`, or undefined: depth first, each file visited once. */
export function circleThrough(
  start: string,
  graph: ReadonlyMap<string, readonly string[]>,
): readonly string[] | undefined {
  const visited = new Set<string>();
  const search = (path: string, way: readonly string[]): readonly string[] | undefined => {
    for (const next of graph.get(path) ?? []) {
      if (next === start) return [...way, next];
      if (visited.has(next)) continue;
      visited.add(next);
      const found = search(next, [...way, next]);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return search(start, [start]);
}
