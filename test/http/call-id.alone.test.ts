import { AsyncLocalStorage } from "node:async_hooks";
import { tracingChannel } from "node:diagnostics_channel";
import { PodPartner, type PodPartnerOptions } from "pod-partner";
import { startEmulator } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { rejection } from "../support/exchange.ts";
import { createFastClock } from "../support/fast-clock.ts";
import { secretKey, useService } from "../support/partner.ts";
import { ref } from "../support/references.ts";
import { transports } from "../support/transports.ts";
import { orderOf } from "./matrix/subjects.ts";

const clock = createFastClock(20, { kept: 30_000 });

/** A client whose events are recorded as `event callId`. */
function recording(options: PodPartnerOptions) {
  const ids: string[] = [];
  const note =
    (name: string) =>
    ({ callId }: { readonly callId: string }) => {
      ids.push(`${name} ${callId}`);
    };
  const hooks = {
    onRequest: note("request"),
    onResponse: note("response"),
    onRetry: note("retry"),
    onPause: note("pause"),
    onInvalidResponse: note("invalid"),
  };
  return { ids, partner: new PodPartner({ ...options, hooks }) };
}

describe("the id of a call", () => {
  const context = useService();

  it("is the same in its events, its look-ups, its error and `withResponse`, and another for another call", async () => {
    const { service } = context;
    const { ids, partner } = recording({ baseUrl: service.baseUrl, secretKey, retry: { retries: 1, baseDelay: 0 } });
    service.respond({ status: 503 }, { body: { message: "valid" } });
    const first = await partner.auth.validate().withResponse();
    service.respond({ status: 404, body: { code: "not_found", message: "none" } });
    const error = await rejection(partner.orders.get(ref("Order")));
    expect(ids).toEqual([
      ...["request", "response", "retry", "request", "response"].map((event) => `${event} ${first.callId}`),
      ...["request", "response"].map((event) => `${event} ${(error as { callId?: string }).callId}`),
    ]);
    expect(error).toMatchObject({ callId: expect.not.stringMatching(`^${first.callId}$`) });
    expect(JSON.parse(JSON.stringify(error))).toMatchObject({ callId: (error as { callId?: string }).callId });
  });

  it("can be the caller's own, and then is in every request of the call", async () => {
    const emulator = await startEmulator({ clock });
    const { ids, partner } = recording({ ...emulator.clientOptions, clock });
    emulator.faults.add({ on: "orders.create", nth: 1, fault: "drop" });
    const placed = partner.orders.ensure(orderOf(emulator, "shop-1"), { callId: "shop-1" });
    expect((await placed.withResponse()).callId).toBe("shop-1");
    expect(new Set(ids.map((id) => id.split(" ")[1]))).toEqual(new Set(["shop-1"]));
    await emulator.close();
  });

  it("of a list is the same for all pages, and of rows ends with the number of the row", async () => {
    const emulator = await startEmulator({ clock, seed: { orders: 60 } });
    const { ids, partner } = recording({ ...emulator.clientOptions, clock });
    const orders = await partner.orders.list().toArray();
    const idsOfList = new Set(ids.splice(0).map((id) => id.split(" ")[1]));
    const rows = orders.slice(0, 2).map(({ reference }) => reference);
    for await (const outcome of partner.orders.getMany(rows, { callId: "sync" })) expect(outcome.ok).toBe(true);
    expect(idsOfList.size).toBe(1);
    expect(new Set(ids.map((id) => id.split(" ")[1]))).toEqual(new Set(["sync/0", "sync/1"]));
    await emulator.close();
  });
});

/** What the tracing channels of some kinds publish, as `channel event outcome`. */
function record(...kinds: readonly string[]) {
  const heard: string[] = [];
  const traces: object[] = [];
  const stops = kinds.map((kind) => {
    const channel = tracingChannel<unknown, { outcome?: string; status?: number }>(`pod-partner:${kind}`);
    const note = (event: string) => (trace: object) => {
      const { outcome, status } = trace as { outcome?: string; status?: number };
      heard.push(
        [kind, event, event === "start" || event === "end" ? undefined : (outcome ?? status)].join(" ").trim(),
      );
      if (event === "asyncEnd") traces.push(trace);
    };
    const subscribers = Object.fromEntries(
      ["start", "end", "asyncStart", "asyncEnd", "error"].map((event) => [event, note(event)]),
    );
    channel.subscribe(subscribers as never);
    return () => channel.unsubscribe(subscribers as never);
  });
  return { heard, traces, stop: () => stops.forEach((stop) => void stop()) };
}

describe.each(transports)("the tracing channels over $name", ({ over }) => {
  it("show a call and each of its attempts, from its start to its end", async () => {
    const emulator = await startEmulator({ clock });
    const partner = new PodPartner({ ...emulator.clientOptions, clock, ...over });
    await partner.auth.validate();
    const { heard, traces, stop } = record("call", "attempt");
    emulator.faults.add({ on: "auth.validate", nth: 1, fault: "status", status: 503 });
    await partner.auth.validate();
    stop();
    const step = (name: string, outcome: string, failed: boolean) => [
      `${name} start`,
      `${name} end`,
      ...(failed ? [`${name} error ${outcome}`] : []),
      `${name} asyncStart ${outcome}`,
      `${name} asyncEnd ${outcome}`,
    ];
    expect(heard.filter((event) => event.startsWith("attempt"))).toEqual([
      ...step("attempt", "503", true),
      ...step("attempt", "200", false),
    ]);
    expect(heard.filter((event) => event.startsWith("call"))).toEqual(step("call", "200", false));
    expect(traces.at(-1)).toMatchObject({
      kind: "call",
      endpoint: "POST /auth/validate",
      method: "POST",
      template: "/auth/validate",
      baseUrl: emulator.baseUrl,
      isPart: false,
      status: 200,
    });
    expect(JSON.stringify(traces)).not.toContain(emulator.secretKey);
    await emulator.close();
  });

  it("stop what an observer aborts while it begins to wait", async () => {
    const emulator = await startEmulator({ clock, limits: { default: { quota: 2, window: 1_000 } } });
    const aborting = new AbortController();
    const hooks = { onPause: () => aborting.abort(new Error("enough")) };
    const partner = new PodPartner({ ...emulator.clientOptions, clock, hooks, ...over });
    await partner.auth.validate();
    emulator.drain("default");
    const calls = Array.from({ length: 5 }, () => partner.auth.validate({ signal: aborting.signal }));
    const ended = await Promise.allSettled(calls);
    expect(ended.map(({ status }) => status)).toContain("rejected");
    expect(partner.rateLimits.policies.default?.waiting).toBe(0);
    await emulator.close();
  });

  it("let a subscriber freeze or change what it gets, without an effect on the call", async () => {
    const emulator = await startEmulator({ clock });
    const partner = new PodPartner({ ...emulator.clientOptions, clock, ...over });
    const { start } = tracingChannel("pod-partner:attempt");
    for (const subscriber of [Object.freeze, (trace: unknown) => Object.assign(trace as object, { callId: "other" })]) {
      start.subscribe(subscriber);
      const error = await rejection(partner.orders.get("Order_00000000000000000000000000", { callId: "mine" }));
      start.unsubscribe(subscriber);
      expect(error).toMatchObject({ callId: "mine", status: 404 });
    }
    await emulator.close();
  });

  it("keep the caller's async context through the queue, retries, look-ups and hooks", async () => {
    const store = new AsyncLocalStorage<string>();
    const seen = new Set<string | undefined>();
    const note = () => void seen.add(store.getStore());
    const emulator = await startEmulator({ clock, limits: { default: { quota: 2, window: 1_000 } } });
    const hooks = { onRequest: note, onResponse: note, onRetry: note, onPause: note };
    const partner = new PodPartner({ ...emulator.clientOptions, clock, hooks, ...over });
    emulator.faults.add({ on: "orders.create", nth: (n) => n % 2 === 1, fault: "drop" });
    const named = ["one", "two", "three"];
    const kept = await Promise.all(
      named.map((name) =>
        store.run(name, async () => {
          await partner.orders.ensure(orderOf(emulator, name));
          return store.getStore();
        }),
      ),
    );
    expect(kept).toEqual(named);
    expect([...seen].toSorted()).toEqual(named.toSorted());
    await emulator.close();
  });
});
