import { GoneError, NotFoundError } from "../../../errors/api.ts";
import { type CallSite, withCallSite } from "../../../errors/call-site.ts";
import { type ManyRows, many, type Rows, type StartedRow } from "../../../http/many.ts";
import type { RateLimits } from "../../../http/pacing/rate-limits.ts";
import type { RequestOptions } from "../../../http/request-options.ts";
import type { Send } from "../../../http/send.ts";
import type { ImageReference } from "../../../references/references.ts";
import { check } from "../../../schemas/check.ts";
import type { ClientStorage } from "../../../storage/client-storage.ts";
import { fromJson, toJson } from "../../../storage/values.ts";
import { eitherSignal, onAbort } from "../../../util/abort-signals.ts";
import type { Outcome } from "../../../util/concurrently.ts";
import { attempt } from "../../../util/foreign.ts";
import { Latest } from "../../../util/latest.ts";
import { Slots } from "../../../util/slots.ts";
import { type CallContext, countdown } from "../../../waiting/call-context.ts";
import { type Composition, composition } from "../../compositions/compositions.endpoints.ts";
import type { WaitOptions } from "../render-waiting.ts";
import type { Render, RenderInput } from "../renders.schema.ts";
import { BatchCalls, type ImageUploads, type Row } from "./calls.ts";
import { type Creator, createOnce, keyOfPair, type RenderEntry } from "./create.ts";
import {
  assertInput,
  type BatchDownload,
  type BatchOptions,
  batchOptions,
  type MockupInput,
  type SaveOptions,
} from "./options.ts";
import { failedOutcome, type MockupOutcome } from "./outcome.ts";
import { heldPicture, type MockupValue, PictureFolder, type PictureParts, type TakeMockup } from "./pictures.ts";
import { ProgressReports } from "./progress.ts";
import { Tokens } from "./tokens.ts";
import { PendingRenders } from "./wait.ts";

const defaults = { concurrency: 4, maxPending: 2_000, wait: 600_000, interval: 60_000 };
/** Compositions, and pairs, that one batch keeps in memory. */
const mostKnown = 2_000;
/** Milliseconds after which a composition is looked up again: its `tokenCost` may change. */
const compositionLifetime = 24 * 3_600_000;

/** The parts of the client that a batch needs. */
interface BatchClient {
  readonly send: Send;
  readonly context: CallContext;
  readonly images: ImageUploads;
}

/** The options of a batch, with those of its rows. */
type Options = BatchOptions & { readonly download?: BatchDownload | SaveOptions };

/** Makes a mockup for each row. */
export async function* renderBatch(
  client: BatchClient,
  rows: Rows<unknown>,
  options: ManyRows<MockupInput, Options>,
  callSite: CallSite,
): AsyncGenerator<MockupOutcome<unknown, MockupValue>, void, undefined> {
  // The check of the options is the first step of `many`. Until then they can be any value.
  let batch: Promise<Batch> | undefined;
  let startedRows = 0;
  const opened = () => {
    batch ??= openBatch(client, rows, options, () => startedRows);
    return batch;
  };
  const onRow = () => {
    startedRows += 1;
  };
  const inProgress = new RowsInProgress(
    client.context,
    attempt(() => options.signal),
  );
  const work = async (input: MockupInput, each: Options, started: StartedRow): Promise<TakeMockup> => {
    const current = await opened();
    const { maxPending: _, retryFailed: __, tokenBudget: ___, onProgress: ____, download: _____, ...waiting } = each;
    return inProgress.run(started, waiting, (row) => makeMockup(current, input, row));
  };
  const { concurrency } = defaults;
  const most = attempt(() => options.maxPending) ?? defaults.maxPending;
  for await (const outcome of many(rows, options, { kind: batchOptions, concurrency, most, work, onRow, callSite })) {
    const ended = await delivered(outcome, callSite);
    (await opened()).progress.outcome(ended);
    yield ended;
  }
}

/** The outcome of a row as the caller receives it. */
async function delivered(
  outcome: Outcome<unknown, TakeMockup>,
  callSite: CallSite,
): Promise<MockupOutcome<unknown, MockupValue>> {
  const { input } = outcome;
  if (!outcome.ok) return failedOutcome(input, outcome.error);
  try {
    return { ok: true, input, value: await outcome.value() };
  } catch (error) {
    return failedOutcome(input, withCallSite(error, callSite));
  }
}

/** The rows in progress. However many there are, the caller's signal has one listener, which ends the waits of all. */
class RowsInProgress {
  readonly #context: CallContext;
  readonly #signal: AbortSignal | undefined;
  readonly #waits = new Set<AbortController>();
  #stopListening: () => void = () => undefined;

  constructor(context: CallContext, signal: AbortSignal | undefined) {
    this.#context = context;
    this.#signal = signal;
  }

  async run<T>({ row, left, waits }: StartedRow, options: WaitOptions, work: (row: Row) => Promise<T>): Promise<T> {
    const { interval = defaults.interval, onPending, ...request } = options;
    const remaining = countdown(this.#context, request.deadline);
    const creating = (): RequestOptions => ({ ...request, deadline: remaining() });
    const controller = new AbortController();
    onAbort(left, (reason) => controller.abort(reason));
    this.#add(controller);
    try {
      return await work({
        row,
        signal: controller.signal,
        waits,
        interval,
        onPending,
        creating,
        // `body` applies to the creation only.
        reading: () => ({ ...creating(), body: undefined, signal: eitherSignal(request.signal, left) }),
        waitTime: () => remaining() ?? defaults.wait,
      });
    } finally {
      this.#remove(controller);
    }
  }

  #add(controller: AbortController): void {
    this.#waits.add(controller);
    if (this.#signal === undefined || this.#waits.size > 1) return;
    this.#stopListening = onAbort(this.#signal, (reason) => {
      for (const each of [...this.#waits]) each.abort(reason);
    });
  }

  #remove(controller: AbortController): void {
    this.#waits.delete(controller);
    if (this.#waits.size === 0) this.#stopListening();
  }
}

/** What the rows of a batch share. */
interface Batch extends Creator, PictureParts {
  readonly pending: PendingRenders;
  readonly progress: ProgressReports;
  readonly download: BatchDownload | SaveOptions;
  readonly folder: PictureFolder | undefined;
  readonly compositions: Latest<Promise<Composition>>;
  readonly pairs: Latest<SharedPair>;
}

/** Milliseconds in which the `default` policy, which every request draws from, refills one token. */
const spacingOf = ({ policies: { default: limit } }: RateLimits): number => (limit ? limit.window / limit.quota : 0);

async function openBatch(
  { send, context: { clock, openStorage, pacer, retry, timeout }, images }: BatchClient,
  rows: Rows<unknown>,
  options: Options,
  started: () => number,
): Promise<Batch> {
  const { concurrency = defaults.concurrency, retryFailed = false, tokenBudget: budget, download } = options;
  const store = await openStorage();
  const calls = new BatchCalls(send, images);
  const slots = new Slots(Math.floor(concurrency));
  const tokens = new Tokens(calls, clock, { budget, attempts: 1 + (options.retry?.retries ?? retry.retries) });
  const progress = new ProgressReports(rows, { calls, clock, tokens, started, onProgress: options.onProgress });
  const parts = { calls, clock, store, slots, patience: (options.timeout ?? timeout) / 3 };
  const saving = typeof download === "string" ? { directory: download } : download;
  const folder = saving ? new PictureFolder(parts, saving) : undefined;
  await folder?.open();
  return {
    ...parts,
    tokens,
    retryFailedBefore: retryFailed ? clock.now() : undefined,
    onCreated: () => progress.report(),
    pending: new PendingRenders({ calls, clock, store, slots, spacing: () => spacingOf(pacer.forecast.snapshot()) }),
    progress,
    download,
    folder,
    compositions: new Latest(mostKnown),
    pairs: new Latest(mostKnown),
  };
}

/** Makes the mockup of a row: looks its composition up, uploads its image, creates its render and waits for it, and gets the picture. */
async function makeMockup(batch: Batch, input: MockupInput, row: Row): Promise<TakeMockup> {
  assertInput(input);
  const { reference: compositionReference, tokenCost } = await compositionOf(batch, input, row);
  const imageReference = await imageOf(batch, input, tokenCost, row);
  const render = await renderOnce(batch, { compositionReference, imageReference }, tokenCost, row);
  if (batch.folder !== undefined) {
    const path = await batch.folder.save(render, row);
    return async () => ({ render, path });
  }
  return batch.download === false ? async () => ({ render }) : heldPicture(batch, render, row);
}

const keyOfComposition = (input: MockupInput): string => {
  const { compositionReference, sceneReference, productReference, perspectiveReference } = input;
  return `composition:${compositionReference ?? `${sceneReference}:${productReference}:${perspectiveReference}`}`;
};

/**
 * Resolves to the composition of an input. Each one is looked up once and remembered. That one does not exist is remembered for the batch
 * only, because it may change.
 */
function compositionOf({ calls, compositions, store }: Batch, input: MockupInput, row: Row): Promise<Composition> {
  const key = keyOfComposition(input);
  const known = compositions.get(key);
  if (known !== undefined) return known;
  const found = findComposition(calls, store, key, input, row);
  compositions.set(key, found);
  found.catch((error: unknown) => {
    if (!(error instanceof NotFoundError || error instanceof GoneError)) compositions.forget(key, found);
  });
  return found;
}

async function findComposition(
  calls: BatchCalls,
  store: ClientStorage,
  key: string,
  input: MockupInput,
  row: Row,
): Promise<Composition> {
  const stored = check(composition, fromJson(await store.get(key)), []);
  if (stored.ok) return stored.value as Composition;
  const { reference, tokenCost } = await calls.composition(input, row.reading());
  await store.set(key, toJson({ reference, tokenCost }), { ttl: compositionLifetime });
  return { reference, tokenCost };
}

/** Uploads the image of a row. It is not uploaded when the tokens do not cover its render. */
async function imageOf(
  { calls, tokens }: Batch,
  { imageReference, image }: MockupInput,
  cost: number,
  row: Row,
): Promise<ImageReference> {
  if (image === undefined) return imageReference;
  tokens.check(cost);
  return calls.upload(image, row.reading());
}

/** A pair that rows share: its render is created once, and waited for once. */
interface SharedPair {
  readonly created: Promise<RenderEntry>;
  completed: Promise<Render> | undefined;
  /** The rows that wait for it. Each is forgotten when it has the render. */
  readonly rows: Set<Row>;
  /** Whether its rows only wait: for another process, or until the render should be completed. */
  waits: boolean;
}

/** Resolves to the completed render of a pair. */
async function renderOnce(batch: Batch, pair: RenderInput, cost: number, row: Row): Promise<Render> {
  const key = keyOfPair(pair);
  const shared = batch.pairs.get(key) ?? share(batch, pair, cost, row);
  if (shared.waits) row.waits();
  shared.rows.add(row);
  try {
    const entry = await shared.created;
    shared.completed ??= batch.pending
      .completed(key, entry, row, () => allWait(shared))
      .catch((error: unknown) => {
        // After a failure, the next row of the pair waits again.
        shared.completed = undefined;
        throw error;
      });
    return await shared.completed;
  } finally {
    shared.rows.delete(row);
  }
}

function share(batch: Batch, pair: RenderInput, cost: number, row: Row): SharedPair {
  const key = keyOfPair(pair);
  const created = createOnce(batch, pair, cost, row, () => allWait(shared));
  const shared: SharedPair = { created, completed: undefined, rows: new Set(), waits: false };
  batch.pairs.set(key, shared);
  // After a failure, the next row of the pair tries again.
  created.catch(() => batch.pairs.forget(key, shared));
  return shared;
}

function allWait(shared: SharedPair): void {
  shared.waits = true;
  for (const row of shared.rows) row.waits();
}
