import { Readable } from "node:stream";
import type { ImageSource } from "pod-partner";
import { describe, expect, it } from "vitest";
import { rejection } from "../../support/exchange.ts";
import { partnerWith } from "../../support/partner.ts";
import { png } from "../../support/pictures.ts";

/** A service that refuses every upload before it reads the body, as an overloaded service does. */
function connect() {
  let sent = 0;
  const fetch = async () => {
    sent += 1;
    return new Response("busy", { status: 503 });
  };
  const retry = { retries: 2, baseDelay: 0, maxDelay: 0 };
  const partner = partnerWith({ fetch, retry });
  return { partner, sent: () => sent };
}

const refused = { name: "ServerError", status: 503 };

describe("an upload whose attempt failed", () => {
  it.each<[string, () => ImageSource]>([
    ["a Node stream", () => Readable.from([png])],
    ["a web stream", () => ReadableStream.from([Uint8Array.from(png)])],
    ["a stream of several chunks", () => Readable.from([png.subarray(0, 3), png.subarray(3)])],
  ])("is not retried when its source is %s, which can be read only once", async (_, source) => {
    const { partner, sent } = connect();
    const error = await rejection(partner.images.upload(source()));
    expect(error).toMatchObject({ ...refused, timeline: [{ step: "attempt", outcome: "503" }] });
    expect(sent()).toBe(1);
  });

  it.each<[string, () => ImageSource]>([
    ["bytes", () => png],
    ["a blob", () => new Blob([Uint8Array.from(png)])],
  ])("is retried when its source is %s", async (_, source) => {
    const { partner, sent } = connect();
    expect(await rejection(partner.images.upload(source()))).toMatchObject(refused);
    expect(sent()).toBe(3);
  });
});
