import { describe, expect, it } from "vitest";
import { setUp } from "../support.ts";

describe("files", () => {
  it.each(["media/example.png", "layers/base.png"])("respond with 304 when %s matches", async (file) => {
    const { get, demo } = setUp();
    const path = `/products/${demo.products.slimCase}/${file}`;
    const { headers } = await get(path);
    const etag = headers.get("ETag") ?? "";
    const modified = headers.get("Last-Modified") ?? "";
    const known: Record<string, string>[] = [
      { "If-None-Match": `"x", W/${etag}` },
      { "If-None-Match": "*" },
      { "If-Modified-Since": modified },
    ];
    for (const headers of known) {
      const response = await get(path, headers);
      expect({ status: response.status, etag: response.headers.get("ETag"), size: response.body.byteLength }).toEqual({
        status: 304,
        etag,
        size: 0,
      });
    }
    expect((await get(path, { "If-None-Match": '"x"', "If-Modified-Since": modified })).status).toBe(200);
    expect((await get(path, { "If-Modified-Since": "Thu, 01 Jan 1970 00:00:00 GMT" })).status).toBe(200);
    expect((await get(path, { "If-Modified-Since": "nonsense" })).status).toBe(200);
  });
});

it("a page has 50 items by default", async () => {
  const { get } = setUp({ seed: { orders: 51 } });
  expect((await get("/orders")).body.orders).toHaveLength(50);
});
