import { readdirSync, readFileSync } from "node:fs";
import { PodPartner } from "pod-partner";
import { describe, expect, it } from "vitest";
import { endpoints } from "../../src/resources/endpoints.ts";
import { allRoutes } from "../../src/testing/routes/table.ts";

/**
 * Part 4 of the specification, written down by hand from it, with the method of the client that calls each endpoint. Layer images
 * have no path there: a product's detail gives their whole URLs.
 */
const specification = [
  ["4.1", "POST /auth/validate", "auth.validate"],
  ["4.2", "GET /organization", "organization.get"],
  ["4.2", "GET /accounts", "organization.accounts.list"],
  ["4.2", "GET /stores", "organization.stores.list"],
  ["4.2", "GET /brands", "organization.brands.list"],
  ["4.3", "GET /products", "catalog.products.list"],
  ["4.3", "GET /products/{productReference}", "catalog.products.get"],
  ["4.3", "GET /products/{productReference}/media/{filename}", "catalog.products.media"],
  ["4.3", "GET {layerImageUrl}", "catalog.products.layerImage"],
  ["4.3", "GET /packagings", "catalog.packagings.list"],
  ["4.3", "GET /productgroups", "catalog.productgroups.list"],
  ["4.3", "GET /items", "warehouse.items.list"],
  ["4.4", "GET /addresses/{addressReference}", "addresses.get"],
  ["4.5", "POST /images", "images.upload"],
  ["4.5", "GET /images", "images.list"],
  ["4.5", "POST /evidence", "evidence.upload"],
  ["4.6", "GET /scenes", "scenes.list"],
  ["4.6", "GET /scenes/{sceneReference}", "scenes.get"],
  ["4.6", "GET /perspectives", "perspectives.list"],
  ["4.6", "GET /perspectives/{perspectiveReference}", "perspectives.get"],
  ["4.6", "GET /lookup-composition", "compositions.lookup"],
  ["4.6", "GET /compositions/{compositionReference}", "compositions.get"],
  ["4.6", "POST /renders", "renders.create"],
  ["4.6", "GET /renders/{renderReference}", "renders.get"],
  ["4.6", "GET /renders/{renderReference}/media", "renders.media"],
  ["4.6", "GET /renders/{renderReference}/thumbnail", "renders.thumbnail"],
  ["4.6", "GET /rendertokens", "rendertokens.get"],
  ["4.7", "POST /orders", "orders.create"],
  ["4.7", "GET /orders", "orders.list"],
  ["4.7", "GET /orders/{orderReference}", "orders.get"],
  ["4.7", "POST /orders/{orderReference}/cancel", "orders.cancel"],
  ["4.7", "PUT /orders/{orderReference}/dropship-address", "orders.replaceDropshipAddress"],
  ["4.7", "POST /quote", "orders.quote"],
  ["4.8", "GET /shipments/{shipmentReference}", "shipments.get"],
  ["4.9", "GET /claimcategories", "claims.categories.list"],
  ["4.9", "POST /claim-package-missing", "claims.createPackageMissing"],
  ["4.9", "POST /claim-item-issues", "claims.createItemIssues"],
  ["4.9", "GET /claims", "claims.list"],
  ["4.9", "GET /claims/{claimReference}", "claims.get"],
  ["4.9", "POST /claims/{claimReference}/retract", "claims.retract"],
  ["4.10", "GET /utilities/lookup-product-reference-by-legacy-sku", "catalog.products.lookup"],
  ["4.10", "GET /utilities/lookup-order-reference-by-custom-identifier", "orders.lookup"],
] as const;

/** The same as a table, for who runs the tests with `SHOW_ENDPOINTS=1`. */
const table = () =>
  specification.map(([part, endpoint, call]) => `${part.padEnd(5)}${endpoint.padEnd(68)}${call}`).join("\n");

const calls = specification.map(([, , call]) => call);

/** All that `test/resources` says, to find the calls in. */
const resources = new URL("../resources/", import.meta.url);
const resourceTests = () =>
  readdirSync(resources, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".test.ts"))
    .map((path) => readFileSync(new URL(path, resources), "utf8"))
    .join("\n");

/** Walks `orders.create` on the client. */
const walk = (from: unknown, call: string) => call.split(".").reduce<unknown>((at, name) => Object(at)[name], from);

describe("the endpoints of part 4", () => {
  it("are all described, and no others", () => {
    const described = endpoints.map(({ method, path, call }) => `${method} ${path} → ${call}`);
    const specified = specification.map(([, endpoint, call]) => `${endpoint} → ${call}`);
    if (process.env.SHOW_ENDPOINTS !== undefined) console.log(table());
    expect(described.sort()).toEqual(specified.sort());
  });

  it("are each called by a method of the client", () => {
    const partner = new PodPartner({ baseUrl: "https://partner.example/v2", secretKey: "a-secret-key" });
    expect(calls.filter((call) => typeof walk(partner, call) !== "function")).toEqual([]);
  });

  it("are each answered by the emulator, where they have a path", () => {
    const answered = allRoutes().map(({ endpoint: { method, path } }) => `${method} ${path}`);
    const paths = specification.map(([, endpoint]) => endpoint).filter((endpoint) => !endpoint.includes(" {"));
    expect(paths.filter((endpoint) => !answered.includes(endpoint))).toEqual([]);
  });

  it("are each called by a test in test/resources", () => {
    const tests = resourceTests();
    expect(calls.filter((call) => !tests.includes(`.${call}(`))).toEqual([]);
  });
});
