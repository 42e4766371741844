import { type Logger, memoryStorage, PodPartner, type PodPartnerOptions } from "pod-partner";
import { createManualClock } from "pod-partner/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import { secretKey, useService } from "../support/partner.ts";
import { jpeg } from "../support/pictures.ts";
import { ref } from "../support/references.ts";
import { settle } from "../support/settle.ts";
import { someImage } from "../support/uploads.ts";

const down = { status: 503, body: { code: "down", message: "later" } };
const up = { body: { message: "valid" } };
const retry = { retries: 1, baseDelay: 0 };

/** A logger, and the lines that it got, each with its level. */
function recordingLogger() {
  const lines: string[] = [];
  const level = (name: keyof Logger) => (message: string) => void lines.push(`${name} ${message}`);
  return {
    lines,
    logger: { debug: level("debug"), info: level("info"), warn: level("warn"), error: level("error") },
  };
}

describe("observing a client", () => {
  const context = useService();

  it("calls hooks for each request, response and retry, in order", async () => {
    const events: unknown[] = [];
    const partner = context.connect({
      retry,
      hooks: {
        onRequest: ({ callId, ...event }) => events.push(["request", event, callId]),
        onResponse: ({ callId, took, ...event }) => events.push(["response", event, callId, took >= 0]),
        onRetry: ({ callId, delay, ...event }) => events.push(["retry", event, callId, delay >= 0]),
      },
    });
    context.service.respond(down, up);
    await partner.auth.validate({ callId: "mine" });
    const endpoint = "POST /auth/validate";
    expect(events).toEqual([
      ["request", { endpoint, attempt: 1 }, "mine"],
      ["response", { endpoint, attempt: 1, status: 503 }, "mine", true],
      ["retry", { endpoint, attempt: 1, error: "ServerError", status: 503, code: "down" }, "mine", true],
      ["request", { endpoint, attempt: 2 }, "mine"],
      ["response", { endpoint, attempt: 2, status: 200 }, "mine", true],
    ]);
  });

  it("calls no hook for a call whose signal was aborted before, also when its input is invalid", async () => {
    const events: unknown[] = [];
    const hooks = { onRequest: (event: object) => events.push(event) };
    const partner = context.connect({ hooks });
    const signal = AbortSignal.abort("too late");
    await expect(partner.auth.validate({ signal })).rejects.toBe("too late");
    await expect(partner.orders.get("Order_", { signal })).rejects.toBe("too late");
    expect(events).toEqual([]);
  });

  it("says how long a response took", async () => {
    const clock = createManualClock();
    const tooks: number[] = [];
    context.service.respond(async () => {
      await clock.advance(30);
      return up;
    });
    const hooks = { onResponse: ({ took }: { readonly took: number }) => tooks.push(took) };
    await context.connect({ clock, hooks }).auth.validate();
    expect(tooks).toEqual([30]);
  });

  it("reports a response with an essential fault each time, and one that is returned once", async () => {
    const events: unknown[] = [];
    const partner = context.connect({ hooks: { onInvalidResponse: (event) => events.push(event) } });
    const rendertokens = { used: 1, limit: 2, remaining: 1 };
    context.service.respond({ body: { rendertokens } }, { body: { rendertokens } });
    expect([await partner.rendertokens.get(), await partner.rendertokens.get()]).toEqual([rendertokens, rendertokens]);
    context.service.respondAlways({ body: { rendertokens: { used: "many" } } });
    await expect(partner.rendertokens.get()).rejects.toMatchObject({ name: "ResponseValidationError" });
    await expect(partner.rendertokens.get()).rejects.toMatchObject({ name: "ResponseValidationError" });
    const essential = [{ path: ["rendertokens", "used"] }, {}, {}];
    expect(events).toMatchObject([
      { endpoint: "GET /rendertokens", status: 200, issues: [{ path: ["rendertokens", "resets"] }], returned: true },
      { endpoint: "GET /rendertokens", status: 200, issues: essential, returned: false },
      { endpoint: "GET /rendertokens", status: 200, issues: essential, returned: false },
    ]);
  });

  it("completes the call when a hook or the logger throws", async () => {
    const logged: unknown[] = [];
    const partner = context.connect({
      hooks: {
        onRequest: () => {
          throw new Error("broken hook");
        },
      },
      logger: {
        debug: () => {
          throw new Error("broken logger");
        },
        error: (message, fields) => logged.push(message, fields),
      },
    });
    context.service.respond(up);
    expect(await partner.auth.validate()).toEqual({ message: "valid" });
    expect(logged).toEqual(["pod-partner: the hook onRequest threw", { error: "broken hook" }]);
  });

  it("completes the call, with no unhandled rejection, when an asynchronous hook or logger fails later", async () => {
    const unhandled: unknown[] = [];
    const onUnhandled = (reason: unknown) => unhandled.push(reason);
    process.on("unhandledRejection", onUnhandled);
    const logged: string[] = [];
    const partner = context.connect({
      hooks: { onRequest: () => Promise.reject(new Error("broken hook")) },
      logger: {
        debug: () => Promise.reject(new Error("broken logger")),
        error: (message) => logged.push(message),
      },
    });
    context.service.respond(up);
    expect(await partner.auth.validate()).toEqual({ message: "valid" });
    await new Promise(setImmediate);
    process.off("unhandledRejection", onUnhandled);
    expect([logged, unhandled]).toEqual([["pod-partner: the hook onRequest threw"], []]);
  });

  it("calls the hooks and the logger's methods with their own object as `this`", async () => {
    class Recorder {
      #heard: string[] = [];
      onRequest() {
        this.#heard.push("onRequest");
      }
      debug(message: string) {
        this.#heard.push(message);
      }
      get heard() {
        return this.#heard;
      }
    }
    const recorder = new Recorder();
    const { baseUrl } = context.service;
    const partner = new PodPartner({ baseUrl, secretKey, hooks: recorder, logger: recorder });
    context.service.respond(up);
    await partner.auth.validate();
    expect(recorder.heard).toEqual(["onRequest", expect.stringContaining("POST /auth/validate attempt 1: 200")]);
  });

  it("logs with levels, and never logs headers, bodies or queries", async () => {
    const lines: [string, string, object][] = [];
    const level =
      (name: keyof Logger) =>
      (message: string, fields: object): void => {
        lines.push([name, message, fields]);
      };
    const logger = { debug: level("debug"), info: level("info"), warn: level("warn"), error: level("error") };
    const partner = context.connect({ retry, logger });
    context.service.respond(down, { body: { orderReference: ref("Order") } });
    await partner.orders.lookup({ customIdentifier: "private-identifier" });
    expect(lines.map(([name]) => name)).toEqual(["debug", "warn", "debug", "debug", "info"]);
    expect(lines.flatMap(([, , fields]) => Object.values(fields))).not.toContain(undefined);
    expect(new Set(lines.map(([, , fields]) => (fields as { callId: string }).callId)).size).toBe(1);
    expect(JSON.stringify(lines)).not.toMatch(new RegExp(`${secretKey}|private-identifier|Order_`));
  });

  it("logs the calls that are a part of another call as details", async () => {
    const { lines, logger } = recordingLogger();
    const partner = context.connect({ logger });
    const render = {
      reference: ref("Render"),
      compositionReference: ref("Composition"),
      imageReference: ref("Image"),
      status: "failed",
      created: "2026-11-20T09:00:00.000Z",
    };
    context.service.respond({ body: { render } });
    await expect(partner.renders.wait(ref("Render"))).rejects.toMatchObject({ name: "RenderFailedError" });
    const endpoint = "pod-partner: GET /renders/{renderReference}";
    expect(lines.map((line) => line.replaceAll(/\d+ ms/g, "n ms"))).toEqual([
      `debug ${endpoint} attempt 1: 200 in n ms`,
      `debug ${endpoint} 200 in n ms`,
      `debug ${endpoint} lookup: RenderFailedError in n ms`,
      `warn ${endpoint} failed: RenderFailedError in n ms`,
    ]);
  });

  it("logs waits, faults and ends in words", async () => {
    const clock = createManualClock();
    const { lines, logger } = recordingLogger();
    const responses: (() => Response | Promise<Response>)[] = [
      () => Promise.reject(new Error("no route")),
      () => Response.json({ code: "down", message: "Later." }, { status: 503, headers: { "retry-after": "12.34" } }),
      () => Response.json({ order: { reference: ref("Order"), orderlines: [], onHold: null, status: {} } }),
      () => Response.json({ rendertokens: { used: 1, limit: 2, remaining: 1 } }),
      () => Response.json({ message: "No." }, { status: 401 }),
      () => new Promise<never>(() => undefined),
    ];
    const client = {
      baseUrl: "https://partner.example/v2",
      secretKey,
      clock,
      logger,
      fetch: async () => responses.shift()?.() ?? Response.error(),
      retry: { retries: 2, baseDelay: 0 },
    } as const;
    await settle(clock, new PodPartner({ ...client, pacing: false }).orders.get(ref("Order")));
    const get = "pod-partner: GET /orders/{orderReference}";
    expect(lines.splice(0)).toEqual([
      `debug ${get} attempt 1: ConnectionError in 0 ms`,
      `warn ${get} attempt 1 failed (ConnectionError), again in 0 ms`,
      `debug ${get} backoff: ConnectionError in 0 ms`,
      `debug ${get} attempt 2: 503 in 0 ms`,
      `warn ${get} attempt 2 failed (ServerError 503), again in 12.3 s`,
      `debug ${get} retry-after: ServerError in 12.3 s`,
      `debug ${get} attempt 3: 200 in 0 ms`,
      `warn ${get} 200 breaks the specification: 1 issue`,
      `info ${get} 200 in 12.3 s, 3 attempts`,
    ]);
    const paced = new PodPartner({ ...client, pacing: { perSecond: 1, burst: 1 } });
    const calls = [paced.rendertokens.get(), paced.auth.validate().catch(() => undefined)];
    await settle(clock, Promise.all(calls));
    const tokens = "pod-partner: GET /rendertokens";
    const validate = "pod-partner: POST /auth/validate";
    expect(lines.splice(0)).toEqual([
      `debug ${tokens} queue: default in 0 ms`,
      `debug ${tokens} attempt 1: 200 in 0 ms`,
      `warn ${tokens} 200 breaks the specification: 1 issue`,
      `info ${tokens} 200 in 0 ms`,
      expect.stringMatching(/^info .* waits for its turn, about 7\d\d ms: ceiling \(default\)$/),
      `debug ${validate} queue: default (ceiling) in 1000 ms`,
      `debug ${validate} attempt 1: 401 in 0 ms`,
      `warn ${validate} failed: AuthenticationError 401 in 1000 ms, 1000 ms of it in the queue`,
    ]);
    const controller = new AbortController();
    const left = paced.request("GET", "/any", { signal: controller.signal }).catch(() => undefined);
    await clock.advance(10_000);
    controller.abort();
    await left;
    expect(lines).toEqual([
      expect.stringContaining("waits for its turn"),
      "debug pod-partner: GET /any queue: default (ceiling) in 1000 ms",
      "debug pod-partner: GET /any attempt 1: AbortError in 9000 ms",
      "info pod-partner: GET /any aborted in 10 s, 1000 ms of it in the queue",
    ]);
  });
});

describe("the environment variable POD_PARTNER_LOG", () => {
  const context = useService();
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });

  /** The lines of a call with two attempts. */
  async function linesAt(level: string, options: Partial<PodPartnerOptions> = {}) {
    vi.stubEnv("POD_PARTNER_LOG", level);
    const written = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const partner = context.connect({ retry, ...options });
    context.service.respond(down, up);
    await partner.auth.validate({ callId: "job-7" });
    return written.mock.calls.map(([line]) => String(line));
  }

  it("writes a line for each call to stderr, with its steps at debug", async () => {
    const lines = await linesAt("debug");
    const readable = lines.map((line) => line.replace(/^\d{4}-\d\d-\d\dT[\d:.]+Z /, "").replaceAll(/\d+ ms/g, "n ms"));
    expect(readable).toEqual([
      "pod-partner debug POST /auth/validate attempt 1: 503 in n ms  job-7",
      "pod-partner warn  POST /auth/validate attempt 1 failed (ServerError 503), again in n ms  job-7",
      "pod-partner debug POST /auth/validate backoff: ServerError in n ms  job-7",
      "pod-partner debug POST /auth/validate attempt 2: 200 in n ms  job-7",
      "pod-partner info  POST /auth/validate 200 in n ms, 2 attempts  job-7",
    ]);
  });

  it("writes one line for a code of the service that has several, without its colours", async () => {
    vi.stubEnv("POD_PARTNER_LOG", "warn");
    const written = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const partner = context.connect({ retry: false });
    context.service.respond({
      status: 400,
      body: { code: "bad\n2026 pod-partner info \u001b[31mforged", message: "No." },
    });
    await partner.auth.validate().catch(() => undefined);
    expect(written.mock.calls).toHaveLength(1);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not occur.
    expect(String(written.mock.calls[0]?.[0])).not.toMatch(/[\n\u001b]/);
    expect(String(written.mock.calls[0]?.[0])).toContain("bad\\u000A2026");
  });

  it.each<[terminal: boolean | undefined, noColor: string, coloured: boolean]>([
    [true, "", true],
    [true, "1", false],
    [undefined, "", false],
    [false, "", false],
  ])("writes colours only to a terminal: isTTY %s, NO_COLOR %j", async (terminal, noColor, coloured) => {
    const before = Object.getOwnPropertyDescriptor(process.stderr, "isTTY");
    Object.defineProperty(process.stderr, "isTTY", { value: terminal, configurable: true });
    vi.stubEnv("NO_COLOR", noColor);
    try {
      const [warned, ended] = (await linesAt("info")).map((line) =>
        line
          .replaceAll(/\d+ ms/g, "n ms")
          .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/, "date and time")
          .replace(/\d\d:\d\d:\d\d\.\d{3}/, "time"),
      );
      const text = "POST /auth/validate 200 in n ms, 2 attempts";
      expect(ended).toBe(
        coloured
          ? `\u001b[90mtime pod-partner\u001b[39m \u001b[36minfo \u001b[39m ${text}  \u001b[90mjob-7\u001b[39m`
          : `date and time pod-partner info  ${text}  job-7`,
      );
      expect(warned?.includes("\u001b[33mwarn \u001b[39m")).toBe(coloured);
    } finally {
      if (before === undefined) Reflect.deleteProperty(process.stderr, "isTTY");
      else Object.defineProperty(process.stderr, "isTTY", before);
    }
  });

  it("writes the page of an error's class after the name of the call, and no spaces at the end of a line", async () => {
    vi.stubEnv("POD_PARTNER_LOG", "info");
    const written = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const gone = () => Promise.reject(new Error("gone"));
    const storage = { ...memoryStorage(), get: gone, set: gone, delete: gone };
    const partner = context.connect({ retry: false, storage });
    context.service.respond({ status: 401, body: { code: "invalid_key", message: "No." } }, someImage);
    await partner.auth.validate({ callId: "job-7" }).catch(() => undefined);
    await partner.images.uploadOnce(jpeg, { callId: "job-8" });
    const lines = written.mock.calls.map(([line]) =>
      String(line)
        .replace(/^\S+ /, "")
        .replace(/\d+ ms/g, "n ms"),
    );
    expect(lines).toEqual([
      "pod-partner warn  POST /auth/validate failed: AuthenticationError 401 invalid_key in n ms  job-7  node_modules/pod-partner/docs/errors.md#authenticationerror",
      "pod-partner warn  the storage cannot be reached: gone",
      "pod-partner info  POST /images 200 in n ms  job-8",
    ]);
  });

  it("writes JSON with POD_PARTNER_LOG_FORMAT=json", async () => {
    vi.stubEnv("POD_PARTNER_LOG_FORMAT", "json");
    const [line = "", ...others] = (await linesAt("info")).slice(1);
    expect(others).toEqual([]);
    expect(JSON.parse(line)).toEqual({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      level: "info",
      message: expect.stringMatching(/^pod-partner: POST \/auth\/validate 200 in \d+ ms, 2 attempts$/),
      callId: "job-7",
      endpoint: "POST /auth/validate",
      status: 200,
      took: expect.any(Number),
      attempts: 2,
      queued: expect.any(Number),
    });
  });

  it.each<[string, number, Partial<PodPartnerOptions>]>([
    ["info", 2, {}],
    ["warn", 1, {}],
    ["error", 0, {}],
    ["", 0, {}],
    ["debug", 0, { logger: {} }],
  ])("set to %j writes %i lines with the options %j", async (level, count, options) => {
    expect(await linesAt(level, options)).toHaveLength(count);
  });

  it.each([
    ["POD_PARTNER_LOG", "trace", "POD_PARTNER_LOG: expected debug, info, warn or error"],
    ["POD_PARTNER_LOG_FORMAT", "xml", "POD_PARTNER_LOG_FORMAT: expected text or json"],
  ])("%s set to %s is refused", (variable, value, message) => {
    vi.stubEnv("POD_PARTNER_LOG", "info");
    vi.stubEnv(variable, value);
    expect(() => context.connect()).toThrow(message);
  });
});
