import { Readable } from "node:stream";
import { type ImageSource, PodPartner } from "pod-partner";
import { describe, expect, it } from "vitest";
import { largePicture } from "../support/large-picture.ts";
import { secretKey, useService } from "../support/partner.ts";
import { png } from "../support/pictures.ts";
import { ref } from "../support/references.ts";
import { transports } from "../support/transports.ts";

describe.each(transports)("an upload that streams over $name (law 7)", ({ over }) => {
  const context = useService(over);

  it("is not kept in memory while it is sent", async () => {
    const { source, size, alive } = largePicture();
    context.service.respond({ body: { image: { reference: ref("Image") } } });
    await context.partner.images.upload(ReadableStream.from(source));
    expect(context.service.requests[0]?.body).toHaveLength(size);
    expect(alive()).toBeLessThan(50);
  });
});

describe("an upload that streams", () => {
  const context = useService();

  it.each<[string, () => ImageSource]>([
    ["a Blob", () => new Blob([png])],
    ["a web stream", () => new Blob([png]).stream()],
    ["a Node stream", () => Readable.from([png])],
  ])("sets `redirect` and `window` so that fetch does not keep a copy of %s", async (_, source) => {
    const given: unknown[] = [];
    const partner = new PodPartner({
      baseUrl: context.service.baseUrl,
      secretKey,
      fetch: (request, init) => {
        given.push(init);
        return fetch(request, init);
      },
    });
    context.service.respond({ body: { image: { reference: ref("Image") } } });
    await partner.images.upload(source());
    expect(given).toMatchObject([{ redirect: "error", window: null }]);
  });
});
