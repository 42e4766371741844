import { endpoint } from "../../http/endpoint.ts";
import { getLayerImage } from "../../resources/catalog/catalog.endpoints.ts";
import { downloadEvidence } from "../../resources/evidence/evidence.endpoints.ts";
import { drawn } from "../base/pictures.ts";
import { found, Problem } from "../base/problem.ts";
import { fileResponse, revalidated } from "../http/respond.ts";
import { type Route, rawRoute } from "../http/route.ts";
import { availableProduct, hasLayers, layerFile } from "../rules/catalog.ts";
import { evidenceOf } from "../rules/files.ts";

/** The files that URLs in responses point at. The specification does not show their paths, so these are the emulator's own. */

const getLayerFile = endpoint({
  call: getLayerImage.call,
  method: "GET",
  path: "/products/{productReference}/layers/{filename}",
  response: { kind: "binary" },
  repeat: "safe",
});

const getEvidence = endpoint({
  call: downloadEvidence.call,
  method: "GET",
  path: "/evidence/{evidenceReference}",
  response: { kind: "binary" },
  repeat: "safe",
});

export const fileRoutes: readonly Route[] = [
  rawRoute(getLayerFile, ({ world, path, request }) => {
    const product = availableProduct(world, path.productReference);
    if (path.filename !== layerFile || !hasLayers(product)) {
      throw new Problem("not_found", `Layer image ${path.filename} does not exist`);
    }
    const bytes = drawn(`${product.name}/${product.layersModified}`, 240, 320);
    return fileResponse(request, {
      bytes,
      type: "image/png",
      cacheControl: revalidated,
      modified: product.layersModified,
    });
  }),
  rawRoute(getEvidence, ({ world, path, request }) => {
    const evidence = found(evidenceOf(world, path.evidenceReference), `Evidence ${path.evidenceReference}`);
    const bytes = new Uint8Array(Buffer.from(evidence.content, "base64"));
    const type = bytes[0] === 0xff ? "image/jpeg" : "image/png";
    return fileResponse(request, {
      bytes,
      type,
      cacheControl: revalidated,
      modified: evidence.created,
    });
  }),
];
