import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { PodPartner } from "pod-partner";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { missing, rejection, useExchange } from "../../support/exchange.ts";
import { secretKey } from "../../support/partner.ts";
import { jpeg, png } from "../../support/pictures.ts";
import { ref } from "../../support/references.ts";
import { startStubService } from "../../support/stub-service.ts";

describe("images (specification 2.7, 4.5)", () => {
  const { context, exchange, checksResponses } = useExchange();
  let folder = "";

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "pod-partner-images-"));
    await writeFile(join(folder, "design.png"), png);
  });
  afterAll(() => rm(folder, { recursive: true }));

  const sources = {
    "a path": () => join(folder, "design.png"),
    "a Uint8Array": () => png,
    "a Buffer": () => Buffer.from(png),
    "a view into a larger buffer": () => new Uint8Array([0, 0, 0, ...png, 0, 0]).subarray(3, 3 + png.length),
    "shared memory": () => {
      const shared = new Uint8Array(new SharedArrayBuffer(png.length));
      shared.set(png);
      return shared;
    },
    "a Blob": () => new Blob([png], { type: "image/png" }),
    "a File": () => new File([png], "design.png", { type: "image/png" }),
    "a web stream": () => new Blob([png]).stream(),
    "a web stream of buffers, as from a file handle of Node 22": () =>
      ReadableStream.from([png.buffer.slice(0, 3), png.buffer.slice(3)] as never[]),
    "a Node stream": () => Readable.from([Buffer.from(png.subarray(0, 3)), Buffer.from(png.subarray(3))]),
  };

  it.each(Object.entries(sources))("images.upload sends the raw bytes of %s to POST /images", async (_, source) => {
    const result = await exchange(
      (partner) => partner.images.upload(source()),
      { line: "POST /images", bytes: png },
      { body: { image: { reference: ref("Image", "1"), later: "kept" } } },
    );
    expect(result).toStrictEqual({ reference: ref("Image", "1"), later: "kept" });
  });

  it.each([200, 201])(
    "images.upload accepts %i as success, since the specification does not show the status",
    async (status) => {
      const result = await exchange(
        (partner) => partner.images.upload(jpeg),
        { line: "POST /images", bytes: jpeg },
        { status, body: { image: { reference: ref("Image", "1") } } },
      );
      expect(result).toStrictEqual({ reference: ref("Image", "1") });
    },
  );

  describe("images.upload cancels a stream that it does not read to its end", () => {
    const source = () => Readable.from(endless());
    async function* endless() {
      yield png;
      for (;;) {
        await new Promise(setImmediate);
        yield new Uint8Array(65_536);
      }
    }
    const closed = (stream: Readable) => expect.poll(() => stream.destroyed).toBe(true);

    it("when the service is not reachable", async () => {
      const stream = source();
      const gone = await startStubService();
      await gone.close();
      const partner = new PodPartner({ baseUrl: gone.baseUrl, secretKey, retry: { retries: 0 } });
      expect(await rejection(partner.images.upload(stream))).toMatchObject({ name: "ConnectionError" });
      await closed(stream);
    });

    it("when the call ends", async () => {
      const stream = source();
      const upload = context.partner.images.upload(stream, { timeout: 100 });
      expect(await rejection(upload)).toMatchObject({ name: "RequestTimeoutError" });
      await closed(stream);
    });

    it("when the stream yields something other than bytes", async () => {
      const stream = Readable.from([png, "text"].values());
      const upload = context.partner.images.upload(stream, { retry: { retries: 0 } });
      expect(await rejection(upload)).toMatchObject({ name: "ConnectionError", message: /other than bytes/ });
      await closed(stream);
    });

    it("when another option is invalid", async () => {
      const stream = source();
      const upload = context.partner.images.upload(stream, { timeout: -1 });
      expect(await rejection(upload)).toMatchObject({ name: "RequestValidationError" });
      await closed(stream);
    });
  });

  checksResponses("images.upload", {
    call: (partner) => partner.images.upload(jpeg),
    wire: { image: { reference: ref("Image", "1") } },
    refuses: [
      [["image"], missing],
      [["image", "reference"], missing],
      [["image", "reference"], ref("Evidence", "1")],
    ],
  });
});
