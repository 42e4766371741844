/** What a bucket keeps of a request that took a token, until its response arrives. */
export interface SentRequest {
  readonly sentAt: number;
  /** The level right after the request took its token, plus the tokens that other clients are known to have taken by then. */
  readonly level: number;
  /** The number of requests sent by then, this one included. */
  readonly sent: number;
  /** The number of requests that had ended by then. */
  readonly ended: number;
  /** Its place in the row of {@link InFlight}. */
  place: number;
  state: "in flight" | "ended" | "unsent";
  /** The number of later requests that ended before it and are not in the row any more. */
  overtaken: number;
}

/** The capacity of a row without requests. */
const minCapacity = 64;

/**
 * The requests of a bucket without a response, in the order in which they were sent. Tens of thousands can be in flight: nothing here takes
 * more than the logarithm of their number.
 */
export class InFlight {
  #size = 0;
  /** Those in flight, and those that have ended since the row was last shortened. */
  #row: SentRequest[] = [];
  #capacity = minCapacity;
  /** The place of the oldest one. */
  #first = 0;
  #ended = new FenwickTree(minCapacity);
  #unsent = new FenwickTree(minCapacity);

  get size(): number {
    return this.#size;
  }

  /** The request that was sent first. */
  get oldest(): SentRequest | undefined {
    while (this.#row[this.#first] !== undefined && this.#row[this.#first]?.state !== "in flight") this.#first += 1;
    return this.#row[this.#first];
  }

  add(sent: Pick<SentRequest, "sentAt" | "level" | "sent" | "ended">): SentRequest {
    if (this.#row.length === this.#capacity) this.#shorten();
    const request: SentRequest = { ...sent, place: this.#row.length, state: "in flight", overtaken: 0 };
    this.#row.push(request);
    this.#size += 1;
    return request;
  }

  /** Removes a request: it has ended, or it was never sent. */
  remove(request: SentRequest, state: "ended" | "unsent"): void {
    request.state = state;
    (state === "ended" ? this.#ended : this.#unsent).add(request.place);
    this.#size -= 1;
    if (this.#size === 0 && this.#capacity > minCapacity) this.#shorten();
  }

  /** The number of requests sent after this one that have ended, or that were sent until a time. */
  overtakers({ place, overtaken }: SentRequest, until: number): number {
    const next = place + 1;
    const end = Math.max(next, this.#sentUntil(until));
    const early = end - next - (this.#unsent.before(end) - this.#unsent.before(next));
    return overtaken + early + this.#ended.before(this.#row.length) - this.#ended.before(end);
  }

  /** The number of requests in the row that were sent until a time. */
  #sentUntil(time: number): number {
    let [low, high] = [0, this.#row.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#row[middle]?.sentAt ?? 0) <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Removes ended requests from the row. This happens only when the row is full or empty, so its cost is spread over many requests. */
  #shorten(): void {
    const ended = this.#ended.before(this.#row.length);
    for (const request of this.#row) request.overtaken += ended - this.#ended.before(request.place);
    this.#row = this.#row.filter(({ state }) => state === "in flight");
    for (const [place, request] of this.#row.entries()) request.place = place;
    this.#first = 0;
    this.#capacity = minCapacity + 2 * this.#size;
    this.#ended = new FenwickTree(this.#capacity);
    this.#unsent = new FenwickTree(this.#capacity);
  }
}

/** Counts the marks in a row, in the logarithm of its length. */
class FenwickTree {
  readonly #sums: number[];

  constructor(places: number) {
    this.#sums = new Array<number>(places + 1).fill(0);
  }

  /** Marks a place, from 0. */
  add(place: number): void {
    for (let at = place + 1; at < this.#sums.length; at += at & -at) this.#sums[at] = (this.#sums[at] ?? 0) + 1;
  }

  /** The number of marks at places before this one. */
  before(place: number): number {
    let marks = 0;
    for (let at = place; at > 0; at -= at & -at) marks += this.#sums[at] ?? 0;
    return marks;
  }
}
