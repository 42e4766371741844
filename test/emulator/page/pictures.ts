import type { Locator } from "playwright-core";

/** The width of a picture of the page, in its own pixels. Fails when the page cannot show it. */
export const widthOf = (picture: Locator): Promise<number> =>
  picture.evaluate(async (element) => {
    const image = element as unknown as { decode(): Promise<void>; naturalWidth: number };
    await image.decode();
    return image.naturalWidth;
  });
