import type { Download } from "../../binary/download.ts";
import { captureCallSite } from "../../errors/call-site.ts";
import type { RequestOptions } from "../../http/request-options.ts";
import type { ApiCall } from "../../http/send.ts";
import type { RenderReference } from "../../references/references.ts";
import { splitFields } from "../../util/fields.ts";
import { attempt, isRecord } from "../../util/foreign.ts";
import type { UploadsContext } from "../images/upload-once.ts";
import { type ExactRow, iterateOnce, type ManyRows, type MapRows, type Rows } from "../many.ts";
import type {
  BatchDownload,
  BatchOptions,
  MockupInput,
  MockupOf,
  MockupOutcome,
  RenderedMockup,
} from "./batch.schema.ts";
import { renderBatch } from "./batch.ts";
import { getFile, type RenderFileOptions, type WaitOptions, waitForFile, waitForRender } from "./render-waiting.ts";
import {
  type CreatedRender,
  createRender,
  getRender,
  getRenderMedia,
  getRenderThumbnail,
  type Render,
  type RenderInput,
} from "./renders.endpoints.ts";

/** Creates, waits for and downloads mockups (specification 2.9, 3.2, 4.6). */
export class RendersResource {
  readonly #context: UploadsContext;

  /** @internal */
  constructor(context: UploadsContext) {
    this.#context = context;
  }

  /**
   * Creates a render (specification 4.6). The same composition and image return the existing render, also one that failed, but every
   * request deducts the composition's `tokenCost` again.
   *
   * @throws `RendertokenLimitError` if the remaining rendertokens of the week do not cover the render. `resetsAt` is the time of the
   * reset; the SDK does not wait for it.
   * @example
   * const { reference } = await partner.renders.create({ compositionReference, imageReference });
   * const mockup = await partner.renders.media(reference, { wait: true });
   */
  create(render: RenderInput, options?: RequestOptions): ApiCall<CreatedRender> {
    return this.#context.send(createRender, { body: render }, options);
  }

  /**
   * Reads a render (specification 2.9, 4.6). To wait until it is completed, use {@link RendersResource.wait}.
   *
   * @throws `NotFoundError` if no render has this reference.
   */
  get(renderReference: RenderReference, options?: RequestOptions): ApiCall<Render> {
    return this.#context.send(getRender, { path: { renderReference } }, options);
  }

  /**
   * Waits until a render is completed and returns it (specification 3.2). It reads the status at the times of the service's `Retry-After`, or
   * every 60 000 ms. The option `interval` replaces both.
   *
   * @throws `RenderFailedError` if the service failed to process the render.
   * @throws `WaitTimeoutError` if the `deadline` of the call or the client ends first; without one, after 600 000 ms. The service continues
   * to process the render.
   * @example
   * const render = await partner.renders.wait(renderReference, { onPending: (_, ms) => console.log(`${ms} ms …`) });
   */
  wait(renderReference: RenderReference, options: WaitOptions = {}): ApiCall<Render> {
    return waitForRender(this.#context, renderReference, options);
  }

  /**
   * Downloads the image of a render (specification 4.6). Takes one token of the `downloads` limit.
   *
   * With `wait`, it repeats the request at the times of the service's `Retry-After`, within the same deadline as
   * {@link RendersResource.wait}. Each request takes a token. While the file is not ready, it reads the status after each `interval`
   * and before the deadline. When the file is refused, it reads the status at once.
   *
   * @throws `NotReadyError` if the render is not completed, without `wait`.
   * @throws `RenderFailedError` if the service failed to process the render. Without `wait`, only if the service says so: with the code
   * `render_failed`.
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
   * Makes many mockups. Each row is a {@link MockupInput} without additional fields. It works like the overload with options.
   *
   * @throws The same errors as the overload with options.
   * @example
   * for await (const outcome of partner.renders.batch(inputs)) {
   *   if (outcome.ok) await outcome.value.media.saveTo(`${outcome.value.render.reference}.png`);
   *   else console.error(outcome.reason, outcome.error);
   * }
   */
  batch<Row extends MockupInput>(
    rows: Rows<ExactRow<Row, MockupInput>>,
  ): AsyncIterable<MockupOutcome<Row, RenderedMockup>>;
  /**
   * Makes many mockups: uploads each image, creates each render, waits for it and opens or saves its picture. It yields each outcome with
   * its row when it is ready. One failure does not stop the other rows.
   *
   * `map` converts your row to a {@link MockupInput}. Without it, each row is an input without additional fields. Rows are pulled lazily, so
   * `rows` may be endless. The client's `storage` remembers compositions and renders: a stored render is never created again, not even after
   * a kill or by several processes at once. Without the option `storage`, the client remembers them until it ends.
   *
   * Leaving the loop ends all waits and cancels all pictures that were not yielded yet. A started creation is finished first, unless
   * `signal` aborts it. Iterate the outcomes once; a second loop throws an `AlreadyReadError`.
   *
   * @throws `RequestValidationError` if an option or `rows` is invalid. The iteration throws only this error, an error of `rows`, or
   * the reason of the signal, after the outcomes of started rows. Any other failure is an outcome with its `reason`.
   * @example
   * const map = (row: (typeof rows)[number]) => ({ compositionReference, imageReference: row.imageReference });
   * for await (const outcome of partner.renders.batch(rows, { map, download: "mockups", tokenBudget: 5_000 })) {
   *   if (outcome.ok) console.log(outcome.input.sku, outcome.value.path);
   *   else if (outcome.reason === "weekly-limit") console.log(`Continue at ${outcome.resetsAt}`);
   *   else report(outcome.input.sku, outcome.error);
   * }
   */
  batch<Row, To extends BatchDownload = undefined>(
    rows: Rows<Row>,
    options: BatchOptions<Row> & { readonly download?: To } & MapRows<Row, MockupInput>,
  ): AsyncIterable<MockupOutcome<Row, MockupOf<To>>>;
  batch(
    rows: Rows<unknown>,
    options: ManyRows<MockupInput, BatchOptions & { readonly download?: BatchDownload }> = {},
  ): AsyncIterable<MockupOutcome<unknown, unknown>> {
    const callSite = captureCallSite(batch);
    return iterateOnce("renders.batch", renderBatch(this.#context, rows, options, callSite));
  }

  #file(
    endpoint: typeof getRenderMedia,
    renderReference: RenderReference,
    given: RenderFileOptions,
  ): ApiCall<Download> {
    const [{ wait = false }, options] = splitFields(given, "wait");
    const how = attempt(() => (wait === true ? options : isRecord(wait) ? Object.assign(options, wait) : undefined));
    if (wait === false || how === undefined) {
      return getFile(this.#context, endpoint, renderReference, wait === false ? [] : [waitFault], options);
    }
    return waitForFile(this.#context, endpoint, renderReference, how);
  }
}

const waitFault = {
  path: ["wait"],
  message: "expected true, false or an object with wait options (interval, onPending)",
};

/** The frames below this method in a stack are the caller's. */
const { batch } = RendersResource.prototype;
