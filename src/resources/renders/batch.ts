import { saysMissing } from "../../errors/api.ts";
import type { CallSite } from "../../errors/call-site.ts";
import { checkedMany, type ManyRows, many, type Rows, type StartedRow } from "../../http/many.ts";
import type { RequestOptions } from "../../http/request-options.ts";
import type { CallContext } from "../../http/send.ts";
import type { ImageReference, RenderReference } from "../../references/references.ts";
import { check } from "../../schemas/check.ts";
import { fromJson, toJson } from "../../storage/values.ts";
import { dateOf, type PartnerClock } from "../../util/clock.ts";
import { Slots } from "../../util/concurrency.ts";
import { attempt } from "../../util/foreign.ts";
import { Latest } from "../../util/latest.ts";
import {
  type Composition,
  composition,
  getComposition,
  lookupComposition,
} from "../compositions/compositions.endpoints.ts";
import { combinationKey, compositionLifetime } from "../compositions/search.ts";
import { type RunningUploads, uploadOnce } from "../images/upload-once.ts";
import {
  assertInput,
  type BatchDownload,
  type BatchOptions,
  type BatchProgress,
  batchOptions,
  failedOutcome,
  type MockupInput,
  type MockupOutcome,
} from "./batch.schema.ts";
import { BatchRow, type BatchTools, countedSend, type SentCall } from "./batch-row.ts";
import { CreatedRenders, type Creator, ensureRender, nameOfPair } from "./ensure-render.ts";
import { completedRender, RenderTimes } from "./pending-renders.ts";
import { heldPicture, type MockupValue, PictureFolder, type TakeMockup } from "./pictures.ts";
import { defaults } from "./render-waiting.ts";
import type { Render, RenderInput } from "./renders.endpoints.ts";
import { TokenLimits } from "./token-limits.ts";

const defaultConcurrency = 4;
const defaultMaxPending = 2_000;
/** The number of compositions that one batch keeps in memory. */
const keptInMemory = 2_000;
/** The number of the latest outcomes whose rate gives the time of the rest. */
const latestOutcomes = 100;

/** The parts of the client that a batch needs. */
interface BatchClient {
  readonly context: CallContext;
  readonly runningUploads: RunningUploads;
}

/** The options of a batch, with those of its rows. */
type Options = BatchOptions & { readonly download?: BatchDownload };

/** A render that rows of the same pair share, from the creation by the first of them until it is completed. */
interface SharedRender {
  readonly row: BatchRow;
  readonly completed: Promise<{ readonly reference: RenderReference; readonly render: Render }>;
}

/** What the rows of a batch share. */
interface Batch extends Creator {
  readonly client: BatchClient;
  readonly times: RenderTimes;
  readonly counts: BatchCounts;
  readonly download: BatchDownload;
  readonly folder: PictureFolder | undefined;
  readonly compositions: Latest<{ readonly until: number | undefined; readonly found: Promise<Composition> }>;
  readonly renders: Map<string, SharedRender>;
}

/** Makes a mockup for each row. */
export async function* renderBatch(
  client: BatchClient,
  rows: Rows<unknown>,
  given: ManyRows<MockupInput, Options>,
  callSite: CallSite,
): AsyncGenerator<MockupOutcome<unknown, MockupValue>, void, undefined> {
  const options = checkedMany(batchOptions, rows, given);
  const batch = await openBatch(client, rows, options);
  const {
    map = (row) => row as MockupInput,
    maxPending = defaultMaxPending,
    download,
    fileName,
    interval,
    onPending,
    onProgress,
    retryFailed,
    tokenBudget,
    ...request
  } = options;
  const counted = (row: unknown) => {
    batch.counts.started += 1;
    return map(row);
  };
  const work = async (input: MockupInput, each: RequestOptions, started: StartedRow): Promise<TakeMockup> => {
    const take = await makeMockup(batch, input, new BatchRow(client.context, each, started));
    return () =>
      take().catch((error: unknown) => {
        throw started.located(error);
      });
  };
  const limits = { concurrency: defaultConcurrency, most: maxPending };
  for await (const outcome of many(rows, { ...request, map: counted }, { ...limits, work, callSite })) {
    const { input } = outcome;
    let ended: MockupOutcome<unknown, MockupValue>;
    try {
      if (!outcome.ok) throw outcome.error;
      ended = { ok: true, input, value: await outcome.value() };
    } catch (error) {
      ended = failedOutcome(input, error);
    }
    batch.counts.add(ended);
    batch.report();
    yield ended;
  }
}

async function openBatch(client: BatchClient, rows: Rows<unknown>, options: Options): Promise<Batch> {
  const { clock, observer, openStorage, retry, start, timeout } = client.context;
  const { concurrency = defaultConcurrency, tokenBudget: budget, download } = options;
  const counts = new BatchCounts(clock, rows);
  const storage = await openStorage();
  const tools: BatchTools = {
    send: countedSend(start, (requests) => {
      counts.requests += requests;
    }),
    clock,
    storage,
    observer,
    slots: new Slots(Math.floor(concurrency)),
    interval: options.interval ?? defaults.interval,
    onPending: options.onPending,
    patience: (options.timeout ?? timeout) / 3,
  };
  const { retries = retry.retries } = options.retry === false ? { retries: 0 } : (options.retry ?? {});
  const tokens = new TokenLimits(tools, { budget, attempts: 1 + retries });
  const created = new CreatedRenders(storage);
  const folder = download ? new PictureFolder(tools, download, options.fileName) : undefined;
  await folder?.open();
  return {
    ...tools,
    client,
    tokens,
    created,
    retryFailedBefore: options.retryFailed ? dateOf(clock) : undefined,
    report: () => attempt(() => options.onProgress?.({ ...counts.now(), tokensSpent: tokens.spent })),
    times: new RenderTimes(tools.interval),
    counts,
    download,
    folder,
    compositions: new Latest(keptInMemory),
    renders: new Map(),
  };
}

/** Makes the mockup of a row: looks its composition up, uploads its image, creates its render and waits for it, and gets the picture. */
async function makeMockup(batch: Batch, input: MockupInput, row: BatchRow): Promise<TakeMockup> {
  assertInput(input);
  const { reference: compositionReference, tokenCost } = await compositionOf(batch, input, row);
  const imageReference = await imageOf(batch, input, tokenCost, row);
  const pair = { compositionReference, imageReference };
  const { reference, render } = await renderOf(batch, pair, tokenCost, row);
  if (batch.folder !== undefined) {
    const path = await batch.folder.save({ pair, reference, render, row });
    return async () => ({ render, path });
  }
  return batch.download === false ? async () => ({ render }) : heldPicture(batch, { pair, reference, render, row });
}

/**
 * Resolves to the composition of an input. Each one is looked up once and remembered. That one does not exist is remembered for the batch
 * only, because it may change.
 */
function compositionOf(batch: Batch, input: MockupInput, row: BatchRow): Promise<Composition> {
  const { compositions } = batch;
  const key =
    input.compositionReference === undefined ? combinationKey(input) : `composition:${input.compositionReference}`;
  const known = compositions.get(key);
  if (known !== undefined) {
    return known.found.catch((error: unknown) => {
      if (!row.outlives(known.until, error)) throw error;
      return compositionOf(batch, input, row);
    });
  }
  const found = findComposition(batch, key, input, row);
  const shared = { until: row.until, found };
  compositions.set(key, shared);
  found.catch((error: unknown) => {
    if (!saysMissing(error)) compositions.forget(key, shared);
  });
  return found;
}

async function findComposition(
  { send, storage }: Batch,
  key: string,
  { compositionReference, sceneReference, productReference, perspectiveReference }: MockupInput,
  row: BatchRow,
): Promise<Composition> {
  const stored = fromJson(await storage.get(key));
  if (check(composition, stored, []).ok) return stored as Composition;
  const parts = { sceneReference, productReference, perspectiveReference };
  const { data } =
    compositionReference === undefined
      ? await send(lookupComposition, { query: parts }, row.reading(), { own: true })
      : await send(getComposition, { path: { compositionReference } }, row.reading(), { own: true });
  await storage.set(key, toJson(data), { ttl: compositionLifetime });
  return data;
}

/** Uploads the image of a row, unless it is known. It is not uploaded when the tokens do not cover its render. */
async function imageOf(
  { client: { context, runningUploads }, tokens, counts }: Batch,
  { imageReference, image }: MockupInput,
  cost: number,
  row: BatchRow,
): Promise<ImageReference> {
  if (image === undefined) return imageReference;
  let sent: SentCall | undefined;
  const beforeUpload = (call: SentCall) => {
    tokens.check(cost);
    sent = call;
  };
  try {
    return (await uploadOnce(context, runningUploads, image, row.reading(), beforeUpload)).reference;
  } finally {
    counts.requests += sent?.attempts ?? 0;
  }
}

/** Resolves to the completed render of a pair. Rows of the same pair share it; after a failure, the next row tries again, and after the end of the first row's deadline, one that still has time. */
function renderOf(batch: Batch, pair: RenderInput, cost: number, row: BatchRow): SharedRender["completed"] {
  const name = nameOfPair(pair);
  const shared = batch.renders.get(name);
  if (shared !== undefined) {
    row.follow(shared.row);
    return shared.completed.catch((error: unknown) => {
      if (!row.outlives(shared.row.until, error)) throw error;
      return renderOf(batch, pair, cost, row);
    });
  }
  const make = async () => {
    const entry = await ensureRender(batch, pair, cost, row);
    return { reference: entry.reference, render: await completedRender(batch, name, entry, row) };
  };
  const completed = make().finally(() => batch.renders.delete(name));
  batch.renders.set(name, { row, completed });
  return completed;
}

/** Counts the rows and the requests of a batch. */
class BatchCounts {
  started = 0;
  requests = 0;
  readonly #clock: PartnerClock;
  readonly #total: number | undefined;
  readonly #ended = { done: 0, failed: 0, skipped: 0 };
  /** The times of the start and of the latest outcomes. */
  readonly #times: number[];

  constructor(clock: PartnerClock, rows: object) {
    this.#clock = clock;
    this.#times = [clock.now()];
    const size = attempt(() => (Array.isArray(rows) ? rows.length : Reflect.get(rows, "size")));
    this.#total = typeof size === "number" ? size : undefined;
  }

  add(outcome: MockupOutcome<unknown, unknown>): void {
    if (outcome.ok) this.#ended.done += 1;
    else if (outcome.reason === "budget" || outcome.reason === "weekly-limit") this.#ended.skipped += 1;
    else this.#ended.failed += 1;
    this.#times.push(this.#clock.now());
    if (this.#times.length > latestOutcomes + 1) this.#times.shift();
  }

  now(): Omit<BatchProgress, "tokensSpent"> {
    const { done, failed, skipped } = this.#ended;
    const ended = done + failed + skipped;
    const total = this.#total;
    const [first = 0] = this.#times;
    const each = (this.#clock.now() - first) / (this.#times.length - 1);
    const remainingMs = total === undefined || ended === 0 ? undefined : Math.max(0, total - ended) * each;
    return { total, ...this.#ended, pending: this.started - ended, requests: this.requests, remainingMs };
  }
}
