import { createEmulator, createManualClock, sampleImage } from "../../../src/emulator/index.ts";
import { type ImageReference, PodPartner } from "../../../src/index.ts";
import { settle } from "../../support/settle.ts";

/** The quota of the `default` policy, and its tokens per second (specification 8). */
const burst = 3_000;
const perSecond = 50;

/** Makes mockups that take 90 seconds each, by a clock that is moved. Returns whether they took few requests. */
export async function soakPending(count: number): Promise<boolean> {
  const clock = createManualClock();
  const emulator = createEmulator({ clock, renderDuration: 90_000, rendertokenLimit: count });
  const { baseUrl, secretKey, demo } = emulator;
  const images: ImageReference[] = [];
  const uploading = new PodPartner({ baseUrl, secretKey, clock, fetch: emulator.fetch });
  for (let n = 0; n < count; n += 1) images.push((await uploading.images.upload(sampleImage(String(n)))).reference);
  const perRender = new Map<string, number>();
  const times = { creations: new Map<number, number>(), looks: new Map<number, number>() };
  let requests = 0;
  const fetch = async (request: Request, init?: RequestInit): Promise<Response> => {
    const [, render] = /\/renders\/(\w+)/.exec(request.url) ?? [];
    if (render !== undefined) perRender.set(render, 1 + (perRender.get(render) ?? 1));
    requests += 1;
    const second = Math.floor(clock.now() / 1_000);
    const counts = render === undefined ? times.creations : times.looks;
    counts.set(second, 1 + (counts.get(second) ?? 0));
    return emulator.fetch(request, init);
  };
  const partner = new PodPartner({ baseUrl, secretKey, clock, fetch });
  const compositionReference = demo.compositions.studio;
  const began = clock.now();
  let done = 0;
  const run = async () => {
    const rows = images.map((imageReference) => ({ compositionReference, imageReference }));
    for await (const outcome of partner.renders.batch(rows)) {
      if (!outcome.ok) {
        console.error(outcome.error);
        continue;
      }
      await outcome.value.media.cancel();
      done += 1;
    }
  };
  await settle(clock, run());
  const most = Math.max(...perRender.values());
  const creations = Math.max(...times.creations.values());
  const looks = Math.max(...times.looks.values());
  console.table({
    "renders of 90 s": `${done} of ${count}`,
    "emulated seconds": Math.round((clock.now() - began) / 1_000),
    requests,
    "least possible": 3 * count,
    "requests of a render at most": most,
    "creations in a second at most": creations,
    "other requests in a second at most": looks,
  });
  return done === count && most <= 5 && creations <= burst + perSecond && looks <= burst + perSecond;
}
