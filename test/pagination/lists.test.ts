import { type PodPartner, ResponseValidationError } from "pod-partner";
import { describe, expect, it } from "vitest";
import { rejection, useExchange } from "../support/exchange.ts";
import { ref } from "../support/references.ts";

/** The lists that the specification shows without pages, with the field of each (4.2, 4.3, 4.6, 4.9). */
const lists: readonly (readonly [field: string, kind: Parameters<typeof ref>[0], more: object, read: Read])[] = [
  ["accounts", "Account", {}, (partner) => partner.organization.accounts.list()],
  ["stores", "Store", {}, (partner) => partner.organization.stores.list()],
  ["brands", "Brand", {}, (partner) => partner.organization.brands.list()],
  ["packagings", "Packaging", {}, (partner) => partner.catalog.packagings.list()],
  ["productgroups", "Productgroup", {}, (partner) => partner.catalog.productgroups.list()],
  ["claimcategories", "Claimcategory", { name: "Torn", evidenceRequired: true }, (p) => p.claims.categories.list()],
  ["scenes", "Scene", { name: "Desk" }, (partner) => partner.scenes.list({ productgroupReference: group })],
  ["perspectives", "Perspective", {}, (partner) => partner.perspectives.list()],
];
type Read = (partner: PodPartner) => Promise<readonly unknown[]>;
const group = ref("Productgroup", "9");

describe("a list without pages whose response has a `nextCursor` (specification 1, Conventions)", () => {
  const { context } = useExchange();
  const sent = () => context.service.requests.map(({ path }) => new URL(path, context.service.origin).searchParams);

  it.each(lists)("%s: the rest follows", async (field, kind, more, read) => {
    const [one, two, three] = ["1", "2", "3"].map((name) => ({ reference: ref(kind, name), ...more }));
    context.service.respond(
      { body: { [field]: [one, two], nextCursor: "second" } },
      { body: { [field]: [], nextCursor: "third" } },
      { body: { [field]: [two, three], nextCursor: null } },
    );
    expect(await read(context.partner)).toStrictEqual([one, two, three]);
    expect(sent().map((query) => query.get("cursor"))).toStrictEqual([null, "second", "third"]);
  });

  it("keeps its filter", async () => {
    context.service.respond({ body: { scenes: [], nextCursor: "more" } }, { body: { scenes: [] } });
    await context.partner.scenes.list({ productgroupReference: group });
    expect(sent().map(String)).toStrictEqual([
      `productgroupReference=${group}`,
      `productgroupReference=${group}&cursor=more`,
    ]);
  });

  it("is one request without it, or with null", async () => {
    context.service.respond({ body: { stores: [] } }, { body: { stores: [], nextCursor: null } });
    await context.partner.organization.stores.list();
    await context.partner.organization.stores.list();
    expect(context.service.requests).toHaveLength(2);
  });

  it("is an error for a repeated cursor, and for a cursor that is not text", async () => {
    context.service.respondAlways({ body: { stores: [], nextCursor: "again" } });
    expect(await rejection(context.partner.organization.stores.list())).toMatchObject({ name: "CursorLoopError" });
    context.service.respondAlways({ body: { stores: [], nextCursor: 5 } });
    const error = await rejection(context.partner.organization.stores.list());
    if (!ResponseValidationError.isInstance(error)) throw error;
    expect(error.issues).toMatchObject([{ path: ["nextCursor"] }]);
  });

  it.each([{ a: 1 }, null, "text"])("refuses what is no list, on each page: %j", async (odd) => {
    const { partner, service } = context;
    const store = { reference: ref("Store") };
    service.respond({ body: { stores: odd, nextCursor: "more" } });
    expect(await rejection(partner.organization.stores.list())).toMatchObject({ issues: [{ path: ["stores"] }] });
    service.respond({ body: { stores: [store], nextCursor: "more" } }, { body: { stores: odd } });
    expect(await rejection(partner.organization.stores.list())).toMatchObject({ issues: [{ path: ["stores"] }] });
  });

  it("has one deadline and one timeline", async () => {
    context.service.respond({ body: { brands: [], nextCursor: "more" } }, { body: { brands: [] } });
    const { data, timeline } = await context.partner.organization.brands.list().withResponse();
    expect(data).toStrictEqual([]);
    expect(timeline.map(({ step }) => step)).toStrictEqual(["attempt", "attempt"]);
  });
});

describe("the options of a quote, which are no list of a resource (specification 4.7)", () => {
  const { context } = useExchange();

  it.each(["more", 5])("ignore an unknown `nextCursor`: %j", async (nextCursor) => {
    const options = [{ level: "basic", price: 495 }];
    context.service.respond({ body: { shippingOptions: options, nextCursor } });
    const quote = {
      storeReference: ref("Store"),
      shippingKind: "combined",
      orderlines: [{ productReference: ref("Product"), quantity: 1 }],
    } as const;
    expect(await context.partner.orders.quote(quote)).toStrictEqual(options);
    expect(context.service.requests).toHaveLength(1);
  });
});

describe("entries of GET /perspectives, whose fields the specification does not show (4.6)", () => {
  const { context } = useExchange();

  it("need no more than a reference", async () => {
    const perspectives = [{ reference: ref("Perspective", "1") }, { reference: ref("Perspective", "2"), output: null }];
    context.service.respond({ body: { perspectives } });
    expect(await context.partner.perspectives.list()).toStrictEqual(perspectives);
  });

  it("are refused with a field of a wrong type", async () => {
    context.service.respond({ body: { perspectives: [{ reference: ref("Perspective", "1"), name: 5 }] } });
    expect(await rejection(context.partner.perspectives.list())).toMatchObject({ name: "ResponseValidationError" });
  });
});
