import { PodPartner } from "pod-partner";
import { createEmulator } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { orderOf } from "../http/matrix/subjects.ts";
import { harsh } from "../support/harsh.ts";
import { createProject, isMissing, runtimes } from "./runtimes.ts";
import { startStaleProxy } from "./stale-proxy.ts";

const identifiers = ["shop-1", "shop-2", "shop-3", "shop-4", "shop-5"];

describe.each(runtimes)("on $name", (runtime) => {
  it.skipIf(isMissing(runtime))(
    "each order is sent and created once when reused connections break after the order is created",
    async () => {
      const emulator = createEmulator(harsh);
      await using project = await createProject();
      await using front = await startStaleProxy(emulator);
      const orders = identifiers.map((identifier) => orderOf(emulator, identifier));
      const input = { baseUrl: front.baseUrl, secretKey: emulator.secretKey, orders };
      const references = await project.run<string[]>(runtime, "orders.mjs", input);

      expect(front.posts("/v2/orders").map((body) => JSON.parse(body).order.customIdentifier)).toEqual(identifiers);
      const { baseUrl, secretKey, fetch } = emulator;
      const made = await new PodPartner({ baseUrl, secretKey, fetch }).orders.list().toArray();
      expect(made.map(({ reference }) => reference).sort()).toEqual(references.sort());
    },
  );
});
