import { type CallSite, withCallSite } from "../../../errors/call-site.ts";
import { type ManyRows, many, type Rows, type StartedRow } from "../../../http/many.ts";
import type { RateLimits } from "../../../http/pacing/rate-limits.ts";
import type { Send } from "../../../http/send.ts";
import type { Outcome } from "../../../util/concurrently.ts";
import { attempt } from "../../../util/foreign.ts";
import type { CallContext } from "../../../waiting/call-context.ts";
import { BatchWaits } from "./batch-waits.ts";
import { BatchCalls, type ImageUploads } from "./calls.ts";
import { Completions } from "./completions.ts";
import { Compositions } from "./compositions.ts";
import { Creations } from "./creations.ts";
import { RenderEntries } from "./entries.ts";
import type { MockupInput } from "./input.ts";
import { LookSchedule } from "./look-schedule.ts";
import { Mockups } from "./mockups.ts";
import { type BatchDownload, type BatchOptions, batchOptions, type SaveOptions } from "./options.ts";
import { failedOutcome, type MockupOutcome } from "./outcome.ts";
import { type MockupValue, Pictures, type ReadyMockup } from "./pictures.ts";
import { ProgressReports } from "./progress.ts";
import { RenderTimes } from "./render-times.ts";
import { RowWork } from "./row-work.ts";
import { SavedPictures } from "./saved-pictures.ts";
import { Slots } from "./slots.ts";
import { Tokens } from "./tokens.ts";
import { WeeklyTokens } from "./weekly-tokens.ts";

const defaults = { concurrency: 4, maxPending: 2_000 };

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
  { send, context, images }: BatchClient,
  rows: Rows<unknown>,
  options: ManyRows<MockupInput, Options>,
  callSite: CallSite,
): AsyncGenerator<MockupOutcome<unknown, MockupValue>, void, undefined> {
  // The check of the options is the first step of `many`. Until then they can be any value.
  let batch: Promise<Batch> | undefined;
  let startedRows = 0;
  const opened = () => {
    batch ??= openBatch({ send, context, images }, rows, options, () => startedRows);
    return batch;
  };
  const onRow = () => {
    startedRows += 1;
  };
  const work = async (input: MockupInput, each: Options, started: StartedRow): Promise<ReadyMockup> => {
    const { mockups } = await opened();
    const { maxPending: _, retryFailed: __, tokenBudget: ___, onProgress: ____, download: _____, ...waiting } = each;
    return mockups.make(input, new RowWork(context, started, waiting));
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
  outcome: Outcome<unknown, ReadyMockup>,
  callSite: CallSite,
): Promise<MockupOutcome<unknown, MockupValue>> {
  const { input } = outcome;
  if (!outcome.ok) return failedOutcome(input, outcome.error);
  try {
    return { ok: true, input, value: await outcome.value.take() };
  } catch (error) {
    return failedOutcome(input, withCallSite(error, callSite));
  }
}

/** Milliseconds in which the `default` policy, which every request draws from, refills one token. */
const intervalOf = ({ policies: { default: limit } }: RateLimits): number => (limit ? limit.window / limit.quota : 0);

interface Batch {
  readonly mockups: Mockups;
  readonly progress: ProgressReports;
}

/** Connects the parts of a batch. */
async function openBatch(
  { send, context: { clock, openStore, pacer, retry, timeout }, images }: BatchClient,
  rows: Rows<unknown>,
  options: Options,
  started: () => number,
): Promise<Batch> {
  const {
    concurrency = defaults.concurrency,
    retryFailed = false,
    tokenBudget: budget,
    download,
    onProgress,
  } = options;
  const store = await openStore();
  const waits = new BatchWaits(clock, options.signal);
  const calls = new BatchCalls(send, images);
  const entries = new RenderEntries(store);
  const slots = new Slots(Math.floor(concurrency), waits);
  const schedule = new LookSchedule(clock, waits, () => intervalOf(pacer.forecast.snapshot()));
  const attempts = 1 + (options.retry?.retries ?? retry.retries);
  const tokens = new Tokens(clock, waits, new WeeklyTokens(calls, clock), { budget, attempts });
  const progress = new ProgressReports(rows, { calls, clock, tokens, started, onProgress });
  const onCreated = () => progress.report();
  const directory = typeof download === "string" ? { directory: download } : download;
  const saved = directory ? new SavedPictures(directory, store, waits) : undefined;
  await saved?.open();
  const mockups = new Mockups({
    calls,
    compositions: new Compositions(calls, store),
    creations: new Creations({ calls, clock, entries, tokens, waits, retryFailed, onCreated }),
    completions: new Completions({ calls, clock, entries, schedule, slots, times: new RenderTimes() }),
    pictures: new Pictures({ calls, clock, slots, download, saved, patience: (options.timeout ?? timeout) / 3 }),
    tokens,
  });
  return { mockups, progress };
}
