import type { Download } from "../../binary/download.ts";
import { type ManyOptions, type ManyRows, many, type Rows } from "../../http/call/many.ts";
import type { RequestOptions } from "../../http/endpoint/request-options.ts";
import type { RenderReference } from "../../references/references.ts";
import type { Outcome } from "../../util/concurrently.ts";
import { eitherSignal } from "../../util/either-signal.ts";
import { type CallContext, countdown } from "../../waiting/call-context.ts";
import type { RenderFileOptions, WaitOptions } from "./render-waiting.ts";
import type { CreatedRender, Render, RenderInput } from "./renders.schema.ts";
import { SharedRenders } from "./shared-renders.ts";

/** Options for many renders. */
export interface BatchOptions extends WaitOptions, ManyOptions {
  /**
   * Milliseconds for each render in all: its creation, the wait, the last look, the picture's last byte. Default: the client's
   * `deadline`; where it has none, 600 000 for the wait alone.
   */
  readonly deadline?: number | undefined;
  /** Renders under way at a time. Default 4. */
  readonly concurrency?: number | undefined;
}

/** A render that is done, with its picture ready to be read. */
export interface RenderedMockup {
  /** The completed render. */
  readonly render: Render;
  /** Its picture: read it, or let it go with `cancel()`, before the request's `timeout` is over. */
  readonly media: Download;
}

/** The calls that a batch makes. */
interface RenderCalls {
  create(input: RenderInput, options: RequestOptions): Promise<CreatedRender>;
  get(reference: RenderReference, options: RequestOptions): Promise<Render>;
  media(reference: RenderReference, options: RenderFileOptions): Promise<Download>;
}

/** Makes a mockup of each row: creates its render unless the batch has created it, waits for it and opens its picture. */
export function renderBatch(
  calls: RenderCalls,
  context: CallContext,
  rows: Rows<unknown>,
  options: ManyRows<RenderInput, BatchOptions>,
): AsyncIterable<Outcome<unknown, RenderedMockup>> {
  const renders = new SharedRenders();
  const work = async (
    input: RenderInput,
    { interval, onPending, ...request }: WaitOptions,
    left: AbortSignal,
  ): Promise<RenderedMockup> => {
    const remaining = countdown(context, request.deadline);
    const { reference } = await renders.create(input, () => calls.create(input, request));
    // From here on nothing is lost when nobody waits for it. What is added to a body belongs to the creation.
    const signal = eitherSignal(request.signal, left);
    const reading = () => ({ ...request, body: undefined, signal, deadline: remaining() });
    const media = await calls.media(reference, { ...reading(), wait: { interval, onPending } });
    try {
      return { render: await calls.get(reference, reading()), media };
    } catch (error) {
      // Nobody gets to see the download: its socket would be held until the call's time is over.
      await media.cancel();
      throw error;
    }
  };
  return many(rows, options, { kind: "batch", concurrency: 4, work });
}
