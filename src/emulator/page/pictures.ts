import { isReference } from "../../references/references.ts";
import { controlRoot } from "../base/messages.ts";
import { drawn } from "../base/pictures.ts";
import type { FileContent } from "../http/respond.ts";
import { evidenceOf } from "../rules/files.ts";
import { renderFile, renderStatus } from "../rules/renders.ts";
import type { World } from "../state/world.ts";

/** The path that the page's script and style sheet begin with. */
export const assets = `${controlRoot}/page/`;

const pictures = `${controlRoot}/pictures`;

/** The path of a render's thumbnail. */
export const renderPath = (reference: string): string => `${pictures}/renders/${reference}`;

/** The path of a photo of a claim. */
export const evidencePath = (reference: string): string => `${pictures}/evidence/${reference}`;

/** The path of the example picture of a product. */
export const productPath = (reference: string): string => `${pictures}/products/${reference}`;

type Picture = Pick<FileContent, "bytes" | "type">;

/** The thumbnail of a completed render, or with `part=media` its picture. */
function renderPicture(world: World, path: string, part: string | null): Picture | undefined {
  const render = world.renders.get(path.slice(renderPath("").length));
  if (render === undefined || renderStatus(world, render) !== "completed") return undefined;
  return { bytes: renderFile(world, render, part === "media" ? "media" : "thumbnail"), type: "image/png" };
}

/** A small example picture of a product. */
function productPicture(world: World, reference: string): Picture | undefined {
  const product = world.products.get(reference);
  if (product === undefined) return undefined;
  return { bytes: drawn(`${product.name}/example.png`, 96, 128, product.name), type: "image/png" };
}

/** Returns the picture of a path, of any organization. The page's pictures need no key, because the page has none. */
export function pictureAt(worlds: readonly World[], url: URL): Picture | undefined {
  for (const world of worlds) {
    const picture = pictureOf(world, url);
    if (picture !== undefined) return picture;
  }
  return undefined;
}

function pictureOf(world: World, { pathname, searchParams }: URL): Picture | undefined {
  if (pathname.startsWith(renderPath(""))) return renderPicture(world, pathname, searchParams.get("part"));
  if (pathname.startsWith(productPath(""))) return productPicture(world, pathname.slice(productPath("").length));
  if (!pathname.startsWith(evidencePath(""))) return undefined;
  const reference = pathname.slice(evidencePath("").length);
  const evidence = isReference("Evidence", reference) ? evidenceOf(world, reference) : undefined;
  if (evidence === undefined) return undefined;
  const bytes = new Uint8Array(Buffer.from(evidence.content, "base64"));
  return { bytes, type: bytes[0] === 0xff ? "image/jpeg" : "image/png" };
}
