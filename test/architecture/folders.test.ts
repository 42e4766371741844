import { posix } from "node:path";
import { expect, it } from "vitest";
import { circleThrough, sources } from "./source.ts";

it("no folders import each other in a circle", () => {
  const graph = new Map<string, string[]>();
  for (const { path, dependencies } of sources) {
    const folder = posix.dirname(path);
    const imported = dependencies.flatMap(({ file }) => (file === undefined ? [] : [posix.dirname(file)]));
    graph.set(folder, [...(graph.get(folder) ?? []), ...imported.filter((other) => other !== folder)]);
  }
  const circles = [...graph.keys()].flatMap((folder) => circleThrough(folder, graph)?.join(" → ") ?? []);
  expect(circles).toEqual([]);
});
