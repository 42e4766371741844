import * as fc from "fast-check";

type Header = readonly [name: string, value: string];

const numbers = fc.constantFrom(
  ...["0", "1", "2", "-1", "10", "120", "121", "3000", "0.5", "0.001", "31536000", "31622400", "999999999999999"],
  ...["1e400", "1e5", "NaN", "Infinity", "-0", "?1", '"1"', "1.5.2", "", "0x10", "9999999999999999999999"],
);

const policyNames = fc.constantFrom(
  ...["default", "uploads", "downloads", "other", "__proto__", "constructor", "toString", "valueOf", "hasOwnProperty"],
  ...["isPrototypeOf", "prototype", "then", "estimate", "", " ", "$KEY", "a;b"],
);
const quoted = policyNames.map((name) => `"${name.replace(/["\\]/g, "\\$&")}"`);

const member = (keys: readonly string[]) =>
  fc
    .tuple(
      fc.oneof(quoted, quoted, policyNames),
      fc.array(fc.tuple(fc.constantFrom(...keys), numbers), { maxLength: 3 }),
    )
    .map(([name, parameters]) => name + parameters.map(([key, value]) => `;${key}=${value}`).join(""));

const list = (keys: readonly string[]) =>
  fc.array(member(keys), { minLength: 1, maxLength: 3 }).map((members) => members.join(", "));

/** A policy as a service could send it, with one of its numbers out of proportion. */
const proportion = fc
  .tuple(
    policyNames,
    fc.constantFrom(1, 2, 10, 3000),
    fc.constantFrom(1, 60, 86_400, 31_536_000),
    fc.constantFrom(0, 1, 5),
  )
  .chain(([name, quota, window, remaining]) =>
    fc.constantFrom<Header>(
      ["x-ratelimit-policy", `"${name}";q=${quota};w=${window}`],
      ["x-ratelimit-policy", `"${name}";q=${quota};w=${window};r=${remaining}`],
      ["x-ratelimit", `"${name}";r=${remaining};t=${window}`],
    ),
  );

/** Other contents of a header besides the expected ones. */
const junk = fc
  .array(
    fc.constantFrom(
      "a",
      "Z",
      "0",
      " ",
      ";",
      "=",
      '"',
      ",",
      "\\",
      "%",
      "\u00e9",
      "\u00ff",
      "\t",
      "$KEY",
      "()",
      "?0",
      ":",
    ),
    {
      maxLength: 8,
    },
  )
  .map((parts) => parts.join("").trim());

const dates = fc.constantFrom(
  ...["Mon, 02 Nov 2026 09:00:00 GMT", "Mon, 02 Nov 2026 09:01:00 GMT", "Thu, 01 Jan 1970 00:00:00 GMT"],
  ...[
    "Fri, 31 Dec 9999 23:59:59 GMT",
    "Monday, 02-Nov-26 09:00:30 GMT",
    "Mon Nov  2 09:00:30 2026",
    "Mon, 99 Foo 2026",
  ],
  ...["0", "-1", "2026-11-02T09:00:00Z", "Sun, 06 Nov 1994 08:49:37 GMT"],
);

const named = (name: string, value: fc.Arbitrary<string>): fc.Arbitrary<Header> =>
  value.map((text) => [name, text] as const);

/** One header of a response: one that the client reads, or any other. */
export const header: fc.Arbitrary<Header> = fc.oneof(
  { weight: 3, arbitrary: proportion },
  { weight: 2, arbitrary: named("x-ratelimit", fc.oneof(list(["r", "t", "q"]), junk)) },
  { weight: 2, arbitrary: named("x-ratelimit-policy", fc.oneof(list(["q", "w", "r"]), junk)) },
  { weight: 2, arbitrary: named("retry-after", fc.oneof(numbers, dates, junk)) },
  named("date", fc.oneof(numbers, junk)),
  named("content-length", fc.oneof(numbers, fc.constantFrom("5", "99", "1000000", "10, 10"))),
  named("content-encoding", fc.constantFrom("gzip", "br", "identity", "GZIP", "x", "gzip, br", "")),
  named(
    "content-type",
    fc.constantFrom("text/html", "application/json", "image/png", "", "nonsense", "image/png; a=$KEY"),
  ),
  named("transfer-encoding", fc.constantFrom("chunked", "gzip")),
  named(
    "location",
    fc.constantFrom("https://evil.example/$KEY", "/v2/orders", "http://[", "//", "javascript:$KEY", ""),
  ),
  named("etag", junk),
  named("last-modified", fc.oneof(dates, junk)),
  named("set-cookie", fc.constant("key=$KEY")),
  named("x-echo-$KEY".replace("$KEY", "key"), fc.constant("$KEY")),
  fc.tuple(fc.constantFrom("__proto__", "constructor", "then", "tostring", "x-y"), junk),
);
