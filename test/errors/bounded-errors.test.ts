import * as api from "pod-partner";
import { type Issue, PodPartner, RequestValidationError, type ResponseValidationError } from "pod-partner";
import { describe, expect, it } from "vitest";
import { rejection } from "../support/exchange.ts";
import { dropshipOrder } from "../support/orders.ts";
import { ref } from "../support/references.ts";

/** A client whose service returns a body, and the issues that its hook received. */
function returning(body: unknown) {
  const reported: (readonly Issue[])[] = [];
  const partner = new PodPartner({
    baseUrl: "https://partner.test/v2",
    secretKey: "test-key-bounded-errors",
    fetch: async () => Response.json(body),
    hooks: { onInvalidResponse: ({ issues }) => reported.push(issues) },
  });
  return { partner, reported };
}

const many = Array.from({ length: 50_000 }, () => 1);
const orderBody = {
  reference: ref("Order"),
  status: { code: "created" },
  onHold: null,
  dropshipAddressReference: null,
  legacyOrderCode: "A-1",
};

/** How many issues the text of a message counts, listed ones included. */
function countedIn(message: string): number {
  const listed = message.split("\n").filter((line) => /^ {2}\S+: /.test(line)).length;
  return listed + Number(/and ([\d,]+) more/.exec(message)?.[1]?.replaceAll(",", "") ?? 0);
}

describe("a list with many bad items is not checked to its end", () => {
  const cases: Readonly<Record<string, readonly [body: unknown, call: (partner: PodPartner) => PromiseLike<unknown>]>> =
    {
      "a page": [{ images: many, nextCursor: null }, (partner) => partner.images.list().toArray()],
      "a list without pages": [{ stores: many }, (partner) => partner.organization.stores.list()],
      "a list within a record": [
        { order: { ...orderBody, orderlines: many } },
        (partner) => partner.orders.get(ref("Order")),
      ],
    };
  for (const [what, [body, call]] of Object.entries(cases)) {
    it(`in ${what}`, async () => {
      const { partner, reported } = returning(body);
      const error = (await rejection(call(partner))) as ResponseValidationError;
      expect(error.name).toBe("ResponseValidationError");
      expect(error.issues).toHaveLength(100);
      expect(error.issues[99]?.path.at(-1)).toBe(99);
      expect(error.message.length).toBeLessThan(4_000);
      expect(countedIn(error.message)).toBe(50_000);
      expect(reported.map((issues) => issues.length)).toEqual([100]);
    });
  }

  it("nor are all issues of the caller's own schema read", async () => {
    let read = 0;
    const issue = {
      get message() {
        read += 1;
        return "bad";
      },
      path: ["things"],
    };
    const validate = () => ({ issues: Array.from({ length: 50_000 }, () => issue) });
    const schema = { "~standard": { version: 1, vendor: "test", validate } } as const;
    const { partner, reported } = returning({});
    const error = (await rejection(partner.request("GET", "/things", { schema }))) as ResponseValidationError;
    expect([error.issues.length, countedIn(error.message), read]).toEqual([100, 50_000, 100]);
    expect(reported.map((issues) => issues.length)).toEqual([100]);
  });

  it("in a request", async () => {
    const { partner } = returning({});
    const order = { ...dropshipOrder, orderlines: many };
    const error = (await rejection(partner.orders.create(order as never))) as RequestValidationError;
    expect(error.issues).toHaveLength(100);
    expect(countedIn(error.message)).toBe(50_000);
  });

  it("in the fields of a request that no schema knows", async () => {
    const { partner } = returning({});
    const order = { ...dropshipOrder, ...Object.fromEntries(many.map((_, index) => [`field${index}`, 1])) };
    const error = (await rejection(partner.orders.create(order as never))) as RequestValidationError;
    expect(error.issues).toHaveLength(100);
    expect(countedIn(error.message)).toBe(50_000);
  });
});

describe("an input of another type has one issue", () => {
  const { partner } = returning({});
  const rows: readonly [what: string, call: () => PromiseLike<unknown>, issues: readonly Issue[]][] = [
    [
      "an order as JSON",
      () => partner.orders.create(JSON.stringify(dropshipOrder) as never),
      [{ path: ["order"], message: "expected an object, not a string" }],
    ],
    [
      "an array of orders",
      () => partner.orders.ensure([dropshipOrder] as never),
      [{ path: ["order"], message: "expected an object, not an array" }],
    ],
    [
      "base64",
      () => partner.images.upload(`iVBORw0KGgo${"A".repeat(5_000_000)}`),
      [{ path: [], message: 'expected a path, not base64: pass `Buffer.from(text, "base64")`' }],
    ],
    [
      "a data URL",
      () => partner.evidence.upload(`data:image/png;base64,iVBORw0KGgo${"A".repeat(5_000_000)}`),
      [{ path: [], message: "expected a path, not a data URL: pass the response of `fetch(dataUrl)`" }],
    ],
    [
      "a path of a megabyte",
      () => partner.images.upload("/x.".repeat(333_333)),
      [{ path: [], message: expect.stringMatching(/^the file "\/x\.[^"]{77}" is no path: it has 999999 characters$/) }],
    ],
    [
      "options with a getter that throws",
      () =>
        partner.orders.get(ref("Order"), {
          get timeout(): number {
            throw new Error("boom");
          },
        }),
      [{ path: ["options"], message: "cannot be checked: boom" }],
    ],
    [
      "a body that is nested too deeply",
      () => partner.request("POST", "/things", { body: deep() }),
      [{ path: ["body"], message: "cannot be written as JSON: it is nested too deeply" }],
    ],
  ];
  function deep(): Record<string, unknown> {
    let value: Record<string, unknown> = {};
    for (let depth = 0; depth < 50_000; depth++) value = { value };
    return value;
  }
  for (const [what, call, issues] of rows) {
    it(what, async () => {
      expect(((await rejection(call())) as RequestValidationError).issues).toEqual(issues);
    });
  }
});

describe("headers of a call can have the forms that `fetch` takes", () => {
  const forms = {
    "an object": { "X-Trace": "a" },
    Headers: new Headers({ "X-Trace": "a" }),
    "a Map": new Map([["X-Trace", "a"]]),
    "a list of pairs": [["X-Trace", "a"]] as const,
  };
  for (const [what, headers] of Object.entries(forms)) {
    it(what, async () => {
      const sent: (string | null)[] = [];
      const partner = new PodPartner({
        baseUrl: "https://partner.test/v2",
        secretKey: "test-key-bounded-errors",
        fetch: async (url, init) => {
          sent.push(new Request(url, init).headers.get("x-trace"));
          return new Response("{}", { status: 410 });
        },
      });
      await rejection(partner.auth.validate({ headers }));
      await rejection(partner.catalog.products.media(ref("Product"), "a.png", { headers, etag: '"1"' }));
      expect(sent).toEqual(["a", "a"]);
    });
  }

  it("and not that of an iterator, which gives them once", async () => {
    const { partner } = returning({});
    const error = await rejection(partner.auth.validate({ headers: new Map([["a", "b"]]).entries() as never }));
    expect(error).toBeInstanceOf(RequestValidationError);
  });
});

/** Everything that a constructor of an error reads, with texts that end in a full stop. */
const details = {
  issues: [{ path: ["a"], message: "It is wrong." }],
  response: { status: 400, headers: {}, body: undefined },
  endpoint: "GET /orders",
  message: "The service says why.",
  reason: "The network is down.",
  how: "Look it up.",
  sent: false,
  timeout: 5,
  opening: false,
  now: 0,
  waited: 5,
  reference: ref("Render"),
  customIdentifier: "Ends with a full stop.",
  existing: { reference: ref("Order"), orderlines: [] },
  requested: [],
  differences: [{ path: ["orderlines", 0, "quantity"], existing: 1, requested: 2 }],
  identifiers: {},
  path: "a file.",
  isRetryable: false,
  cause: undefined,
  limit: 5,
  maxSize: 5,
  budget: 5,
  cost: 5,
};

describe("the message of every error", () => {
  const classes = Object.entries(api).filter(([name]) => /Error$/.test(name) && name !== "PodPartnerError");
  for (const [name, Type] of classes) {
    it(`does not end in two full stops: ${name}`, () => {
      const error = Reflect.construct(Type as never, [details]) as Error;
      expect(error.message).not.toMatch(/\.\.(\s|$)/);
    });

    it(`is short, whatever it quotes: ${name}`, () => {
      const long = Object.entries(details).map(([field, value]) =>
        typeof value === "string" ? [field, value.repeat(100_000)] : [field, value],
      );
      const error = Reflect.construct(Type as never, [Object.fromEntries(long)]) as Error;
      expect(error.message.length).toBeLessThan(4_000);
    });
  }
});

describe("a code of a megabyte", () => {
  it("is shortened in the error and in each event and line of the log", async () => {
    const code = "c".repeat(1_000_000);
    const told: unknown[] = [];
    const tell = (...given: unknown[]) => told.push(given);
    const partner = new PodPartner({
      baseUrl: "https://partner.test/v2",
      secretKey: "test-key-bounded-errors",
      fetch: async () => Response.json({ code, message: "No." }, { status: 500 }),
      retry: { retries: 1, baseDelay: 1 },
      hooks: { onRetry: tell },
      logger: { debug: tell, info: tell, warn: tell, error: tell },
    });
    const error = (await rejection(partner.auth.validate())) as api.ApiError;
    expect(error.code).toBe(`${"c".repeat(199)}…`);
    expect(told.length).toBeGreaterThan(1);
    expect(JSON.stringify(told).length).toBeLessThan(10_000);
  });
});
