import { PodPartner } from "pod-partner";
import { createManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { rejection } from "../../support/exchange.ts";
import { createFastClock } from "../../support/fast-clock.ts";
import { secretKey, useService } from "../../support/partner.ts";
import { ref } from "../../support/references.ts";
import { settle } from "../../support/settle.ts";
import type { Recorded, StubResponse } from "../../support/stub-service.ts";

const hangUp = () => Promise.reject<StubResponse>(new Error("the stub hangs up"));
const input = {
  shipmentReference: ref("Shipment"),
  orderReference: ref("Order"),
  claimlines: [{ orderlineIndex: 1, quantity: 1, claimcategoryReference: ref("Claimcategory") }],
};

/** The claim `tail` of the order and shipment above, as the list and the detail return it. */
const claimOf = (tail: string, created: string, quantity = 1) => ({
  reference: ref("Claim", tail),
  orderReference: ref("Order"),
  shipmentReference: ref("Shipment"),
  status: "pending",
  claimcategories: [{ reference: ref("Claimcategory"), name: "Print defect" }],
  created,
  retracted: null as string | null,
  decided: null,
  decision: null,
  evidenceUrls: [],
  claimlines: [
    {
      productReference: ref("Product"),
      orderlineIndex: 1,
      quantity,
      claimcategory: { reference: ref("Claimcategory"), name: "Print defect" },
      decision: null,
      evidenceUrls: [],
    },
  ],
});
const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
const day = 86_400_000;

/** The same claim, created and retracted just now. */
const retracted = (tail: string) => ({ ...claimOf(tail, ago(0)), status: "retracted", retracted: ago(0) });

/** The timeout of an attempt, in milliseconds. */
const timeout = 20_000;
/** Waits end at once; the timeouts stay. */
const fastClock = (ahead = 0) => createFastClock(100, { kept: timeout, ahead });

describe("a claim whose response was lost is not filed twice (specification 4.9, 4.11, law 2)", () => {
  const context = useService();
  const posts = () => context.service.requests.filter(({ method }) => method === "POST");

  const lines: (readonly [level: string, line: string])[] = [];
  const note = (level: string) => (line: unknown) => void lines.push([level, String(line)]);

  /** Files the claim. Its response is lost, and the list then holds `claims`. The clocks of the partner and the service may differ. */
  async function file(
    claims: readonly ReturnType<typeof claimOf>[],
    ahead = 0,
    behind = 0,
    unreadable = 0,
    listed: (claim: ReturnType<typeof claimOf>) => object = (claim) => claim,
  ): Promise<unknown> {
    const headers = { date: new Date(Date.now() - behind).toUTCString() };
    let reads = 0;
    const read = ({ path }: Recorded) => {
      const one = claims.find(({ reference }) => path.endsWith(`/claims/${reference}`));
      if (one !== undefined && ++reads <= unreadable) return { status: 404, body: { code: "not_found", message: "" } };
      return { headers, body: one === undefined ? { claims: claims.map(listed), nextCursor: null } : { claim: one } };
    };
    let lost = false;
    context.service.respondAlways((request) => {
      if (request.method === "GET") return read(request);
      if (lost) return { status: 201, body: { claim: { reference: ref("Claim", "tw1ce") } } };
      lost = true;
      return hangUp();
    });
    const partner = context.connect({
      retry: { retries: 1, baseDelay: 0, maxDelay: 0 },
      timeout,
      clock: fastClock(ahead),
      logger: { debug: note("debug"), info: note("info"), warn: note("warn"), error: note("error") },
    });
    return partner.claims.createItemIssues(input);
  }

  it("claims.createItemIssues reads the list as a part of itself, and not as calls of their own", async () => {
    lines.length = 0;
    await file([claimOf("n", ago(0))]);
    expect(lines).toContainEqual(["debug", expect.stringContaining("GET /claims 200")]);
    expect(lines.filter(([level, line]) => level !== "debug" && line.includes("GET /claims"))).toEqual([]);
  });

  const mine = (created = ago(0)) => claimOf("n", created);
  const old = () => claimOf("k", ago(3 * day), 2);
  const timeless = (claim: object) => ({ ...claim, created: "just now" });
  const withoutTime = ({ created: _, ...claim }: ReturnType<typeof claimOf>) => claim;
  /** `created` of a service whose clocks are eight hours behind UTC, without the offset. */
  const withoutOffset = () => ago(28_800_000).slice(0, 19);

  // A busy machine may run a test seconds after its table is made: the claims are made in the test.
  type Given = () => Parameters<typeof file>;
  it.each<[string, Given]>([
    ["in a list with the newest first", () => [[mine(), old()]]],
    ["in a list of another order, since the newest come first only typically", () => [[old(), mine()]]],
    ["when the service's clock is ten minutes behind", () => [[mine(ago(600_000))], 0, 600_000]],
    ["when the partner's clock is a day ahead", () => [[mine()], day]],
    ["when the list shows it before it can be read", () => [[mine()], 0, 0, 2]],
    ["by a timestamp without seconds", () => [[mine(`${ago(0).slice(0, 16)}Z`)]]],
    ["by an extended timestamp without offset", () => [[mine(withoutOffset())]]],
    ["by a basic timestamp without offset", () => [[mine(withoutOffset().replaceAll(/[-:]/g, ""))]]],
    ["beside a retracted one with the same content", () => [[mine(), retracted("k")]]],
    ["in a list without times, beside an old one", () => [[mine(), claimOf("k", ago(60_000))], 0, 0, 0, withoutTime]],
    ["in a list whose times are no times", () => [[mine()], 0, 0, 0, timeless]],
  ])("claims.createItemIssues finds the claim %s", async (_, given) => {
    expect(await file(...given())).toMatchObject({ reference: ref("Claim", "n"), recovered: true });
    expect(posts()).toHaveLength(1);
  });

  it.each<[string, Given]>([
    ["an equal claim of a minute ago", () => [[claimOf("k", ago(60_000))]]],
    [
      "an equal claim of a minute ago when the partner's clock is a day ahead",
      () => [[claimOf("k", ago(60_000))], day],
    ],
    ["a claim of three days ago", () => [[claimOf("k", ago(3 * day))]]],
    [
      "an equal claim of a minute ago, in a list without times",
      () => [[claimOf("k", ago(60_000))], 0, 0, 0, withoutTime],
    ],
    ["one of a minute ago, in a list whose times are no times", () => [[claimOf("k", ago(60_000))], 0, 0, 0, timeless]],
    ["a retracted claim with the same content", () => [[retracted("k")]]],
    ["a claim with other content", () => [[claimOf("k", ago(0), 2)]]],
    ["a claim of another shipment", () => [[{ ...claimOf("k", ago(0)), shipmentReference: ref("Shipment", "k") }]]],
    ["a claim of another order", () => [[{ ...claimOf("k", ago(0)), orderReference: ref("Order", "k") }]]],
  ])("claims.createItemIssues does not return %s", async (_, given) => {
    expect(await file(...given())).toMatchObject({ reference: ref("Claim", "tw1ce"), recovered: false });
    expect(posts()).toHaveLength(2);
  });
});

describe("the content that a lost claim is compared with (specification 4.9, law 2)", () => {
  const context = useService();
  const posts = () => context.service.requests.filter(({ method }) => method === "POST");
  const connect = () =>
    context.connect({ retry: { retries: 1, baseDelay: 0, maxDelay: 0 }, timeout, clock: fastClock() });
  /** Loses the response to the first creation, and shows these claims. A second creation makes the claim `new`. */
  const serve = (claims: readonly { readonly reference: string }[], onCreate = async () => undefined as unknown) =>
    context.service.respondAlways(async ({ method, path }) => {
      if (method === "POST" && posts().length > 1)
        return { status: 201, body: { claim: { reference: ref("Claim", "new") } } };
      if (method === "POST") return onCreate().then(hangUp);
      const claim = claims.find(({ reference }) => path.endsWith(reference));
      return { body: claim === undefined ? { claims, nextCursor: null } : { claim } };
    });

  it("is what was sent, also when the caller changes the object meanwhile", async () => {
    serve([claimOf("n", ago(0))]);
    const claim = structuredClone(input);
    const filing = connect().claims.createItemIssues(claim);
    claim.claimlines.length = 0;
    expect(await filing).toMatchObject({ reference: ref("Claim", "n") });
    expect(posts()).toHaveLength(1);
  });

  it("is the units of each line: the service may join two lines of one orderline", async () => {
    serve([claimOf("n", ago(0), 2)]);
    const twice = { ...input, claimlines: [...input.claimlines, ...input.claimlines] };
    expect(await connect().claims.createItemIssues(twice)).toMatchObject({ reference: ref("Claim", "n") });
    expect(posts()).toHaveLength(1);
  });

  it("is the same whatever the order of the lines", async () => {
    const category = ref("Claimcategory");
    const [existing] = claimOf("n", ago(0), 3).claimlines.map((line) => ({ ...line, orderlineIndex: 2 }));
    const claim = claimOf("n", ago(0));
    if (existing !== undefined) claim.claimlines.unshift(existing);
    serve([claim]);
    const claimlines = [
      { orderlineIndex: 1, quantity: 1, claimcategoryReference: category },
      { orderlineIndex: 2, quantity: 3, claimcategoryReference: category },
    ];
    const filed = await connect().claims.createItemIssues({ ...input, claimlines });
    expect(filed).toMatchObject({ reference: ref("Claim", "n"), recovered: true });
  });

  it("has the same units of each orderline, not only the same number of units", async () => {
    const [first, second] = [...claimOf("k", ago(0), 2).claimlines, ...claimOf("k", ago(0)).claimlines];
    const claim = claimOf("k", ago(0));
    claim.claimlines = [first, second].flatMap((line, position) =>
      line ? [{ ...line, orderlineIndex: 1 + position }] : [],
    );
    serve([claim]);
    const claimcategoryReference = ref("Claimcategory");
    const claimlines = [1, 2].map((index) => ({ orderlineIndex: index, quantity: index, claimcategoryReference }));
    const filed = await connect().claims.createItemIssues({ ...input, claimlines });
    expect(filed).toMatchObject({ reference: ref("Claim", "new"), recovered: false });
  });

  it("is not that of two equal claims: the outcome is unknown, and the claim may not be filed again", async () => {
    serve([claimOf("n", ago(0)), claimOf("m", ago(0))]);
    expect(await rejection(connect().claims.createItemIssues(input))).toMatchObject({
      name: "OutcomeUnknownError",
      isRetryable: false,
      hint: "Read `claims.list()` and compare the claims of this shipment with `error.identifiers`.",
      cause: { message: expect.stringContaining(`2 claims match: ${ref("Claim", "n")}, ${ref("Claim", "m")}`) },
    });
    expect(posts()).toHaveLength(1);
  });

  it("is not that of a claim that the client had seen before, also when it sees it again meanwhile", async () => {
    const partner = connect();
    serve([claimOf("k", ago(0))], () => partner.claims.list().toArray());
    await partner.claims.list().toArray();
    expect(await partner.claims.createItemIssues(input)).toMatchObject({ reference: ref("Claim", "new") });
    expect(posts()).toHaveLength(2);
  });

  it('is not that of a claim of another shape, also with `responses: "report"`: the outcome is unknown', async () => {
    const { claimlines: _, ...claim } = claimOf("n", ago(0));
    serve([claim]);
    const { baseUrl } = context.service;
    const options = { timeout, retry: { retries: 0 }, clock: fastClock(), responses: "report" } as const;
    const partner = new PodPartner({ baseUrl, secretKey, ...options });
    expect(await rejection(partner.claims.createItemIssues(input))).toMatchObject({
      name: "OutcomeUnknownError",
      cause: { name: "ResponseValidationError" },
    });
  });

  it("is the shipment of a missing package: the claim of another one is not found", async () => {
    const category = { reference: ref("Claimcategory"), name: "Package missing" };
    const claim = claimOf("k", ago(0));
    const claimlines = claim.claimlines.map((line) => ({ ...line, claimcategory: category }));
    const ofOther = { ...claim, shipmentReference: ref("Shipment", "k"), claimcategories: [category], claimlines };
    serve([ofOther]);
    const filed = await connect().claims.createPackageMissing({ shipmentReference: ref("Shipment") });
    expect(filed).toMatchObject({ reference: ref("Claim", "new"), recovered: false });
    expect(posts()).toHaveLength(2);
  });

  it("does not exist for a missing package: its outcome is unknown", async () => {
    serve([claimOf("n", ago(0))]);
    const filing = connect().claims.createPackageMissing({ shipmentReference: ref("Shipment") });
    await expect(filing).rejects.toMatchObject({
      name: "OutcomeUnknownError",
      identifiers: { shipmentReference: ref("Shipment") },
    });
    expect(posts()).toHaveLength(1);
  });
});

describe("the look-up of a claim whose response was lost", () => {
  const context = useService();

  it("ends at the call's deadline, however many pages it reads", async () => {
    const clock = createManualClock();
    const page = () => ({ body: { claims: [], nextCursor: String(context.service.requests.length) } });
    context.service.respondAlways(({ method }) => (method === "POST" ? hangUp() : page()));
    const partner = context.connect({ clock, pacing: false });
    const began = clock.now();
    const claim = partner.claims.createPackageMissing({ shipmentReference: ref("Shipment") }, { deadline: 2_000 });
    const error = await settle(clock, rejection(claim), 10);
    expect(error).toMatchObject({ name: "OutcomeUnknownError", cause: { name: "DeadlineError" } });
    expect(clock.now() - began).toBeLessThan(2_100);
  });

  it.each([
    ["the list", "/claims", 2],
    ["the list", "/claims", 60],
    ["the claim", `/claims/${ref("Claim", "n")}`, 2],
    ["the claim", `/claims/${ref("Claim", "n")}`, 60],
  ])(
    "waits for the Retry-After of a 429 to %s (%s, %i s), and the claim is not filed again",
    async (_, refused, seconds) => {
      const clock = createManualClock();
      const claim = claimOf("n", new Date(clock.now()).toISOString());
      const times: number[] = [];
      let posts = 0;
      context.service.respondAlways(({ method, path }) => {
        const headers = { date: new Date(clock.now()).toUTCString() };
        if (method === "POST") {
          posts += 1;
          return hangUp();
        }
        const route = new URL(path, "http://service").pathname;
        if (route.endsWith(refused)) {
          times.push(clock.now());
          const body = { code: "rate_limited", message: "Too many requests" };
          if (times.length === 1) return { status: 429, headers: { ...headers, "retry-after": String(seconds) }, body };
        }
        if (route.endsWith(claim.reference)) return { headers, body: { claim } };
        return { headers, body: { claims: [claim], nextCursor: null } };
      });
      const partner = context.connect({ clock });
      const filed = await settle(clock, partner.claims.createItemIssues(input), 50);
      expect(filed).toMatchObject({ reference: claim.reference, recovered: true });
      expect(posts).toBe(1);
      const [first = 0, second = 0] = times;
      expect(second - first).toBeGreaterThanOrEqual(1_000 * seconds);
    },
  );
});

describe("a claim that the list shows ten seconds after it was created", () => {
  const context = useService();

  it("is found, although the request was sent before", async () => {
    const clock = createManualClock();
    let posts = 0;
    let created = Number.POSITIVE_INFINITY;
    const dateOf = (ms: number) => new Date(ms).toUTCString();
    context.service.respondAlways(async ({ method, path }) => {
      const headers = { date: dateOf(clock.now()) };
      if (method === "POST") {
        posts += 1;
        created = clock.now();
        await new Promise<void>((resolve) => clock.after(1_000, resolve));
        return hangUp();
      }
      const claim = claimOf("n", new Date(created).toISOString());
      if (path.endsWith(claim.reference)) return { headers, body: { claim } };
      return { headers, body: { claims: clock.now() - created < 10_000 ? [] : [claim], nextCursor: null } };
    });
    const partner = context.connect({ clock, pacing: false });
    const filed = await settle(clock, partner.claims.createItemIssues(input), 50);
    expect(filed).toMatchObject({ reference: ref("Claim", "n"), recovered: true });
    expect(posts).toBe(1);
  });
});
