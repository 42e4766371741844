/** Makes one mockup: looks the composition up, renders, waits, saves. It also handles too few tokens and a failed render. */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NotFoundError, PodPartner, RenderFailedError, RendertokenLimitError } from "pod-partner";
import { createEmulator, sampleImage } from "pod-partner/testing";

const emulator = createEmulator({ renderDuration: 500, rendertokenLimit: 2 });
const partner = new PodPartner(emulator.clientOptions);
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
    // Requests the picture again after each `Retry-After`, until it is ready.
    const mockup = await partner.renders.media(render.reference, { wait: true });
    await mockup.saveTo(path, {
      onProgress: ({ received, size }) => received === size && console.log(received, "bytes"),
    });
    return `saved ${mockup.contentType}, for ${composition.tokenCost} rendertoken`;
  } catch (error) {
    if (error instanceof RendertokenLimitError) return `no tokens left until ${error.resetsAt}`;
    if (error instanceof RenderFailedError) return `the render ${error.reference} failed: check the design`;
    throw error;
  }
}

for (const name of ["rings", "stripes", "dots"]) {
  console.log(name, await saveMockup(sampleImage(name), join(tmpdir(), `mockup-${process.pid}-${name}.png`)));
}

// Not every combination exists: a screen protector is not printed, so it has no mockup.
const parts = { sceneReference: scenes.studio, perspectiveReference: perspectives.front };
try {
  await partner.compositions.lookup({ ...parts, productReference: products.screenProtector });
} catch (error) {
  if (!(error instanceof NotFoundError)) throw error;
  console.log("no such combination:", error.code);
}
