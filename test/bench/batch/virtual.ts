import { setImmediate } from "node:timers/promises";
import type { CompositionReference, PodPartner } from "pod-partner";
import { baseline, built } from "../clients.ts";
import { printTable } from "../table.ts";

/** Milliseconds until the service receives a request, and until its response arrives: of 10 in all. */
const oneWay = 5;

/** The seconds and requests of so many renders by a build, on a clock that is moved. */
async function measure(
  count: number,
  renderDuration: number,
  make: (setup: Setup) => Promise<unknown>,
  folder: string | undefined,
) {
  const { PodPartner } = (await import(built("index", folder))) as typeof import("pod-partner");
  const { createEmulator, createManualClock, sampleImage } = (await import(
    built("testing", folder)
  )) as typeof import("pod-partner/testing");
  const clock = createManualClock();
  const emulator = createEmulator({ clock, renderDuration, rendertokenLimit: 1e6 });
  let requests = 0;
  const way = () => new Promise<void>((resolve) => clock.after(oneWay, resolve));
  const fetch = async (request: Request, init?: RequestInit): Promise<Response> => {
    requests += 1;
    await way();
    const response = await emulator.fetch(request, init);
    if (response.status === 429) throw new Error("A request was refused");
    await way();
    return response;
  };
  const { baseUrl, secretKey, demo } = emulator;
  const partner = new PodPartner({ baseUrl, secretKey, clock, fetch });
  const rows = Array.from({ length: count }, (_, n) => ({
    compositionReference: demo.compositions.studio,
    image: sampleImage(String(n)),
  }));
  const began = clock.now();
  let isOver = false;
  const made = make({ partner, rows }).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    // Reading an image and opening the storage take time of the machine.
    for (let turn = 0; turn < 8; turn += 1) await setImmediate();
    await clock.advance(oneWay);
  }
  await made;
  return [((clock.now() - began) / 1_000).toFixed(2), `${requests}`, (requests / count).toFixed(2)];
}

interface Setup {
  readonly partner: PodPartner;
  readonly rows: readonly { readonly compositionReference: CompositionReference; readonly image: Uint8Array }[];
}

/** All rows at once, by the methods of one render each. */
const atOnce = ({ partner, rows }: Setup) =>
  Promise.all(
    rows.map(async ({ compositionReference, image }) => {
      const { reference: imageReference } = await partner.images.uploadOnce(image);
      const { reference } = await partner.renders.create({ compositionReference, imageReference });
      await (await partner.renders.media(reference, { wait: true })).bytes();
    }),
  );

async function batch({ partner, rows }: Setup): Promise<void> {
  for await (const outcome of partner.renders.batch(rows)) {
    if (!outcome.ok) throw outcome.error;
    await outcome.value.media.bytes();
  }
}

async function withoutPictures({ partner, rows }: Setup): Promise<void> {
  for await (const outcome of partner.renders.batch(rows, { download: false })) if (!outcome.ok) throw outcome.error;
}

/** The time and the requests of batches in virtual time, beside those of the single methods. */
export async function runVirtual(): Promise<void> {
  const lines: string[][] = [];
  for (const [count, seconds] of [
    [400, 3],
    [100, 3],
    [100, 20],
    [1_000, 3],
  ] as const)
    for (const [name, make] of [
      ["renders.batch", batch],
      ["renders.batch, no pictures", withoutPictures],
      ["all rows at once", atOnce],
    ] as const)
      for (const folder of baseline === undefined ? [undefined] : [undefined, baseline]) {
        const by = folder === undefined ? name : `${name}, before`;
        lines.push([`${count} of ${seconds} s`, by, ...(await measure(count, seconds * 1_000, make, folder))]);
      }
  printTable(["renders", "by", "seconds", "requests", "of a row"], lines);
}
