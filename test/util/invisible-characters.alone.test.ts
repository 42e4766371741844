import { Console } from "node:console";
import { PassThrough } from "node:stream";
import { inspect } from "node:util";
import bunyan from "bunyan";
import pino from "pino";
import { type Logger, memoryStorage, PodPartner, type PodPartnerOptions } from "pod-partner";
import { afterEach, describe, expect, it, vi } from "vitest";
import winston from "winston";
import { rejection } from "../support/exchange.ts";
import { secretKey, useService } from "../support/partner.ts";
import { ref } from "../support/references.ts";

/** The characters of each class that must not reach a terminal or an editor as they are. */
const classes: Readonly<Record<string, readonly (readonly [first: number, last: number])[]>> = {
  "C0 controls": [[0x00, 0x1f]],
  "DEL and C1 controls": [[0x7f, 0x9f]],
  "line separators": [[0x2028, 0x2029]],
  "marks of direction": [
    [0x200e, 0x200f],
    [0x202a, 0x202e],
    [0x2066, 0x2069],
    [0x061c, 0x061c],
  ],
  "characters without a width": [
    [0x200b, 0x200d],
    [0x2060, 0x2064],
    [0xfeff, 0xfeff],
    [0x00ad, 0x00ad],
    [0xe0001, 0xe0001],
  ],
  "fillers and selectors": [
    [0x034f, 0x034f],
    [0x115f, 0x1160],
    [0x3164, 0x3164],
    [0xffa0, 0xffa0],
    [0xfe00, 0xfe0f],
    [0xe0100, 0xe010f],
  ],
  "code points that are no characters": [
    [0xfdd0, 0xfdef],
    [0xfffe, 0xffff],
    [0x10ffff, 0x10ffff],
  ],
  "halves of a pair": [
    [0xd800, 0xd800],
    [0xdfff, 0xdfff],
  ],
};

const charactersOf = (name: string): readonly string[] =>
  (classes[name] ?? []).flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, index) => String.fromCodePoint(first + index)),
  );

const escapeOf = (character: string): string => {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff
    ? `\\u{${code.toString(16).toUpperCase()}}`
    : `\\u${code.toString(16).toUpperCase().padStart(4, "0")}`;
};

/** A text with each character between letters, as a service could send it in a code, a message or the name of a field. */
const textOf = (name: string): string =>
  charactersOf(name)
    .map((character) => `x${character}y`)
    .join("");

/** What is left of a text that must have none of these characters, without the line ends and tabs that a form of the log writes itself. */
const invisibleIn = (text: string): readonly string[] =>
  [...text.matchAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}\p{NChar}]/gu)]
    .map(([found]) => found)
    .filter((found) => found !== "\n");

/** Each form of the log: makes what the client logs to, and reads what was written. */
const forms: Readonly<
  Record<string, () => { readonly options: Partial<PodPartnerOptions>; readonly text: () => string }>
> = {
  POD_PARTNER_LOG: () => lines(""),
  "POD_PARTNER_LOG_FORMAT=json": () => lines("json"),
  console: () => written((output) => new Console({ stdout: output, stderr: output })),
  pino: () => written((output) => pino({ level: "debug" }, output)),
  bunyan: () =>
    written((output) => bunyan.createLogger({ name: "shop", streams: [{ level: "debug", stream: output }] })),
  winston: () =>
    written((output) =>
      winston.createLogger({
        level: "debug",
        format: winston.format.printf((info) => `${info.message} ${Object.values(info).map(String).join(" ")}`),
        transports: [new winston.transports.Stream({ stream: output })],
      }),
    ),
};

function lines(format: string) {
  vi.stubEnv("POD_PARTNER_LOG", "debug");
  vi.stubEnv("POD_PARTNER_LOG_FORMAT", format);
  const spy = vi.spyOn(console, "error").mockImplementation(() => undefined);
  return { options: {}, text: () => spy.mock.calls.map(([line]) => String(line)).join("\n") };
}

function written(make: (output: PassThrough) => Logger) {
  const output = new PassThrough();
  const chunks: string[] = [];
  output.on("data", (chunk) => chunks.push(String(chunk)));
  return { options: { logger: make(output) }, text: () => chunks.join("") };
}

describe.each(Object.keys(classes))("invisible characters of a service: %s", (name) => {
  const context = useService();
  const text = textOf(name);
  const all = charactersOf(name);
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });

  /** Calls that bring the text to every place of a log: a code, a message, the path of an issue, the words of a storage, a callId. */
  async function callsWith(options: Partial<PodPartnerOptions>) {
    const gone = () => Promise.reject(new Error(text));
    const { baseUrl } = context.service;
    const storage = { ...memoryStorage(), get: gone, set: gone, delete: gone };
    const partner = new PodPartner({ baseUrl, secretKey, retry: { retries: 1, baseDelay: 0 }, storage, ...options });
    const fault = { code: text, message: text };
    context.service.respond(
      { status: 503, body: fault },
      { status: 400, body: fault },
      { body: { [text]: [] } },
      { body: { image: { reference: ref("Image") } } },
    );
    const refused = await rejection(partner.organization.get({ callId: "job-7" }));
    const invalid = await rejection(partner.scenes.list());
    await partner.images.uploadOnce(new Uint8Array([0xff, 0xd8, 0xff, 0xe0, 0, 0, 0, 0, 0]));
    await new Promise(setImmediate);
    return { refused, invalid };
  }

  it.each(Object.keys(forms))("are escapes in the log: %s", async (form) => {
    const { options, text: logged } = forms[form]?.() ?? expect.fail(form);
    await callsWith(options);
    const found = logged();
    expect(invisibleIn(found)).toEqual([]);
    const isJson = ["POD_PARTNER_LOG_FORMAT=json", "pino", "bunyan"].includes(form);
    for (const shown of all.map(escapeOf)) expect(found).toContain(`x${isJson ? `\\${shown}` : shown}y`);
  });

  it("are escapes in the message, the stack, the JSON and the printed form of an error, and as they came in its code and response", async () => {
    const { refused, invalid } = await callsWith({ logger: {} });
    for (const error of [refused, invalid] as Error[]) {
      for (const shown of [error.message, String(error), error.stack ?? "", inspect(error), JSON.stringify(error)])
        expect(invisibleIn(shown)).toEqual([]);
    }
    for (const character of all) expect((refused as Error).message).toContain(`x${escapeOf(character)}y`);
    expect(String((refused as Error).message).split("\n")).toHaveLength(1);
    expect(refused).toMatchObject({ code: text, response: { body: { message: text } } });
  });

  it("are escapes in the cause of an error of the connection", async () => {
    const failing = () => Promise.reject(Object.assign(new TypeError(text), { cause: new Error(text) }));
    const partner = new PodPartner({ baseUrl: "https://a.test/v2", secretKey, retry: false, fetch: failing });
    const error = await rejection(partner.organization.get());
    expect(invisibleIn(inspect(error).replaceAll("\t", ""))).toEqual([]);
    expect(invisibleIn((error as Error).message.replaceAll("\t", ""))).toEqual([]);
  });

  it("are escapes in a warning of the process", async () => {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    await callsWith({});
    expect(warned).toHaveBeenCalled();
    expect(invisibleIn(warned.mock.calls.map(([warning]) => String(warning)).join("\n"))).toEqual([]);
  });
});
