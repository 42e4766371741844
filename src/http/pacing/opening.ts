/**
 * While the picture is new or old, requests go ahead by a part of the level, or by so many for each answer: processes that start
 * together see each other before they have sent more than there is.
 */
const allowed = { ofLevel: 1 / 16, perAnswer: 2 };

/** A time of caution in which only a few requests may be without an answer. */
export class Opening {
  #until = 0;
  #answeredBefore = 0;

  /** `answered` is how many answers there have been. */
  begin(until: number, answered: number): void {
    this.#until = until;
    this.#answeredBefore = answered;
  }

  /** Milliseconds that the next request has to wait when no answer comes; 0 when it may go. */
  wait(now: number, inFlight: number, level: number, answered: number): number {
    if (now >= this.#until) return 0;
    const byAnswers = allowed.perAnswer * (1 + answered - this.#answeredBefore);
    return inFlight < Math.max(level * allowed.ofLevel, byAnswers) ? 0 : this.#until - now;
  }
}
