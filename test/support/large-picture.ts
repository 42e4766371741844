import { setImmediate } from "node:timers/promises";
import { collectGarbage } from "./garbage.ts";
import { png } from "./pictures.ts";

/** A picture of 6.5 MB that a test reads as a stream, and the number of its 100 pieces that are still in memory at its end. */
export function largePicture() {
  const pieces: WeakRef<Uint8Array>[] = [];
  let alive = Number.NaN;
  async function* picture() {
    yield png;
    for (let piece = 0; piece < 100; piece++) {
      const bytes = new Uint8Array(65_536);
      pieces.push(new WeakRef(bytes));
      yield bytes;
      // A `WeakRef` keeps its target until the current task of the event loop ends.
      await setImmediate();
    }
    collectGarbage();
    alive = pieces.filter((piece) => piece.deref() !== undefined).length;
  }
  return { source: picture(), size: png.length + 100 * 65_536, alive: () => alive };
}
