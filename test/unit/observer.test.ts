import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { type Logger, PodPartner, type PodPartnerOptions } from "pod-partner";
import { afterEach, describe, expect, it, vi } from "vitest";
import { secretKey, useService } from "../support/partner.ts";
import { ref } from "../support/references.ts";

const down = { status: 503, body: { code: "down", message: "later" } };
const up = { body: { message: "valid" } };
const retry = { retries: 1, baseDelay: 0 };

describe("observing a client", () => {
  const context = useService();

  it("calls hooks for each request, response and retry, in order", async () => {
    const events: unknown[] = [];
    const partner = new PodPartner({
      baseUrl: context.service.baseUrl,
      secretKey,
      retry,
      hooks: {
        onRequest: (event) => events.push(["request", event]),
        onResponse: ({ took, ...event }) => events.push(["response", event, took >= 0]),
        onRetry: ({ delay, ...event }) => events.push(["retry", event, delay >= 0]),
      },
    });
    context.service.respond(down, up);
    await partner.auth.validate();
    const endpoint = "POST /auth/validate";
    expect(events).toEqual([
      ["request", { endpoint, attempt: 1 }],
      ["response", { endpoint, attempt: 1, status: 503 }, true],
      ["retry", { endpoint, attempt: 1, error: "ServerError", status: 503, code: "down" }, true],
      ["request", { endpoint, attempt: 2 }],
      ["response", { endpoint, attempt: 2, status: 200 }, true],
    ]);
  });

  it('reports a response that breaks its schema, and returns it unchanged with `responses: "report"`', async () => {
    const events: unknown[] = [];
    const partner = new PodPartner({
      baseUrl: context.service.baseUrl,
      secretKey,
      responses: "report",
      hooks: { onInvalidResponse: (event) => events.push(event) },
    });
    context.service.respond({ body: { rendertokens: { used: "many" } } });
    expect(await partner.rendertokens.get()).toEqual({ used: "many" });
    expect(events).toMatchObject([
      { endpoint: "GET /rendertokens", status: 200, issues: [{ path: ["rendertokens", "used"] }, {}, {}, {}] },
    ]);
  });

  it("completes the call when a hook or the logger throws", async () => {
    const logged: string[] = [];
    const partner = new PodPartner({
      baseUrl: context.service.baseUrl,
      secretKey,
      hooks: {
        onRequest: () => {
          throw new Error("broken hook");
        },
      },
      logger: {
        debug: () => {
          throw new Error("broken logger");
        },
        error: (message) => logged.push(message),
      },
    });
    context.service.respond(up);
    expect(await partner.auth.validate()).toEqual({ message: "valid" });
    expect(logged).toEqual(["pod-partner: the hook onRequest threw"]);
  });

  it("completes the call, with no unhandled rejection, when an asynchronous hook or logger fails later", async () => {
    const unhandled: unknown[] = [];
    const onUnhandled = (reason: unknown) => unhandled.push(reason);
    process.on("unhandledRejection", onUnhandled);
    const logged: string[] = [];
    const partner = new PodPartner({
      baseUrl: context.service.baseUrl,
      secretKey,
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
    expect(recorder.heard).toEqual(["pod-partner Request", "onRequest", "pod-partner Response"]);
  });

  it("logs with levels, and never logs headers, bodies or queries", async () => {
    const lines: [string, string, object][] = [];
    const level =
      (name: keyof Logger) =>
      (message: string, fields: object): void => {
        lines.push([name, message, fields]);
      };
    const logger = { debug: level("debug"), info: level("info"), warn: level("warn"), error: level("error") };
    const partner = new PodPartner({ baseUrl: context.service.baseUrl, secretKey, retry, logger });
    context.service.respond(down, { body: { orderReference: ref("Order") } });
    await partner.orders.lookup({ customIdentifier: "private-identifier" });
    expect(lines.map(([name, message]) => `${name} ${message}`)).toEqual([
      "debug pod-partner Request",
      "debug pod-partner Response",
      "warn pod-partner Retry",
      "debug pod-partner Request",
      "debug pod-partner Response",
    ]);
    expect(JSON.stringify(lines)).not.toMatch(new RegExp(`${secretKey}|private-identifier|Order_`));
  });

  it("publishes the same events on node:diagnostics_channel", async () => {
    const published: unknown[] = [];
    const onMessage = (message: unknown) => published.push(message);
    subscribe("pod-partner:response", onMessage);
    context.service.respond(up);
    await context.partner.auth.validate();
    unsubscribe("pod-partner:response", onMessage);
    expect(published).toMatchObject([{ endpoint: "POST /auth/validate", attempt: 1, status: 200 }]);
  });

  it("gives pino the fields first, because it drops those that follow a message", async () => {
    const lines: unknown[] = [];
    // A logger of pino is known by `bindings`.
    const logger = {
      bindings: () => ({}),
      debug(...words: readonly unknown[]) {
        lines.push([this === logger, ...words]);
      },
    };
    const partner = new PodPartner({ baseUrl: context.service.baseUrl, secretKey, retry, logger });
    context.service.respond(up);
    await partner.auth.validate();
    expect(lines[0]).toEqual([true, { endpoint: "POST /auth/validate", attempt: 1 }, "pod-partner Request"]);
  });
});

describe("the environment variable POD_PARTNER_LOG", () => {
  const context = useService();
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });

  /** The lines that two attempts write, without their time. */
  async function linesAt(level: string, options: Partial<PodPartnerOptions> = {}) {
    vi.stubEnv("POD_PARTNER_LOG", level);
    const written = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const partner = new PodPartner({ baseUrl: context.service.baseUrl, secretKey, retry, ...options });
    context.service.respond(down, up);
    await partner.auth.validate();
    return written.mock.calls.map(([line]) => String(line).replace(/^\d{4}-\d\d-\d\dT[\d:.]+Z /, ""));
  }

  it("writes a line for each response and each retry to stderr", async () => {
    const lines = (await linesAt("debug")).map((line) => line.replace(/(took|delay)=\d+/, "$1=…"));
    expect(lines).toEqual([
      'debug pod-partner Response endpoint="POST /auth/validate" attempt=1 status=503 took=…',
      'warn pod-partner Retry endpoint="POST /auth/validate" attempt=1 delay=… error="ServerError" status=503 code="down"',
      'debug pod-partner Response endpoint="POST /auth/validate" attempt=2 status=200 took=…',
    ]);
  });

  it.each<[string, number, Partial<PodPartnerOptions>]>([
    ["warn", 1, {}],
    ["error", 0, {}],
    ["", 0, {}],
    ["debug", 0, { logger: {} }],
  ])("set to %j writes %i lines with the options %j", async (level, count, options) => {
    expect(await linesAt(level, options)).toHaveLength(count);
  });

  it("is refused when it is no level", async () => {
    vi.stubEnv("POD_PARTNER_LOG", "trace");
    expect(() => new PodPartner({ baseUrl: context.service.baseUrl, secretKey })).toThrow(
      "POD_PARTNER_LOG: expected debug, info, warn or error",
    );
  });
});

describe("`retry: false`", () => {
  const context = useService();

  it.each(["the client's", "the call's"])("sends one attempt: %s", async (whose) => {
    const partner = new PodPartner({
      baseUrl: context.service.baseUrl,
      secretKey,
      retry: whose === "the client's" ? false : undefined,
    });
    context.service.respond(down, up);
    const options = whose === "the call's" ? { retry: false as const } : {};
    await expect(partner.auth.validate(options)).rejects.toMatchObject({ status: 503 });
    expect(context.service.requests).toHaveLength(1);
  });
});
