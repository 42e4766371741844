import { posix } from "node:path";
import { describe, expect, it } from "vitest";
import { circleThrough, entryPoints, type SourceFile, sources } from "./source.ts";

/** What each part of `src/` may import besides itself. A part that is not listed may not be imported. */
const leaves = ["errors", "util"];
const vocabulary = [...leaves, "references", "schemas"];
const core = [...vocabulary, "storage", "binary", "http"];
const helpers = [...core, "pagination"];
const layers: Readonly<Record<string, readonly string[]>> = {
  util: [],
  errors: ["util"],
  references: leaves,
  schemas: [...leaves, "references"],
  storage: vocabulary,
  binary: [...vocabulary, "storage"],
  http: [...vocabulary, "storage", "binary"],
  pagination: core,
  changes: helpers,
  resources: [...helpers, "changes"],
  parts: [...helpers, "resources", "options"],
  client: [...helpers, "resources", "options", "parts"],
  options: [...helpers, "resources"],
  callbacks: [...vocabulary, "storage", "resources"],
  node: core,
  postgres: [...vocabulary, "storage"],
  redis: core,
  opentelemetry: core,
  sqlite: [...vocabulary, "storage"],
  emulator: [...helpers, "resources", "client", "options"],
  index: [...helpers, "changes", "resources", "client", "options", "parts"],
  // The command line loads the package as a partner's program does: by its name.
  cli: ["schemas", "util"],
};

/** Packages that only one file may import, so that replacing a package changes one file. */
const wrapped = ["ky", "p-retry", "ulid", "structured-headers"];

/** `http/endpoint.ts` belongs to `http`, `options.schema.ts` to `options`. */
const partOf = (path: string) => path.replace(/(\.schema)?\.tsx?$/, "").replace(/\/.*/, "");

const describeEdge = (from: SourceFile, specifier: string) => `${from.path} imports ${specifier}`;

describe("imports", () => {
  it("follow the order of the layers", () => {
    const against = sources.flatMap((source) =>
      source.dependencies
        .filter(({ file }) => file !== undefined && partOf(file) !== partOf(source.path))
        .filter(({ file }) => !layers[partOf(source.path)]?.includes(partOf(file ?? "")))
        .map(({ specifier }) => describeEdge(source, specifier)),
    );
    expect(against).toEqual([]);
  });

  it("have a layer for every part of the source", () => {
    const parts = new Set(sources.map(({ path }) => partOf(path)));
    expect([...parts].filter((part) => layers[part] === undefined)).toEqual([]);
  });

  it("form no cycle", () => {
    const graph = new Map(
      sources.map(({ path, dependencies }) => [path, dependencies.flatMap(({ file }) => file ?? [])]),
    );
    const circles = sources.flatMap(({ path }) => circleThrough(path, graph)?.join(" → ") ?? []);
    expect(circles).toEqual([]);
  });

  it("of folders form no circle", () => {
    const files = sources.filter(({ path }) => path.includes("/"));
    const graph = new Map(
      [...Map.groupBy(files, ({ path }) => posix.dirname(path))].map(([folder, inside]) => [
        folder,
        inside
          .flatMap(({ dependencies }) =>
            dependencies.flatMap(({ file }) => (file === undefined ? [] : posix.dirname(file))),
          )
          .filter((other) => other !== folder),
      ]),
    );
    const circles = [...graph.keys()].flatMap((folder) => circleThrough(folder, graph)?.join(" → ") ?? []);
    expect(circles).toEqual([]);
  });

  it("name existing files, with their suffix", () => {
    const paths = new Set(sources.map(({ path }) => path));
    const broken = sources.flatMap((source) =>
      source.dependencies
        .filter(({ file }) => file !== undefined && !/\.(css|json)$/.test(file) && !paths.has(file))
        .map(({ specifier }) => describeEdge(source, specifier)),
    );
    expect(broken).toEqual([]);
  });

  it("use no barrel except the entry points", () => {
    const barrels = sources
      .filter(({ path }) => !entryPoints.includes(path))
      .filter(({ path, dependencies }) => path.endsWith("index.ts") || dependencies.some(({ reexport }) => reexport));
    expect(barrels.map(({ path }) => path)).toEqual([]);
  });

  it("of the package by its name occur only in the command line", () => {
    const importers = sources.filter(({ dependencies }) =>
      dependencies.some(({ specifier }) => /^pod-partner(\/|$)/.test(specifier)),
    );
    expect(new Set(importers.map(({ path }) => partOf(path)))).toEqual(new Set(["cli"]));
  });

  it.each(wrapped)("of %s occur in exactly one file", (name) => {
    const importers = sources.filter(({ dependencies }) => dependencies.some(({ specifier }) => specifier === name));
    expect(importers.map(({ path }) => path)).toHaveLength(1);
  });
});
