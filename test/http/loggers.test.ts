import { Console } from "node:console";
import { PassThrough, type Writable } from "node:stream";
import bunyan from "bunyan";
import pino from "pino";
import { type Logger, PodPartner } from "pod-partner";
import { describe, expect, it } from "vitest";
import winston from "winston";
import { rejection } from "../support/exchange.ts";
import { secretKey, useService } from "../support/partner.ts";
import { setUp } from "../support/setup.ts";
import { orderOf } from "./matrix/subjects.ts";

/** Each logger as its documentation sets it up, and how its output reads as records. */
const loggers: readonly (readonly [name: string, make: (output: Writable) => Logger])[] = [
  ["pino", (output) => pino({ level: "debug" }, output)],
  ["a child of pino", (output) => pino({ level: "debug" }, output).child({ module: "orders" })],
  [
    "winston",
    (output) =>
      winston.createLogger({
        level: "debug",
        format: winston.format.json(),
        transports: [new winston.transports.Stream({ stream: output })],
      }),
  ],
  [
    "a child of winston",
    (output) =>
      winston
        .createLogger({
          level: "debug",
          format: winston.format.json(),
          transports: [new winston.transports.Stream({ stream: output })],
        })
        .child({ module: "orders" }),
  ],
  ["bunyan", (output) => bunyan.createLogger({ name: "shop", streams: [{ level: "debug", stream: output }] })],
];

function collecting(): { readonly output: Writable; readonly text: () => string } {
  const chunks: string[] = [];
  const output = new PassThrough().on("data", (chunk) => chunks.push(String(chunk)));
  return { output, text: () => chunks.join("") };
}

describe("a logger", () => {
  const context = useService();

  async function makeCalls(logger: Logger): Promise<void> {
    const { baseUrl } = context.service;
    const partner = new PodPartner({ baseUrl, secretKey, retry: { retries: 1, baseDelay: 0 }, logger });
    context.service.respond(
      { status: 503, body: { code: "down", message: "later" } },
      { body: { message: "valid" } },
      { status: 401, body: { code: "invalid_key", message: "No." } },
    );
    await partner.auth.validate({ callId: "job-7" });
    await partner.auth.validate({ callId: "job-8" }).catch(() => undefined);
    await new Promise(setImmediate);
  }

  const step = { callId: "job-7", endpoint: "POST /auth/validate" };
  const took = expect.any(Number);
  const docs = "node_modules/pod-partner/docs/errors.md#authenticationerror";
  /** What the lines of the two calls must say, with every logger. */
  const expected = [
    { ...step, step: "attempt", attempt: 1, outcome: "503", took },
    { ...step, attempt: 1, delay: took, error: "ServerError", status: 503, code: "down" },
    { ...step, step: "backoff", outcome: "ServerError", took },
    { ...step, step: "attempt", attempt: 2, outcome: "200", took },
    { ...step, status: 200, took, attempts: 2, queued: took },
    { ...step, callId: "job-8", step: "attempt", attempt: 1, outcome: "401", took },
    {
      ...step,
      callId: "job-8",
      status: 401,
      took,
      attempts: 1,
      queued: took,
      error: "AuthenticationError",
      code: "invalid_key",
      docs,
    },
  ];
  const texts = [
    "attempt 1: 503 in n ms",
    "attempt 1 failed (ServerError 503), again in n ms",
    "backoff: ServerError in n ms",
    "attempt 2: 200 in n ms",
    "200 in n ms, 2 attempts",
    "attempt 1: 401 in n ms",
    "failed: AuthenticationError 401 invalid_key in n ms",
  ].map((text) => `pod-partner: POST /auth/validate ${text}`);

  it.each(loggers)("%s keeps the text and every field", async (name, make) => {
    const { output, text } = collecting();
    await makeCalls(make(output));
    const records = text()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(records).toMatchObject(expected);
    expect(records.map(({ msg, message = msg }) => message.replaceAll(/\d+ ms/g, "n ms"))).toEqual(texts);
    if (name.startsWith("a child")) expect(records.every(({ module }) => module === "orders")).toBe(true);
  });

  it("may be the console, which gets one line for each call and each retry", async () => {
    const [out, errors] = [collecting(), collecting()];
    await makeCalls(new Console(out.output, errors.output));
    const lines = ({ text }: typeof out) =>
      text()
        .trim()
        .replaceAll(/\d+ ms/g, "n ms")
        .split("\n");
    expect(lines(out)).toEqual(["pod-partner: POST /auth/validate 200 in n ms, 2 attempts  job-7"]);
    expect(lines(errors)).toEqual([
      "pod-partner: POST /auth/validate attempt 1 failed (ServerError 503), again in n ms  job-7",
      `pod-partner: POST /auth/validate failed: AuthenticationError 401 invalid_key in n ms  job-8  ${docs}`,
    ]);
  });

  it("does not call a look-up of `ensure` failed that finds no order", async () => {
    const { emulator, settle, connect } = setUp();
    const seen: { level: string; text: string; fields: object }[] = [];
    const write = (level: string) => (text: string, fields: object) => void seen.push({ level, text, fields });
    const logger = { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
    const partner = connect({ logger });
    await settle(partner.orders.ensure(orderOf(emulator, "shop-1001")));
    expect(seen.filter(({ level }) => level !== "debug").map(({ text }) => text)).toEqual([
      expect.stringMatching(/^pod-partner: POST \/orders 200 in \d+ ms$/),
    ]);
    expect(seen.map(({ text }) => text).join("\n")).not.toMatch(/fail|error/i);
    expect(JSON.stringify(seen.map(({ fields }) => fields))).not.toMatch(/error|docs/i);
    // The caller's own look-up is an error for the caller.
    await settle(rejection(partner.orders.lookup({ customIdentifier: "shop-1002" })));
    expect(seen.at(-1)).toMatchObject({ level: "warn", fields: { error: "NotFoundError", status: 404 } });
  });
});
