import type { ConditionalOptions, PodPartner } from "pod-partner";
import { describe, expect, it } from "vitest";
import { ref } from "../support/references.ts";
import { etag, file, immutable, lastModified, read, revalidated, useCache } from "./support.ts";

const conditional = (partner: PodPartner, known: ConditionalOptions) =>
  partner.catalog.products.media(ref("Product"), "front.jpg", known);

describe("a caller with a copy of its own", () => {
  const context = useCache();

  it.each([
    ["etag", { etag }],
    ["any etag", { etag: "*" }],
    ["a list of etags", { etag: `"v0", W/${etag}` }],
    ["lastModified", { lastModified }],
    ["a later lastModified", { lastModified: "Thu, 19 Nov 2026 08:00:00 GMT" }],
  ])("gets NotModified from the cache without a request, by %s", async (_, known) => {
    context.service.respond(file({ ...immutable, "last-modified": lastModified }));
    const partner = context.client();
    await read(partner);
    const { data, response } = await conditional(partner, known).withResponse();
    expect(data).toEqual({ modified: false, etag, lastModified });
    expect(response.status).toBe(304);
    expect(context.service.requests).toHaveLength(1);
  });

  it.each([
    ["another etag", { etag: '"v0"' }],
    ["an earlier lastModified", { lastModified: "Tue, 17 Nov 2026 08:00:00 GMT" }],
    ["another etag with the same lastModified", { etag: '"v0"', lastModified }],
  ])("gets the file from the cache without a request, with %s", async (_, known) => {
    context.service.respond(file({ ...immutable, "last-modified": lastModified }));
    const partner = context.client();
    await read(partner);
    const given = await conditional(partner, known);
    expect(given).toMatchObject({ modified: true, fromCache: true });
    expect(context.service.requests).toHaveLength(1);
  });

  it("gets the 304 of the service when nothing is cached", async () => {
    context.service.respond({ status: 304, headers: { etag } });
    expect(await conditional(context.client(), { etag })).toMatchObject({ modified: false, etag });
    expect(context.service.requests[0]?.headers["if-none-match"]).toBe(etag);
  });

  it("fills the cache with a file that is new to both", async () => {
    context.service.respond(file(immutable));
    const partner = context.client();
    const given = await conditional(partner, { etag: '"v0"' });
    if (!given.modified) expect.fail("not modified");
    await given.bytes();
    expect((await read(partner)).fromCache).toBe(true);
  });
});

describe("a caller with a copy of its own, and a cached file that is not fresh", () => {
  const context = useCache();

  it("asks for both versions at once, and gets the cached one if that is valid", async () => {
    context.service.respond(file(revalidated), { status: 304, headers: revalidated });
    const partner = context.client();
    await read(partner);
    expect(await conditional(partner, { etag: '"v0"' })).toMatchObject({ modified: true, fromCache: true });
    expect(context.service.requests[1]?.headers["if-none-match"]).toBe(`"v0", ${etag}`);
  });

  it("gets NotModified if its own copy is the valid one, and the cached one goes", async () => {
    const headers = { ...revalidated, etag: '"v2"' };
    context.service.respond(file(revalidated), { status: 304, headers }, file(headers));
    const partner = context.client();
    await read(partner);
    expect(await conditional(partner, { etag: '"v2"' })).toMatchObject({ modified: false, etag: '"v2"' });
    expect((await read(partner)).fromCache).toBe(false);
    expect(context.service.requests[2]?.headers).not.toHaveProperty("if-none-match");
  });

  it("gets NotModified if both are the same valid copy", async () => {
    context.service.respond(file(revalidated), { status: 304, headers: revalidated });
    const partner = context.client();
    await read(partner);
    expect(await conditional(partner, { etag })).toMatchObject({ modified: false, etag });
  });

  it("asks only for its own copy if a request cannot ask for both, and the cached one stays", async () => {
    const since = "Thu, 19 Nov 2026 08:00:00 GMT";
    context.service.respond(file(revalidated), { status: 304 }, { status: 304, headers: revalidated });
    const partner = context.client();
    await read(partner);
    expect(await conditional(partner, { lastModified: since })).toMatchObject({ modified: false });
    expect(context.service.requests[1]?.headers["if-modified-since"]).toBe(since);
    expect(context.service.requests[1]?.headers).not.toHaveProperty("if-none-match");
    expect((await read(partner)).fromCache).toBe(true);
  });

  it("asks only for any version at all with `*`, which no list can contain", async () => {
    context.service.respond(file(revalidated), { status: 304, headers: revalidated });
    const partner = context.client();
    await read(partner);
    expect(await conditional(partner, { etag: "*" })).toMatchObject({ modified: false, etag });
    expect(context.service.requests[1]?.headers["if-none-match"]).toBe("*");
  });

  it("asks only for its own copy by its etag if the cached one has none", async () => {
    context.service.respond(file({ "cache-control": "no-cache", "last-modified": lastModified }), { status: 304 });
    const partner = context.client();
    await read(partner);
    expect(await conditional(partner, { etag: '"v0"' })).toMatchObject({ modified: false });
    expect(context.service.requests[1]?.headers).toMatchObject({ "if-none-match": '"v0"' });
    expect(context.service.requests[1]?.headers).not.toHaveProperty("if-modified-since");
  });
});
