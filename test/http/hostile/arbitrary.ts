import * as fc from "fast-check";
import type { Case, Move, Mutation, Pieces, PlannedCall, ReasonName } from "./case.ts";
import { happenings } from "./changed-order.ts";
import { header } from "./header-arbitraries.ts";
import { oddNames } from "./odd-responses.ts";
import { type OperationName, operationOf, operations } from "./operations.ts";
import { thrownNames } from "./thrown-values.ts";

const operationNames = Object.keys(operations) as OperationName[];

const times = fc.constantFrom(0, 1, 50, 250, 999, 1_000, 2_500, 5_000, 10_000, 29_999, 30_000, 30_001);
const reference = "00000000000000000000000001";

const bodies = fc.oneof(
  fc.constantFrom(
    ...["", " ", "null", "true", "0", "1e999", '""', "[]", "{}", '"$KEY"', "{", '{"order":', "\ufeff{}", "\u0000"],
    ...["<html><h1>502 Bad Gateway</h1>$KEY</html>", '{"code":"not_found","message":"No."}'],
    ...['{"code":"rate_limited","message":"$KEY"}', '{"code":"rendertoken_limit_exceeded","message":"No."}'],
    ...['{"code":"$KEY","message":["$KEY"],"$KEY":{"$KEY":"$KEY"}}', '{"error":{"code":"conflict","message":"No."}}'],
    ...['{"__proto__":{"x":1},"constructor":{"prototype":{"x":1}},"then":1,"toJSON":1,"toString":1}', '{"then":{}}'],
    ...['{"orders":[],"nextCursor":"again"}', '{"orders":[],"nextCursor":""}', '{"orders":{},"nextCursor":7}'],
    ...['{"orders":[{"reference":"$KEY"}],"nextCursor":"$KEY"}', '{"orders":[null],"nextCursor":null}'],
    ...['{"order":null}', '{"order":{"reference":7}}', '{"order":{"reference":"$KEY"}}', '{"order":[]}'],
    ...['{"claims":[null],"nextCursor":null}', '{"claims":7,"nextCursor":null}', '{"claim":{"reference":null}}'],
    ...['{"render":{"status":"exploded"}}', '{"render":[]}', '{"shippingOptions":[{"level":7}]}', '{"image":7}'],
    `{"order":{"reference":"Order_${reference}"}}`,
    `{"orderReference":"Store_${reference}"}`,
  ),
  fc.json({ maxDepth: 3 }),
  fc.string({ maxLength: 30 }),
);

const values = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -1,
    1.5,
    1e21,
    "",
    "$KEY",
    "__proto__",
    [],
    {},
    [[]],
    JSON.parse(`{"then":1}`),
    "x".repeat(300),
  ),
  fc.jsonValue({ maxDepth: 2 }),
);

const mutation: fc.Arbitrary<Mutation> = fc.record(
  { place: fc.nat(60), value: values, remove: fc.constant(true) },
  { requiredKeys: ["place", "value"] },
);

const pieces: fc.Arbitrary<Pieces> = fc.record(
  {
    size: fc.constantFrom(1, 7, 64, 4_096),
    pause: fc.constantFrom(0, 1, 100, 5_000, 29_000),
    end: fc.constantFrom<Pieces["end"]>("close", "error", "stall"),
    after: fc.nat(4),
  },
  { requiredKeys: ["size", "pause", "end"] },
);

const statuses = fc.oneof(
  fc.constantFrom(200, 201, 202, 204, 206, 301, 302, 304, 400, 401, 403, 404, 407, 408, 409, 410, 429),
  fc.constantFrom(408, 429, 500, 501, 502, 503, 503, 504, 599),
  fc.integer({ min: 200, max: 599 }),
);

/** The faults of one request, one or two at a time: more of them hide each other. */
const part: fc.Arbitrary<Move> = fc.oneof(
  { weight: 1, arbitrary: fc.constant({}) },
  { weight: 2, arbitrary: fc.record({ rejects: fc.constantFrom(...thrownNames) }) },
  { weight: 1, arbitrary: fc.record({ throws: fc.constantFrom(...thrownNames) }) },
  { weight: 2, arbitrary: fc.record({ returns: fc.constantFrom(...oddNames) }) },
  { weight: 4, arbitrary: fc.record({ status: statuses }) },
  { weight: 3, arbitrary: fc.record({ status: statuses, body: bodies }) },
  { weight: 2, arbitrary: fc.record({ body: bodies }) },
  { weight: 2, arbitrary: fc.record({ mutate: mutation }) },
  { weight: 4, arbitrary: fc.record({ headers: fc.array(header, { minLength: 1, maxLength: 4 }) }) },
  { weight: 2, arbitrary: fc.record({ pieces }) },
  { weight: 1, arbitrary: fc.record({ big: fc.constantFrom<"deep" | "long">("deep", "long") }) },
  { weight: 2, arbitrary: fc.record({ head: fc.oneof(times, fc.constant<"never">("never")) }) },
  { weight: 2, arbitrary: fc.record({ carried: fc.oneof(times, fc.constant<"never">("never")) }) },
  { weight: 1, arbitrary: fc.record({ deaf: fc.constant(true) }) },
  { weight: 1, arbitrary: fc.record({ meanwhile: fc.constantFrom(...happenings) }) },
);

const move: fc.Arbitrary<Move> = fc
  .array(part, { minLength: 1, maxLength: 3 })
  .map((parts) => Object.assign({}, ...parts) as Move);

const call: fc.Arbitrary<PlannedCall> = fc.record(
  {
    operation: fc.constantFrom(...operationNames),
    abortAt: times,
    reason: fc.constantFrom<ReasonName>("object", "null", "text", "error", "default"),
    timeout: fc.constantFrom(1, 300, 1_000, 5_000, 60_000),
    deadline: fc.constantFrom(1, 500, 3_000, 20_000, 100_000),
    retries: fc.constantFrom(0, 1, 2, 9),
    maxRetryAfter: fc.constantFrom(0, 1_000, 60_000),
  },
  { requiredKeys: ["operation"] },
);

/** Most options keep their defaults: if all are set, one of them ends nearly every call. */
const sparse: fc.Arbitrary<PlannedCall> = fc
  .tuple(call, fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }))
  .map(([{ operation, ...options }, kept]) => {
    const entries = Object.entries(options).filter((_, index) => kept[index] && kept[(index + 1) % 6]);
    return { operation, ...Object.fromEntries(entries) };
  });

/** Changes of an order, and an order that moves meanwhile. */
const changes = {
  calls: fc.array(
    sparse.chain((planned) =>
      fc
        .constantFrom(...operationNames.filter((name) => operationOf(name).changes))
        .map((operation) => ({ ...planned, operation })),
    ),
    { minLength: 1, maxLength: 2 },
  ),
  moves: fc.array(
    fc
      .tuple(move, fc.option(fc.constantFrom(...happenings), { nil: undefined }))
      .map(([faults, meanwhile]): Move => ({ ...faults, ...(meanwhile && { meanwhile }) })),
    { minLength: 1, maxLength: 6 },
  ),
};

/** Any calls. */
const any = {
  calls: fc.array(sparse, { minLength: 1, maxLength: 3 }),
  moves: fc.array(move, { minLength: 1, maxLength: 8 }),
};

const caseOf = ({ calls, moves }: typeof any | typeof changes): fc.Arbitrary<Case> =>
  fc.record(
    {
      calls,
      moves,
      together: fc.constant(true),
      pacing: fc.constant(false),
      responses: fc.constant("report"),
      hooks: fc.constantFrom<"throw" | "reject">("throw", "reject"),
      skew: fc.constantFrom(-3_600_000, -5_000, -1, 1_500, 3_600_000),
    },
    { requiredKeys: ["calls", "moves"] },
  ) as fc.Arbitrary<Case>;

/** What a hostile `fetch` may do to one to three calls. */
export const hostileCase: fc.Arbitrary<Case> = fc.oneof(
  { weight: 3, arbitrary: caseOf(any) },
  { weight: 1, arbitrary: caseOf(changes) },
);
