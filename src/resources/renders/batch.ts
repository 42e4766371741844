import { GoneError, NotFoundError } from "../../errors/api.ts";
import type { CallSite } from "../../errors/call-site.ts";
import { type CallContext, countdown } from "../../http/call-context.ts";
import { assertRows, type ManyRows, many, type Rows, type StartedRow } from "../../http/many.ts";
import type { RequestOptions } from "../../http/request-options.ts";
import type { Send } from "../../http/send.ts";
import { newCallId } from "../../http/tracing.ts";
import type { ImageReference } from "../../references/references.ts";
import { check } from "../../schemas/check.ts";
import { fromJson, toJson } from "../../storage/values.ts";
import type { PartnerClock } from "../../util/clock.ts";
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
import type { ImagesResource } from "../images/images.ts";
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
import { type BatchRow, type BatchTools, RequestCount } from "./batch-row.ts";
import { type Creator, ensureRender, keyOfPair, type RenderEntry } from "./ensure-render.ts";
import { PendingRenders } from "./pending-renders.ts";
import { heldPicture, type MockupValue, PictureFolder, type TakeMockup } from "./pictures.ts";
import type { Render, RenderInput } from "./renders.endpoints.ts";
import { TokenLimits } from "./token-limits.ts";

const defaults = { concurrency: 4, maxPending: 2_000, wait: 600_000, interval: 60_000 };
/** The number of compositions, and of pairs, that one batch keeps in memory. */
const keptInMemory = 2_000;
/** The number of the latest outcomes whose rate gives the time of the rest. */
const latestOutcomes = 100;

/** The parts of the client that a batch needs. */
interface BatchClient {
  readonly send: Send;
  readonly context: CallContext;
  readonly images: ImagesResource;
}

/** The options of a batch, with those of its rows. */
type Options = BatchOptions & { readonly download?: BatchDownload };

/** What the rows of a batch share. */
interface Batch extends Creator {
  readonly images: ImagesResource;
  readonly pending: PendingRenders;
  readonly progress: BatchCounts;
  readonly download: BatchDownload;
  readonly folder: PictureFolder | undefined;
  readonly compositions: Latest<Promise<Composition>>;
  readonly pairs: Latest<SharedPair>;
}

/** Makes a mockup for each row. */
export async function* renderBatch(
  client: BatchClient,
  rows: Rows<unknown>,
  options: ManyRows<MockupInput, Options>,
  callSite: CallSite,
): AsyncGenerator<MockupOutcome<unknown, MockupValue>, void, undefined> {
  assertRows(batchOptions, rows, options);
  const batch = await openBatch(client, rows, options);
  const { map = (row) => row as MockupInput } = options;
  const counted = (row: unknown) => {
    batch.progress.started += 1;
    return map(row);
  };
  const work = async (input: MockupInput, each: Options, started: StartedRow): Promise<TakeMockup> => {
    const take = await makeMockup(batch, input, rowOf(client.context, each, started));
    return () =>
      take().catch((error: unknown) => {
        throw started.located(error);
      });
  };
  const limits = { concurrency: defaults.concurrency, most: options.maxPending ?? defaults.maxPending };
  for await (const outcome of many(rows, { ...options, map: counted }, { ...limits, work, callSite })) {
    const { input } = outcome;
    const ended = outcome.ok
      ? await outcome.value().then(
          (value) => ({ ok: true, input, value }) as const,
          (error: unknown) => failedOutcome(input, error),
        )
      : failedOutcome(input, outcome.error);
    batch.progress.ended(ended);
    yield ended;
  }
}

async function openBatch(
  { send, context: { clock, openStorage, retry, timeout }, images }: BatchClient,
  rows: Rows<unknown>,
  options: Options,
): Promise<Batch> {
  const { concurrency = defaults.concurrency, tokenBudget: budget, download } = options;
  const tools: BatchTools = {
    send,
    clock,
    storage: await openStorage(),
    requests: new RequestCount(),
    slots: new Slots(Math.floor(concurrency)),
    interval: options.interval ?? defaults.interval,
    onPending: options.onPending,
    patience: (options.timeout ?? timeout) / 3,
  };
  const { retries = retry.retries } = options.retry === false ? { retries: 0 } : (options.retry ?? {});
  const tokens = new TokenLimits(tools, { budget, attempts: 1 + retries });
  const progress = new BatchCounts(clock, rows, (counts) => {
    const now = { ...counts, tokensSpent: tokens.spent, requests: tools.requests.total };
    attempt(() => options.onProgress?.(now));
  });
  const folder = download ? new PictureFolder(tools, download, options.fileName) : undefined;
  await folder?.open();
  return {
    ...tools,
    images,
    tokens,
    retryFailedBefore: options.retryFailed ? clock.now() : undefined,
    onCreated: () => progress.report(),
    pending: new PendingRenders(tools),
    progress,
    download,
    folder,
    compositions: new Latest(keptInMemory),
    pairs: new Latest(keptInMemory),
  };
}

/** The deadline of a row begins with its work. */
function rowOf(context: CallContext, each: Options, { row, left, waits }: StartedRow): BatchRow {
  const { signal, timeout, deadline, retry, priority, callId = newCallId(), headers, query, body } = each;
  const remaining = countdown(context, deadline);
  const creating = (): RequestOptions => ({
    signal,
    timeout,
    deadline: remaining(),
    retry,
    priority,
    callId,
    headers,
    query,
    body,
  });
  return {
    row,
    callId,
    signal: left,
    waits,
    creating,
    // `body` applies to the creation only.
    reading: () => ({ ...creating(), signal: left, body: undefined }),
    waitTime: () => remaining() ?? defaults.wait,
  };
}

/** Makes the mockup of a row: looks its composition up, uploads its image, creates its render and waits for it, and gets the picture. */
async function makeMockup(batch: Batch, input: MockupInput, row: BatchRow): Promise<TakeMockup> {
  assertInput(input);
  const { reference: compositionReference, tokenCost } = await compositionOf(batch, input, row);
  const imageReference = await imageOf(batch, input, tokenCost, row);
  const pair = { compositionReference, imageReference };
  const completed = { pair, row, ...(await renderOf(batch, pair, tokenCost, row)) };
  if (batch.folder !== undefined) {
    const path = await batch.folder.save(completed);
    return async () => ({ render: completed.render, path });
  }
  return batch.download === false ? async () => ({ render: completed.render }) : heldPicture(batch, completed);
}

/**
 * Resolves to the composition of an input. Each one is looked up once and remembered. That one does not exist is remembered for the batch
 * only, because it may change.
 */
function compositionOf(batch: Batch, input: MockupInput, row: BatchRow): Promise<Composition> {
  const key =
    input.compositionReference === undefined ? combinationKey(input) : `composition:${input.compositionReference}`;
  const known = batch.compositions.get(key);
  if (known !== undefined) return known;
  const found = findComposition(batch, key, input, row);
  batch.compositions.set(key, found);
  found.catch((error: unknown) => {
    if (!(error instanceof NotFoundError || error instanceof GoneError)) batch.compositions.forget(key, found);
  });
  return found;
}

async function findComposition(
  { send, storage, requests }: Batch,
  key: string,
  input: MockupInput,
  row: BatchRow,
): Promise<Composition> {
  const stored = check(composition, fromJson(await storage.get(key)), []);
  if (stored.ok) return stored.value as Composition;
  const { compositionReference, sceneReference, productReference, perspectiveReference } = input;
  const call =
    compositionReference === undefined
      ? send(
          lookupComposition,
          { query: { sceneReference, productReference, perspectiveReference } },
          row.reading(),
          true,
        )
      : send(getComposition, { path: { compositionReference } }, row.reading(), true);
  const { reference, tokenCost } = (await requests.of(call)).data;
  await storage.set(key, toJson({ reference, tokenCost }), { ttl: compositionLifetime });
  return { reference, tokenCost };
}

/** Uploads the image of a row. It is not uploaded when the tokens do not cover its render. */
async function imageOf(
  { images, tokens, requests }: Batch,
  { imageReference, image }: MockupInput,
  cost: number,
  row: BatchRow,
): Promise<ImageReference> {
  if (image === undefined) return imageReference;
  tokens.check(cost);
  const { reference, uploaded } = await images.uploadOnce(image, row.reading());
  if (uploaded) requests.total += 1;
  return reference;
}

/** A pair that rows share: its render is created once, and waited for once. */
interface SharedPair {
  created?: Promise<RenderEntry>;
  completed?: Promise<Render> | undefined;
  /** The rows that wait for it. Each is forgotten when it has the render. */
  readonly rows: Set<BatchRow>;
  /** Whether its rows only wait: for another process, or until the render should be completed. */
  waits: boolean;
}

/** Resolves to the completed render of a pair, and its reference. */
async function renderOf(batch: Batch, pair: RenderInput, cost: number, row: BatchRow) {
  const { pairs, pending } = batch;
  const key = keyOfPair(pair);
  const shared: SharedPair = pairs.get(key) ?? { rows: new Set(), waits: false };
  pairs.set(key, shared);
  if (shared.waits) row.waits();
  shared.rows.add(row);
  const waits = () => {
    shared.waits = true;
    for (const each of shared.rows) each.waits();
  };
  try {
    shared.created ??= ensureRender(batch, pair, cost, { ...row, waits }).catch((error: unknown) => {
      // After a failure, the next row of the pair tries again.
      pairs.forget(key, shared);
      throw error;
    });
    const entry = await shared.created;
    shared.completed ??= pending.completed(key, entry, { ...row, waits }).catch((error: unknown) => {
      // After a failure, the next row of the pair waits again.
      shared.completed = undefined;
      throw error;
    });
    return { reference: entry.reference, render: await shared.completed };
  } finally {
    shared.rows.delete(row);
  }
}

type OnReport = (counts: Omit<BatchProgress, "tokensSpent" | "requests">) => void;

/** Counts the outcomes of a batch. */
class BatchCounts {
  /** The rows that were started. */
  started = 0;
  readonly #clock: PartnerClock;
  readonly #total: number | undefined;
  readonly #onReport: OnReport;
  readonly #counts = { done: 0, failed: 0, skipped: 0 };
  /** The times of the start and of the latest outcomes. */
  readonly #times: number[];

  constructor(clock: PartnerClock, rows: object, onReport: OnReport) {
    this.#clock = clock;
    this.#onReport = onReport;
    this.#times = [clock.now()];
    const size = attempt(() => (Array.isArray(rows) ? rows.length : Reflect.get(rows, "size")));
    this.#total = typeof size === "number" ? size : undefined;
  }

  /** A row has its outcome. */
  ended(outcome: MockupOutcome<unknown, unknown>): void {
    if (outcome.ok) this.#counts.done += 1;
    else if (outcome.reason === "budget" || outcome.reason === "weekly-limit") this.#counts.skipped += 1;
    else this.#counts.failed += 1;
    this.#times.push(this.#clock.now());
    if (this.#times.length > latestOutcomes + 1) this.#times.shift();
    this.report();
  }

  report(): void {
    const { done, failed, skipped } = this.#counts;
    const ended = done + failed + skipped;
    const total = this.#total;
    const [first = 0] = this.#times;
    const each = (this.#clock.now() - first) / (this.#times.length - 1);
    const remainingMs = total === undefined || ended === 0 ? undefined : Math.max(0, total - ended) * each;
    this.#onReport({ total, ...this.#counts, pending: this.started - ended, remainingMs });
  }
}
