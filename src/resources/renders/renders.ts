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

/** Mockups (specification 2.9, 3.2, 4.6). */
export class RendersResource {
  readonly #send: Send;
  readonly #context: CallContext;

  /** @internal */
  constructor(send: Send, context: CallContext) {
    this.#send = send;
    this.#context = context;
  }

  /**
   * Asks for a render (specification 4.6). The same composition and image give the render that exists, yet every request deducts
   * the composition's `tokenCost` again.
   *
   * @throws `RendertokenLimitError` when the week's tokens do not cover it; it tells when they reset, and is never waited for.
   * @example
   * const { reference } = await partner.renders.create({ compositionReference, imageReference });
   * const mockup = await partner.renders.media(reference, { wait: true });
   */
  create(render: RenderInput, options?: RequestOptions): ApiCall<CreatedRender> {
    return this.#send(createRender, { body: render }, options);
  }

  /**
   * Reads a render (specification 2.9). To wait for one, use {@link RendersResource.wait}.
   *
   * @throws `NotFoundError` when there is none of this reference.
   */
  get(renderReference: RenderReference, options?: RequestOptions): ApiCall<Render> {
    return this.#send(getRender, { path: { renderReference } }, options);
  }

  /**
   * Waits until a render is completed, and gives it (specification 3.2).
   *
   * @throws `RenderFailedError` when its processing failed.
   * @throws `WaitTimeoutError` when `deadline` comes first: the call's own, or the client's, or 600 000 ms. The render goes on.
   * @example
   * const render = await partner.renders.wait(renderReference, { onPending: (_, ms) => console.log(`${ms} ms …`) });
   */
  wait(renderReference: RenderReference, options: WaitOptions = {}): ApiCall<Render> {
    return waitForRender(this.#context, this.#get, renderReference, options);
  }

  /**
   * Downloads the picture of a render (specification 4.6). Draws from the `downloads` bucket.
   *
   * With `wait`, it asks again for a picture that is not ready, as often as the service's `Retry-After` says, for as long as
   * {@link RendersResource.wait} does. Each time draws from the bucket.
   *
   * @throws `NotReadyError` while the render is not completed, without `wait`.
   * @throws `RenderFailedError` when the render's processing failed, `WaitTimeoutError` when the deadline comes first, with `wait`.
   * @example
   * const mockup = await partner.renders.media(renderReference, { wait: true });
   * await mockup.saveTo("mockup.png");
   */
  media(renderReference: RenderReference, options: RenderFileOptions = {}): ApiCall<Download> {
    return this.#file(getRenderMedia, renderReference, options);
  }

  /**
   * Downloads the thumbnail of a render, in the way of {@link RendersResource.media} (specification 4.6).
   *
   * @throws the same as {@link RendersResource.media}.
   */
  thumbnail(renderReference: RenderReference, options: RenderFileOptions = {}): ApiCall<Download> {
    return this.#file(getRenderThumbnail, renderReference, options);
  }

  /**
   * Renders many: asks for each, waits for it and opens its picture, and gives each outcome with its row as it comes.
   * One failure does not stop the others. Read or cancel each `media` before it times out.
   *
   * `map` makes the input of a row of your own. Rows of the same composition and image are rendered once, and each has a picture of
   * its own: the last 2,000 pairs are remembered.
   *
   * Leaving the loop ends every wait and lets go of each picture that was not given yet. A creation that is on its way is finished
   * first; an abort of `signal` ends it, too.
   *
   * @throws `RequestValidationError` when an option or the rows are invalid. The iteration throws only this, what `rows` throws,
   * or the signal's own reason, after the outcomes of what was under way: any other failure is the `error` of its outcome.
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
   * Renders many, where each row is the input of a render and has no other fields: in the way of the form with `map`.
   *
   * @throws the same as the form with `map`.
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

const waitFault = { path: ["wait"], message: "expected true, false or how to wait" };
