import { createManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { jpeg } from "../support/pictures.ts";
import { ref } from "../support/references.ts";
import {
  etag,
  file,
  fileKeys,
  immutable,
  lastModified,
  media,
  read,
  revalidated,
  unsaid,
  useCache,
} from "./support.ts";

const day = 86_400_000;
const same = (bytes: Uint8Array) => Buffer.from(bytes).equals(jpeg);

describe("a cached file that is fresh", () => {
  const context = useCache();

  it.each([
    ["a render of the specification (4.6, rule 3), after 300 days", immutable, 300 * day],
    ["max-age, in its last second", { "cache-control": "max-age=60" }, 59_000],
    ["Expires", { date: "Wed, 18 Nov 2026 08:00:00 GMT", expires: "Wed, 18 Nov 2026 08:01:00 GMT" }, 59_000],
    ["directives in capitals", { "cache-control": "PRIVATE, MAX-AGE=60" }, 59_000],
    ["an age on arrival", { "cache-control": "max-age=60", age: "50" }, 9_000],
  ])("is not requested again: %s", async (_, headers, later) => {
    context.service.respond(file(headers));
    const first = await read(context.client());
    expect(first.fromCache).toBe(false);
    await context.clock.advance(later);
    const second = await read(context.client());
    expect(second.fromCache).toBe(true);
    expect([same(first.bytes), same(second.bytes)]).toEqual([true, true]);
    expect(context.service.requests).toHaveLength(1);
  });

  it("is one of each of the four kinds of files", async () => {
    context.service.respondAlways(file(immutable));
    const { catalog, renders } = context.client();
    const kinds = [
      () => catalog.products.media(ref("Product"), "front.jpg"),
      () => catalog.products.layerImage(`${context.service.origin}/layers/a.png?signature=a`),
      () => renders.media(ref("Render")),
      () => renders.thumbnail(ref("Render")),
    ];
    for (const kind of kinds) await (await kind()).bytes();
    for (const kind of kinds) expect((await kind()).fromCache).toBe(true);
    expect(context.service.requests).toHaveLength(4);
  });

  it("has the headers, the size and the type of its response, and an age", async () => {
    context.service.respond(file({ ...immutable, "last-modified": lastModified }));
    const partner = context.client();
    const first = await media(partner).withResponse();
    await first.data.bytes();
    expect(first.timeline[0]).toMatchObject({ step: "cache", outcome: "absent" });
    await context.clock.advance(90_000);
    const { data, response, timeline } = await media(partner).withResponse();
    expect(data).toMatchObject({ contentType: "image/jpeg", etag, lastModified, size: jpeg.length, fromCache: true });
    expect(response).toBeInstanceOf(Response);
    expect(response.status).toBe(200);
    expect(response.url).toBe(`${context.service.baseUrl}/products/${ref("Product")}/media/front.jpg`);
    expect(response.headers.get("age")).toBe("90");
    expect(timeline).toEqual([{ step: "cache", at: 0, took: 0, outcome: "fresh" }]);
  });

  it("has its length, also if its response had none", async () => {
    const headers = { "content-type": "image/jpeg", ...immutable };
    const partner = context.client({ fetch: async () => new Response(new Blob([jpeg]).stream(), { headers }) });
    expect((await read(partner)).fromCache).toBe(false);
    const download = await media(partner);
    expect([download.fromCache, download.size, same(await download.bytes())]).toEqual([true, jpeg.length, true]);
  });

  it("is requested again by a process whose clock is behind by more than the lifetime", async () => {
    context.service.respondAlways(file({ "cache-control": "max-age=60" }));
    await read(context.client());
    const behind = (by: number) => context.client({ clock: createManualClock(context.clock.now() - by) });
    const { data, response } = await media(behind(59_000)).withResponse();
    expect([data.fromCache, response.headers.get("age")]).toEqual([true, "0"]);
    expect((await read(behind(61_000))).fromCache).toBe(false);
  });

  it("takes no token", async () => {
    const limits = { "x-ratelimit-policy": '"downloads";q=10;w=60', "x-ratelimit": '"downloads";r=7;t=0' };
    context.service.respond(file({ ...immutable, ...limits }));
    const partner = context.client();
    await read(partner);
    const before = partner.rateLimits.policies;
    await read(partner);
    expect(partner.rateLimits.policies).toEqual(before);
  });
});

describe("a cached file that is not fresh", () => {
  const context = useCache();

  it.each([
    ["an example image of the specification (4.3)", revalidated, 0],
    ["a layer image of the specification (4.3), which has no Cache-Control", unsaid, 0],
    ["a render after a year", immutable, 366 * day - 1],
    ["max-age that is over", { "cache-control": "max-age=60", etag }, 61_000],
    ["max-age of the response's own age", { "cache-control": "max-age=60", age: "50", etag }, 11_000],
    ["max-age of shared caches only", { "cache-control": "max-age=0, s-maxage=600", etag }, 1],
    ["Pragma: no-cache", { pragma: "No-Cache", expires: "Wed, 18 Nov 2099 08:00:00 GMT", etag }, 0],
  ])("is revalidated, and comes from the cache after a 304: %s", async (_, headers, later) => {
    context.service.respond(file(headers), { status: 304, headers });
    await read(context.client());
    await context.clock.advance(later);
    const { fromCache, bytes } = await read(context.client());
    expect([fromCache, same(bytes)]).toEqual([true, true]);
    expect(context.service.requests[1]?.headers["if-none-match"]).toBe(etag);
  });

  it("is revalidated by Last-Modified if it has no ETag, and keeps its type", async () => {
    const headers = { "cache-control": "no-cache", "last-modified": lastModified };
    context.service.respond(file(headers), { status: 304, headers: { "content-type": "text/html" } });
    await read(context.client());
    const { data, timeline } = await media(context.client()).withResponse();
    expect(data).toMatchObject({ fromCache: true, contentType: "image/jpeg" });
    expect(timeline[0]).toMatchObject({ step: "cache", outcome: "stale" });
    expect(context.service.requests[1]?.headers).toMatchObject({ "if-modified-since": lastModified });
  });

  it("is fresh again after a 304 that says so", async () => {
    const headers = { "cache-control": "max-age=30", etag };
    context.service.respond(file(headers), { status: 304, headers });
    await read(context.client());
    await context.clock.advance(31_000);
    await read(context.client());
    await context.clock.advance(29_000);
    expect((await read(context.client())).fromCache).toBe(true);
    expect(context.service.requests).toHaveLength(2);
  });

  it("is replaced by a new version", async () => {
    const next = new Uint8Array([...jpeg.subarray(0, 20), 7, ...jpeg.subarray(20)]);
    const headers = { ...revalidated, etag: '"v2"' };
    context.service.respond(file(revalidated), file(headers, next), { status: 304, headers });
    await read(context.client());
    const { fromCache, bytes } = await read(context.client());
    expect([fromCache, Buffer.from(bytes).equals(next)]).toEqual([false, true]);
    const third = await read(context.client());
    expect([third.fromCache, Buffer.from(third.bytes).equals(next)]).toEqual([true, true]);
    await expect.poll(() => fileKeys(context.storage)).toHaveLength(2);
  });

  it("is removed by a 304 that forbids to store it", async () => {
    context.service.respond(file(revalidated), { status: 304, headers: { etag, "cache-control": "no-store" } });
    await read(context.client());
    expect(same((await read(context.client())).bytes)).toBe(true);
    expect(await fileKeys(context.storage)).toEqual([]);
  });

  it("is requested again after a 304 about a version that neither side has", async () => {
    context.service.respond(file(revalidated), { status: 304, headers: { etag: '"other"' } }, file(revalidated));
    await read(context.client());
    expect((await read(context.client())).fromCache).toBe(false);
    expect(context.service.requests[2]?.headers).not.toHaveProperty("if-none-match");
  });

  it("is not used when the service reports an error", async () => {
    context.service.respond(file(revalidated), { status: 503 });
    await read(context.client());
    await expect(read(context.client())).rejects.toMatchObject({ name: "ServerError" });
  });
});

describe("a response that is not stored", () => {
  const context = useCache();

  it.each([
    ["no-store", file({ "cache-control": "no-store", etag })],
    ["no-store beside others, in capitals", file({ "cache-control": "private, max-age=60, No-Store", etag })],
    ["Vary: *", file({ ...immutable, vary: "*" })],
    ["a file that a proxy has changed (203)", { ...file(immutable), status: 203 }],
    ["a compressed file", file({ ...immutable, "content-encoding": "br" }, Buffer.from("CwGAYUMD", "base64"))],
  ])("%s", async (_, response) => {
    context.service.respond(response);
    await read(context.client()).catch(() => undefined);
    expect(await fileKeys(context.storage)).toEqual([]);
  });

  it("a file that a `fetch` of the caller has cut off", async () => {
    const headers = { "content-type": "image/jpeg", "content-length": "1000", ...immutable };
    await read(context.client({ fetch: async () => new Response(jpeg, { headers }) }));
    await expect.poll(() => fileKeys(context.storage)).toEqual([]);
  });

  it.each([
    ["202", { status: 202, headers: { "retry-after": "5", ...immutable } }, "NotReadyError"],
    ["404", { status: 404, headers: immutable, body: { code: "not_found", message: "No." } }, "NotFoundError"],
    ["410", { status: 410, headers: immutable, body: { code: "gone", message: "No." } }, "GoneError"],
    ["500", { status: 500, headers: immutable }, "ServerError"],
    ["206", { ...file(immutable), status: 206 }, "ResponseValidationError"],
    ["an empty file", { headers: { "content-type": "image/png", ...immutable } }, "ResponseValidationError"],
    [
      "a page of a proxy",
      { headers: { "content-type": "text/html", ...immutable }, body: "<p>" },
      "ResponseValidationError",
    ],
  ])("%s", async (_, response, name) => {
    context.service.respond(response);
    await expect(read(context.client())).rejects.toMatchObject({ name });
    expect(await fileKeys(context.storage)).toEqual([]);
  });

  it("does not change without the option", async () => {
    context.service.respond(file(immutable), file(immutable));
    const partner = context.client({ fileCache: false });
    await read(partner);
    expect((await read(partner)).fromCache).toBe(false);
    expect(await fileKeys(context.storage)).toEqual([]);
  });
});

describe("the headers of a request", () => {
  const context = useCache();

  it("select the version that Vary names, and are stored only as a hash", async () => {
    const secret = "dutch-but-secret";
    context.service.respondAlways(file({ ...immutable, vary: "Accept-Language" }));
    const partner = context.client();
    await read(partner, { "Accept-Language": secret });
    expect((await read(partner, { "Accept-Language": secret })).fromCache).toBe(true);
    for await (const key of context.storage.keys("")) {
      expect(Buffer.from((await context.storage.get(key)) ?? []).includes(secret)).toBe(false);
    }
    expect((await read(partner, { "Accept-Language": "en" })).fromCache).toBe(false);
    expect(context.service.requests[1]?.headers).not.toHaveProperty("if-none-match");
  });

  it.each([
    ["no-cache", revalidated],
    ["no lifetime", unsaid],
  ])("cannot allow a stale file: %s", async (_, headers) => {
    context.service.respond(file(headers), { status: 304, headers });
    const partner = context.client();
    await read(partner);
    await read(partner, { "Cache-Control": "max-stale" });
    expect(context.service.requests).toHaveLength(2);
  });

  it.each([
    ["Cache-Control: no-cache", { "Cache-Control": "no-cache" }, 2],
    ["Cache-Control: no-store", { "Cache-Control": "no-store" }, 1],
    ["Range", { Range: "bytes=0-3" }, 2],
    ["If-Match", { "If-Match": '"v2"' }, 2],
    ["If-Unmodified-Since", { "If-Unmodified-Since": lastModified }, 2],
  ])("%s of the caller is kept", async (_, headers, requests) => {
    context.service.respondAlways(file(immutable));
    const partner = context.client();
    await read(partner);
    await read(partner, headers);
    expect(context.service.requests).toHaveLength(requests);
  });
});
