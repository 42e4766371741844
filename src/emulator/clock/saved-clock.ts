/** The state of a clock in a saved world. */
export interface SavedClock {
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly speed: number;
}
