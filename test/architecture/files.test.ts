import ts from "typescript";
import { describe, expect, it } from "vitest";
import { nodesOf, type SourceFile, sources } from "./source.ts";

/** A longer file surely has a second reason to change. */
const longestFile = 200;
const longestFunction = 50;

const lineOf = (tree: ts.SourceFile, position: number): number => tree.getLineAndCharacterOfPosition(position).line + 1;

/** Each function, method and constructor of a file with a body: its place and its number of lines. */
const functionsOf = ({ path, tree }: SourceFile) =>
  [...nodesOf(tree)]
    .filter((node) => ts.isFunctionLike(node) && "body" in node && node.body !== undefined)
    .map((node) => {
      const from = lineOf(tree, node.getStart(tree));
      return { place: `${path}:${from}`, lines: lineOf(tree, node.end) - from + 1 };
    });

/** The places that call a method with this name. */
const callsOf = (method: string) => (source: SourceFile) =>
  [...nodesOf(source.tree)]
    .filter(ts.isCallExpression)
    .filter(({ expression }) => ts.isPropertyAccessExpression(expression) && expression.name.text === method)
    .map(() => source.path);

describe("source files", () => {
  it(`are at most ${longestFile} lines long`, () => {
    const long = sources.filter(({ lines }) => lines > longestFile).map(({ path, lines }) => `${path}: ${lines} lines`);
    expect(long).toEqual([]);
  });

  it(`have functions of at most ${longestFunction} lines`, () => {
    const functions = sources.flatMap(functionsOf);
    const long = functions.filter(({ lines }) => lines > longestFunction);
    expect(long.map(({ place, lines }) => `${place}: ${lines} lines`)).toEqual([]);
    expect(functions.length).toBeGreaterThan(500);
  });

  it("listen to abort signals through one file, which removes the listeners", () => {
    // The page's script runs in a browser and listens to its events.
    const ofNode = sources.filter(({ path }) => !path.startsWith("testing/page/client/"));
    const callers = new Set(ofNode.flatMap(callsOf("addEventListener")));
    expect([...callers]).toEqual(["util/abort-signals.ts"]);
  });

  it("do not use `any`", () => {
    const found = sources.flatMap(({ path, tree }) =>
      [...nodesOf(tree)]
        .filter(({ kind }) => kind === ts.SyntaxKind.AnyKeyword)
        .map((node) => `${path}:${lineOf(tree, node.getStart(tree))}`),
    );
    expect(found).toEqual([]);
  });
});

describe("the machine that runs the tests", () => {
  it("has a Node version that the package supports", () => {
    expect(Number(process.versions.node.split(".")[0])).toBeGreaterThanOrEqual(22);
  });
});
