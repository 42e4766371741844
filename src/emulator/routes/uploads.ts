import { createHash } from "node:crypto";
import { endpoint } from "../../http/endpoint.ts";
import { downloadEvidence, uploadEvidence } from "../../resources/evidence/evidence.ts";
import { listImages, uploadImage } from "../../resources/images/images.endpoints.ts";
import { assertCurrent } from "../base/messages.ts";
import { found } from "../base/problem.ts";
import { collect, readImage } from "../http/input.ts";
import { fileResponse, revalidated } from "../http/respond.ts";
import { pages, type Route, rawRoute, referenceOnly, route } from "../http/route.ts";
import { addEvidence, addImage, evidenceOf, purgeEvidence } from "../rules/files.ts";

/** The specification shows no path of evidence, so this is the emulator's own. */
const getEvidence = endpoint({
  call: downloadEvidence.call,
  method: "GET",
  path: "/evidence/{evidenceReference}",
  response: { kind: "binary" },
  repeat: "safe",
});

export const imageRoutes: readonly Route[] = [
  route(uploadImage, {
    models: "PNG and JPEG; the same content has the same reference",
    options: ["seed.images"],
    controls: ["seed"],
    promises: referenceOnly,
    handle: async ({ world, request }) => {
      // Keep only a hash of the content, so that a large upload needs little memory.
      const hash = createHash("sha256");
      for await (const piece of readImage(request)) hash.update(piece);
      assertCurrent(world);
      return addImage(world, hash.digest("hex"));
    },
  }),
  route(listImages, {
    models: "uploaded images, newest first, by pages",
    options: ["pageSize", "seed.images"],
    controls: ["seed"],
    query: pages,
    promises: referenceOnly,
    handle: ({ world, query }) => world.images.page(query?.cursor),
  }),
];

export const evidenceRoutes: readonly Route[] = [
  route(uploadEvidence, {
    models: "PNG and JPEG; unused evidence is deleted after 1 day",
    options: ["seed.evidence"],
    controls: ["seed", "clock.advance"],
    promises: referenceOnly,
    handle: async ({ world, request }) => {
      const bytes = await collect(readImage(request));
      assertCurrent(world);
      purgeEvidence(world);
      return { reference: addEvidence(world, bytes).reference };
    },
  }),
  rawRoute(getEvidence, {
    models: "the evidence of a claim, until about four months after its end",
    controls: ["clock.advance"],
    handle: ({ world, path, request }) => {
      const evidence = found(evidenceOf(world, path.evidenceReference), `Evidence ${path.evidenceReference}`);
      const bytes = new Uint8Array(Buffer.from(evidence.content, "base64"));
      const type = bytes[0] === 0xff ? "image/jpeg" : "image/png";
      const { created: modified } = evidence;
      return fileResponse(world, request, { bytes, type, cacheControl: revalidated, modified, promised: [] });
    },
  }),
];
