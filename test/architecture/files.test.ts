import ts from "typescript";
import { describe, expect, it } from "vitest";
import { nodesOf, type SourceFile, sources } from "./source.ts";

/** The places that call a method with this name. */
const callsOf = (method: string) => (source: SourceFile) =>
  [...nodesOf(source.tree)]
    .filter(ts.isCallExpression)
    .filter(({ expression }) => ts.isPropertyAccessExpression(expression) && expression.name.text === method)
    .map(() => source.path);

describe("source files", () => {
  it("listen to abort signals through one file, which removes the listeners", () => {
    // The page's script runs in a browser and listens to its events.
    const ofNode = sources.filter(({ path }) => !path.startsWith("emulator/page/client/"));
    const callers = new Set(ofNode.flatMap(callsOf("addEventListener")));
    expect([...callers]).toEqual(["util/abort-signals.ts"]);
  });
});

describe("the machine that runs the tests", () => {
  it("has a Node version that the package supports", () => {
    expect(Number(process.versions.node.split(".")[0])).toBeGreaterThanOrEqual(22);
  });
});
