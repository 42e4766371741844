import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { type Logger, PodPartner } from "pod-partner";
import { describe, expect, it } from "vitest";
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
