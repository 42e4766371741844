import type { Fault } from "pod-partner/testing";

/** What results from a call: its outcome, the requests that the service received, and how often the call took effect. */
export type Cell = readonly [outcome: string, requests: number, effects: number];

/** A fault, the requests that it applies to, and the expected result of each subject, in the order of `subjects`. */
export interface Row {
  readonly name: string;
  readonly fault: Fault;
  /** `first`: the first request to the subject's route. `each`: all of those. `all`: all requests, look-ups too. */
  readonly strikes: "first" | "each" | "all";
  readonly cells: readonly [get: Cell, cancel: Cell, create: Cell, claim: Cell, retract: Cell, request: Cell];
}

type Cells = Row["cells"];

const unknown = "OutcomeUnknownError";
const invalid = "ResponseValidationError";

/** The request had no effect: creations are looked up four times and retried. */
const lostBefore: Cells = [
  ["value", 2, 0],
  ["value", 2, 1],
  ["value", 6, 1],
  ["value", 6, 1],
  ["value", 6, 1],
  [unknown, 1, 0],
];

/** The request took effect and its response was lost: creations are found. */
const lostAfter: Cells = [
  ["value", 2, 0],
  ["value", 2, 1],
  ["recovered", 2, 1],
  ["recovered", 3, 1],
  ["recovered", 2, 1],
  [unknown, 1, 1],
];

/** The service finishes long after a gateway has timed out: creations are looked up until then. */
const lateBehindGateway: Cells = [
  ["value", 2, 0],
  ["value", 2, 1],
  ["recovered", 6, 1],
  ["recovered", 7, 1],
  ["recovered", 6, 1],
  [unknown, 1, 1],
];

/** The request had no effect, and the gateway reports that the service is slow: creations are looked up much longer. */
const slowBefore: Cells = [
  ["value", 2, 0],
  ["value", 2, 1],
  ["value", 10, 1],
  ["value", 10, 1],
  ["value", 10, 1],
  [unknown, 1, 0],
];

/** As `lostAfter`, but endpoints without a response body have no body to lose. */
const bodyLost: Cells = [
  ["value", 2, 0],
  ["value", 1, 1],
  ["recovered", 2, 1],
  ["recovered", 3, 1],
  ["value", 1, 1],
  [unknown, 1, 1],
];

/** The same result for all subjects, without effect. */
const refused = (outcome: string, requests = 1): Cells => [
  [outcome, requests, 0],
  [outcome, requests, 0],
  [outcome, requests, 0],
  [outcome, requests, 0],
  [outcome, requests, 0],
  [outcome, requests, 0],
];

/** The same result for all subjects, with effect. */
const done = (outcome: string, requests = 1): Cells => [
  [outcome, requests, 0],
  [outcome, requests, 1],
  [outcome, requests, 1],
  [outcome, requests, 1],
  [outcome, requests, 1],
  [outcome, requests, 1],
];

const first = (name: string, fault: Fault, cells: Cells): Row => ({ name, fault, strikes: "first", cells });
const each = (name: string, fault: Fault, cells: Cells): Row => ({ name, fault, strikes: "each", cells });
const all = (name: string, fault: Fault, cells: Cells): Row => ({ name, fault, strikes: "all", cells });

const serverErrors = [500, 502, 503, 504].flatMap((status) => [
  first(`${status} before`, { fault: "status", status, when: "before" }, status === 504 ? slowBefore : lostBefore),
  first(`${status} after`, { fault: "status", status }, lostAfter),
]);

const gateways = ([504, 408, "drop"] as const).map((status) =>
  first(
    `a gateway ${status === "drop" ? "breaks the connection" : `responds with ${status}`} after 1 s, the service finishes after 7 s`,
    { fault: "gateway", ms: 1_000, processing: 7_000, status },
    lateBehindGateway,
  ),
);

const limited = (retryAfter?: number | string): Fault => ({
  fault: "status",
  status: 429,
  code: "rate_limited",
  when: "before",
  ...(retryAfter === undefined ? {} : { retryAfter }),
});

/** An HTTP date is relative to the response's own `Date`. */
const httpDate = (seconds: number) => new Date(Date.now() + seconds * 1_000).toUTCString();

const html = "<!doctype html><title>Sign in to the hotel's network</title>";
const garbage = new Uint8Array([0x00, 0xff, 0xfe, 0x7b, 0x22, 0x80]);

/** The response is not JSON: reads report it; a change and a creation count as lost. */
const unreadable = (creations: Cells, effects: 0 | 1): Cells => [
  [invalid, 1, 0],
  creations[1],
  creations[2],
  creations[3],
  creations[4],
  [invalid, 1, effects],
];

/** A client may follow these with a GET, as after a change that was carried out: its response counts as lost. A read ends. */
const redirected = ([, ...changes]: Cells): Cells => [["RedirectError", 1, 0], ...changes];

/** The last redirect of a cancellation is checked by a read of the order. */
const [getRedirected, , ...creationsRedirected] = redirected(lostAfter);
const redirectedEach: Cells = [getRedirected, ["value", 4, 1], ...creationsRedirected];

export const rows: readonly Row[] = [
  first("connection dropped before", { fault: "drop", when: "before" }, lostBefore),
  first("connection dropped after", { fault: "drop" }, lostAfter),
  ...serverErrors,
  ...gateways,
  first("headers slower than `timeout`", { fault: "slow", ms: 1_000 }, lostAfter),
  first("body stalls", { fault: "stall" }, bodyLost),
  first("body trickles", { fault: "trickle", ms: 60 }, bodyLost),
  first("body cut off", { fault: "truncate" }, bodyLost),
  first("200 with invalid JSON before", { fault: "body", body: garbage, when: "before" }, unreadable(lostBefore, 0)),
  first("200 with invalid JSON after", { fault: "body", body: garbage }, unreadable(lostAfter, 1)),
  first(
    "200 with HTML before",
    { fault: "body", body: html, type: "text/html", when: "before" },
    unreadable(lostBefore, 0),
  ),
  first("200 with HTML after", { fault: "body", body: html, type: "text/html" }, unreadable(lostAfter, 1)),
  first("200 with half of the JSON after", { fault: "body", body: '{"order":{"ref' }, unreadable(lostAfter, 1)),
  first("200 without a body after", { fault: "body", body: "" }, [
    [invalid, 1, 0],
    ["value", 1, 1],
    ["recovered", 2, 1],
    ["recovered", 3, 1],
    ["value", 1, 1],
    ["value", 1, 1],
  ]),
  first("200 with JSON of another shape after", { fault: "body", body: { order: 7, claim: [] } }, [
    [invalid, 1, 0],
    ["value", 1, 1],
    [invalid, 1, 1],
    [invalid, 1, 1],
    ["value", 1, 1],
    ["value", 1, 1],
  ]),
  ...([301, 302, 303] as const).flatMap((status) => [
    first(
      `${status} before`,
      { fault: "redirect", location: "https://elsewhere.test/", status, when: "before" },
      redirected(lostBefore),
    ),
    first(`${status} after`, { fault: "redirect", location: "/v2/elsewhere", status }, redirected(lostAfter)),
    each(`${status} each time, after`, { fault: "redirect", location: "/v2/elsewhere", status }, redirectedEach),
  ]),
  ...([307, 308] as const).map((status) =>
    first(
      `${status} before`,
      { fault: "redirect", location: "/v2/orders", status, when: "before" },
      refused("RedirectError"),
    ),
  ),
  first("429, `Retry-After` in seconds", limited(2_000), done("value", 2)),
  first("429, `Retry-After` as a date", limited(httpDate(90)), done("value", 2)),
  first("429, invalid `Retry-After`", limited("soon"), done("value", 2)),
  first("429 without `Retry-After`", limited(), done("value", 2)),
  first("429, `Retry-After` beyond `maxRetryAfter`", limited(600_000), refused("RateLimitError")),
  first(
    "503 before, `Retry-After` beyond `maxRetryAfter`",
    { fault: "status", status: 503, retryAfter: 600_000, when: "before" },
    [
      ["ServerError", 1, 0],
      ["ServerError", 1, 0],
      [unknown, 5, 0],
      [unknown, 5, 0],
      [unknown, 5, 0],
      [unknown, 1, 0],
    ],
  ),
  first(
    "absurd rate-limit headers",
    {
      fault: "headers",
      headers: { "X-RateLimit": '"default";r=-7;t=9e99, (((', "X-RateLimit-Policy": '"default";q=0;w=0' },
    },
    done("value"),
  ),
  first(
    "400",
    { fault: "status", status: 400, code: "unknown_input_error", when: "before" },
    refused("BadRequestError"),
  ),
  first(
    "501",
    { fault: "status", status: 501, code: "not_implemented", when: "before" },
    refused("NotImplementedError"),
  ),
  each("dropped before, each time", { fault: "drop", when: "before" }, [
    ["ConnectionError", 3, 0],
    ["ConnectionError", 3, 0],
    [unknown, 15, 0],
    [unknown, 15, 0],
    [unknown, 15, 0],
    [unknown, 1, 0],
  ]),
  each("dropped after, each time", { fault: "drop" }, [
    ["ConnectionError", 3, 0],
    ["ConnectionError", 3, 1],
    ["recovered", 2, 1],
    ["recovered", 3, 1],
    ["recovered", 2, 1],
    [unknown, 1, 1],
  ]),
  each("503 before, each time", { fault: "status", status: 503, when: "before" }, [
    ["ServerError", 3, 0],
    ["ServerError", 3, 0],
    [unknown, 15, 0],
    [unknown, 15, 0],
    [unknown, 15, 0],
    [unknown, 1, 0],
  ]),
  each("429, each time", limited(2_000), refused("RateLimitError", 3)),
  all("the service is down: every request dropped", { fault: "drop", when: "before" }, [
    ["ConnectionError", 3, 0],
    ["ConnectionError", 3, 0],
    [unknown, 7, 0],
    [unknown, 7, 0],
    [unknown, 7, 0],
    [unknown, 1, 0],
  ]),
  all("every response 503, after", { fault: "status", status: 503 }, [
    ["ServerError", 3, 0],
    ["ServerError", 3, 1],
    [unknown, 7, 1],
    [unknown, 7, 1],
    [unknown, 7, 1],
    [unknown, 1, 1],
  ]),
];
