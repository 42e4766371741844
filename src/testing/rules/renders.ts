import type { Render, RenderFile, RenderStatus } from "../../resources/renders/renders.schema.ts";
import { drawn } from "../pictures/drawn.ts";
import { mainColour } from "../pictures/phone-case.ts";
import { thumbhashOf } from "../pictures/thumbhash.ts";
import type { StoredRender } from "../state/records.ts";
import { toTimestamp, type World } from "../state/world.ts";

export const statusOf = (world: World, render: StoredRender): RenderStatus => {
  if (world.now() < render.completed) return "pending";
  return render.failed ? "failed" : "completed";
};

/** Which of a render's two files. */
export type RenderPart = "media" | "thumbnail";

/** How much smaller a thumbnail is, each way. */
const thumbnailScale = 4;

/** The name from which a render's colours derive. */
const nameOf = ({ imageReference }: StoredRender): string => imageReference;

function outputOf(world: World, render: StoredRender) {
  const output = world.compositions.get(render.compositionReference)?.perspective.output;
  return output ?? { widthPx: 600, heightPx: 800 };
}

/** A render's file. */
export function renderFile(world: World, render: StoredRender, part: RenderPart): Uint8Array<ArrayBuffer> {
  const { widthPx, heightPx } = outputOf(world, render);
  const scale = part === "media" ? 1 : thumbnailScale;
  return drawn(nameOf(render), Math.round(widthPx / scale), Math.round(heightPx / scale));
}

const describe = (bytes: Uint8Array): RenderFile => ({
  mimeType: "image/png",
  extension: "png",
  size: bytes.byteLength,
});

/** A render as the service answers it: its files and its placeholder come with completion. */
export function toRender(world: World, render: StoredRender): Render {
  const status = statusOf(world, render);
  const answer = {
    reference: render.reference,
    compositionReference: render.compositionReference,
    imageReference: render.imageReference,
    status,
    created: toTimestamp(render.created),
  };
  if (status !== "completed") return { ...answer, media: null, thumbnail: null, completed: null };
  const { widthPx, heightPx } = outputOf(world, render);
  return {
    ...answer,
    thumbhash: thumbhashOf(mainColour(nameOf(render)), widthPx, heightPx),
    media: describe(renderFile(world, render, "media")),
    thumbnail: describe(renderFile(world, render, "thumbnail")),
    completed: toTimestamp(render.completed),
  };
}
