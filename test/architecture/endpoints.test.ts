import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { allRoutes } from "../../src/emulator/routes/table.ts";
import { nameOf, promised, endpoints as specified } from "../conformance/support/endpoints.ts";
import { jsonCases } from "../conformance/support/requests.ts";
import { endpoints } from "../support/endpoints.ts";
import { exported, reachableClasses } from "./classes.ts";
import { methods, page } from "./endpoint-table.ts";

/** Layer images and evidence have no path in the specification: a product's detail and a claim give their whole URLs. */
const byUrl = ["GET {layerImageUrl}", "GET {evidenceUrl}"];

const described = endpoints.map((endpoint) => ({ name: nameOf(endpoint), ...endpoint }));
const calls = described.map(({ call }) => call);

const byName = <Named extends { readonly name: string }>(list: readonly Named[]) =>
  list.toSorted((one, other) => one.name.localeCompare(other.name));

/** The text of all tests in `test/resources`, to find the calls in. */
const resources = new URL("../resources/", import.meta.url);
const resourceTests = readdirSync(resources, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".test.ts"))
  .map((path) => readFileSync(new URL(path, resources), "utf8"))
  .join("\n");

describe("the endpoints of part 4", () => {
  it("are all described, each with the policies of part 8 and what may be done after a lost response", () => {
    const expected = specified.map((endpoint) => ({
      name: nameOf(endpoint),
      policies: ["default", ...(endpoint.bucket === undefined ? [] : [endpoint.bucket])],
      repeat: endpoint.repeat,
    }));
    const files = byUrl.map((name) => ({ name, policies: ["default"], repeat: "safe" }));
    const given = described.map(({ name, policies, repeat }) => ({ name, policies, repeat }));
    expect(byName(given)).toEqual(byName([...expected, ...files]));
  });

  it("with a JSON body are all tested with each of its fields", () => {
    const names = described.filter(({ request }) => request.kind === "json").map(({ name }) => name);
    expect(jsonCases.map(({ endpoint }) => endpoint).sort()).toEqual(names.sort());
  });

  it("are each described once, and each called by one method of the client", () => {
    expect(new Set(described.map(({ name }) => name)).size).toBe(described.length);
    expect(new Set(calls).size).toBe(calls.length);
    const ofClient = methods.map(({ call }) => call);
    expect(calls.filter((call) => !ofClient.includes(call))).toEqual([]);
  });

  it("all have one route in the emulator, if they have a path", () => {
    const routed = allRoutes.map(({ endpoint }) => nameOf(endpoint)).filter((name) => !name.includes(" {"));
    const names = described.map(({ name }) => name).filter((name) => !byUrl.includes(name));
    expect(routed.filter((name) => names.includes(name)).sort()).toEqual(names.sort());
  });

  it("are each called by a test in test/resources; `reads.test.ts` calls those whose response is shown", () => {
    const shown = promised.map(([, endpoint]) => nameOf(endpoint));
    const others = described.filter(({ name }) => !shown.includes(name));
    expect(others.filter(({ call }) => !resourceTests.includes(`.${call}(`))).toEqual([]);
  });

  it("are in docs/endpoints.md, each with its method, its result and its effect", async () => {
    await expect(page()).toMatchFileSnapshot("../../docs/endpoints.md");
  });
});

describe("the classes that are reachable from the client", () => {
  const classes = reachableClasses();

  it("are all exported: a library that exports one of them needs its name", () => {
    expect(classes.length).toBeGreaterThan(15);
    expect(classes.filter((symbol) => !exported.has(symbol)).map(({ name }) => name)).toEqual([]);
  });

  it("are called resources, so that they differ from the records that they return", () => {
    const ofResources = classes.filter((symbol) =>
      symbol.declarations?.some((declaration) => declaration.getSourceFile().fileName.includes("/src/resources/")),
    );
    expect(ofResources.filter(({ name }) => !name.endsWith("Resource")).map(({ name }) => name)).toEqual([]);
  });
});
