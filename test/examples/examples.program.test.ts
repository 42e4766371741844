import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root, runExample } from "./process.ts";

/** What each example must print, in this order. */
const expected: Readonly<Record<string, readonly RegExp[]>> = {
  "cancel-too-late.ts": [
    /^received: canceled$/m,
    /^received, once more: nothing left$/m,
    /^in production: in production$/m,
    /^shipped: nothing left$/m,
  ],
  "claim-with-photo.ts": [/^evidence_required → Upload a photo/m, /^filed: pending$/m, /^reviewed: resolved 1 Sorry/m],
  "iterate-orders.ts": [
    /^orders: 120$/m,
    /^a page of 50 and more$/m,
    /^a page of 20 the last$/m,
    /^newest: Order_\w{26}, Order_\w{26}, Order_\w{26}$/m,
    /found: 1$/m,
  ],
  "mockup.ts": [
    /^rings saved image\/png/m,
    /^stripes saved/m,
    /^dots no tokens left until 20/m,
    /combination: not_found/,
  ],
  "opentelemetry.ts": [
    /^checkout +\d+ ms/m,
    /^ {2}POST \/orders +\d+ ms/m,
    /^ {4}lookup +\d+ ms not found$/m,
    /^ {8}queue +\d+ ms bucket-empty$/m,
    /^ {4}attempt +\d+ ms ConnectionError$/m,
    /^ {4}lookup +\d+ ms found$/m,
    /^pod_partner.call.duration POST \/orders 1 of /m,
    /^pod_partner.outcome_unknown {2}0$/m,
  ],
  "order-worker.ts": [
    /^a worker was killed$/m,
    /^shop-1 Order_\w{26} was there already$/m,
    /^shop-2 Order_\w{26} was placed$/m,
    /^orders: 2$/m,
  ],
  "place-an-order.ts": [
    /^order\.dropshipAddress\.email is required in a dropship address/m,
    /^Order_\w{26} was placed$/m,
    /^Order_\w{26} was there already$/m,
    /^orders: 1$/m,
  ],
  "rate-limits.ts": [
    /^at first, by the specification: 3000 of 3000 per 60000 ms/m,
    /^after one response, by its headers: (19|20) of 20 per 4000 ms/m,
    /^attempt 429 → retry-after RateLimitError → queue default → attempt 200$/m,
    /^burst: 13 requests, some paused, 0 refused$/m,
  ],
  "shop-api.ts": [/is complete$/m, /waits for \d+$/m, /^orders: 4 at the shop's pace$/m],
  "test-your-integration.ts": [/shows a customer where the order is/, /waits for a render without sleeping/, /fail 0/],
};

/** Node reports that its SQLite is new. */
const environment = { NODE_OPTIONS: "--disable-warning=ExperimentalWarning" };

const examples = readdirSync(join(root, "examples")).filter((name) => name.endsWith(".ts"));
/** Those that no other test runs, as `quickstart.test.ts` and `test/examples/gallery.program.test.ts` do. */
const short = examples.filter((name) => name !== "quickstart.ts" && name !== "gallery.ts");

describe("the examples", () => {
  it("are all run by a test", () => {
    expect(short).toEqual(Object.keys(expected));
  });

  it.each(short)("%s runs against the emulator and prints the expected lines", async (name) => {
    const { code, output, errors } = await runExample(name, { environment });
    expect({ code, errors }).toEqual({ code: 0, errors: "" });
    let rest = output;
    for (const line of expected[name] ?? []) {
      expect(rest).toMatch(line);
      rest = rest.slice(rest.search(line));
    }
  });

  it.each(examples)("%s is short, and exports nothing", (name) => {
    const text = readFileSync(join(root, "examples", name), "utf8");
    expect(text.split("\n").length).toBeLessThanOrEqual(name === "quickstart.ts" ? 235 : 60);
    expect(text).not.toMatch(/^export /m);
    expect(text).toMatch(/from "pod-partner"/);
  });
});
