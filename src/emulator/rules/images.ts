import type { StoredImage } from "../records/records.ts";
import type { World } from "../state/world.ts";

/** Adds the image of a content. The same content has the same reference (specification 2.7). */
export function addImage(world: World, content: string): StoredImage {
  const reference = world.make.named("Image", `${world.organization.name}/${content}`);
  return world.images.get(reference) ?? world.images.add({ reference });
}
