import { expect, it } from "vitest";
import { claimed, combined, quoteInput } from "./support/inputs.ts";
import { expectRefusal, startService } from "./support/service.ts";
import { expectShape, list, nullOr, object, ref, text } from "./support/shapes.ts";

/** Every list of part 4: the rule, the name of the list, which is that of its path, and the kind of its entries. */
const lists = [
  ["4.2 GET /accounts", "accounts", "Account"],
  ["4.2 GET /stores", "stores", "Store"],
  ["4.2 GET /brands", "brands", "Brand"],
  ["4.3 GET /products", "products", "Product"],
  ["4.3 GET /packagings", "packagings", "Packaging"],
  ["4.3 GET /productgroups", "productgroups", "Productgroup"],
  ["4.3 GET /items", "items", "Item"],
  ["4.5 GET /images", "images", "Image"],
  ["4.6 GET /scenes", "scenes", "Scene"],
  ["4.6 GET /perspectives", "perspectives", "Perspective"],
  ["4.7 GET /orders", "orders", "Order"],
  ["4.9 GET /claimcategories", "claimcategories", "Claimcategory"],
  ["4.9 GET /claims", "claims", "Claim"],
] as const;

it.each(lists)("%s: %s has entries of its kind, each once, in the same order each time", async (_rule, name, kind) => {
  await using service = await startService();
  await claimed(service);
  const { status, body } = await service.get(`/${name}`);
  expect(status).toBe(200);
  expectShape(body, object({ [name]: list(object({ reference: ref(kind) })) }));
  const references: readonly string[] = body[name].map((entry: { reference: string }) => entry.reference);
  expect(references.length).toBeGreaterThan(0);
  expect(new Set(references).size).toBe(references.length);
  expect((await service.get(`/${name}`)).body).toEqual(body);
});

it.each(lists)("%s: %s ends with its only page, whose cursor is null or absent", async (_rule, name) => {
  await using service = await startService({ pageSize: 1000 });
  const { body } = await service.get(`/${name}`);
  expectShape({ nextCursor: null, ...body }, object({ nextCursor: nullOr(text) }));
  expect(body.nextCursor ?? null).toBeNull();
});

const shoplessKey = "key-of-an-organization-without-stores";
const shopless = { name: "No shops", keys: [{ secretKey: shoplessKey }] };

it.each([
  ["4.2 GET /stores", "stores"],
  ["4.3 GET /items", "items"],
  ["4.5 GET /images", "images"],
  ["4.7 GET /orders", "orders"],
  ["4.9 GET /claims", "claims"],
] as const)("%s: %s of an organization that has none is an empty list", async (_rule, name) => {
  await using service = await startService({ organizations: [shopless] });
  const { status, body } = await service.send("GET", `/${name}`, { key: shoplessKey });
  expect([status, body[name], body.nextCursor ?? null]).toEqual([200, [], null]);
});

it("4.7 quote rule 3: the options of a combined order are an empty list", async () => {
  await using service = await startService();
  const { body } = await service.post("/quote", quoteInput(service, combined));
  expect(body).toEqual({ shippingOptions: [] });
});

it.each([
  ["4.6 GET /scenes", "scenes?productgroupReference=", "Productgroup"],
  ["4.6 GET /perspectives", "perspectives?sceneReference=", "Scene"],
  ["4.6 GET /perspectives", "perspectives?productReference=", "Product"],
] as const)("%s: the filter of /%s takes a reference of its kind only", async (_rule, path, kind) => {
  await using service = await startService();
  for (const value of ["", "front", `${kind}_1`, `Order_${"z".repeat(26)}`]) {
    expectRefusal(await service.get(`/${path}${value}`), 400);
  }
});

it.each([
  "2026-06-03",
  "20260603",
  "2026-06-03T10:00",
  "2026-06-03T10:00:00",
  "2026-06-03T10:00:00Z",
  "2026-06-03T10:00:00.123Z",
  "20260603T100000Z",
  "2026-06-03T12:00:00+02:00",
  "2026-06-03T04:30:00-05:30",
])("4.9 GET /claims: closedAfter takes %s, which is ISO 8601", async (closedAfter) => {
  await using service = await startService();
  const { claim } = await claimed(service);
  service.clock.advance(1000);
  await service.post(`/claims/${claim}/retract`);
  const { status, body } = await service.get(`/claims?${new URLSearchParams({ closedAfter })}`);
  expect([status, body.claims]).toEqual([200, [expect.objectContaining({ reference: claim })]]);
});

it.each(["", "yesterday", "2026-13-01", "2026-02-30", "2026-06-03T25:00:00Z", "1780480800", "03-06-2026"])(
  "4.9 GET /claims: closedAfter refuses %j, which is no timestamp",
  async (closedAfter) => {
    await using service = await startService();
    expectRefusal(await service.get(`/claims?${new URLSearchParams({ closedAfter })}`), 400);
  },
);
