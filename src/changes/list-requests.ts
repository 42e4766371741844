import { ResponseValidationError } from "../errors/validation.ts";
import type { ApiCall, CallResult } from "../http/call/call.ts";
import type { Plan, Send } from "../http/call/core.ts";
import { type ListPage, nameOf } from "../http/endpoint/endpoint.ts";
import type { RequestOptions } from "../http/endpoint/request-options.ts";
import { Paginator } from "../pagination/paginator.ts";
import { referenceFault } from "../references/references.ts";
import { eitherSignal } from "../util/abort-signals.ts";
import type { PartnerClock } from "../util/clock.ts";
import { concurrently, type Outcome } from "../util/concurrently.ts";
import { propertyOf } from "../util/foreign.ts";
import type { ResponseHead } from "../util/response-head.ts";
import { JointTimeline } from "../waiting/joint-timeline.ts";
import type { ChangingList } from "./changes.ts";

/** The most requests for single entries at the same time. */
const concurrency = 8;

/** The requests of one call of `changes`. They share its deadline, its options and its timeline. */
export class ListRequests<Listed> {
  readonly #send: Send;
  readonly #list: ChangingList<Listed>;
  readonly #options: RequestOptions;
  readonly #remaining: () => number | undefined;
  readonly #timeline: JointTimeline;
  #response: ResponseHead | undefined;

  constructor(
    { send, clock }: { readonly send: Send; readonly clock: PartnerClock },
    list: ChangingList<Listed>,
    options: RequestOptions,
    remaining: () => number | undefined,
  ) {
    this.#send = send;
    this.#list = list;
    this.#options = { ...options, priority: options.priority ?? "low" };
    this.#remaining = remaining;
    this.#timeline = new JointTimeline(clock);
  }

  /** Reads the list from its beginning. The pages leave out repeated entries. `onPage` receives the whole number of entries of each page. */
  pages(onPage: (entries: number) => void): AsyncIterable<ListPage<Listed>> {
    const { list } = this.#list;
    const plan = this.#identified();
    const fetch = async (cursor: string | undefined, options: RequestOptions) => {
      const each = { ...options, deadline: this.#remaining() };
      const page = await this.#add(this.#send(list, { query: { cursor } }, each, plan));
      onPage(page.items.length);
      return page;
    };
    return new Paginator(nameOf(list), fetch, this.#options).pages();
  }

  /** Reads single entries. The option `query` is for the list. */
  each(references: readonly string[], get: NonNullable<ChangingList<Listed>["get"]>) {
    const { signal } = this.#options;
    const read = (reference: string, left: AbortSignal): Promise<Listed> => {
      const options = { ...this.#options, query: undefined, body: undefined, deadline: this.#remaining() };
      return this.#add(get(reference as never, { ...options, signal: eitherSignal(signal, left) }));
    };
    return concurrently(references, concurrency, read, signal) satisfies AsyncIterable<Outcome<string, Listed>>;
  }

  /** The result of the call, with the response to its last request. */
  result<Data>(data: Data): CallResult<Data> {
    if (this.#response === undefined) throw new TypeError("no request was made");
    return { data, response: this.#response, timeline: this.#timeline.entries };
  }

  async #add<Data>(call: ApiCall<Data>): Promise<Data> {
    const { data, response } = await this.#timeline.add(call);
    this.#response = response;
    return data;
  }

  /** With `responses: "report"`, an entry may have no valid reference. Then it cannot be compared, and seems to be removed. */
  #identified(): Plan<ListPage<Listed>, ListPage<Listed>> {
    const { kind, list } = this.#list;
    const field = list.response.kind === "page" ? list.response.field : "";
    const shape: Plan<ListPage<Listed>, ListPage<Listed>>["shape"] = (page, { response: { status } }) => {
      const issues = page.items.flatMap((entry, index) => {
        const message = referenceFault(kind, propertyOf(entry, "reference"));
        return message === undefined ? [] : [{ path: [field, index, "reference"], message }];
      });
      if (issues.length === 0) return page;
      const response = { status, headers: {}, body: undefined };
      throw new ResponseValidationError({ issues, response, endpoint: nameOf(list) });
    };
    return { strict: false, shape };
  }
}
