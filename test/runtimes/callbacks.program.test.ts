import { PodPartner } from "pod-partner";
import { startEmulator } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { ref } from "../support/references.ts";
import { createProject, isMissing, runtimes } from "./runtimes.ts";

describe.each(runtimes)("on $name", (runtime) => {
  it.skipIf(isMissing(runtime))("the receiver of callbacks responds as on Node", async () => {
    await using emulator = await startEmulator({ seed: { orders: 1 } });
    await using project = await createProject();
    const { baseUrl, secretKey } = emulator;
    const [listed] = await new PodPartner({ baseUrl, secretKey }).orders.list().toArray();
    const input = { baseUrl, secretKey, order: listed?.reference, unknown: ref("Order", "zzz") };

    const output = await project.run<{ readonly handled: readonly string[] }>(runtime, "callbacks.mjs", input);
    const { handled, ...statuses } = output;
    expect(statuses).toEqual({
      failed: 503,
      shared: [204, 204, 204],
      forged: 403,
      invalid: 400,
      unknown: 503,
      closed: 503,
    });
    // One call fails. Of the three duplicates, those that arrive while one waits share its call.
    expect(new Set(handled)).toEqual(new Set([listed?.reference]));
    expect([2, 3, 4]).toContain(handled.length);
  });
});
