import type { Download } from "../../binary/download.ts";
import { type ManyOptions, type ManyRows, many, type Rows } from "../../http/call/many.ts";
import type { RequestOptions } from "../../http/endpoint/request-options.ts";
import type { RenderReference } from "../../references/references.ts";
import { eitherSignal } from "../../util/abort-signals.ts";
import type { Outcome } from "../../util/concurrently.ts";
import { type CallContext, countdown } from "../../waiting/call-context.ts";
import type { RenderFileOptions, WaitOptions } from "./render-waiting.ts";
import type { CreatedRender, Render, RenderInput } from "./renders.schema.ts";
import { SharedRenders } from "./shared-renders.ts";

/** Options of {@link RendersResource.batch}. */
export interface BatchOptions extends WaitOptions, ManyOptions {
  /**
   * Milliseconds per render, from its creation to the last byte of its image. Default: the client's `deadline`; without one, 600 000
   * for the wait only.
   */
  readonly deadline?: number | undefined;
  /** Maximum number of renders at the same time. Default 4. */
  readonly concurrency?: number | undefined;
}

/** A completed render with its image, ready to read. */
export interface RenderedMockup {
  /** The completed render. */
  readonly render: Render;
  /** The image. Read it or call `cancel()` before the request's `timeout` ends. */
  readonly media: Download;
}

/** The calls that a batch uses. */
interface RenderCalls {
  create(input: RenderInput, options: RequestOptions): Promise<CreatedRender>;
  get(reference: RenderReference, options: RequestOptions): Promise<Render>;
  media(reference: RenderReference, options: RenderFileOptions): Promise<Download>;
}

/** Creates a mockup for each row: creates the render, unless this batch already created it, waits for it and opens its image. */
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
    // The following requests only read, so leaving the loop can abort them. The option `body` applies to the creation only.
    const signal = eitherSignal(request.signal, left);
    const reading = () => ({ ...request, body: undefined, signal, deadline: remaining() });
    const media = await calls.media(reference, { ...reading(), wait: { interval, onPending } });
    try {
      return { render: await calls.get(reference, reading()), media };
    } catch (error) {
      // The caller never receives this download, so it is canceled. Otherwise its socket would stay open until the timeout.
      await media.cancel();
      throw error;
    }
  };
  return many(rows, options, { kind: "batch", concurrency: 4, work });
}
