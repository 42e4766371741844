/** A fault that the page offers by a click, in the words of its effect. */
export interface Preset {
  readonly name: string;
  readonly effect: string;
  readonly fault: Readonly<Record<string, unknown>>;
}

/** The most useful first: what a client gets wrong most often. */
export const presets: readonly Preset[] = [
  {
    name: "Lose the response",
    effect: "The service carries the request out, then the connection breaks.",
    fault: { fault: "drop" },
  },
  {
    name: "Lose the request",
    effect: "The connection breaks before the service sees the request.",
    fault: { fault: "drop", when: "before" },
  },
  { name: "Slow, 3 s", effect: "The response arrives 3 seconds late.", fault: { fault: "slow", ms: 3000 } },
  {
    name: "429 rate limited",
    effect: "The service refuses the request: its bucket is empty for 2 seconds.",
    fault: { fault: "status", status: 429, code: "rate_limited", retryAfter: 2000, when: "before" },
  },
  {
    name: "503 unavailable",
    effect: "A proxy responds with 503. The service does not see the request.",
    fault: { fault: "status", status: 503, when: "before" },
  },
  {
    name: "500 after processing",
    effect: "The service carries the request out, and responds with 500.",
    fault: { fault: "status", status: 500 },
  },
  {
    name: "504 gateway",
    effect: "A gateway gives up after 1 s. The service carries the request out 2 s later.",
    fault: { fault: "gateway", ms: 1000, processing: 3000 },
  },
  { name: "Half a body", effect: "The connection breaks in the middle of the body.", fault: { fault: "truncate" } },
  { name: "Stalled body", effect: "Half of the body arrives, then nothing.", fault: { fault: "stall" } },
  { name: "Trickle", effect: "The body arrives byte by byte, 50 ms apart.", fault: { fault: "trickle", ms: 50 } },
  {
    name: "HTML instead of JSON",
    effect: "A 200 with a page of a proxy.",
    fault: { fault: "body", body: "<h1>Welcome to nginx!</h1>", type: "text/html" },
  },
];
