/** How long a bucket is held after the service refused a request, or because its next token is too far away. */
export class Hold {
  #until = 0;
  #refusedUntil = 0;
  #refused = false;

  /** When the hold ends. */
  get until(): number {
    return this.#until;
  }

  /** Until when the service refuses requests. It can be later than the end of the hold: no call waits that long. */
  get refusedUntil(): number {
    return this.#refusedUntil;
  }

  /** Whether the service refused a request, or a header reports a distant token. */
  get refused(): boolean {
    return this.#refused;
  }

  /** Milliseconds until the hold ends; 0 without one. */
  wait(now: number): number {
    return Math.max(0, this.#until - now);
  }

  set(until: number, refusedUntil: number, refused: boolean): void {
    this.#refused = refused;
    this.#until = Math.max(this.#until, until);
    this.#refusedUntil = refusedUntil;
  }

  /** Records that a response reported the level. If its request was sent after the hold, the service no longer refuses requests. */
  observe(sentAt: number): void {
    if (sentAt >= this.#until) this.#refusedUntil = 0;
  }
}
