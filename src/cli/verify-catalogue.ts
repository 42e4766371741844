import type { Fault, RunningEmulator, StartEmulatorOptions } from "pod-partner/testing";

/** What the run without a fault tells about the program. */
export interface Usage {
  /** How often it made each call, such as `orders.create`. */
  readonly calls: ReadonlyMap<string, number>;
  /** Which of its requests to `orders.create` made an order: the first one is 1. The service refused the others. */
  readonly orders: readonly number[];
  readonly requests: number;
  /** The rendertokens that it used. */
  readonly rendertokens: number;
  /** The callbacks that it received. */
  readonly callbacks: number;
}

/** When the program is killed, and started again: milliseconds after its `nth` request of these calls. */
export type Kill = { readonly on: readonly string[]; readonly nth: number; readonly after: number };

/** What can happen to the callbacks of a server. */
export type CallbackFault = "twice" | "forged" | "late" | "reversed" | "killed" | "never";

/** Something that a network, the service or a machine does to a program. */
export interface FaultRow {
  readonly id: string;
  readonly name: string;
  /** What it needs, such as `an order`; undefined if it can happen to this program. */
  readonly missing: (usage: Usage) => string | undefined;
  /** The page of the package's documentation that helps. */
  readonly page: string;
  readonly faults?: readonly Fault[] | ((usage: Usage) => readonly Fault[]);
  readonly options?: (usage: Usage) => StartEmulatorOptions;
  readonly begin?: (emulator: RunningEmulator, usage: Usage) => void;
  readonly kill?: (usage: Usage) => Kill;
  /** Two processes of the program do the same work at the same time. For a server: two of its command. */
  readonly twice?: true;
  /** Milliseconds after which the service has done what a fault delays. */
  readonly settle?: number;
  readonly callbacks?: CallbackFault;
  /** The number of shipments of each order. Default 1. */
  readonly parts?: number;
  /** The program cannot make everything: it may report that, and what it makes must be right. */
  readonly mayFail?: true;
}

/** What a row needs of a program. */
const needs = (what: string, isMet: (usage: Usage) => boolean) => (usage: Usage) => (isMet(usage) ? undefined : what);
const uses = (what: string, ...calls: readonly string[]) =>
  needs(what, ({ calls: used }) => calls.some((call) => used.has(call)));
const claimCalls = ["claims.createItemIssues", "claims.createPackageMissing"];
const nothing = () => undefined;
const placed = (least: number) =>
  needs(least === 1 ? "an order" : `${least} orders`, ({ orders: made }) => made.length >= least);
const order = placed(1);
const claim = uses("a claim", ...claimCalls);
const cancellation = uses("a cancellation", "orders.cancel");
const callback = needs("a callback", ({ callbacks }) => callbacks > 0);
/** The request that makes an order: the first one, the second one, or that of an order in the middle of the last third. */
const firstOrder = ({ orders: [first = 1] }: Usage): number => first;
const secondOrder = ({ orders: [, second = 2] }: Usage): number => second;
const lateOrder = ({ orders: made }: Usage): number => made[Math.ceil((made.length * 5) / 6) - 1] ?? 1;

const orders = "orders.md";
const sharing = "orders.md#share-a-storage";
const faults = "faults.md";

/** A fault of a request that makes an order. */
const ofOrder =
  (fault: object, nthOf = firstOrder) =>
  (usage: Usage): readonly Fault[] => [{ on: "orders.create", nth: nthOf(usage), ...fault } as Fault];

/** Kills the program when the service has carried a request out, and its response has not arrived. */
const killOn =
  (on: readonly string[], nthOf: (usage: Usage) => number = () => 1) =>
  (usage: Usage): Kill => ({ on, nth: nthOf(usage), after: 200 });

/** An hour: until then, the run has ended. */
const neverInTime = 3_600_000;

/** All rows, in the order of the report. */
export const catalogue: readonly FaultRow[] = [
  { id: "again", name: "Nothing happens, once more", missing: nothing, page: "verify.md#what-your-program-needs" },

  {
    id: "order-lost-after",
    name: "The order is made, and the response is lost",
    missing: order,
    page: orders,
    faults: ofOrder({ fault: "drop" }),
  },
  {
    id: "order-lost-before",
    name: "The request for an order is lost",
    missing: order,
    page: orders,
    faults: ofOrder({ fault: "drop", when: "before" }),
  },
  {
    id: "order-502",
    name: "The order is made, and a gateway responds with 502",
    missing: order,
    page: orders,
    faults: ofOrder({ fault: "status", status: 502 }),
  },
  {
    id: "order-500",
    name: "The order is made, and the service responds with 500",
    missing: order,
    page: orders,
    faults: ofOrder({ fault: "status", status: 500, code: "internal" }),
  },
  {
    id: "order-late",
    name: "A gateway gives up, and the order is made a second later",
    missing: order,
    page: orders,
    faults: ofOrder({ fault: "gateway", ms: 500, processing: 1_500 }),
    settle: 2_000,
  },
  {
    id: "order-very-late",
    name: "A gateway gives up, and the order is made eight seconds later",
    missing: order,
    page: orders,
    faults: ofOrder({ fault: "gateway", ms: 500, processing: 8_000 }),
    settle: 8_500,
  },
  {
    id: "order-html",
    name: "The order is made, and a proxy's page arrives with 200",
    missing: order,
    page: orders,
    faults: ofOrder({ fault: "body", body: "<html>Welcome</html>", type: "text/html" }),
  },
  {
    id: "order-cut",
    name: "The order is made, and half of the response arrives",
    missing: order,
    page: orders,
    faults: ofOrder({ fault: "truncate" }),
  },
  {
    id: "order-stalled",
    name: "The order is made, and the response never ends",
    missing: order,
    page: orders,
    faults: ofOrder({ fault: "stall" }),
  },
  {
    id: "order-slow",
    name: "The response to an order takes 5 seconds",
    missing: order,
    page: orders,
    faults: ofOrder({ fault: "slow", ms: 5_000 }),
  },
  {
    id: "all-orders-lost",
    name: "Every second response to an order is lost",
    missing: order,
    page: orders,
    faults: [{ on: "orders.create", nth: (n) => n % 2 === 1, fault: "drop" }],
  },
  {
    id: "other-orders-lost",
    name: "Every other response to an order is lost: the second, the fourth",
    missing: placed(2),
    page: orders,
    faults: [{ on: "orders.create", nth: (n) => n % 2 === 0, fault: "drop" }],
  },
  {
    id: "order-lost-blind",
    name: "The order is made, the response is lost, and then look-ups fail",
    missing: order,
    page: orders,
    // A program may look up before the order, too.
    faults: (usage) => [
      ...ofOrder({ fault: "drop" })(usage),
      { on: "orders.lookup", nth: (n) => n >= 2 && n <= 4, fault: "status", status: 503 },
    ],
  },
  {
    id: "twice-at-once",
    name: "Two processes do the same work at once",
    missing: order,
    page: sharing,
    // The second process comes before the service has made the first orders.
    faults: [{ on: "orders.create", nth: (n) => n <= 4, fault: "slow", ms: 500, when: "before" }],
    twice: true,
  },
  {
    id: "killed-before",
    name: "The program is killed, its request for an order never arrives, and it starts again",
    missing: order,
    page: sharing,
    faults: ofOrder({ fault: "slow", ms: neverInTime, when: "before" }),
    kill: killOn(["orders.create"], firstOrder),
  },
  {
    id: "killed-after",
    name: "The program is killed when the order is made, and starts again",
    missing: order,
    page: sharing,
    faults: ofOrder({ fault: "slow", ms: 2_000 }),
    kill: killOn(["orders.create"], firstOrder),
  },
  {
    id: "killed-during",
    name: "The program is killed a second before the order is made, and starts again",
    missing: order,
    page: sharing,
    faults: ofOrder({ fault: "slow", ms: 1_200, when: "before" }),
    kill: killOn(["orders.create"], firstOrder),
    settle: 1_500,
  },
  {
    id: "killed-later",
    name: "The program is killed when the second order is made, and starts again",
    missing: placed(2),
    page: sharing,
    faults: ofOrder({ fault: "slow", ms: 2_000 }, secondOrder),
    kill: killOn(["orders.create"], secondOrder),
  },
  {
    id: "killed-last",
    name: "The program is killed when one of its last orders is made, and starts again",
    missing: placed(5),
    page: sharing,
    faults: ofOrder({ fault: "slow", ms: 2_000 }, lateOrder),
    kill: killOn(["orders.create"], lateOrder),
  },
  {
    id: "claim-lost",
    name: "The claim is filed, and the response is lost",
    missing: claim,
    page: "claims.md",
    faults: claimCalls.map((on) => ({ on, nth: 1, fault: "drop" })),
  },
  {
    id: "killed-claim",
    name: "The program is killed when a claim is filed, and starts again",
    missing: claim,
    page: "claims.md#the-limits-of-a-look-up",
    faults: claimCalls.map((on) => ({ on, nth: 1, fault: "slow", ms: 2_000 })),
    kill: killOn(claimCalls),
  },
  {
    id: "cancel-lost",
    name: "The cancellation is made, and the response is lost",
    missing: cancellation,
    page: "orders.md#when-the-response-to-a-change-is-lost",
    faults: [{ on: "orders.cancel", nth: 1, fault: "drop" }],
  },
  {
    id: "killed-cancel",
    name: "The program is killed when it cancels, and starts again",
    missing: cancellation,
    page: "orders.md#when-the-response-to-a-change-is-lost",
    faults: [{ on: "orders.cancel", nth: 1, fault: "slow", ms: 2_000 }],
    kill: killOn(["orders.cancel"]),
  },
  {
    id: "render-fails",
    name: "The first render fails",
    missing: uses("a render", "renders.create"),
    page: "renders.md",
    faults: [{ on: "renders.create", nth: 1, fault: "failRender" }],
    mayFail: true,
  },
  {
    id: "tokens-end",
    name: "The rendertokens of the week end",
    missing: needs("a rendertoken", ({ rendertokens }) => rendertokens > 0),
    page: "renders.md#rendertokens",
    options: ({ rendertokens }) => ({ rendertokenLimit: Math.max(0, rendertokens - 1) }),
    mayFail: true,
  },

  {
    id: "storm",
    name: "Every request gets 503, for three seconds",
    missing: nothing,
    page: faults,
    begin: (emulator) => {
      const { remove } = emulator.faults.add({ fault: "status", status: 503 });
      setTimeout(remove, 3_000);
    },
  },
  {
    id: "unstable",
    name: "Every fourth connection breaks",
    missing: nothing,
    page: faults,
    faults: [{ nth: (n) => n % 4 === 3, fault: "drop" }],
  },
  {
    id: "cut",
    name: "Every fifth response is cut in half",
    missing: nothing,
    page: faults,
    faults: [{ nth: (n) => n % 5 === 3, fault: "truncate" }],
  },
  {
    id: "slow",
    name: "Every response is slow: up to a second",
    missing: nothing,
    page: faults,
    // A program with hundreds of requests must have an end, too.
    begin: (emulator, { requests }) => {
      emulator.faults.add({ fault: "slow", ms: Math.ceil(Math.min(1_000, 20_000 / requests)) });
    },
  },
  {
    id: "small-bucket",
    name: "The rate limit is a third of what the program sends",
    missing: needs("6 requests", ({ requests }) => requests >= 6),
    page: "rate-limits.md",
    // A small program gets a token each second, so that a few retries are enough. A large one is done in about ten seconds.
    options: ({ requests }) => {
      const quota = Math.ceil(requests / 3);
      return { limits: { default: { quota, window: Math.min(5, quota) * 1_000 } } };
    },
  },
  {
    id: "rate-limited",
    name: "Three requests get 429, with Retry-After",
    missing: nothing,
    page: "rate-limits.md",
    faults: [{ nth: (n) => n >= 2 && n <= 4, fault: "status", status: 429, code: "rate_limited", retryAfter: 1_000 }],
  },
  {
    id: "rate-limited-bare",
    name: "Three requests get 429, without Retry-After",
    missing: nothing,
    page: "rate-limits.md",
    faults: [{ nth: (n) => n >= 2 && n <= 4, fault: "status", status: 429 }],
  },

  {
    id: "callbacks-twice",
    name: "Each callback comes twice",
    missing: callback,
    page: "callbacks.md",
    callbacks: "twice",
  },
  {
    id: "callbacks-parts",
    name: "Each order ships in two parts, with a callback for each",
    missing: callback,
    page: "callbacks.md",
    parts: 2,
  },
  {
    id: "callbacks-late",
    name: "The callbacks come an hour late, and the server was restarted meanwhile",
    missing: callback,
    page: "callbacks.md",
    callbacks: "late",
  },
  {
    id: "callbacks-reversed",
    name: "The callbacks come out of order: the last one first",
    missing: needs("2 callbacks", ({ callbacks }) => callbacks >= 2),
    page: "callbacks.md",
    callbacks: "reversed",
  },
  {
    id: "callbacks-killed",
    name: "The server is killed while it handles callbacks, and starts again",
    missing: callback,
    page: "callbacks.md",
    callbacks: "killed",
  },
  {
    id: "callbacks-never",
    name: "No callback comes",
    missing: callback,
    page: "reconciliation.md",
    callbacks: "never",
  },
  {
    id: "callbacks-forged",
    name: "Somebody else calls the callback's URL",
    missing: callback,
    page: "callbacks.md",
    callbacks: "forged",
  },
];
