import { ResponseValidationError } from "../errors/validation.ts";
import type { Found } from "../http/call.ts";
import { type ListPage, nameOf } from "../http/endpoint.ts";
import { hasErrorObject } from "../http/outcome.ts";
import type { RequestOptions } from "../http/request-options.ts";
import { type ApiCall, type CallResult, type Start, sendAndRead } from "../http/send.ts";
import { Paginator } from "../pagination/paginator.ts";
import { referenceFault } from "../references/references.ts";
import { eitherSignal } from "../util/abort-signals.ts";
import type { PartnerClock } from "../util/clock.ts";
import { concurrently, type Outcome } from "../util/concurrently.ts";
import type { ResponseHead } from "../util/response-head.ts";
import { JointTimeline } from "../waiting/joint-timeline.ts";
import type { ChangingList } from "./list-changes.ts";

/** The parts of the client that the requests need. */
export interface Means {
  readonly start: Start;
  readonly clock: PartnerClock;
  /** The milliseconds until the deadline of the call. */
  readonly remaining: () => number | undefined;
}

/** The most requests for single entries at the same time. */
const concurrency = 8;

/** The requests of one call of `changes`. They share its deadline, its options and its timeline. */
export class ListRequests<Listed> {
  readonly #means: Means;
  readonly #list: ChangingList<Listed>;
  readonly #options: RequestOptions;
  readonly #timeline: JointTimeline;
  #response: ResponseHead | undefined;

  constructor(means: Means, list: ChangingList<Listed>, options: RequestOptions) {
    this.#means = means;
    this.#list = list;
    this.#options = { ...options, priority: options.priority ?? "low" };
    this.#timeline = new JointTimeline(means.clock);
  }

  /** Reads the list from its beginning. The pages leave out repeated entries. `onPage` receives the whole number of entries of each page. */
  pages(onPage: (entries: number) => void): AsyncIterable<ListPage<Listed>> {
    const { list } = this.#list;
    const { start, remaining } = this.#means;
    const fetch = async (cursor: string | undefined, options: RequestOptions) => {
      const each = { ...options, deadline: remaining() };
      const reading = start(list, each, async (call) => {
        const found = await sendAndRead(call, { query: { cursor } });
        this.#assertIdentified(found);
        return found;
      });
      const page = await this.#add(reading);
      onPage(page.items.length);
      return page;
    };
    return new Paginator(nameOf(list), fetch, this.#options).pages();
  }

  /** Reads single entries. The option `query` is for the list. */
  each(references: readonly string[], get: NonNullable<ChangingList<Listed>["get"]>) {
    const { signal } = this.#options;
    const { remaining } = this.#means;
    const read = (reference: string, left: AbortSignal): Promise<Listed> => {
      const options = { ...this.#options, query: undefined, body: undefined, deadline: remaining() };
      return this.#add(get(reference as never, { ...options, signal: eitherSignal(signal, left) }));
    };
    return concurrently(references, concurrency, read, signal) satisfies AsyncIterable<Outcome<string, Listed>>;
  }

  /** Whether an error is the service's own statement that an entry does not exist (specification 7). A gateway can return a 404, too. */
  isGone(error: unknown): boolean {
    return hasErrorObject(error) && (error.status === 404 || error.status === 410);
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
  #assertIdentified({ data, response: { status } }: Found<ListPage<Listed>>): void {
    const { kind, list } = this.#list;
    const field = list.response.kind === "page" ? list.response.field : "";
    const issues = data.items.flatMap((entry, index) => {
      const message = referenceFault(kind, Object(entry).reference);
      return message === undefined ? [] : [{ path: [field, index, "reference"], message }];
    });
    if (issues.length === 0) return;
    const response = { status, headers: {}, body: undefined };
    throw new ResponseValidationError({ issues, response, endpoint: nameOf(list) });
  }
}
