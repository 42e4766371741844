import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { UploadProgress } from "../../../src/binary/upload.ts";
import { rejection } from "../../support/exchange.ts";
import { useService } from "../../support/partner.ts";
import { png } from "../../support/pictures.ts";
import { ref } from "../../support/references.ts";
import { partnerOf, someImage } from "../../support/uploads.ts";

const large = Uint8Array.from([...png, ...new Uint8Array(300_000)]);
const size = large.length;

describe("the progress of an upload", () => {
  const context = useService();
  let path = "";
  beforeAll(async () => {
    path = join(await mkdtemp(join(tmpdir(), "pod-partner-progress-")), "large.png");
    await writeFile(path, large);
  });
  afterAll(() => rm(join(path, ".."), { recursive: true }));

  const sources = {
    "a path": () => path,
    bytes: () => large,
    "a blob": () => new Blob([large]),
  };

  it.each(Object.entries(sources))(
    "of %s counts to its size, and keeps the exact Content-Length",
    async (_, source) => {
      const { service, partner } = context;
      for (const method of ["upload", "uploadOnce"] as const) {
        const seen: UploadProgress[] = [];
        service.respond(someImage);
        await partner.images[method](source(), { onProgress: (progress) => seen.push(progress) });
        const request = service.requests.at(-1) ?? expect.fail();
        expect(request.headers).toMatchObject({ "content-length": String(size) });
        expect(request.headers["transfer-encoding"]).toBeUndefined();
        expect(request.body.equals(large)).toBe(true);
        expect(seen.length).toBeGreaterThan(1);
        expect(seen.at(-1)).toEqual({ sent: size, size });
        expect(seen.map(({ sent }) => sent)).toEqual(seen.map(({ sent }) => sent).toSorted((a, b) => a - b));
      }
    },
  );

  it("of a stream has no size", async () => {
    const seen: UploadProgress[] = [];
    context.service.respond(someImage);
    const chunks = [png, large.subarray(png.length)];
    await context.partner.images.upload(Readable.from(chunks), { onProgress: (progress) => seen.push(progress) });
    expect(seen[0]).toEqual({ sent: png.length, size: undefined });
    expect(seen.at(-1)).toEqual({ sent: size, size: undefined });
    expect(context.service.requests[0]?.body.equals(large)).toBe(true);
  });

  it("is also reported by evidence.upload", async () => {
    const seen: UploadProgress[] = [];
    context.service.respond({ body: { evidence: { reference: ref("Evidence", "1") } } });
    await context.partner.evidence.upload(large, { onProgress: (progress) => seen.push(progress) });
    expect(seen.at(-1)).toEqual({ sent: size, size });
    const wrong = { onDownsize: () => undefined } as never;
    expect(await rejection(context.partner.evidence.upload(png, wrong))).toMatchObject({
      issues: [{ path: ["onDownsize"] }],
    });
  });

  it("begins again with each attempt", async () => {
    const partner = partnerOf(context.service, { retry: { retries: 1, baseDelay: 0 } });
    const seen: number[] = [];
    context.service.respond({ status: 503 }, someImage);
    await partner.images.upload(new Blob([large]), { onProgress: ({ sent }) => seen.push(sent) });
    const attempts = seen.filter((sent, index) => index === 0 || sent < (seen[index - 1] ?? 0));
    expect(attempts).toHaveLength(2);
    expect(seen.filter((sent) => sent === size)).toHaveLength(2);
    expect(context.service.requests.map(({ body }) => body.equals(large))).toEqual([true, true]);
  });

  it.each(Object.entries({ ...sources, "a stream": () => Readable.from([png, large]) }))(
    "ends the upload of %s with the error that onProgress throws, without a retry",
    async (_, source) => {
      const partner = partnerOf(context.service, { retry: { retries: 3, baseDelay: 0 } });
      for (const method of ["upload", "uploadOnce"] as const) {
        const enough = new Error("enough");
        let calls = 0;
        const onProgress = () => {
          calls += 1;
          throw enough;
        };
        expect(await rejection(partner.images[method](source(), { onProgress }))).toBe(enough);
        expect(calls).toBe(1);
      }
    },
  );

  it("refuses an option that is not a function, together with the other faults", async () => {
    const wrong = { onProgress: 1, timeout: -1 } as never;
    const error = await rejection(context.partner.images.upload(new Uint8Array(3), wrong));
    const paths = (error as { issues: { path: unknown }[] }).issues.map(({ path: at }) => at);
    expect(paths).toEqual(expect.arrayContaining([["onProgress"], ["timeout"], []]));
    expect(context.service.requests).toHaveLength(0);
  });
});
