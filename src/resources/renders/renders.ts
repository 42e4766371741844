import type { Download } from "../../binary/download.ts";
import type { Call } from "../../http/call.ts";
import type { Send } from "../../http/core.ts";
import { many } from "../../http/many.ts";
import type { RequestOptions } from "../../http/request-options.ts";
import type { RenderReference } from "../../references/references.ts";
import { isObject } from "../../schemas/kinds.ts";
import { apart } from "../../util/apart.ts";
import type { Outcome } from "../../util/concurrently.ts";
import { eitherSignal } from "../../util/either-signal.ts";
import { type Timing, type WaitOptions, waitForFile, waitForRender } from "./render-waiting.ts";
import { createRender, getRender, getRenderMedia, getRenderThumbnail } from "./renders.endpoints.ts";
import type { CreatedRender, Render, RenderInput } from "./renders.schema.ts";

/** Fetches a file that is ready now; one that is not gives `NotReadyError`. */
export interface ReadyFileOptions extends RequestOptions {
  /** Left out, or false. */
  readonly wait?: false | undefined;
}

/** Waits for a file that is not ready. */
export interface AwaitedFileOptions extends RequestOptions {
  /** `true`, or how to wait. */
  readonly wait: boolean | Omit<WaitOptions, keyof RequestOptions>;
}

/** Options for many renders. */
export interface BatchOptions extends WaitOptions {
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

/** Mockups (specification 2.9, 3.2, 4.6). */
export class RendersResource {
  readonly #send: Send;
  readonly #timing: Timing;

  /** @internal */
  constructor(send: Send, timing: Timing) {
    this.#send = send;
    this.#timing = timing;
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
  create(render: RenderInput, options?: RequestOptions): Call<CreatedRender> {
    return this.#send(createRender, { body: render }, options);
  }

  /**
   * Reads a render (specification 2.9). To wait for one, use {@link RendersResource.wait}.
   *
   * @throws `NotFoundError` when there is none of this reference.
   */
  get(renderReference: RenderReference, options?: RequestOptions): Call<Render> {
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
  wait(renderReference: RenderReference, options: WaitOptions = {}): Promise<Render> {
    return waitForRender(this.#timing, this.#get, renderReference, options);
  }

  /**
   * Downloads the picture of a completed render (specification 4.6). Draws from the `downloads` bucket.
   *
   * @throws `NotReadyError` while the render is not completed: with `wait: true` it is waited for.
   * @example
   * const mockup = await partner.renders.media(renderReference);
   * await mockup.saveTo("mockup.png");
   */
  media(renderReference: RenderReference, options?: ReadyFileOptions): Call<Download>;
  /**
   * Downloads the picture as soon as it is there (specification 4.6): asks again as the service's `Retry-After` says, for as
   * long as {@link RendersResource.wait} does. Each time draws from the `downloads` bucket.
   *
   * @throws `RenderFailedError` when the render's processing failed.
   * @throws `WaitTimeoutError` when the deadline comes first; the render goes on.
   * @example
   * const mockup = await partner.renders.media(renderReference, { wait: true });
   * await mockup.saveTo("mockup.png");
   */
  media(renderReference: RenderReference, options: AwaitedFileOptions): Promise<Download>;
  media(renderReference: RenderReference, options: ReadyFileOptions | AwaitedFileOptions = {}): Promise<Download> {
    return this.#file(getRenderMedia, renderReference, options);
  }

  /**
   * Downloads the thumbnail of a completed render (specification 4.6). Draws from the `downloads` bucket.
   *
   * @throws `NotReadyError` while the render is not completed: with `wait: true` it is waited for.
   */
  thumbnail(renderReference: RenderReference, options?: ReadyFileOptions): Call<Download>;
  /**
   * Downloads the thumbnail as soon as it is there, in the way of {@link RendersResource.media}.
   *
   * @throws `RenderFailedError` when the render's processing failed.
   * @throws `WaitTimeoutError` when the deadline comes first; the render goes on.
   */
  thumbnail(renderReference: RenderReference, options: AwaitedFileOptions): Promise<Download>;
  thumbnail(renderReference: RenderReference, options: ReadyFileOptions | AwaitedFileOptions = {}): Promise<Download> {
    return this.#file(getRenderThumbnail, renderReference, options);
  }

  /**
   * Renders many: asks for each, waits for it and opens its picture, and gives each outcome with its input as it comes.
   * One failure does not stop the others. Read or cancel each `media` before it times out.
   *
   * Leaving the loop ends every wait and lets go of each picture that was not given yet. A creation that is on its way is finished
   * first; an abort of `signal` ends it, too.
   *
   * @throws `RequestValidationError` when an option or the inputs are none. The iteration throws only this, what `inputs` throws,
   * or the signal's own reason, after the outcomes of what was under way: any other failure is the `error` of its outcome.
   * @example
   * for await (const outcome of partner.renders.batch(inputs)) {
   *   if (outcome.ok) await outcome.value.media.saveTo(`${outcome.value.render.reference}.png`);
   *   else console.error(outcome.input.imageReference, outcome.error);
   * }
   */
  batch(
    inputs: Iterable<RenderInput> | AsyncIterable<RenderInput>,
    options: BatchOptions = {},
  ): AsyncIterable<Outcome<RenderInput, RenderedMockup>> {
    return many(inputs, options, { what: "inputs", kind: "batch", concurrency: 4, work: this.#make });
  }

  readonly #make = async (
    input: RenderInput,
    { interval, onPending, ...request }: WaitOptions,
    left: AbortSignal,
  ): Promise<RenderedMockup> => {
    const { clock } = this.#timing;
    const { deadline = this.#timing.deadline } = request;
    const began = clock.now();
    /** Of the one deadline that the requests have together, what is left. With no time left the next one tells of it. */
    const remaining = () => deadline && Math.max(1, deadline - (clock.now() - began));
    const { reference } = await this.create(input, { ...request, deadline });
    // From here on nothing is lost when nobody waits for it.
    const signal = eitherSignal(request.signal, left);
    const media = await this.media(reference, {
      ...request,
      signal,
      deadline: remaining(),
      wait: { interval, onPending },
    });
    try {
      return { render: await this.get(reference, { ...request, signal, deadline: remaining() }), media };
    } catch (error) {
      // Nobody gets to see the download: its socket would be held until the call's time is over.
      await media.cancel();
      throw error;
    }
  };

  readonly #get = (reference: RenderReference, options?: RequestOptions): Call<Render> => this.get(reference, options);

  #file(
    endpoint: typeof getRenderMedia,
    renderReference: RenderReference,
    given: ReadyFileOptions | AwaitedFileOptions,
  ): Promise<Download> {
    const [{ wait = false }, options] = apart(given, "wait");
    const faults = typeof wait === "boolean" || isObject(wait) ? [] : [waitFault];
    const download = (request: RequestOptions) => this.#send(endpoint, { path: { renderReference }, faults }, request);
    if (wait === false || faults.length > 0) return download(options);
    const how = wait === true ? options : { ...options, ...wait };
    return waitForFile(this.#timing, this.#get, endpoint, download, renderReference, how);
  }
}

const waitFault = { path: ["wait"], message: "expected true, false or how to wait" };
