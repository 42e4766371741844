import * as podPartner from "pod-partner";
import * as callbacks from "pod-partner/callbacks";
import * as node from "pod-partner/node";
import * as opentelemetry from "pod-partner/opentelemetry";
import * as postgres from "pod-partner/postgres";
import * as redis from "pod-partner/redis";
import * as sqlite from "pod-partner/sqlite";
import * as testing from "pod-partner/testing";
import ts from "typescript";
import { expect, it } from "vitest";
import { nodesOf, sources } from "../architecture/source.ts";
import { faultsOf } from "../support/compile.ts";
import { declarations } from "./given.ts";

/** The names that the examples use, besides the common names. */
const given = `
  declare const rows: readonly {
    readonly id: string;
    readonly sku: string;
    readonly quantity: number;
    readonly imageReference: import("pod-partner").ImageReference;
  }[];
  declare const row: { readonly reference: string; readonly orderReference: string };
  declare const save: (customIdentifier: string, reference: string) => void;
  declare const report: (customIdentifier: string, reason: unknown) => void;
  declare const inputs: readonly import("pod-partner").RenderInput[];
  declare const items: readonly unknown[];
  declare const world: import("pod-partner/testing").SimulatedWorld;
  declare const receiver: import("pod-partner/callbacks").OrderUpdatedReceiver;
  declare const url: string;
  declare const error: unknown;`;

/** The `@example` blocks of `src`, by the location of what they document. */
const examples = new Map(
  sources.flatMap(({ path, tree }) =>
    [...nodesOf(tree)].flatMap((node) =>
      ts
        .getJSDocTags(node)
        .filter((tag) => tag.tagName.text === "example" && tag.parent.parent === node)
        .map((tag) => {
          const line = tree.getLineAndCharacterOfPosition(tag.getStart()).line + 1;
          return [`src/${path}:${line}`, ts.getTextOfJSDocComment(tag.comment) ?? ""] as const;
        }),
    ),
  ),
);

/** The example in a scope of its own, after the imports and the names that it assumes. */
function moduleOf(code: string): string {
  const uses = new Set(code.match(/\w+/g));
  const importFrom = (door: string, exported: object) =>
    `import { ${Object.keys(exported).filter((name) => uses.has(name))} } from "${door}";`;
  const imports = [
    importFrom("pod-partner", podPartner),
    importFrom("pod-partner/callbacks", callbacks),
    importFrom("pod-partner/node", node),
    importFrom("pod-partner/opentelemetry", opentelemetry),
    importFrom("pod-partner/postgres", postgres),
    importFrom("pod-partner/redis", redis),
    importFrom("pod-partner/sqlite", sqlite),
    importFrom("pod-partner/testing", testing),
    uses.has("setupServer") ? 'import { setupServer } from "msw/node";' : "",
    uses.has("expect") ? 'import { expect } from "vitest";' : "",
    uses.has("IdentifiedOrderInput") ? 'import type { IdentifiedOrderInput } from "pod-partner";' : "",
    uses.has("Pool") ? 'import { Pool } from "pg";' : "",
    uses.has("createClient") ? 'import { createClient } from "redis";' : "",
  ];
  return `${imports.join("\n")}${given}\n${declarations(uses)}\nexport {};\n{\n${code}\n}\n`;
}

it("every example in a doc comment has the right types", async () => {
  expect(examples.size).toBeGreaterThan(30);
  const places = new Map([...examples.keys()].map((place) => [`snippets/${place.replace(/\W/g, "-")}.ts`, place]));
  const files = [...places].map(([path, place]) => [path, moduleOf(examples.get(place) ?? "")] as const);
  const faults = await faultsOf(new Map(files));
  expect(faults.map(({ file, message }) => `${places.get(file) ?? file}: ${message}`)).toEqual([]);
});
