import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { allRoutes } from "../../src/emulator/routes/table.ts";
import { endpoints as specified } from "../conformance/support/endpoints.ts";
import { endpoints } from "../support/endpoints.ts";
import { methods, page } from "./endpoint-table.ts";

/**
 * What may be done when the response of a request that changes something is lost, by hand from parts 4 and 8. Uploads of the same content
 * have the same reference, and a render that is requested again costs tokens but no second order.
 */
const repeats = {
  "auth.validate": "safe",
  "images.upload": "idempotent",
  "evidence.upload": "idempotent",
  "renders.create": "idempotent",
  "orders.create": "recoverable",
  "orders.cancel": "idempotent",
  "orders.replaceDropshipAddress": "idempotent",
  "orders.quote": "safe",
  "claims.createItemIssues": "recoverable",
  "claims.createPackageMissing": "recoverable",
  "claims.retract": "recoverable",
};

/** Layer images and evidence have no path in the specification: a product's detail and a claim give their whole URLs. */
const byUrl = ["GET {layerImageUrl}", "GET {evidenceUrl}"];

const described = endpoints.map(({ method, path, ...rest }) => ({ name: `${method} ${path}`, method, ...rest }));
const calls = described.map(({ call }) => call);

/** The text of all tests in `test/resources`, to find the calls in. */
const resources = new URL("../resources/", import.meta.url);
const resourceTests = readdirSync(resources, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".test.ts"))
  .map((path) => readFileSync(new URL(path, resources), "utf8"))
  .join("\n");

describe("the endpoints of part 4", () => {
  it("are all described, each with the policies of part 8", () => {
    const policiesOf = new Map(described.map(({ name, policies }) => [name, policies]));
    for (const { method, path, bucket } of specified) {
      const policies = ["default", ...(bucket === undefined ? [] : [bucket])];
      expect([path, policiesOf.get(`${method} ${path}`)]).toEqual([path, policies]);
    }
    expect(byUrl.map((name) => policiesOf.get(name))).toEqual([["default"], ["default"]]);
  });

  it("are repeated after a lost response as the specification allows", () => {
    const reading = described.filter(({ method }) => method === "GET");
    expect(reading.filter(({ repeat }) => repeat !== "safe")).toEqual([]);
    const others = described.filter(({ method }) => method !== "GET").map(({ call, repeat }) => [call, repeat]);
    expect(Object.fromEntries(others)).toEqual(repeats);
  });

  it("are each described once, and each called by one method of the client", () => {
    expect(new Set(described.map(({ name }) => name)).size).toBe(described.length);
    expect(new Set(calls).size).toBe(calls.length);
    const ofClient = methods.map(({ call }) => call);
    expect(calls.filter((call) => !ofClient.includes(call))).toEqual([]);
  });

  it("all have one route in the emulator, if they have a path", () => {
    const routed = allRoutes
      .map(({ endpoint: { method, path } }) => `${method} ${path}`)
      .filter((name) => !name.includes(" {"));
    const names = described.map(({ name }) => name).filter((name) => !byUrl.includes(name));
    expect(routed.filter((name) => names.includes(name)).sort()).toEqual(names.sort());
  });

  it("are each called by a test in test/resources", () => {
    expect(calls.filter((call) => !resourceTests.includes(`.${call}(`))).toEqual([]);
  });

  it("are in docs/endpoints.md, each with its method, its result and its effect", async () => {
    await expect(page()).toMatchFileSnapshot("../../docs/endpoints.md");
  });
});
