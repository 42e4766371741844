import type { Download } from "../../../binary/download.ts";
import type { ImageSource } from "../../../binary/source.ts";
import { PodPartnerError, type TimelineEntry } from "../../../errors/base.ts";
import type { RequestOptions } from "../../../http/request-options.ts";
import type { ApiCall, Send, WithResponse } from "../../../http/send.ts";
import type { ImageReference, RenderReference } from "../../../references/references.ts";
import { type Composition, getComposition, lookupComposition } from "../../compositions/compositions.endpoints.ts";
import type { ImagesResource } from "../../images/images.ts";
import { getRendertokens, type Rendertokens } from "../../rendertokens/rendertokens.endpoints.ts";
import { createRender, getRender, getRenderMedia } from "../renders.endpoints.ts";
import type { CreatedRender, Render, RenderInput } from "../renders.schema.ts";
import type { BatchOptions, MockupInput } from "./options.ts";

/** A row in progress. */
export interface Row {
  readonly row: unknown;
  /** Ends its waits: the caller left the loop, or aborted the signal of the batch. */
  readonly signal: AbortSignal;
  /** Says that the row only waits from now on, so that another one can start. */
  readonly waits: () => void;
  /** Milliseconds between two reads of the status. */
  readonly interval: number;
  readonly onPending: BatchOptions["onPending"];
  /** The options of its creation, which is finished also if the caller leaves the loop. */
  readonly creating: () => RequestOptions;
  /** The options of a request that only reads, which ends when the caller leaves the loop. */
  readonly reading: () => RequestOptions;
  /** Milliseconds for a wait that begins now. */
  readonly waitTime: () => number;
}

/** What uploads the images of a batch. */
export type ImageUploads = Pick<ImagesResource, "uploadOnce">;

const attemptsOf = (timeline: readonly TimelineEntry[]) => timeline.filter(({ step }) => step === "attempt");

const timelineOf = (error: unknown) => (error instanceof PodPartnerError ? error.timeline : []);

/** The attempts of a creation that may have deducted tokens. An error of the service itself (4xx, apart from 408) deducted none. */
const deducted = (timeline: readonly TimelineEntry[]): number =>
  attemptsOf(timeline).filter(({ outcome }) => outcome === "408" || !/^4\d\d$/.test(outcome)).length;

/** The requests of a batch. Each is counted, with its retries. */
export class BatchCalls {
  readonly #send: Send;
  readonly #images: ImageUploads;
  /** The number of requests so far. */
  requests = 0;

  constructor(send: Send, images: ImageUploads) {
    this.#send = send;
    this.#images = images;
  }

  async composition(input: MockupInput, options: RequestOptions): Promise<Composition> {
    const { compositionReference, sceneReference, productReference, perspectiveReference } = input;
    const call =
      compositionReference === undefined
        ? this.#send(
            lookupComposition,
            { query: { sceneReference, productReference, perspectiveReference } },
            options,
            true,
          )
        : this.#send(getComposition, { path: { compositionReference } }, options, true);
    return (await this.#count(call)).data;
  }

  async upload(image: ImageSource, options: RequestOptions): Promise<ImageReference> {
    const { reference, uploaded } = await this.#images.uploadOnce(image, options);
    if (uploaded) this.requests += 1;
    return reference;
  }

  /** Creates a render. `onAttempts` receives how many attempts may have deducted tokens, also if the creation fails. */
  async create(
    body: RenderInput,
    options: RequestOptions,
    onAttempts: (count: number) => void,
  ): Promise<CreatedRender> {
    try {
      const { data, timeline } = await this.#count(this.#send(createRender, { body }, options, true));
      onAttempts(deducted(timeline));
      return data;
    } catch (error) {
      onAttempts(deducted(timelineOf(error)));
      throw error;
    }
  }

  render(renderReference: RenderReference, options: RequestOptions): Promise<WithResponse<Render>> {
    return this.#count(this.#send(getRender, { path: { renderReference } }, options));
  }

  async media(renderReference: RenderReference, options: RequestOptions): Promise<Download> {
    return (await this.#count(this.#send(getRenderMedia, { path: { renderReference } }, options))).data;
  }

  async rendertokens(options: RequestOptions): Promise<Rendertokens> {
    return (await this.#count(this.#send(getRendertokens, {}, options, true))).data;
  }

  async #count<Data>(call: ApiCall<Data>): Promise<WithResponse<Data>> {
    try {
      const result = await call.withResponse();
      this.requests += attemptsOf(result.timeline).length;
      return result;
    } catch (error) {
      this.requests += attemptsOf(timelineOf(error)).length;
      throw error;
    }
  }
}
