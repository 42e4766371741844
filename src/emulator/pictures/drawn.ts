import { drawPhoneCase } from "./phone-case.ts";

/** The number of pictures that are kept. The oldest is removed first. */
const capacity = 64;

const pictures = new Map<string, Uint8Array<ArrayBuffer>>();

/** Like {@link drawPhoneCase}, with a cache: repeated downloads of a picture do not draw it again. */
export function drawn(name: string, width: number, height: number): Uint8Array<ArrayBuffer> {
  const key = `${width}x${height}/${name}`;
  const cached = pictures.get(key);
  if (cached !== undefined) return cached;
  const picture = drawPhoneCase(name, width, height);
  pictures.set(key, picture);
  for (const oldest of pictures.keys()) {
    if (pictures.size <= capacity) break;
    pictures.delete(oldest);
  }
  return picture;
}
