/** Makes a gallery of mockups, 20 designs on 10 products, as one page. A second run renders only the design that has changed. */
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { PodPartner, type Render, RequestValidationError } from "pod-partner";
import { sqliteStorage } from "pod-partner/sqlite";
import { type Place, writePage } from "./gallery/page.ts";
import { drawProgress, timeLeft } from "./gallery/progress-bar.ts";
import { openService } from "./gallery/service.ts";

const folder = resolve(process.argv[2] ?? "gallery");
await mkdir(folder, { recursive: true });
const { emulator, rows, failSome, close } = await openService(folder);
// The storage remembers uploads and renders: what was paid for once is not paid for again.
const storage = sqliteStorage(join(folder, "storage.sqlite"), { organization: "gallery" });
const partner = new PodPartner({ ...emulator.clientOptions, storage });

const places = new Map(rows.map((row) => [row, row.place as Place]));
let [costs, running, latest] = ["", true, 0];
const write = () => writePage(folder, { places: [...places.values()], running, costs });

/** The reason in one line, for the page. */
function wordsOf(reason: string, error: unknown): string {
  if (reason === "render-failed") return "the service failed to process the render";
  if (RequestValidationError.isInstance(error)) return error.issues.map(({ message }) => message).join(", ");
  return error instanceof Error ? (error.message.split("\n")[0] ?? error.name) : String(error);
}

await write();
const began = performance.now();
const outcomes = partner.renders.batch(rows, {
  map: ({ input }) => input,
  concurrency: 16,
  download: folder,
  fileName: (_: unknown, { reference }: Render) => `pictures/${reference}.png`,
  onProgress: ({ done, failed, total = rows.length, tokensSpent, requests }) => {
    costs = `${tokensSpent} rendertokens, ${requests} requests${timeLeft(done + failed, total)}`;
    failSome(tokensSpent);
    drawProgress(done + failed, total, costs);
  },
});
for await (const outcome of outcomes) {
  const { place } = outcome.input;
  if (outcome.ok) {
    const { path, render } = outcome.value;
    const picture = `pictures/${path.split(/[\\/]/).at(-1)}`;
    places.set(outcome.input, { ...place, picture, thumbhash: render.thumbhash });
  } else places.set(outcome.input, { ...place, why: wordsOf(outcome.reason, outcome.error) });
  if (performance.now() - latest < 300) continue;
  latest = performance.now();
  await write();
}
running = false;
await write();
await Promise.all([close(), storage.close()]);
const failed = [...places.values()].filter(({ why }) => why !== undefined).length;
console.log(
  `${rows.length - failed} pictures, ${failed} failed, ${costs}, ${((performance.now() - began) / 1_000).toFixed(1)} s`,
);
console.log(`Open ${join(folder, "index.html")}`);
