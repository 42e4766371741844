import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { describeInBrowser, useChromium } from "../emulator/page/use-page.ts";
import { runExample } from "./process.ts";

const warnings = { NODE_OPTIONS: "--disable-warning=ExperimentalWarning" };

/** Loads every picture of the page, also those that are not in view, and returns their widths and heights. */
const picturesOf = (page: Page): Promise<readonly string[]> =>
  page.locator(".frame img").evaluateAll((images) =>
    Promise.all(
      images.map(async (element) => {
        const image = element as unknown as {
          loading: string;
          decode(): Promise<void>;
          naturalWidth: number;
          naturalHeight: number;
        };
        image.loading = "eager";
        await image.decode();
        return `${image.naturalWidth} × ${image.naturalHeight}`;
      }),
    ),
  );

describeInBrowser("the gallery of the example", () => {
  const chromium = useChromium();

  it("shows every picture and every reason, and a second run renders only the design that has changed", async () => {
    const { code, errors, output, folder } = await runExample("gallery.ts", { environment: warnings });
    expect({ code, errors }).toEqual({ code: 0, errors: "" });
    const gallery = join(folder, "gallery");
    const page = await chromium.browser.newPage({ viewport: { width: 1440, height: 900 } });
    await page.goto(pathToFileURL(join(gallery, "index.html")).href);
    expect(await picturesOf(page)).toEqual(Array.from({ length: 188 }, () => "600 × 800"));
    expect(await page.locator(".failed").count()).toBe(12);
    await page.getByRole("link", { name: "Design 2 on Tough case iPhone 16", exact: true }).click();
    expect(
      (await page.getByRole("img", { name: "Design 2 on Tough case iPhone 16", exact: true }).boundingBox())?.height,
    ).toBeGreaterThan(700);
    await page.getByRole("link", { name: "Close" }).click();
    const reasons = (await page.locator("details li").allInnerTexts()).sort();
    expect(reasons).toEqual([
      expect.stringMatching(/neither a JPEG nor a PNG.*\nDesign 7 \(10 products\)$/),
      expect.stringMatching(/^the service failed to process the render\nDesign \d+ on .*, Design \d+ on /),
    ]);
    expect(output).toMatch(/^188 pictures, 12 failed, 190 rendertokens, /m);
    expect(output).toMatch(/^Open .*index\.html$/m);
    expect(await readdir(join(gallery, "pictures"))).toHaveLength(188);

    const again = await runExample("gallery.ts", { environment: warnings, arguments: [gallery] });
    expect(again.output).toMatch(/188 pictures, 12 failed, 10 rendertokens, /);
    await page.reload();
    expect(await page.locator(".frame img").count()).toBe(188);
    await page.context().close();
  });

  it.each([
    ["a desktop", 1440],
    ["a tablet", 820],
    ["a phone", 360],
  ])("fits on %s, with its placeholders before its pictures", async (_, width) => {
    const { html } = await import("../../examples/gallery/page.ts");
    const thumbhash = "3OcRJYB4d3h/iIeHeEh3eIhw+j3A";
    const names = Array.from({ length: 10 }, (__, index) => `A product with a long name, number ${index}`);
    const places = names.map((product, index) => ({
      design: "A <design>",
      product,
      image: "design.png",
      ...(index < 4 && { picture: "missing.png", thumbhash }),
      ...(index === 9 && { why: "a reason & more" }),
    }));
    const page = await chromium.browser.newPage({ viewport: { width, height: 800 }, colorScheme: "dark" });
    await page.setContent(html({ places, running: false, costs: "4 rendertokens" }));
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    const background = await page.evaluate("getComputedStyle(document.querySelector('.frame')).backgroundImage");
    expect(background).toMatch(/^url\("data:image\/png;base64,/);
    expect(await page.locator(".waiting").count()).toBe(5);
    expect(await page.locator(".failed").innerText()).toBe("a reason & more");
    expect(await page.locator("h2").innerText()).toMatch(/^A <design>/);
    await page.context().close();
  });
});
