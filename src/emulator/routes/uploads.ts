import { createHash } from "node:crypto";
import { uploadEvidence } from "../../resources/evidence/evidence.endpoints.ts";
import { listImages, uploadImage } from "../../resources/images/images.endpoints.ts";
import { assertCurrent } from "../base/messages.ts";
import { collect, readImage } from "../http/input.ts";
import { type Route, route } from "../http/route.ts";
import { addEvidence, addImage, purgeEvidence } from "../rules/files.ts";

export const imageRoutes: readonly Route[] = [
  route(uploadImage, async ({ world, request }) => {
    // Keep only a hash of the content, so that a large upload needs little memory.
    const hash = createHash("sha256");
    for await (const piece of readImage(request)) hash.update(piece);
    assertCurrent(world);
    return addImage(world, hash.digest("hex"));
  }),
  route(listImages, ({ world, query }) => world.images.page(query?.cursor)),
];

export const evidenceRoutes: readonly Route[] = [
  route(uploadEvidence, async ({ world, request }) => {
    const bytes = await collect(readImage(request));
    assertCurrent(world);
    purgeEvidence(world);
    return { reference: addEvidence(world, bytes).reference };
  }),
];
