import { describe, expect, it } from "vitest";
import { expectSent, missing, rejection, useExchange } from "../../support/exchange.ts";
import { jpeg, png } from "../../support/pictures.ts";
import { ref } from "../../support/references.ts";

describe("evidence (specification 2.7, 2.8, 4.5)", () => {
  const { context, exchange, checksResponses } = useExchange();

  it.each([
    ["JPEG", jpeg],
    ["PNG", png],
  ])("evidence.upload sends the raw bytes of a %s to POST /evidence", async (_, bytes) => {
    const result = await exchange(
      (partner) => partner.evidence.upload(bytes),
      { line: "POST /evidence", bytes },
      { status: 201, body: { evidence: { reference: ref("Evidence", "1"), later: "kept" } } },
    );
    expect(result).toStrictEqual({ reference: ref("Evidence", "1"), later: "kept" });
  });

  it("evidence.download sends a GET of a claim's URL and returns the bytes unchanged", async () => {
    const url = `${context.service.baseUrl}/evidence/1`;
    context.service.respond({ headers: { "content-type": "image/jpeg", etag: '"1"' }, body: jpeg });
    const download = await context.partner.evidence.download(url);
    expectSent(context.service.requests[0], { line: "GET /evidence/1" });
    expect(download).toMatchObject({ contentType: "image/jpeg", etag: '"1"', size: jpeg.length });
    expect(Buffer.from(await download.bytes()).equals(jpeg)).toBe(true);
  });

  it.each([
    [404, "NotFoundError"],
    [410, "GoneError"],
  ])("evidence.download of a photo that was purged throws the error of a %i", async (status, name) => {
    context.service.respond({ status, body: { code: "purged", message: "No longer." } });
    const download = context.partner.evidence.download(`${context.service.baseUrl}/evidence/1`);
    await expect(rejection(download)).resolves.toMatchObject({ name, code: "purged" });
  });

  checksResponses("evidence.upload", {
    call: (partner) => partner.evidence.upload(png),
    wire: { evidence: { reference: ref("Evidence", "1") } },
    refuses: [
      [["evidence"], missing],
      [["evidence", "reference"], missing],
      [["evidence", "reference"], ref("Image", "1")],
    ],
  });
});
