import { ResponseValidationError } from "pod-partner";
import { describe, expect, it } from "vitest";
import { rejection } from "../support/exchange.ts";
import { useService } from "../support/partner.ts";
import { ref } from "../support/references.ts";
import type { Answer } from "../support/stub-service.ts";

const page = "<!doctype html><title>Sign in to the hotel's network</title>";
const file = Buffer.alloc(2_000, 7);

describe("a successful answer in place of a file", () => {
  const context = useService();

  it.each<[string, Answer, string]>([
    ["an HTML page", { headers: { "content-type": "text/html; charset=utf-8" }, body: page }, "not text/html"],
    ["JSON", { body: { code: "not_found", message: "No." } }, "not application/json"],
    [
      "a part of it",
      { status: 206, headers: { "content-range": "bytes 0-1999/4000" }, body: file },
      "not a part of it",
    ],
    ["no content", { status: 204 }, "the file is empty"],
    ["nothing", { headers: { "content-length": "0", "content-type": "image/png" } }, "the file is empty"],
  ])("is told as such: %s", async (_, answer, words) => {
    context.service.answers(answer);
    const error = await rejection(context.partner.renders.media(ref("Render")));
    if (!ResponseValidationError.isInstance(error)) throw error;
    expect(error.message).toContain(words);
    expect(error.status).toBe(answer.status ?? 200);
    expect(context.service.requests).toHaveLength(1);
  });

  it.each(["image/png", "application/octet-stream", "image/webp"])("is a file when it is of type %s", async (type) => {
    context.service.answers({ headers: { "content-type": type }, body: file });
    const download = await context.partner.renders.media(ref("Render"));
    expect((await download.bytes()).length).toBe(file.length);
  });
});
