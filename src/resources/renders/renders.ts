import type { Download } from "../../binary/download.ts";
import type { ApiCall } from "../../http/call/call.ts";
import type { Send } from "../../http/call/core.ts";
import type { ExactRow, ManyRows, RowMapping, Rows } from "../../http/call/many.ts";
import type { RequestOptions } from "../../http/endpoint/request-options.ts";
import type { RenderReference } from "../../references/references.ts";
import { isObject } from "../../schemas/type-guards.ts";
import type { Outcome } from "../../util/concurrently.ts";
import { splitFields } from "../../util/split-fields.ts";
import type { CallContext } from "../../waiting/call-context.ts";
import { type BatchOptions, type RenderedMockup, renderBatch } from "./render-batch.ts";
import { type RenderFileOptions, type WaitOptions, waitForFile, waitForRender } from "./render-waiting.ts";
import { createRender, getRender, getRenderMedia, getRenderThumbnail } from "./renders.endpoints.ts";
import type { CreatedRender, Render, RenderInput } from "./renders.schema.ts";

/** Creates, waits for and downloads mockups (specification 2.9, 3.2, 4.6). */
export class RendersResource {
  readonly #send: Send;
  readonly #context: CallContext;

  /** @internal */
  constructor(send: Send, context: CallContext) {
    this.#send = send;
    this.#context = context;
  }

  /**
   * Creates a render (specification 4.6). The same composition and image return the existing render, but every request deducts the
   * composition's `tokenCost` again.
   *
   * @throws `RendertokenLimitError` if the remaining rendertokens of the week do not cover the render. `resetsAt` is the time of the
   * reset; the SDK does not wait for it.
   * @example
   * const { reference } = await partner.renders.create({ compositionReference, imageReference });
   * const mockup = await partner.renders.media(reference, { wait: true });
   */
  create(render: RenderInput, options?: RequestOptions): ApiCall<CreatedRender> {
    return this.#send(createRender, { body: render }, options);
  }

  /**
   * Reads a render (specification 2.9, 4.6). To wait until it is completed, use {@link RendersResource.wait}.
   *
   * @throws `NotFoundError` if no render has this reference.
   */
  get(renderReference: RenderReference, options?: RequestOptions): ApiCall<Render> {
    return this.#send(getRender, { path: { renderReference } }, options);
  }

  /**
   * Waits until a render is completed and returns it (specification 3.2). It polls the status every `interval` milliseconds, 60 000 by
   * default.
   *
   * @throws `RenderFailedError` if the service failed to process the render.
   * @throws `WaitTimeoutError` if the `deadline` of the call or the client ends first; without one, after 600 000 ms. The service continues
   * to process the render.
   * @example
   * const render = await partner.renders.wait(renderReference, { onPending: (_, ms) => console.log(`${ms} ms …`) });
   */
  wait(renderReference: RenderReference, options: WaitOptions = {}): ApiCall<Render> {
    return waitForRender(this.#context, this.#get, renderReference, options);
  }

  /**
   * Downloads the image of a render (specification 4.6). Takes one token of the `downloads` limit.
   *
   * With `wait`, it repeats the request at the times that the service's `Retry-After` gives, within the same deadline as
   * {@link RendersResource.wait}. Each request takes a token.
   *
   * @throws `NotReadyError` if the render is not completed, without `wait`.
   * @throws `RenderFailedError` if the service failed to process the render, with `wait`.
   * @throws `WaitTimeoutError` if the deadline ends first, with `wait`.
   * @example
   * const mockup = await partner.renders.media(renderReference, { wait: true });
   * await mockup.saveTo("mockup.png");
   */
  media(renderReference: RenderReference, options: RenderFileOptions = {}): ApiCall<Download> {
    return this.#file(getRenderMedia, renderReference, options);
  }

  /**
   * Downloads the thumbnail of a render (specification 4.6). It works like {@link RendersResource.media}.
   *
   * @throws The same errors as {@link RendersResource.media}.
   * @example
   * const thumbnail = await partner.renders.thumbnail(renderReference, { wait: true });
   */
  thumbnail(renderReference: RenderReference, options: RenderFileOptions = {}): ApiCall<Download> {
    return this.#file(getRenderThumbnail, renderReference, options);
  }

  /**
   * Creates many mockups: creates each render, waits for it and opens its image. It yields each outcome with its row when it is ready.
   * One failure does not stop the other renders. Read or cancel each `media` before its `timeout` ends.
   *
   * `map` converts your row to the input of a render. Rows with the same composition and image share one render, and each gets its own
   * download. The batch remembers the last 2,000 pairs.
   *
   * Leaving the loop ends all waits and cancels all downloads that were not yielded yet. A started creation is finished first, unless
   * `signal` aborts it.
   *
   * @throws `RequestValidationError` if an option or `rows` is invalid. The iteration throws only this error, an error of `rows`, or
   * the reason of the signal, after the outcomes of started renders. Any other failure is the `error` of its outcome.
   * @example
   * const map = (row: (typeof rows)[number]) => ({ compositionReference, imageReference: row.imageReference });
   * for await (const outcome of partner.renders.batch(rows, { map })) {
   *   if (outcome.ok) await outcome.value.media.saveTo(`${outcome.input.sku}.png`);
   *   else report(outcome.input.sku, outcome.error);
   * }
   */
  batch<Row>(
    rows: Rows<Row>,
    options: BatchOptions & RowMapping<Row, RenderInput>,
  ): AsyncIterable<Outcome<Row, RenderedMockup>>;
  /**
   * Creates many mockups. Each row is the input of a render without additional fields. It works like the overload with `map`.
   *
   * @throws The same errors as the overload with `map`.
   * @example
   * for await (const outcome of partner.renders.batch(inputs)) {
   *   if (outcome.ok) await outcome.value.media.saveTo(`${outcome.value.render.reference}.png`);
   *   else console.error(outcome.input.imageReference, outcome.error);
   * }
   */
  batch<Row extends RenderInput>(
    rows: Rows<ExactRow<Row, RenderInput>>,
    options?: BatchOptions & { readonly map?: undefined },
  ): AsyncIterable<Outcome<Row, RenderedMockup>>;
  batch(
    rows: Rows<unknown>,
    options: ManyRows<RenderInput, BatchOptions> = {},
  ): AsyncIterable<Outcome<unknown, RenderedMockup>> {
    return renderBatch(this, this.#context, rows, options);
  }

  readonly #get = (reference: RenderReference, options?: RequestOptions): ApiCall<Render> =>
    this.get(reference, options);

  #file(
    endpoint: typeof getRenderMedia,
    renderReference: RenderReference,
    given: RenderFileOptions,
  ): ApiCall<Download> {
    const [{ wait = false }, options] = splitFields(given, "wait");
    const faults = typeof wait === "boolean" || isObject(wait) ? [] : [waitFault];
    const download = (request: RequestOptions) => this.#send(endpoint, { path: { renderReference }, faults }, request);
    if (wait === false || faults.length > 0) return download(options);
    const how = wait === true ? options : { ...options, ...wait };
    return waitForFile(this.#context, this.#get, endpoint, download, renderReference, how);
  }
}

const waitFault = {
  path: ["wait"],
  message: "expected true, false or an object with wait options (interval, onPending)",
};
