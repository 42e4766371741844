import { command } from "../command.ts";
import { exitCodes } from "../failure.ts";
import { text, wholeNumber } from "../flags.ts";
import { print } from "../terminal.ts";
import { examine } from "./examine.ts";
import type { Check } from "./finding.ts";
import { checkLines, isFine, summary, toJson } from "./report.ts";

const defaultTimeout = 10_000;

/** Removes the key from a text, in case a server repeats it in an unusual place. The SDK's errors never contain it. */
const withoutKey = (line: string, secretKey: string | undefined): string =>
  secretKey === undefined || secretKey.length < 12 ? line : line.replaceAll(secretKey, "[secret key]");

/** `pod-partner doctor`: checks a real or emulated service. */
export const doctor = command({
  name: "doctor",
  summary: "Checks base URL, key, limits and stores of a real or emulated service.",
  flags: {
    "base-url": text("The base URL, ending in /v2. Default: POD_PARTNER_BASE_URL.", "url"),
    timeout: wholeNumber(`Milliseconds for each request. Default ${defaultTimeout}.`, {
      least: 1,
      most: 600_000,
      placeholder: "ms",
    }),
    json: { help: "Print one JSON object." },
  },
  notes: [
    "The key comes only from the environment variable POD_PARTNER_SECRET_KEY: other users of the machine can see arguments. It is never printed.",
    "It validates the key and reads. It changes nothing, and places no order.",
    "Exit code: 0 when everything is fine, 1 when something is wrong, 2 for wrong options.",
  ],
  run: async ({ "base-url": baseUrl = process.env.POD_PARTNER_BASE_URL, timeout = defaultTimeout, json }) => {
    const secretKey = process.env.POD_PARTNER_SECRET_KEY;
    const show = (...lines: readonly string[]) => print(...lines.map((line) => withoutKey(line, secretKey)));
    const found: Check[] = [];
    for await (const check of examine(await import("pod-partner"), { baseUrl, secretKey, timeout })) {
      found.push(check);
      if (!json) show(...checkLines(check));
    }
    if (json) show(JSON.stringify(toJson(found), null, 2));
    else show("", summary(found));
    return isFine(found) ? 0 : exitCodes.failed;
  },
});
