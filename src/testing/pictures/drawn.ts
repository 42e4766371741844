import { drawPhoneCase } from "./phone-case.ts";

/** How many pictures are kept: the one that was drawn longest ago goes first. */
const capacity = 64;

const pictures = new Map<string, Uint8Array<ArrayBuffer>>();

/** As {@link drawPhoneCase}, drawn once: whoever downloads a picture again does not wait for it again. */
export function drawn(name: string, width: number, height: number): Uint8Array<ArrayBuffer> {
  const key = `${width}x${height}/${name}`;
  const known = pictures.get(key);
  if (known !== undefined) return known;
  const picture = drawPhoneCase(name, width, height);
  pictures.set(key, picture);
  for (const oldest of pictures.keys()) {
    if (pictures.size <= capacity) break;
    pictures.delete(oldest);
  }
  return picture;
}
