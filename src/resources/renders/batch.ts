import { isConfirmedMissing } from "../../errors/api.ts";
import type { CallSite } from "../../errors/call-site.ts";
import type { Call } from "../../http/call.ts";
import type { RequestOptions } from "../../http/request-options.ts";
import type { ImageReference } from "../../references/references.ts";
import { matches } from "../../schemas/check.ts";
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
import { type UploadsContext, uploadOnce } from "../images/upload-once.ts";
import { checkedMany, type ManyRows, many, type Rows, type StartedRow } from "../many.ts";
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
import { BatchRow, type BatchTools, countedSend, type SharedWork, shareWork } from "./batch-row.ts";
import { CreatedRenders, type Creator, ensureRender, nameOfPair } from "./ensure-render.ts";
import { completedRender, RenderTimes } from "./pending-renders.ts";
import {
  type CompletedRow,
  type MockupValue,
  openFolder,
  openPictureInSlot,
  type PictureFolder,
  savePicture,
  type TakeMockup,
} from "./pictures.ts";
import { defaults } from "./render-waiting.ts";
import { TokenLimits } from "./token-limits.ts";

const defaultConcurrency = 100;
const defaultMaxPending = 2_000;
/** Maximum number of compositions that one batch keeps in memory. */
const keptInMemory = 2_000;
/** The number of latest outcomes whose rate gives `remainingMs`. */
const latestOutcomes = 100;

/** The options of a batch, with those of its rows. */
type Options = BatchOptions & { readonly download?: BatchDownload };

/** A completed render with the reference that the batch knows: the record itself may lack it. */
type Completed = Pick<CompletedRow, "reference" | "render">;

/** What the rows of a batch share. */
interface Batch extends Creator {
  readonly context: UploadsContext;
  readonly times: RenderTimes;
  readonly counts: BatchCounts;
  readonly download: BatchDownload;
  readonly folder: PictureFolder | undefined;
  readonly compositions: Latest<SharedWork<Composition>>;
  readonly renders: Latest<SharedWork<Completed>>;
}

/** Makes a mockup for each row. */
export async function* renderBatch(
  context: UploadsContext,
  rows: Rows<unknown>,
  given: ManyRows<MockupInput, Options>,
  callSite: CallSite,
): AsyncGenerator<MockupOutcome<unknown, MockupValue>, void, undefined> {
  const options = checkedMany(batchOptions, rows, given);
  const batch = await openBatch(context, rows, options);
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
    const take = await makeMockup(batch, input, new BatchRow(context, each, started));
    return () =>
      take().catch((error: unknown) => {
        throw started.located(error);
      });
  };
  const limits = { concurrency: defaultConcurrency, most: maxPending, priority: context.priority };
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

async function openBatch(context: UploadsContext, rows: Rows<unknown>, options: Options): Promise<Batch> {
  const { clock, openStorage, retry, start, timeout } = context;
  const { concurrency = defaultConcurrency, tokenBudget: budget, download } = options;
  const counts = new BatchCounts(clock, rows);
  const storage = await openStorage();
  const tools: BatchTools = {
    send: countedSend(start, (requests) => {
      counts.requests += requests;
    }),
    context,
    storage,
    slots: new Slots(Math.floor(concurrency)),
    interval: options.interval ?? defaults.interval,
    onPending: options.onPending,
    patience: (options.timeout ?? timeout) / 3,
  };
  // The check of the options has replaced `false`.
  const { retries = retry.retries } = options.retry || {};
  const tokens = new TokenLimits(tools, { budget, attempts: 1 + retries });
  const created = new CreatedRenders(storage);
  return {
    ...tools,
    context,
    tokens,
    created,
    retryFailedBefore: options.retryFailed ? dateOf(clock) : undefined,
    report: () => attempt(() => options.onProgress?.({ ...counts.now(), tokensSpent: tokens.spent })),
    times: new RenderTimes(tools.interval),
    counts,
    download,
    folder: download ? await openFolder(download, options.fileName) : undefined,
    compositions: new Latest(keptInMemory),
    renders: new Latest(Number.POSITIVE_INFINITY),
  };
}

/** Makes the mockup of a row: looks up the composition, uploads the image, creates the render, waits for it, and gets the picture. */
async function makeMockup(batch: Batch, input: MockupInput, row: BatchRow): Promise<TakeMockup> {
  assertInput(input);
  const { reference: compositionReference, tokenCost } = await compositionOf(batch, input, row);
  const imageReference = await imageOf(batch, input, tokenCost, row);
  const pair = { compositionReference, imageReference };
  const name = nameOfPair(pair);
  // Rows with the same pair share the render. After a failure, the next row tries again.
  const { reference, render } = await shareWork(batch.renders, name, row, async (): Promise<Completed> => {
    const entry = await ensureRender(batch, pair, tokenCost, row);
    return { reference: entry.reference, render: await completedRender(batch, name, entry, row) };
  });
  if (batch.download === false) return async () => ({ render });
  const completed = { pair, reference, render, row };
  if (batch.folder === undefined) return openPictureInSlot(batch, completed);
  const path = await savePicture(batch, batch.folder, completed);
  return async () => ({ render, path });
}

/**
 * Resolves to the composition of an input. Each composition is looked up once and stored. A missing one is remembered only for this batch,
 * because it may exist later.
 */
function compositionOf(batch: Batch, input: MockupInput, row: BatchRow): Promise<Composition> {
  const key =
    input.compositionReference === undefined ? combinationKey(input) : `composition:${input.compositionReference}`;
  const find = () => findComposition(batch, key, input, row);
  return shareWork(
    batch.compositions,
    key,
    row,
    find,
    (failure) => failure === undefined || isConfirmedMissing(failure.error),
  );
}

async function findComposition(
  { send, storage }: Batch,
  key: string,
  { compositionReference, sceneReference, productReference, perspectiveReference }: MockupInput,
  row: BatchRow,
): Promise<Composition> {
  const stored = fromJson(await storage.get(key));
  if (matches(composition, stored)) return stored;
  const parts = { sceneReference, productReference, perspectiveReference };
  const { data } =
    compositionReference === undefined
      ? await send(lookupComposition, { query: parts }, row.reading(), { internal: true })
      : await send(getComposition, { path: { compositionReference } }, row.reading(), { internal: true });
  await storage.set(key, toJson(data), { ttl: compositionLifetime });
  return data;
}

/** Uploads the image of a row unless it is known, or the tokens do not cover its render. */
async function imageOf(
  { context, tokens, counts }: Batch,
  { imageReference, image }: MockupInput,
  cost: number,
  row: BatchRow,
): Promise<ImageReference> {
  if (image === undefined) return imageReference;
  let sent: Call["attempts"] | undefined;
  const beforeUpload = (attempts: Call["attempts"]) => {
    tokens.check(cost);
    sent = attempts;
  };
  try {
    return (await uploadOnce(context, image, row.reading(), beforeUpload)).reference;
  } finally {
    counts.requests += sent?.count ?? 0;
  }
}

/** Counts the rows and the requests of a batch. */
class BatchCounts {
  started = 0;
  requests = 0;
  readonly #clock: PartnerClock;
  readonly #total: number | undefined;
  readonly #ended = { done: 0, failed: 0, skipped: 0 };
  /** The times of the latest outcomes, after that of the start or of an older outcome. */
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
