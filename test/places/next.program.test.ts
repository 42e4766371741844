import { PodPartner, type RenderReference } from "pod-partner";
import { type RunningEmulator, sampleImage, startEmulator } from "pod-partner/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isNextMissing, type NextApp, nextVersions, startNextApp } from "../runtimes/next-app.ts";
import { all } from "./places.ts";

/** Orders a render, which stays pending until the test completes it. */
async function orderRender({ baseUrl, secretKey, demo }: RunningEmulator): Promise<RenderReference> {
  const partner = new PodPartner({ baseUrl, secretKey });
  const image = await partner.images.upload(sampleImage("a design"));
  const { reference } = await partner.compositions.lookup({
    sceneReference: demo.scenes.studio,
    productReference: demo.products.slimCase,
    perspectiveReference: demo.perspectives.front,
  });
  const render = await partner.renders.create({ compositionReference: reference, imageReference: image.reference });
  return render.reference;
}

describe.each(nextVersions)("in Next.js %s", (version) => {
  // Builds an app for each version: a test run leaves that out.
  describe.skipIf(!all || isNextMissing(version))("a page", () => {
    let emulator: RunningEmulator | undefined;
    let app: NextApp | undefined;

    beforeAll(async () => {
      emulator = await startEmulator({ renderDuration: 3_600_000 });
      const { baseUrl, secretKey } = emulator;
      app = await startNextApp(version, { POD_PARTNER_BASE_URL: baseUrl, POD_PARTNER_SECRET_KEY: secretKey });
    });
    afterAll(async () => {
      await app?.[Symbol.asyncDispose]();
      await emulator?.close();
    });

    it("sees a render complete, because each poll reaches the service", async () => {
      if (emulator === undefined || app === undefined) throw new Error("The app was not started.");
      const { baseUrl, secretKey } = emulator;
      const reference = await orderRender(emulator);
      const { requests } = emulator;
      const visit = app.visit("/waiting", { baseUrl, secretKey, reference });
      const looks = () => requests.filter(({ path }) => path === `/renders/${reference}`);
      await expect.poll(looks).not.toEqual([]);
      emulator.completeRender(reference);
      expect(await visit).toBe("completed");
    });

    it("that Next.js tries to build in advance is built, and calls the service at each visit", async () => {
      if (emulator === undefined || app === undefined) throw new Error("The app was not started.");
      for (const visit of ["first", "second"]) {
        const seen = emulator.requests.length;
        expect(await app.visit("/ahead"), visit).toBe("true");
        const paths = emulator.requests.slice(seen).map(({ path }) => path);
        expect(paths, visit).toEqual(["/auth/validate", "/rendertokens"]);
      }
    });
  });
});
