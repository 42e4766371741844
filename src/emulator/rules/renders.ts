import type { Render, RenderFile, RenderStatus } from "../../resources/renders/renders.endpoints.ts";
import { drawn, mainColour, thumbhashOf } from "../base/pictures.ts";
import { toTimestamp, type World } from "../state/world.ts";
import type { StoredRender } from "../work/records.ts";

export const renderStatus = (world: World, render: StoredRender): RenderStatus => {
  if (world.now() < render.completed) return "pending";
  return render.failed ? "failed" : "completed";
};

/** One of a render's two files. */
export type RenderPart = "media" | "thumbnail";

/** The width and height of a render's file, divided by those of its thumbnail. */
const thumbnailScale = 4;

/** The name that a render's colours derive from. */
const nameOf = ({ imageReference }: StoredRender): string => imageReference;

function outputOf(world: World, render: StoredRender) {
  const composition = world.compositions.get(render.compositionReference);
  const { widthPx, heightPx } = composition?.perspective.output ?? { widthPx: 600, heightPx: 800 };
  return { widthPx, heightPx, product: composition?.product.name ?? "" };
}

/** Draws a render's file. */
export function renderFile(world: World, render: StoredRender, part: RenderPart): Uint8Array<ArrayBuffer> {
  const { widthPx, heightPx, product } = outputOf(world, render);
  const scale = part === "media" ? 1 : thumbnailScale;
  return drawn(nameOf(render), Math.round(widthPx / scale), Math.round(heightPx / scale), product);
}

const describe = (bytes: Uint8Array): RenderFile => ({
  mimeType: "image/png",
  extension: "png",
  size: bytes.byteLength,
});

/** A render as the service returns it. Only a completed render has files and a thumbhash. */
export function toRender(world: World, render: StoredRender): Render {
  const status = renderStatus(world, render);
  const common = {
    reference: render.reference,
    compositionReference: render.compositionReference,
    imageReference: render.imageReference,
    status,
    created: toTimestamp(render.created),
  };
  if (status !== "completed") return { ...common, media: null, thumbnail: null, completed: null };
  const { widthPx, heightPx } = outputOf(world, render);
  return {
    ...common,
    thumbhash: thumbhashOf(mainColour(nameOf(render)), widthPx, heightPx),
    media: describe(renderFile(world, render, "media")),
    thumbnail: describe(renderFile(world, render, "thumbnail")),
    completed: toTimestamp(render.completed),
  };
}
