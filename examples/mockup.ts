/** One mockup: look the composition up, render, wait, save. And the two ways it can end otherwise. */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NotFoundError, PodPartner, RenderFailedError, RendertokenLimitError } from "pod-partner";
import { createEmulator, sampleImage } from "pod-partner/testing";

const emulator = createEmulator({ renderDuration: 500, rendertokenLimit: 2 });
const partner = new PodPartner({ baseUrl: emulator.baseUrl, secretKey: emulator.secretKey, fetch: emulator.fetch });
const { products, scenes, perspectives } = emulator.demo;

async function saveMockup(design: Uint8Array, path: string): Promise<string> {
  const composition = await partner.compositions.lookup({
    sceneReference: scenes.studio,
    productReference: products.slimCase,
    perspectiveReference: perspectives.front,
  });
  const image = await partner.images.upload(design);
  try {
    const render = await partner.renders.create({
      compositionReference: composition.reference,
      imageReference: image.reference,
    });
    // Asks again as the answer's Retry-After says, until the picture is there.
    const mockup = await partner.renders.media(render.reference, { wait: true });
    await mockup.saveTo(path, {
      onProgress: ({ received, size }) => received === size && console.log(received, "bytes"),
    });
    return `saved ${mockup.contentType}, for ${composition.tokenCost} rendertoken`;
  } catch (error) {
    if (error instanceof RendertokenLimitError) return `no tokens left until ${error.resetsAt?.toISOString()}`;
    if (error instanceof RenderFailedError) return `the render ${error.reference} failed: check the design`;
    throw error;
  }
}

for (const name of ["rings", "stripes", "dots"]) {
  console.log(name, await saveMockup(sampleImage(name), join(tmpdir(), `mockup-${process.pid}-${name}.png`)));
}

// Not every combination exists: a screen protector is not printed, so there is no mockup of it.
const parts = { sceneReference: scenes.studio, perspectiveReference: perspectives.front };
try {
  await partner.compositions.lookup({ ...parts, productReference: products.screenProtector });
} catch (error) {
  if (!(error instanceof NotFoundError)) throw error;
  console.log("no such combination:", error.code);
}
