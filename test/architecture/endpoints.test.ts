import { readdirSync, readFileSync } from "node:fs";
import { PodPartner } from "pod-partner";
import { describe, expect, it } from "vitest";
import { allRoutes } from "../../src/emulator/routes/table.ts";
import { endpoints } from "../../src/resources/endpoints.ts";
import { combined, page, specification } from "./endpoint-table.ts";

/**
 * The endpoints that are not a mere read of the `default` policy, by hand from parts 4 and 8: what may be done when the response is lost, and
 * the policies. Uploads of the same content have the same reference, and a render that is requested again costs tokens but no second order.
 */
const exceptions = {
  "catalog.products.media": ["safe", "default", "downloads"],
  "images.upload": ["idempotent", "default", "uploads"],
  "evidence.upload": ["idempotent", "default", "uploads"],
  "renders.create": ["idempotent", "default"],
  "renders.media": ["safe", "default", "downloads"],
  "renders.thumbnail": ["safe", "default", "downloads"],
  "orders.create": ["recoverable", "default"],
  "orders.cancel": ["idempotent", "default"],
  "orders.replaceDropshipAddress": ["idempotent", "default"],
  "claims.createItemIssues": ["recoverable", "default"],
  "claims.createPackageMissing": ["recoverable", "default"],
  "claims.retract": ["recoverable", "default"],
};

const calls = specification.map(([, , call]) => call);

/** The text of all tests in `test/resources`, to find the calls in. */
const resources = new URL("../resources/", import.meta.url);
const resourceTests = () =>
  readdirSync(resources, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".test.ts"))
    .map((path) => readFileSync(new URL(path, resources), "utf8"))
    .join("\n");

/** Resolves a path such as `orders.create` on the client. */
const walk = (from: unknown, call: string) => call.split(".").reduce<unknown>((at, name) => Object(at)[name], from);

/** The names of all public methods below a resource: `orders.create`. */
function methodsOf(resource: object, prefix: string): readonly string[] {
  const prototype = Object.getPrototypeOf(resource);
  const own = Object.getOwnPropertyNames(prototype).filter((name) => name !== "constructor");
  const below = Object.entries(resource).flatMap(([name, value]) =>
    typeof value === "object" && value !== null ? methodsOf(value, `${prefix}${name}.`) : [],
  );
  return [...own.map((name) => prefix + name), ...below];
}

describe("the endpoints of part 4", () => {
  it("are all described, without others", () => {
    const described = endpoints.map(({ method, path, call }) => `${method} ${path} → ${call}`);
    const specified = specification.map(([, endpoint, call]) => `${endpoint} → ${call}`);
    expect(described.sort()).toEqual(specified.sort());
  });

  it("are repeated after a lost response, and draw from policies, as the specification allows", () => {
    const unusual = endpoints
      .map(({ call, repeat, policies }) => [call, [repeat, ...policies]] as const)
      .filter(([, described]) => described.join() !== "safe,default");
    expect(Object.fromEntries(unusual)).toEqual(exceptions);
  });

  it("are each called by a method of the client", () => {
    const partner = new PodPartner({ baseUrl: "https://partner.example/v2", secretKey: "a-secret-key" });
    const all = [...calls, ...combined.map(([call]) => call)];
    expect(all.filter((call) => typeof walk(partner, call) !== "function")).toEqual([]);
  });

  it("all have a route in the emulator, if they have a path", () => {
    const routed = allRoutes().map(({ endpoint: { method, path } }) => `${method} ${path}`);
    const paths = specification.map(([, endpoint]) => endpoint).filter((endpoint) => !endpoint.includes(" {"));
    expect(paths.filter((endpoint) => !routed.includes(endpoint))).toEqual([]);
  });

  it("are each called by a test in test/resources", () => {
    const tests = resourceTests();
    expect(calls.filter((call) => !tests.includes(`.${call}(`))).toEqual([]);
  });

  it("and the methods that combine them are all methods of the client", () => {
    const partner = new PodPartner({ baseUrl: "https://partner.example/v2", secretKey: "a-key-of-a-test" });
    const all: readonly string[] = [...calls, ...combined.map(([call]) => call), "rateLimits"];
    expect(methodsOf(partner, "").filter((method) => !all.includes(method))).toEqual([]);
  });

  it("are in docs/endpoints.md, each with its method and its result", async () => {
    await expect(page()).toMatchFileSnapshot("../../docs/endpoints.md");
  });
});
