import ts from "typescript";
import { describe, expect, it } from "vitest";
import { nodesOf, sources } from "./source.ts";

/** The house aims at 200 lines; beyond this a file surely has a second reason to change. */
const longest = 250;

describe("source files", () => {
  it(`are at most ${longest} lines long`, () => {
    const long = sources.filter(({ lines }) => lines > longest).map(({ path, lines }) => `${path}: ${lines} lines`);
    expect(long).toEqual([]);
  });

  it("do without `any`", () => {
    const found = sources.flatMap(({ path, tree }) =>
      [...nodesOf(tree)]
        .filter(({ kind }) => kind === ts.SyntaxKind.AnyKeyword)
        .map((node) => `${path}:${tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1}`),
    );
    expect(found).toEqual([]);
  });
});

describe("the machine", () => {
  it("runs the tests on a Node version that the package supports", () => {
    expect(Number(process.versions.node.split(".")[0])).toBeGreaterThanOrEqual(22);
  });
});
