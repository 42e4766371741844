import { ApiError, memoryStorage, PodPartner, PodPartnerError, parseReference } from "pod-partner";
import { createOrderFollower, createOrderUpdatedReceiver } from "pod-partner/callbacks";
import { nodeTransport } from "pod-partner/node";
import { postgresStorage } from "pod-partner/postgres";
import { redisPacing, redisStorage } from "pod-partner/redis";
import { sqliteStorage } from "pod-partner/sqlite";
import { createEmulator, startEmulator } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { argumentsOf, type Method, methodsOf, namedByHand } from "../support/methods.ts";
import { throwing, wrongValues } from "../support/wrong-values.ts";

const base = { baseUrl: "http://partner.test/v2", secretKey: "test-key-wrong-values" };
const sent = { count: 0 };
/** A client whose service refuses every request. */
const partner = new PodPartner({
  ...base,
  fetch: async () => {
    sent.count += 1;
    return Response.json({ code: "sent", message: "It was sent." }, { status: 410 });
  },
});

/** One row of the matrix: what is called with each wrong value. */
interface Row {
  readonly name: string;
  readonly call: Method;
  /** Whether the call may throw instead of rejecting: it returns no promise. */
  readonly throws?: boolean;
  /** Whether the call passes a value of its own. */
  readonly once?: boolean;
}

function* rowsOf(name: string, call: Method): Generator<Row> {
  const [given, ...own] = argumentsOf(name) ?? [[]];
  for (const index of given.keys()) {
    yield { name: `${name} argument ${index + 1}`, call: (value) => call(...given.with(index, value)) };
  }
  const [rows] = given;
  if (Array.isArray(rows) && given.length === 1) yield { name: `${name} row`, call: (value) => call([value]) };
  yield { name: `${name} options`, call: (value) => call(...given, value) };
  for (const option of own) {
    yield { name: `${name} ${option}`, call: (value) => call(...given, { [option]: value }) };
    yield { name: `${name} getter of ${option}`, call: () => call(...given, throwing(option)), once: true };
  }
}

const redis = { evalSha: async () => 1, eval: async () => 1 };
const follower = createOrderFollower({ partner, storage: memoryStorage(), onChange: () => undefined });
/** A function that throws instead of rejecting. */
const only = (name: string, call: Method): Row => ({ name, call, throws: true });

const factories: readonly Row[] = [
  only("new PodPartner", (value) => new PodPartner(value as never)),
  ...["baseUrl", "secretKey", "timeout", "retry", "pacing", "storage", "fetch", "transport", "hooks"].map((option) =>
    only(`new PodPartner ${option}`, (value) => new PodPartner({ ...base, [option]: value })),
  ),
  ...["logger", "clock", "assumptions"].map((option) =>
    only(`new PodPartner ${option}`, (value) => new PodPartner({ ...base, [option]: value })),
  ),
  only("withOptions", (value) => partner.withOptions(value as never)),
  ...["timeout", "deadline", "priority", "headers", "retry"].map((option) =>
    only(`withOptions ${option}`, (value) => partner.withOptions({ [option]: value })),
  ),
  only("parseReference kind", (value) => parseReference(value as never, "text")),
  only("parseReference", (value) => parseReference("Order", value as never)),
  only("memoryStorage", (value) => memoryStorage(value as never)),
  only("memoryStorage clock", (value) => memoryStorage({ clock: value } as never)),
  only("redisPacing client", (value) => redisPacing(value as never)),
  only("redisPacing options", (value) => redisPacing(redis, value as never)),
  only("redisStorage client", (value) => redisStorage(value as never)),
  only("redisStorage options", (value) => redisStorage(redis, value as never)),
  only("postgresStorage client", (value) => postgresStorage(value as never)),
  only("postgresStorage options", (value) => postgresStorage({ query: async () => ({ rows: [] }) }, value as never)),
  ...["organization", "table"].map((option) =>
    only(`postgresStorage ${option}`, (value) =>
      postgresStorage({ query: async () => ({ rows: [] }) }, { [option]: value } as never),
    ),
  ),
  only("sqliteStorage path", (value) => sqliteStorage(value as never)),
  only("sqliteStorage options", (value) => sqliteStorage(":memory:", value as never)),
  only("nodeTransport", (value) => nodeTransport(value as never)),
  ...["maxSockets", "connectTimeout", "ca", "proxy"].map((option) =>
    only(`nodeTransport ${option}`, (value) => nodeTransport({ [option]: value })),
  ),
  only("createOrderUpdatedReceiver", (value) => createOrderUpdatedReceiver(value as never)),
  ...["partner", "onOrderUpdated", "token", "clock"].map((option) =>
    only(`createOrderUpdatedReceiver ${option}`, (value) =>
      createOrderUpdatedReceiver({ partner, token: false, onOrderUpdated: () => undefined, [option]: value }),
    ),
  ),
  only("createOrderFollower", (value) => createOrderFollower(value as never)),
  ...["partner", "storage", "onChange", "clock"].map((option) =>
    only(`createOrderFollower ${option}`, (value) =>
      createOrderFollower({ partner, storage: memoryStorage(), onChange: () => undefined, [option]: value }),
    ),
  ),
  { name: "follower.follow", call: (value) => follower.follow(value as never) },
  { name: "follower.update", call: (value) => follower.update(value as never) },
  { name: "follower.reconcile", call: (value) => follower.reconcile(value as never) },
  only("createEmulator", (value) => createEmulator(value as never)),
  ...["secretKey", "baseUrl", "clock", "organizations", "unavailable"].map((option) =>
    only(`createEmulator ${option}`, (value) => createEmulator({ [option]: value } as never)),
  ),
  { name: "startEmulator", call: (value) => startEmulator(value as never) },
  // Node looks up a name.
  {
    name: "startEmulator host",
    call: (value) =>
      startEmulator({ host: typeof value === "string" && value.length < 10 ? "127.0.0.1" : value } as never),
  },
  ...["port", "publicUrl"].map(
    (option): Row => ({
      name: `startEmulator ${option}`,
      call: (value) => startEmulator({ [option]: value } as never),
    }),
  ),
];

/** Waits for what a method returns: a promise, the first step of an iteration, or the first outcome of a row. */
async function settle(returned: unknown): Promise<unknown> {
  if (typeof returned === "object" && returned !== null && Symbol.asyncIterator in returned) {
    const iterator = (returned as AsyncIterable<unknown>)[Symbol.asyncIterator]();
    const { value } = await iterator.next();
    await iterator.return?.();
    if (typeof value === "object" && value !== null && "ok" in value && value.ok === false) throw value.error;
    return value;
  }
  return returned;
}

/** What became of a call: refused, sent, made, or why it is a fault of the SDK. */
async function outcomeOf({ call, throws }: Row, value: unknown): Promise<string> {
  sent.count = 0;
  let returned: unknown;
  try {
    returned = call(value);
  } catch (error) {
    if (!throws) return `throws ${error}`;
    return describeError(error);
  }
  try {
    const made = await settle(returned);
    if (typeof made === "object" && made !== null && "close" in made && typeof made.close === "function")
      await made.close();
    return "made";
  } catch (error) {
    return describeError(error);
  }
}

function describeError(error: unknown): string {
  if (!(error instanceof PodPartnerError)) return `untyped ${String(error).slice(0, 200)}`;
  if (error.message.length >= 4_000) return `message of ${error.message.length} characters`;
  if (/(?<!\.)\.\.(\s|$)/.test(error.message)) return `two full stops: ${error.message}`;
  if ("issues" in error && (error.issues as readonly unknown[]).length > 100) return "more than 100 issues";
  if (error instanceof ApiError && sent.count > 0) return "sent";
  if (sent.count > 0) return `sent before ${error.name}`;
  return ["RequestValidationError", "ConfigurationError"].includes(error.name) ? "refused" : error.name;
}

/** Options that have no fields: there is nothing wrong to see in them. */
const withoutFields = ["undefined", "empty object", "without prototype"];

/** The rows of options that are objects, and which of these took an object that cannot have fields. */
const tookFieldless = (legal: Readonly<Record<string, readonly string[]>>): readonly string[] =>
  Object.entries(legal)
    .filter(([name]) => / (retry|hooks|logger|assumptions)$/.test(name) && !name.includes("getter"))
    .flatMap(([name, passed]) => passed.filter((what) => fieldless.includes(what)).map((what) => `${name} ${what}`));

const fieldless = ["Map", "invalid Date", "Error", "promise", "Headers", "signal"];

/** What a cell of the matrix may show: the wrong value is refused, or it is none here. */
const fine: ReadonlySet<string> = new Set(["refused", "sent", "made"]);

/** Calls each row with each value, and counts what became of them. */
async function walk(rows: readonly Row[]) {
  const faults: string[] = [];
  const counts: Record<string, number> = {};
  const legal: Record<string, readonly string[]> = {};
  const values = Object.entries(wrongValues);
  for (const row of rows) {
    const passed: string[] = [];
    for (const [what, make] of row.once ? values.slice(0, 1) : values) {
      const outcome = await outcomeOf(row, make());
      counts[outcome] = (counts[outcome] ?? 0) + 1;
      if (!fine.has(outcome)) faults.push(`${row.name} with ${what}: ${outcome}`);
      if (outcome !== "refused") passed.push(what);
    }
    legal[row.name] = passed;
  }
  if (process.env.MATRIX) console.log(legal, { rows: rows.length, values: values.length, ...counts });
  return { faults, legal };
}

/** All methods but the one that makes a client, which throws. */
const methods = new Map([...methodsOf(partner)].filter(([name]) => name !== "withOptions"));

describe("a value that a JavaScript program passes by mistake", () => {
  it("is tried in every method of the client: add a method that takes more than references to `test/support/methods.ts`", () => {
    expect([...methods.keys()].filter((name) => argumentsOf(name) === undefined)).toEqual([]);
    expect(namedByHand.filter((name) => !methods.has(name))).toEqual([]);
  });

  it("is a typed rejection in every argument and option of every method, with nothing sent", async () => {
    const rows = [...methods].flatMap(([name, call]) => [...rowsOf(name, call)]);
    const { faults, legal } = await walk(rows);
    expect(faults).toEqual([]);
    for (const { name } of rows.filter((row) => row.name.endsWith(" options"))) {
      expect([name, legal[name]]).toEqual([name, withoutFields]);
    }
    expect(tookFieldless(legal)).toEqual([]);
    const { "catalog.products.media argument 2": filename, "request argument 2": path, ...others } = legal;
    expect(filename).toEqual(["text", "100 kB of text", "100 kB of JSON"]);
    expect(path).toEqual(["100 kB of base64"]);
    const arguments_ = Object.entries(others).filter(([name]) => / (argument \d|row)$/.test(name));
    expect(arguments_.filter(([, passed]) => passed.length > 0)).toEqual([]);
  });

  it("is a typed error in every function that makes a part of the package", async () => {
    const { faults, legal } = await walk(factories);
    expect(faults).toEqual([]);
    expect(tookFieldless(legal)).toEqual([]);
    // Only an object with fields can be options; a factory that needs none of them can do without it.
    const options = ["withOptions", "memoryStorage", "nodeTransport", "createEmulator", "startEmulator"];
    for (const name of [...options, ...factories.map((row) => row.name).filter((name) => name.endsWith(" options"))])
      expect([name, withoutFields]).toEqual([name, expect.arrayContaining([...(legal[name] ?? ["missing"])])]);
  });
});
