import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as sdk from "pod-partner";
import { type FetchLike, PodPartner } from "pod-partner";
import {
  createEmulator,
  type Emulator,
  type EmulatorAssumptions,
  type EmulatorOptions,
  validItemIssues,
  validOrder,
  validRender,
} from "pod-partner/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { toHtml, toJson, toJunit } from "../../src/cli/conform-report.ts";
import { costOf, rows } from "../../src/cli/conform-rows.ts";
import { type ConformReport, type ConformSetup, isAsAssumed, runConform } from "../../src/cli/conform-run.ts";
import gaps from "../../src/schemas/gaps.json" with { type: "json" };
import { createFastClock } from "../support/fast-clock.ts";

function useFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "conform-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** An emulator with more than a page of orders. */
const emulate = (options: EmulatorOptions = {}): Emulator =>
  // The timeout of an attempt must not fire.
  createEmulator({
    seed: { number: 1, orders: 60 },
    renderDuration: 3_600_000,
    clock: createFastClock(20, { kept: 120_000 }),
    ...options,
  });

const measure = (emulator: Emulator, setup: Partial<ConformSetup> = {}): Promise<ConformReport> => {
  const { baseUrl, secretKey, fetch, clientOptions } = emulator;
  const { clock = createFastClock(20) } = clientOptions;
  const journal = setup.journal ?? join(useFolder(), "journal.json");
  return runConform({ sdk, baseUrl, secretKey, fetch, clock, permitted: { tokens: 5 }, ...setup, journal });
};

/** The rows that are not as assumed, with what was measured. */
const found = ({ findings }: ConformReport) =>
  Object.fromEntries(
    findings
      .filter(({ verdict }) => verdict === "measured" || verdict === "differs")
      .map(({ row, value }) => [row.id, value]),
  );

const untried = ({ findings }: ConformReport) =>
  findings.filter(({ verdict }) => verdict === "not tried").map(({ row }) => row.id);

/** The orders that a run has placed and not canceled. */
const openOrders = (emulator: Emulator, before = 60) =>
  (emulator.world().organizations[0]?.orders ?? [])
    .slice(before)
    .filter(({ lines }) => lines.some(({ quantity, canceledQuantity }) => canceledQuantity < quantity));

const neverTried = [
  "failed-render-file",
  "retry-after",
  "refused-tokens",
  "claim-created-status",
  "evidence-urls",
  "retracted-decision",
];

describe("conform on the emulator", () => {
  it("finds every row as assumed, and cancels every order", async () => {
    const emulator = emulate();
    const journal = join(useFolder(), "journal.json");
    const report = await measure(emulator, { journal });
    expect(found(report)).toEqual({});
    expect(untried(report)).toEqual(neverTried);
    expect(isAsAssumed(report)).toBe(true);
    expect(report.requests).toBeLessThanOrEqual(costOf({ tokens: 5 }).requests);
    expect(openOrders(emulator)).toEqual([]);
    expect(existsSync(journal)).toBe(false);
    expect(report.file).toMatchObject({ version: 1, assumptions: {}, emulator: {} });
    // What stays is listed: the uploads, the render, and each order, which is canceled.
    const [after] = emulator.world().organizations;
    const [before] = emulate().world().organizations;
    const lists = ["images", "evidence", "renders", "orders", "claims"] as const;
    const made = lists.flatMap((list) => after?.[list].slice(before?.[list].length).map(({ reference }) => reference));
    expect(made.filter((reference) => !report.left.some((text) => text.includes(String(reference))))).toEqual([]);
    expect(report.left).toHaveLength(made.length);
  });

  it("files a claim about a given shipment, and retracts it", async () => {
    const seed = { orders: [{ daysAgo: 20, shipments: [{ daysAgo: 17 }] }] };
    const emulator = emulate({ seed: { number: 1, ...seed } });
    const { shipments = [], orders = [] } = emulator.world().organizations[0] ?? {};
    const claimed = rows.filter(({ needs }) => needs === "claims");
    const report = await measure(emulator, { permitted: { claims: shipments[0]?.reference }, only: claimed });
    expect(report.findings.map(({ verdict }) => verdict)).toEqual(["as assumed", "as assumed", "as assumed"]);
    expect(emulator.world().organizations[0]?.claims.map(({ retracted }) => retracted)).toEqual([expect.any(Number)]);
    expect(orders).toHaveLength(1);
  });

  it("measures a render and an image that no earlier run has made", async () => {
    const emulator = emulate();
    const only = rows.filter(({ id }) => ["render-status", "created-status"].includes(id));
    for (const run of [1, 2]) {
      const { findings } = await measure(emulator, { only });
      expect(findings.map(({ verdict }) => verdict)).toEqual(["as assumed", "as assumed"]);
      const [organization] = emulator.world().organizations;
      expect(organization?.renders).toHaveLength(run);
      expect(new Set(organization?.renders.map(({ imageReference }) => imageReference)).size).toBe(run);
    }
  });

  it("says nothing of the evidence URL of a service that answers it with neither the file nor a refusal", async () => {
    const seed = { orders: [{ daysAgo: 20, shipments: [{ daysAgo: 17 }] }] };
    const emulator = emulate({ seed: { number: 1, ...seed } });
    const claims = emulator.world().organizations[0]?.shipments[0]?.reference;
    const fetch: FetchLike = (request, init) =>
      request.method === "GET" && request.url.includes("/evidence/")
        ? Promise.resolve(new Response(null, { status: 404 }))
        : emulator.fetch(request, init);
    const report = await measure(emulator, {
      fetch,
      permitted: { claims },
      only: rows.filter(({ id }) => id === "evidence-urls"),
    });
    expect(untried(report)).toEqual(["evidence-urls"]);
  });

  it("spends no more rendertokens than it may", async () => {
    const emulator = emulate();
    const report = await measure(emulator, { permitted: {} });
    expect(untried(report)).toEqual(["render-status", "render-created-status", ...neverTried]);
    expect(emulator.world().organizations[0]?.rendertokens.used).toBe(0);
    expect(emulator.world().organizations[0]?.renders).toEqual([]);
  });
});

it("conform measures a render by its own response while look-ups of compositions are under way, and pays for one", async () => {
  const createdStatus = { "renders.create": 201 };
  const emulator = emulate({ assumptions: { createdStatus, renderRetryAfter: false } });
  const created = Promise.withResolvers<void>();
  let lookups = 0;
  const fetch: FetchLike = async (request, init) => {
    const response = await emulator.fetch(request, init);
    const { pathname } = new URL(request.url);
    if (request.method === "POST" && pathname.endsWith("/renders")) created.resolve();
    if (pathname.includes("lookup-composition")) {
      lookups += 1;
      if (lookups > 1) await created.promise;
    }
    return response;
  };
  const only = rows.filter(({ needs }) => needs === "tokens");
  const report = await measure({ ...emulator, fetch }, { only });
  expect(lookups).toBeGreaterThan(1);
  expect(found(report)).toEqual({ "render-created-status": 201, "render-status": false });
  expect(emulator.world().organizations[0]?.renders).toHaveLength(1);
});

it("conform lists a render whose response was lost", async () => {
  const emulator = emulate();
  const fetch: FetchLike = async (request, init) => {
    const response = await emulator.fetch(request, init);
    if (request.method !== "POST" || !request.url.endsWith("/renders")) return response;
    throw new TypeError("fetch failed", { cause: Object.assign(new Error(), { code: "ECONNRESET" }) });
  };
  const report = await measure(emulator, { fetch, only: rows.filter(({ id }) => id === "render-created-status") });
  const [render] = emulator.world().organizations[0]?.renders ?? [];
  const { compositionReference, imageReference } = render ?? {};
  expect(report.left).toContain(
    `perhaps a render of composition ${compositionReference} and image ${imageReference}, whose response was lost`,
  );
});

describe("a row", () => {
  it("belongs to a gap, has a name of its own, and a value that is assumed", () => {
    const numbers = new Set(gaps.map(({ number }) => number));
    expect(rows.filter(({ gap }) => !numbers.has(gap)).map(({ id }) => id)).toEqual([]);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
    expect(rows.filter(({ assumed }) => assumed === undefined)).toEqual([]);
  });
});

/** A difference of the service, and the rows that find it with what they measure. */
type Deviation = readonly [
  name: string,
  options: Partial<EmulatorAssumptions> &
    Pick<EmulatorOptions, "repeatedIdentifier" | "pageSize" | "limits" | "shapes">,
  found: Readonly<Record<string, unknown>>,
];

const deviations: readonly Deviation[] = [
  ["the look-up's parameter", { customIdentifierParameter: "identifier" }, { "lookup-parameter": "identifier" }],
  ["the look-up's field", { orderReferenceField: "found" }, { "lookup-field": "found" }],
  ["an empty look-up", { noOrder: ["empty"] }, { "lookup-none": "empty" }],
  ["a look-up with null", { noOrder: ["null"] }, { "lookup-none": "null" }],
  ["a look-up with a bare 404", { noOrder: ["bare-404"] }, { "lookup-none": "bare-404" }],
  ["slow creations", { creationTime: 15_000 }, { "creation-time": 50_000 }],
  ["the field of a list", { fields: { "organization.stores.list": "data" } }, { "field-of-stores": "data" }],
  ["the field of an address", { fields: { "addresses.get": null } }, { "field-of-address": null }],
  [
    "a refused identifier",
    { repeatedIdentifier: "refuse" },
    { "repeated-identifier": "refused (409 custom_identifier_taken)" },
  ],
  ["a doubled identifier", { repeatedIdentifier: "create" }, { "repeated-identifier": "a second order" }],
  ["the page size", { pageSize: 20 }, { "page-size": { orders: 20 } }],
  ["page sizes of their own", { pageSize: { products: 7 } }, { "page-size": { orders: 50, products: 7 } }],
  [
    "limits",
    { limits: { default: { quota: 600, window: 60_000 } } },
    { limits: { default: "600 in 60 s", uploads: "5000 in 86400 s" } },
  ],
  ["the error object", { errorField: "error" }, { "error-object": "error" }],
  [
    "required address fields",
    { requiredAddressFields: ["city", "countryCode", "email", "phonenumber"] },
    {
      "required-fields": ["city", "countryCode", "email", "phonenumber"],
    },
  ],
  [
    "address lengths",
    { addressLengths: { city: 30, company: 100 } },
    { "address-lengths": { city: 30, company: 100 } },
  ],
  ["the length of an identifier", { identifierLength: 64 }, { "identifier-length": 64 }],
  ["the scope of an identifier", { identifierScope: "store" }, { "identifier-scope": "in a store" }],
  ["missing values", { absentValue: "missing" }, { "absent-value": "missing" }],
  ["lines without units", { smallestQuantity: 0 }, { "smallest-quantity": 0 }],
  ["evidence with one reference", { identicalEvidence: "same" }, { "identical-evidence": "the same reference" }],
  ["ignored bodies", { contentWithoutBody: "ignore" }, { "content-without-body": "ignored" }],
  ["refused filters", { unknownFilter: "refuse" }, { "unknown-filter": "refused (404 not_found)" }],
  ["ignored parameters", { unknownParameters: "ignore" }, { "unknown-parameter": "ignored" }],
  ["repeated lines", { repeatedLine: "last" }, { "repeated-line": "accepted" }],
  ["empty cancellations", { emptyCancellation: "refuse" }, { "empty-cancellation": "refused" }],
  ["timestamps with an offset only", { closedAfterForms: ["offset"] }, { "closed-after": ["offset"] }],
  ["cursors of short lists", { cursorOfLists: true }, { "cursor-of-lists": true }],
  ["cursors for one use", { cursorReuse: false }, { "cursor-twice": false }],
  [
    "the status of creations",
    { createdStatus: { "orders.create": 201, "images.upload": 201, "evidence.upload": 201 } },
    {
      "created-status": { "evidence.upload": 201, "images.upload": 201, "orders.create": 201 },
    },
  ],
  [
    "the status of a code",
    { statuses: { missing_address: 422 } },
    { statuses: expect.objectContaining({ missing_address: 422 }) },
  ],
  ["tokens before the request", { remaining: "before" }, { remaining: "no, or its token is back before the response" }],
  ["all policies", { namedPolicies: "all" }, { "named-policies": "all" }],
  ["late look-ups", { visibleAfter: { lookup: 4_000 } }, { "visible-after": { lookup: expect.any(Number) } }],
  ["look-ups without canceled orders", { findsCanceled: false }, { "canceled-in-lookup": false }],
  ["open files", { filesNeedKey: false }, { "files-need-key": "no, on the base URL's origin" }],
  ["cached layers", { layerCacheControl: "private, max-age=60" }, { "layer-headers": "private, max-age=60" }],
  ["the order of lists", { listOrder: "oldest-first" }, { "list-order": "oldest first" }],
  ["the words of a status", { statusCodes: { received: "NEW" } }, { status: { code: "NEW" } }],
  ["brands in orders", { orderFields: ["brandReference"] }, { "order-fields": ["brandReference"] }],
  ["other denied countries", { deniedCountries: ["RU", "VE"] }, { "denied-countries": ["RU", "VE"] }],
  ["countries that do not exist", { unassignedCountry: "refuse" }, { "unassigned-country": "refused" }],
  ["any e-mail address", { checksEmail: false }, { "email-form": "accepted" }],
  ["a status without Retry-After", { renderRetryAfter: false }, { "render-status": false }],
];

const shopOrders = (emulator: Emulator) =>
  (emulator.world().organizations[0]?.orders ?? [])
    .map(({ customIdentifier }) => customIdentifier)
    .filter((identifier) => identifier?.startsWith("shop-"));

/** A partner's day, from the key to a claim, as in the example of the quickstart. */
async function runDay(partner: PodPartner, emulator: Emulator): Promise<void> {
  await partner.auth.validate();
  await partner.organization.accounts.list();
  const products = await partner.catalog.products.list().toArray();
  expect(products.length).toBeGreaterThan(1);
  const { reference: render } = await partner.renders.create(validRender(emulator));
  emulator.completeRender(render);
  expect(await partner.renders.wait(render)).toMatchObject({ status: "completed" });
  const mockup = await (await partner.renders.media(render)).bytes();
  expect(mockup.length).toBeGreaterThan(0);
  const order = validOrder(emulator, { customIdentifier: "day-1" });
  const dropshipAddress = { ...order.dropshipAddress, phonenumber: "+31201234567" };
  const { reference } = await partner.orders.ensure({ ...order, dropshipAddress });
  expect(await partner.orders.list().toArray()).toContainEqual(expect.objectContaining({ reference }));
  const shipment = emulator.ship(reference);
  expect((await partner.orders.get(reference)).orderlines[0]?.shippedQuantity).toBeGreaterThan(0);
  await partner.shipments.get(shipment);
  const { reference: claim } = await partner.claims.createItemIssues(validItemIssues(emulator));
  await partner.claims.retract(claim);
  expect(await partner.claims.get(claim)).toMatchObject({ status: "retracted" });
}

/** What a deviation must not hide: rows that follow from it. */
const consequences: Readonly<Record<string, readonly string[]>> = {
  "a doubled identifier": ["identifier-scope"],
};

/** Four differences for each emulator. Those that exclude each other are neighbours in the list, and so in different runs. */
const runs = Array.from({ length: 11 }, (_, run) => deviations.filter((_, at) => at % 11 === run));

describe("conform on an emulator with differences", () => {
  for (const differences of runs) {
    const names = differences.map(([name]) => name).join(", ");
    it(`finds ${names}, and client and emulator follow the file`, async () => {
      const options: Deviation[1] = Object.assign({}, ...differences.map(([, one]) => one));
      const expected: Deviation[2] = Object.assign({}, ...differences.map(([, , rows]) => rows));
      const { repeatedIdentifier, pageSize, limits, shapes, ...assumptions } = options;
      const given = Object.fromEntries(
        Object.entries({ repeatedIdentifier, pageSize, limits, shapes }).filter(([, value]) => value !== undefined),
      );
      const emulator = emulate({ ...given, assumptions });
      const report = await measure(emulator);
      expect(found(report)).toEqual(expected);
      expect(untried(report).filter((id) => !neverTried.includes(id))).toEqual(
        differences.flatMap(([name]) => consequences[name] ?? []),
      );
      expect(openOrders(emulator)).toEqual([]);

      const path = join(useFolder(), "assumptions.json");
      writeFileSync(path, JSON.stringify(report.file));
      // The client works with the service.
      const { baseUrl, secretKey, fetch, clientOptions, demo } = emulator;
      const order = validOrder(emulator, {
        customIdentifier: "shop-1",
        dropshipAddress: { ...validOrder(emulator).dropshipAddress, phonenumber: "+31201234567" },
      });
      const connect = () => new PodPartner({ ...clientOptions, baseUrl, secretKey, fetch, assumptions: path });
      const { reference } = await connect().orders.ensure(order);
      expect(await connect().orders.ensure(order, { lookFor: 10_000 })).toMatchObject({ reference, existed: true });
      expect(await connect().organization.stores.list()).toHaveLength(Object.keys(demo.stores).length);
      expect(shopOrders(emulator)).toEqual(["shop-1"]);

      await runDay(connect(), emulator);

      // As verify does it: an emulator of the file, which accepts an identifier twice, and loses responses.
      const copy = emulate({ assumptions: path, repeatedIdentifier: "create" });
      copy.faults.add({ on: "orders.create", fault: "drop" });
      copy.faults.add({ on: "orders.create", fault: "drop", when: "before" });
      const { secretKey: copied, fetch: fetchCopy, clientOptions: ofCopy } = copy;
      const shop = new PodPartner({ ...ofCopy, baseUrl, secretKey: copied, fetch: fetchCopy, assumptions: path });
      for (const customIdentifier of ["shop-1", "shop-2", "shop-3"]) {
        await shop.orders.ensure({
          ...order,
          ...validOrder(copy),
          customIdentifier,
          dropshipAddress: order.dropshipAddress,
        });
      }
      expect(shopOrders(copy)).toEqual(["shop-1", "shop-2", "shop-3"]);

      // The emulator does what the service did.
      const only = rows.filter(({ id }) => Object.hasOwn(expected, id));
      const again = await measure(emulate({ assumptions: path }), { compare: report.file, only });
      expect(again.findings.map(({ row, verdict }) => [row.id, verdict])).toEqual(
        only.map(({ id }) => [id, "as assumed"]),
      );
    });
  }
});

describe("conform", () => {
  it("comes to the same verdicts with lost responses and a third of the limits", async () => {
    const assumptions = { repeatedIdentifier: "create", errorField: "error", listOrder: "oldest-first" } as const;
    const { repeatedIdentifier, ...others } = assumptions;
    const limits = { default: { quota: 1_000, window: 60_000 } };
    const emulator = emulate({ repeatedIdentifier, limits, assumptions: others });
    let count = 0;
    // Every 20th response is lost, after the service has done its work.
    const fetch: Emulator["fetch"] = async (input, init) => {
      const response = await emulator.fetch(input, init);
      count += 1;
      if (count % 20 === 7)
        throw new TypeError("fetch failed", { cause: Object.assign(new Error(), { code: "ECONNRESET" }) });
      return response;
    };
    const report = await measure(emulator, { fetch });
    expect(found(report)).toEqual({
      limits: { default: "1000 in 60 s", uploads: "5000 in 86400 s" },
      "error-object": "error",
      "repeated-identifier": "a second order",
      "list-order": "oldest first",
    });
    expect(openOrders(emulator)).toEqual([]);
    const made = emulator.world().organizations[0]?.orders.slice(60) ?? [];
    expect(made.filter(({ reference }) => !report.left.some((text) => text.includes(reference)))).toEqual([]);
    expect(emulator.requests.where({ status: 429 })).toEqual([]);
  });

  it("cancels in the next run what a killed run has placed, also when its response was lost", async () => {
    const emulator = emulate();
    const journal = join(useFolder(), "journal.json");
    let creations = 0;
    // The process ends while the response to the fourth order is on its way.
    const killed = new Promise<never>(() => {});
    const fetch: Emulator["fetch"] = async (input, init) => {
      const response = await emulator.fetch(input, init);
      const { url, method } = input as Request;
      if (method === "POST" && url.endsWith("/orders") && response.ok) creations += 1;
      return creations >= 4 ? await killed : response;
    };
    void measure(emulator, { journal, fetch }).catch(() => {});
    await expect.poll(() => creations, { timeout: 20_000 }).toBe(4);
    expect(openOrders(emulator)).toHaveLength(4);
    const noted = JSON.parse(readFileSync(journal, "utf8"));
    expect(noted.orders).toHaveLength(4);
    expect(readFileSync(journal, "utf8")).not.toContain(emulator.secretKey);

    const report = await measure(emulator, { journal });
    expect(found(report)).toEqual({});
    expect(openOrders(emulator)).toEqual([]);
    expect(existsSync(journal)).toBe(false);
  });

  /** An emulator with a shipment that a claim can be about. */
  const useShipment = () => {
    const emulator = emulate({ seed: { number: 1, orders: [{ daysAgo: 20, shipments: [{ daysAgo: 17 }] }] } });
    const shipment = emulator.world().organizations[0]?.shipments[0]?.reference;
    const only = rows.filter(({ id }) => id === "claim-created-status");
    const retractions = () => emulator.world().organizations[0]?.claims.map(({ retracted }) => retracted);
    return { emulator, shipment, setup: { permitted: { claims: shipment }, only }, retractions };
  };
  const isClaim = (input: unknown) => (input as Request).url.endsWith("/claim-package-missing");

  it.each([503, 409])("retracts in the next run a claim whose retraction fails with %i", async (status) => {
    const { emulator, setup, retractions } = useShipment();
    const journal = join(useFolder(), "journal.json");
    const fetch: Emulator["fetch"] = async (input, init) =>
      (input as Request).url.endsWith("/retract")
        ? Response.json({ code: "no", message: "no" }, { status })
        : await emulator.fetch(input, init);
    const report = await measure(emulator, { ...setup, journal, fetch });
    expect(report.left).toContainEqual(expect.stringMatching(/^the claim Claim_\w+, which could not be retracted/));
    expect(isAsAssumed(report)).toBe(false);
    expect(retractions()).toEqual([null]);
    const next = await measure(emulator, { journal, only: [] });
    expect(next.left).toEqual([expect.stringMatching(/^the claim Claim_\w+, which is retracted/)]);
    expect(isAsAssumed(next)).toBe(true);
    expect(retractions()).toEqual([expect.any(Number)]);
    expect(existsSync(journal)).toBe(false);
  });

  it("lists a claim whose response is lost while the run is stopped", async () => {
    const { emulator, setup, shipment } = useShipment();
    let stop = () => {};
    const onStop = (end: () => void) => {
      stop = end;
    };
    const fetch: Emulator["fetch"] = async (input, init) => {
      const response = await emulator.fetch(input, init);
      if (!isClaim(input)) return response;
      stop();
      throw new TypeError("fetch failed", { cause: Object.assign(new Error(), { code: "ECONNRESET" }) });
    };
    const report = await measure(emulator, { ...setup, onStop, fetch });
    expect([report.interrupted, isAsAssumed(report)]).toEqual([true, false]);
    expect(report.left).toContain(`perhaps a claim about ${shipment}, whose response was lost: retract it`);
  });

  it("lists in the next run a claim during which a run was killed", async () => {
    const { emulator, setup, shipment } = useShipment();
    const journal = join(useFolder(), "journal.json");
    const sent = Promise.withResolvers<void>();
    const fetch: Emulator["fetch"] = async (input, init) => {
      if (!isClaim(input)) return await emulator.fetch(input, init);
      sent.resolve();
      return await new Promise<never>(() => {});
    };
    void measure(emulator, { ...setup, journal, fetch }).catch(() => {});
    await sent.promise;
    const report = await measure(emulator, { journal, only: [] });
    expect(report.left).toEqual([`perhaps a claim about ${shipment}, whose response was lost: retract it`]);
    expect(isAsAssumed(report)).toBe(false);
    expect(existsSync(journal)).toBe(false);
  });

  it("is no success when an order cannot be canceled", async () => {
    const emulator = emulate();
    const fetch: Emulator["fetch"] = async (input, init) =>
      (input as Request).url.endsWith("/cancel")
        ? Response.json({ code: "already_in_production", message: "no" }, { status: 409 })
        : await emulator.fetch(input, init);
    const report = await measure(emulator, { fetch, only: rows.filter(({ id }) => id === "lookup-field") });
    expect(report.left).toContainEqual(expect.stringMatching(/^the order Order_\w+, which could not be canceled/));
    expect(isAsAssumed(report)).toBe(false);
    expect(JSON.parse(toJson(report))).toMatchObject({ ok: false });
  });

  it("comes to the same verdicts when a gateway responds with pages of its own", async () => {
    const emulator = emulate();
    let count = 0;
    const fetch: Emulator["fetch"] = async (input, init) => {
      const response = await emulator.fetch(input, init);
      count += 1;
      if (count % 20 !== 7) return response;
      return new Response("<html>wait</html>", { headers: { "Content-Type": "text/html" } });
    };
    const report = await measure(emulator, { fetch });
    expect(found(report)).toEqual({});
    expect(untried(report)).toEqual(neverTried);
    expect(openOrders(emulator)).toEqual([]);
    expect(isAsAssumed(report)).toBe(true);
  });

  it("finds the orders whose response was lost in a list that begins with the oldest", async () => {
    const emulator = emulate({ seed: { number: 1, orders: 130 }, assumptions: { listOrder: "oldest-first" } });
    const journal = join(useFolder(), "journal.json");
    let creations = 0;
    const fetch: Emulator["fetch"] = async (input, init) => {
      const response = await emulator.fetch(input, init);
      const { url, method } = input as Request;
      if (method !== "POST" || !url.endsWith("/orders") || !response.ok) return response;
      creations += 1;
      if (creations > 2) stop();
      throw new TypeError("fetch failed", { cause: Object.assign(new Error(), { code: "ECONNRESET" }) });
    };
    let stop = () => {};
    const onStop = (end: () => void) => {
      stop = end;
    };
    const report = await measure(emulator, { journal, fetch, onStop });
    expect(creations).toBe(3);
    expect(openOrders(emulator, 130)).toEqual([]);
    expect(report.left.filter((text) => text.startsWith("the canceled order"))).toHaveLength(3);
    expect(existsSync(journal)).toBe(false);
  });

  it("lists what it could not find, when the service returns no annotations", async () => {
    const emulator = emulate();
    let creations = 0;
    const fetch: Emulator["fetch"] = async (input, init) => {
      const response = await emulator.fetch(input, init);
      const { url, method } = input as Request;
      if (method === "POST" && url.endsWith("/orders") && response.ok) {
        creations += 1;
        if (creations === 2)
          throw new TypeError("fetch failed", { cause: Object.assign(new Error(), { code: "ECONNRESET" }) });
      }
      if (method !== "GET" || !url.includes("/orders/Order_") || !response.ok) return response;
      return new Response((await response.text()).replaceAll("pod-partner-conform", "other"), response);
    };
    const report = await measure(emulator, { fetch });
    const [lost] = openOrders(emulator);
    expect(openOrders(emulator)).toHaveLength(1);
    expect(report.left).toContain(
      `perhaps an order with the customIdentifier ${lost?.customIdentifier}, whose response was lost`,
    );
  });

  it("ends when the key is refused, or the service no longer responds, and finds nothing from that", async () => {
    const broken: readonly (readonly [respond: () => Response, failure: RegExp])[] = [
      [() => Response.json({ code: "unauthorized", message: "no" }, { status: 401 }), /refuses the key \(401\)/],
      [() => new Response("<html></html>", { status: 502 }), /no longer responds/],
    ];
    for (const [respond, failure] of broken) {
      const emulator = emulate();
      let isBroken = false;
      const fetch: Emulator["fetch"] = (input, init) =>
        isBroken ? Promise.resolve(respond()) : emulator.fetch(input, init);
      const report = await measure(emulator, {
        fetch,
        onFinding: ({ row }) => {
          isBroken ||= row.id === "repeated-identifier";
        },
      });
      expect(report.failure).toMatch(failure);
      expect(found(report)).toEqual({});
      expect(report.findings.at(-1)?.row.id).toBe("repeated-identifier");
      const open = openOrders(emulator);
      expect(open.length).toBeGreaterThan(2);
      expect(open.filter(({ reference }) => !report.left.some((text) => text.includes(reference)))).toEqual([]);
    }
  });

  const refusals: readonly (readonly [status: number, path: RegExp])[] = [
    [403, /\/orders$/],
    [403, /\/quote$/],
    [403, /\/claims/],
    [501, /\/orders$/],
    [501, /dropship-address$/],
    [501, /\/perspectives/],
    [501, /\/stores$/],
  ];

  it("finds nothing where the key may not do something, or the service does not offer it", async () => {
    for (const [status, path] of refusals) {
      const emulator = emulate();
      const fetch: Emulator["fetch"] = (input, init) =>
        path.test(new URL((input as Request).url).pathname)
          ? Promise.resolve(Response.json({ code: "forbidden", message: "no" }, { status }))
          : emulator.fetch(input, init);
      const report = await measure(emulator, { fetch });
      expect([status, path, found(report)]).toEqual([status, path, {}]);
      expect(openOrders(emulator)).toEqual([]);
    }
  });

  it("empties a bucket only when it may, and measures what a refusal costs", async () => {
    const limits = { default: { quota: 200, window: 60_000 } };
    const emulator = emulate({ limits });
    const only = rows.filter(({ needs }) => needs === "empty-bucket");
    const not = await measure(emulator, { only });
    expect(not.findings.map(({ verdict, reason }) => [verdict, reason])).toEqual([
      ["not tried", "needs --empty-bucket"],
      ["not tried", "needs --empty-bucket"],
    ]);
    expect(emulator.requests.where({ status: 429 })).toEqual([]);
    const report = await measure(emulator, { only, permitted: { "empty-bucket": true } });
    expect(report.findings.map(({ verdict, value, reason }) => [verdict, value, reason])).toEqual([
      ["as assumed", 1, undefined],
      ["as assumed", "no token", undefined],
    ]);
    expect(report.left).toEqual([expect.stringMatching(/^the image Image_/)]);
  });

  it("requests the file of a render that is known to have failed", async () => {
    const emulator = emulate({ assumptions: { statuses: { render_failed: 410 } } });
    const { baseUrl, secretKey, fetch, clientOptions } = emulator;
    const partner = new PodPartner({ ...clientOptions, baseUrl, secretKey, fetch });
    const { reference } = await partner.renders.create(validRender(emulator));
    const only = rows.filter(({ id }) => id === "failed-render-file");
    const permitted = { "failed-render": reference };
    const pending = await measure(emulator, { only, permitted });
    expect(pending.findings[0]?.reason).toBe(`the render ${reference} is pending`);
    emulator.failRender(reference);
    const report = await measure(emulator, { only, permitted });
    expect(report.findings[0]).toMatchObject({ value: "refused (410 render_failed)", verdict: "measured" });
    expect(report.file.emulator).toEqual({ statuses: { render_failed: 410 } });
  });

  it("tries first the look-up parameter of the file that it compares with", async () => {
    const emulator = emulate({ assumptions: { customIdentifierParameter: "shopCode" } });
    const unknown = await measure(emulator);
    expect(found(unknown)).toEqual({ "lookup-parameter": "none of 14 likely names" });
    const file = { ...unknown.file, assumptions: { customIdentifierParameter: "shopCode" } };
    const report = await measure(emulator, { compare: file });
    expect(found(report)).toEqual({});
  });

  /** An emulator of which some responses are replaced. */
  const replacing =
    (emulator: Emulator, pattern: RegExp, replace: (response: Response) => Promise<Response>): Emulator["fetch"] =>
    async (input, init) => {
      const { method, url } = input as Request;
      const response = await emulator.fetch(input, init);
      return pattern.test(`${method} ${new URL(url).pathname}`) ? await replace(response) : response;
    };

  it.each([
    ["null beside another field", 200, { orderReference: null, requestId: "4711" }, "null", "measured", ["noOrder"]],
    [
      "a code in capitals",
      404,
      { code: "ORDER_NOT_FOUND", message: "no" },
      "refused (404 ORDER_NOT_FOUND)",
      "differs",
      [],
    ],
    ["a code in a field", 404, { problem: { code: "not_found" } }, "refused (404 not_found)", "differs", []],
    ["an empty list", 200, { orders: [] }, "200 with an object with orders", "differs", []],
  ])(
    "asks a client what it does when a look-up says none with %s",
    async (_, status, body, value, verdict, overrides) => {
      const emulator = emulate();
      const fetch = replacing(emulator, /GET .*lookup-order/, async (response) =>
        response.ok ? response : Response.json(body, { status, headers: response.headers }),
      );
      const only = rows.filter(({ id }) => ["lookup-parameter", "lookup-field", "lookup-none"].includes(id));
      const report = await measure(emulator, { fetch, only });
      expect(report.findings.map((finding) => [finding.value, finding.verdict, finding.overrides])).toEqual([
        ["customIdentifier", "as assumed", []],
        ["orderReference", "as assumed", []],
        [value, verdict, overrides],
      ]);
      const path = join(useFolder(), "assumptions.json");
      writeFileSync(path, JSON.stringify(report.file));
      const { baseUrl, secretKey, clientOptions } = emulator;
      const partner = new PodPartner({ ...clientOptions, baseUrl, secretKey, fetch, assumptions: path });
      const placed = partner.orders.ensure(validOrder(emulator, { customIdentifier: "shop-1" })).then(
        () => true,
        () => false,
      );
      expect(await placed).toBe(verdict !== "differs");
    },
  );

  it("takes a refusal that names the first order for a refusal", async () => {
    const emulator = emulate({ repeatedIdentifier: "refuse" });
    const fetch = replacing(emulator, /POST .*\/orders$/, async (response) => {
      if (response.status !== 409) return response;
      const reference = emulator.world().organizations[0]?.orders.at(-1)?.reference;
      const body = { ...((await response.json()) as object), order: { reference } };
      return Response.json(body, { status: 409, headers: response.headers });
    });
    const only = rows.filter(({ id }) => id === "repeated-identifier");
    const report = await measure(emulator, { fetch, only });
    expect(found(report)).toEqual({ "repeated-identifier": "refused (409 custom_identifier_taken)" });
    expect(openOrders(emulator)).toEqual([]);
  });

  it("finds a canceled order also when the look-up shows the latest order of an identifier", async () => {
    const emulator = emulate({ repeatedIdentifier: "create" });
    const fetch: Emulator["fetch"] = async (input, init) => {
      const response = await emulator.fetch(input, init);
      const identifier = new URL((input as Request).url).searchParams.get("customIdentifier");
      if (identifier === null || !response.ok) return response;
      const orders = emulator.world().organizations[0]?.orders ?? [];
      const latest = orders.findLast(({ customIdentifier }) => customIdentifier === identifier);
      return Response.json({ orderReference: latest?.reference }, response);
    };
    const only = rows.filter(({ id }) => ["lookup-field", "repeated-identifier", "canceled-in-lookup"].includes(id));
    const report = await measure(emulator, { fetch, only });
    expect(found(report)).toEqual({ "repeated-identifier": "a second order" });
    expect(untried(report)).toEqual([]);
  });

  it("says nothing of the length of an address field whose longer value has another form", async () => {
    const emulator = emulate({ assumptions: { addressLengths: { city: 30 } } });
    const fetch: Emulator["fetch"] = async (input, init) => {
      const request = input as Request;
      if (request.method !== "PUT") return await emulator.fetch(request, init);
      const { phonenumber, housenumber } = JSON.parse(await request.clone().text()).dropshipAddress;
      const isForm = /^\+\d{6,15}$/.test(phonenumber) && /^\d+$/.test(housenumber);
      return isForm
        ? await emulator.fetch(request, init)
        : Response.json({ code: "unknown_input_error", message: "no" }, { status: 400 });
    };
    const report = await measure(emulator, { fetch, only: rows.filter(({ id }) => id === "address-lengths") });
    expect(found(report)).toEqual({ "address-lengths": { city: 30, phonenumber: 16 } });
  });

  it("says nothing of a field that takes one form only", async () => {
    const emulator = emulate();
    const fetch: Emulator["fetch"] = async (input, init) => {
      const request = input as Request;
      if (request.method !== "PUT") return await emulator.fetch(request, init);
      const { phonenumber } = JSON.parse(await request.clone().text()).dropshipAddress;
      return /^\+\d{11}$/.test(phonenumber)
        ? await emulator.fetch(request, init)
        : Response.json({ code: "unknown_input_error", message: "no" }, { status: 400 });
    };
    const report = await measure(emulator, { fetch, only: rows.filter(({ id }) => id === "address-lengths") });
    expect(found(report)).toEqual({});
  });

  it("finds nothing in a service that redirects", async () => {
    const emulator = emulate();
    const fetch = replacing(emulator, /^GET /, async () => {
      return new Response(null, { status: 308, headers: { Location: "https://other.example/v2/" } });
    });
    const report = await measure(emulator, { fetch, only: rows.slice(0, 12) });
    expect(found(report)).toEqual({});
  });

  it("ends when it is stopped before the service has responded", async () => {
    let stop = () => {};
    const fetch: Emulator["fetch"] = () => {
      stop();
      return Promise.reject(new TypeError("fetch failed"));
    };
    const onStop = (end: () => void) => {
      stop = end;
    };
    const report = await measure(emulate(), { fetch, onStop });
    expect([report.interrupted, report.findings, report.left]).toEqual([true, [], []]);
  });

  it("refuses to start while the orders of a run against another service are open", async () => {
    const journal = join(useFolder(), "journal.json");
    const orders = [{ identifier: "conform-1", quantity: 1 }];
    writeFileSync(journal, JSON.stringify({ version: 1, baseUrl: "https://other.example/v2", runs: ["1"], orders }));
    await expect(measure(emulate(), { journal })).rejects.toMatchObject({ exitCode: 2 });
  });

  it.each([
    ["at once", {}],
    ["late", { visibleAfter: { read: 8_000 } }],
  ])("cancels what it has placed when it is stopped, and the service shows an order %s", async (_, assumptions) => {
    const emulator = emulate({ assumptions });
    let stop = () => {};
    const report = await measure(emulator, {
      onStop: (end) => {
        stop = end;
      },
      onFinding: ({ row }) => {
        if (row.id === "lookup-none") stop();
      },
    });
    expect(report.interrupted).toBe(true);
    expect(report.findings.at(-1)?.row.id).toBe("lookup-none");
    expect(report.orders).toBeGreaterThan(1);
    expect(openOrders(emulator)).toEqual([]);
  });

  it("says what has changed since a file, in three places", async () => {
    const before = await measure(emulate({ pageSize: 20 }));
    const assumptions = { errorField: "error", emptyCancellation: "refuse" } as const;
    const report = await measure(emulate({ pageSize: 30, assumptions }), { compare: before.file });
    const changed = report.findings.filter(({ verdict }) => verdict === "differs");
    expect(changed.map(({ row, expected, value }) => [row.id, expected, value])).toEqual([
      ["error-object", null, "error"],
      ["page-size", { orders: 20 }, { orders: 30 }],
      ["empty-cancellation", "accepted", "refused"],
    ]);
    expect(isAsAssumed(report)).toBe(false);
    const same = await measure(emulate({ pageSize: 20 }), { compare: before.file });
    expect(isAsAssumed(same)).toBe(true);
  });

  it("refuses an organization of production, and a wrong key", async () => {
    const production = emulate({ environment: "production" });
    await expect(measure(production)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining("production"),
    });
    expect(openOrders(production)).toEqual([]);
    await expect(measure(emulate(), { secretKey: "another-secret-key" })).rejects.toMatchObject({ exitCode: 2 });
  });

  it("shows the key in no report, also when the service repeats it", async () => {
    const emulator = emulate({
      assumptions: { statusCodes: { received: "emulator-secret-key" }, orderReferenceField: "found" },
    });
    const report = await measure(emulator);
    const texts = [toJson(report), toHtml(report), toJunit(report), JSON.stringify(report.file)];
    for (const text of texts) expect(text).not.toContain(emulator.secretKey);
    expect(JSON.parse(toJson(report))).toMatchObject({ ok: false, left: expect.any(Array) });
    expect(toJunit(report)).toContain(
      'name="lookup-field: Field of the look-up&apos;s response"'.replace("&apos;", "'"),
    );
    expect(toHtml(report)).toContain("1 difference from what is assumed");
  });
});
