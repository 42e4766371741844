import * as sdk from "pod-partner";
import { describe, expect, it } from "vitest";
import { rejection } from "../support/exchange.ts";
import { secretKey, useService } from "../support/partner.ts";
import { shown } from "../support/shown.ts";

describe("the secret key is not shown in an error in any encoding (law 1)", () => {
  const context = useService();

  it("when a response has it as the name of a header", async () => {
    context.service.respond({ status: 400, headers: { [`x-${secretKey}-seen`]: "yes" } });
    const error = await rejection(context.partner.auth.validate());
    if (!sdk.ApiError.isInstance(error)) throw error;
    expect(error.response.headers).toHaveProperty("x-[redacted]-seen", "yes");
    expect(shown(error)).not.toContain(secretKey);
  });

  it.each(["\u0000", "\r\nX-Evil: 1", "€", "\u007f"])(
    "in the error for an invalid key that contains %j",
    async (bad) => {
      const parts = ["s3cr3t-begin", "s3cr3t-end"];
      const use = async () => {
        const partner = new sdk.PodPartner({
          baseUrl: context.service.baseUrl,
          secretKey: parts.join(bad),
          retry: { retries: 0 },
        });
        await partner.auth.validate();
      };
      const error = await rejection(use());
      expect(shown(error)).not.toMatch(/s3cr3t/);
      expect(context.service.requests).toHaveLength(0);
    },
  );

  it.each([
    ["percent-encoded", "test/key+5up3r==", encodeURIComponent],
    [
      "as HTML",
      'test&key<5up3r"',
      (key: string) => key.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;"),
    ],
    ["as numeric HTML entities", "test/key=5up3r", (key: string) => key.replace("/", "&#47;").replace("=", "&#x3D;")],
    ["as JSON, with many backslashes", `key${"\\".repeat(40)}5up3r`, (key: string) => JSON.stringify(key)],
    ["as broken JSON", 'test"key\\5up3r', (key: string) => `{"key": ${JSON.stringify(key)}, `],
    [
      "as broken JSON with escaped slashes",
      "test/key/5up3r",
      (key: string) => `{"key": "${key.replaceAll("/", "\\/")}", `,
    ],
    [
      "as broken JSON with escaped padding",
      "test-key-=5up3r",
      (key: string) => `{"key": "${key.replaceAll("=", "\\u003d")}", `,
    ],
    ["in capitals", "test-key-5up3r", (key: string) => key.toUpperCase()],
  ])("when a response repeats it %s", async (_, key, written) => {
    const partner = new sdk.PodPartner({ baseUrl: context.service.baseUrl, secretKey: key, retry: { retries: 0 } });
    context.service.respond({ status: 400, headers: { "content-type": "text/html" }, body: `seen: ${written(key)}` });
    const error = await rejection(partner.auth.validate());
    expect(shown(error)).not.toMatch(/5up3r/i);
  });

  it("in a moment, when the key and the response have many backslashes and differ at the end", async () => {
    const key = `key${"\\".repeat(40)}5up3r`;
    const partner = new sdk.PodPartner({ baseUrl: context.service.baseUrl, secretKey: key, retry: { retries: 0 } });
    const body = `key${"\\".repeat(60)}other`;
    context.service.respond({ status: 400, body });
    expect(await rejection(partner.auth.validate())).toMatchObject({ response: { body } });
  });

  it.each([
    ["quotes", 'test-"key"-5up3r', (key: string) => JSON.stringify(key)],
    ["a backslash", "test\\key-5up3r", (key: string) => JSON.stringify(key)],
    ["slashes that the service escapes", "test/key/5up3r", (key: string) => JSON.stringify(key).replaceAll("/", "\\/")],
    [
      "padding that the service escapes",
      "test-key-5up3r==",
      (key: string) => JSON.stringify(key).replaceAll("=", "\\u003d"),
    ],
  ])("when a response repeats, as JSON, a key with %s", async (_, key, written) => {
    const partner = new sdk.PodPartner({ baseUrl: context.service.baseUrl, secretKey: key, retry: { retries: 0 } });
    context.service.respond({
      status: 401,
      headers: { "content-type": "application/json" },
      body: `{"code": "bad_key", "message": ${written(key)}, "seen": [${written(key)}]}`,
    });
    const error = await rejection(partner.auth.validate());
    if (!sdk.AuthenticationError.isInstance(error)) throw error;
    expect(error.message).not.toContain(key);
    expect(JSON.stringify(error.response.body)).not.toContain(JSON.stringify(key).slice(1, -1));
  });
});
