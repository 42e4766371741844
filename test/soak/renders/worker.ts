/** A process that makes mockups. It may be killed at any moment and started again with the same storage. */
import { type MockupInput, PodPartner } from "../../../src/index.ts";
import { openStorage } from "../open-storage.ts";
import { transportOf } from "../transport.ts";
import { type Job, type Result, runHeader } from "./messages.ts";

/** Each combination with each image. After every few pairs, an earlier pair comes again. */
function* rowsOf({ images, combinations, doubles }: Job): Generator<MockupInput> {
  const every = Math.floor((images.length * combinations.length) / doubles);
  let first: MockupInput | undefined;
  let count = 0;
  for (const imageReference of images) {
    for (const parts of combinations) {
      const row = { ...parts, imageReference };
      first ??= row;
      yield row;
      count += 1;
      if (count % every === 0) {
        yield first;
        first = undefined;
      }
    }
  }
}

const megabytes = (bytes: number) => Math.round(bytes / 1e6);

process.once("message", async (job: Job) => {
  const { baseUrl, secretKey, directory, concurrency } = job;
  const partner = new PodPartner({
    baseUrl,
    secretKey,
    storage: await openStorage(job.storage),
    ...transportOf(job.transport),
  }).withOptions({ headers: { [runHeader]: `${job.run}` } });
  const reasons: Record<string, number> = {};
  let requests = 0;
  let count = 0;
  let early = 0;
  const onProgress = (progress: { readonly requests: number }) => {
    requests = progress.requests;
  };
  for await (const outcome of partner.renders.batch(rowsOf(job), { download: directory, concurrency, onProgress })) {
    const reason = outcome.ok ? "ok" : outcome.reason;
    if (!outcome.ok && outcome.reason === "error") console.error(outcome.error);
    reasons[reason] = 1 + (reasons[reason] ?? 0);
    count += 1;
    if (count === 1_000) early = process.memoryUsage().rss;
    process.send?.({ count });
  }
  const peak = megabytes(process.resourceUsage().maxRSS * 1_024);
  const { user, system } = process.cpuUsage();
  const cpu = Math.round((user + system) / 1e5) / 10;
  process.send?.({ reasons, requests, cpu, early: megabytes(early), peak } satisfies Result);
  process.disconnect();
});
// A connection to Redis would keep the process alive.
process.once("disconnect", () => process.exit());
