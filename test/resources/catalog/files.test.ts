import type { ConditionalOptions, PodPartner } from "pod-partner";
import { describe, expect, it } from "vitest";
import { expectSent, rejection, useExchange } from "../../support/exchange.ts";
import { jpeg } from "../../support/pictures.ts";
import { ref } from "../../support/references.ts";

const etag = '"v7"';
const lastModified = "Wed, 18 Nov 2026 08:00:00 GMT";
const file = {
  headers: { "content-type": "image/jpeg", etag, "last-modified": lastModified, "cache-control": "private, no-cache" },
  body: jpeg,
};
const line = `GET /products/${ref("Product")}/media/front.jpg`;

/** The two calls that download a file of a product, each for the file at `/v2` + the path of `line`. */
const calls = {
  "catalog.products.media": (partner: PodPartner, _: string, known?: ConditionalOptions) =>
    partner.catalog.products.media(ref("Product"), "front.jpg", known),
  "catalog.products.layerImage": (partner: PodPartner, origin: string, known?: ConditionalOptions) =>
    partner.catalog.products.layerImage(`${origin}/v2${line.slice("GET ".length)}`, known),
};

describe.each(Object.entries(calls))("%s (specification 4.3)", (_, call) => {
  const { context } = useExchange();
  const download = (known?: ConditionalOptions) => call(context.partner, context.service.origin, known);

  it("sends a plain GET and returns the bytes unchanged, with what the headers say about them", async () => {
    context.service.respond(file);
    const given = await download();
    if (!given.modified) expect.fail("not modified");
    expect(given).toMatchObject({ contentType: "image/jpeg", etag, lastModified, size: jpeg.length });
    expect(Buffer.from(await given.bytes()).equals(jpeg)).toBe(true);
    expect(context.service.requests).toHaveLength(1);
    expectSent(context.service.requests[0], { line });
    expect(context.service.requests[0]?.headers).not.toHaveProperty("if-none-match");
    expect(context.service.requests[0]?.headers).not.toHaveProperty("if-modified-since");
  });

  it.each([
    ["If-None-Match", { etag }, { "if-none-match": etag }],
    ["If-Modified-Since", { lastModified }, { "if-modified-since": lastModified }],
    ["both", { etag, lastModified }, { "if-none-match": etag, "if-modified-since": lastModified }],
  ])("sends %s as a condition, and reads 304 as not modified", async (_title, known, headers) => {
    context.service.respond({ status: 304, headers: { etag, "last-modified": lastModified } });
    const given = await download(known);
    expect(given).toMatchObject({ modified: false, etag, lastModified });
    expect(context.service.requests[0]?.headers).toMatchObject(headers);
  });

  it("accepts the condition and the request options in one object", async () => {
    context.service.respond({ status: 304, headers: { etag } });
    const given = await download({ etag, headers: { "X-Trace": "1" }, query: { size: 2 } });
    expect(given.modified).toBe(false);
    const [request] = context.service.requests;
    expect(request?.headers).toMatchObject({ "if-none-match": etag, "x-trace": "1" });
    expect(request?.path).toBe(`/v2${line.slice("GET ".length)}?size=2`);
    const reason = new Error("left");
    expect(await rejection(download({ etag, signal: AbortSignal.abort(reason) }))).toBe(reason);
  });

  it.each<[string, object, readonly string[]]>([
    ["an empty `etag`", { etag: "" }, ["etag: expected the `etag` of an earlier download"]],
    ["an `etag` of two lines", { etag: '"v\n7"' }, ["etag: expected the `etag` of an earlier download"]],
    [
      "a Date as `lastModified`, and a number as `etag`",
      { etag: 7, lastModified: new Date(lastModified) },
      [
        "etag: expected the `etag` of an earlier download",
        "lastModified: expected the `lastModified` of an earlier download",
      ],
    ],
    [
      "an empty `lastModified` beside an invalid header",
      { lastModified: "", headers: { "X-Trace": "1\n2" } },
      ["lastModified: expected the `lastModified` of an earlier download", "headers.X-Trace"],
    ],
    ["an invalid header beside a valid `etag`", { etag, headers: { "X-Trace": "1\n2" } }, ["headers.x-trace"]],
    ["headers that are no object", { etag, headers: 5 }, ["headers"]],
  ])("refuses %s before anything is sent", async (_title, given, issues) => {
    const { name, message } = (await rejection(download(given as never))) as Error;
    expect(name).toBe("RequestValidationError");
    for (const issue of issues) expect(message).toContain(issue);
    expect(context.service.requests).toEqual([]);
  });

  it("sends the headers of its options with the condition, in whichever form they are given", async () => {
    for (const headers of [{ "X-Trace": "1" }, [["X-Trace", "1"]], new Headers({ "X-Trace": "1" })]) {
      context.service.respond({ status: 304, headers: { etag } });
      await download({ etag, headers } as never);
      expect(context.service.requests.at(-1)?.headers).toMatchObject({ "if-none-match": etag, "x-trace": "1" });
    }
  });

  it("returns the new bytes when the file was modified", async () => {
    context.service.respond({ ...file, headers: { ...file.headers, etag: '"v8"' } });
    const given = await download({ etag });
    if (!given.modified) expect.fail("not modified");
    expect(given.etag).toBe('"v8"');
    expect(Buffer.from(await given.bytes()).equals(jpeg)).toBe(true);
  });

  it("throws a typed error when the file does not exist", async () => {
    context.service.respond({ status: 404, body: { code: "no_such_file", message: "No." } });
    await expect(rejection(download())).resolves.toMatchObject({ name: "NotFoundError", code: "no_such_file" });
  });
});
