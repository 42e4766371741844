import { getEventListeners } from "node:events";
import type { PodPartner, RenderedMockup, RenderInput, RenderReference } from "pod-partner";
import { sampleImage } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import type { BatchOptions } from "../../../../src/resources/renders/batch.schema.ts";
import { rejection } from "../../../support/exchange.ts";
import { setUp } from "../../../support/setup.ts";

type Setup = ReturnType<typeof setUp>;

/** Renders that take longer than any test. */
const endless = { renderDuration: 1e12 };

/** This many inputs, each with the same composition. */
async function inputsOf({ partner, emulator }: Setup, count: number): Promise<RenderInput[]> {
  const { studio: compositionReference } = emulator.demo.compositions;
  const inputs: RenderInput[] = [];
  for (let n = 0; n < count; n++) {
    const { reference: imageReference } = await partner.images.upload(sampleImage(String(n)));
    inputs.push({ compositionReference, imageReference });
  }
  return inputs;
}

/** The renders whose files were requested, in order. */
const awaited = ({ emulator }: Setup): RenderReference[] =>
  emulator.requests.flatMap(
    ({ path }) => (/^\/renders\/(Render_\w+)\/media$/.exec(path)?.[1] ?? []) as RenderReference,
  );

function mockupOf(step: IteratorResult<{ readonly ok: boolean; readonly value?: RenderedMockup }>): RenderedMockup {
  if (step.done || step.value.value === undefined) throw new Error("There is no mockup");
  return step.value.value;
}

/** The number of creations. */
const created = ({ emulator }: Setup): number =>
  emulator.requests.filter(({ method, path }) => method === "POST" && path === "/renders").length;

/** A batch whose first picture is complete, while the others take a minute. */
async function begun(count: number, options?: BatchOptions) {
  const setup = setUp({ renderDuration: 60_000 });
  const inputs = await inputsOf(setup, count);
  for (const input of inputs.slice(0, 1)) await setup.partner.renders.create(input);
  await setup.clock.advance(60_000);
  const loop = setup.partner.renders.batch(inputs, options ?? {})[Symbol.asyncIterator]();
  const mockup = mockupOf(await loop.next());
  await setup.clock.advance(0);
  // The first one was created twice: once before the batch.
  expect(created(setup)).toBe(1 + count);
  return { setup, loop, mockup };
}

describe("leaving renders.batch", () => {
  it("ends every wait at once, and sends no more requests", async () => {
    const { setup, loop, mockup } = await begun(3);
    expect((await mockup.media.bytes()).length).toBeGreaterThan(0);
    const sent = setup.emulator.requests.length;
    await loop.return?.();
    expect(setup.clock.pending).toBe(0);
    await setup.clock.advance(3_600_000);
    expect(setup.emulator.requests.length).toBe(sent);
  });

  it("does not cancel the pictures that it returned before", async () => {
    const { setup, loop, mockup } = await begun(2);
    await loop.return?.();
    expect((await mockup.media.bytes()).length).toBe(mockup.media.size);
    expect(setup.clock.pending).toBe(0);
  });

  it("cancels an open picture that it did not return", async () => {
    const setup = setUp({ renderDuration: 0 });
    const loop = setup.partner.renders.batch(await inputsOf(setup, 2))[Symbol.asyncIterator]();
    const { media } = mockupOf(await loop.next());
    await setup.clock.advance(0);
    // The first one was probed by its file before.
    expect(awaited(setup)).toHaveLength(1 + 2);
    await media.cancel();
    await loop.return?.();
    expect(setup.clock.pending).toBe(0);
  });

  it("completes a creation in progress, and sends nothing after it", async () => {
    const setup = setUp({ renderDuration: 0 });
    const [one, two] = await inputsOf(setup, 2);
    setup.emulator.faults.add({ on: "renders.create", nth: 2, fault: "slow", ms: 5_000 });
    const loop = setup.partner.renders.batch([one, two] as RenderInput[])[Symbol.asyncIterator]();
    await mockupOf(await loop.next()).media.cancel();
    let left = false;
    const leaving = Promise.resolve(loop.return?.()).then(() => {
      left = true;
    });
    await setup.clock.advance(4_999);
    expect(left).toBe(false);
    await setup.clock.advance(1);
    await leaving;
    const created = setup.emulator.requests.filter(({ method, path }) => method === "POST" && path === "/renders");
    expect(created.map(({ status }) => status)).toEqual([200, 200]);
    expect(new Set(awaited(setup)).size).toBe(1);
    expect(setup.clock.pending).toBe(0);
  });

  it("by its signal ends everything at once with the signal's reason, and leaves nothing open", async () => {
    const controller = new AbortController();
    const { setup, loop, mockup } = await begun(3, { signal: controller.signal });
    await mockup.media.cancel();
    const reason = new Error("the shop has closed");
    controller.abort(reason);
    const rest = async () => {
      for (let step = await loop.next(); !step.done; step = await loop.next()) {
        expect(step.value).toMatchObject({ ok: false, error: reason });
      }
    };
    expect(await rejection(rest())).toBe(reason);
    expect([setup.clock.pending, getEventListeners(controller.signal, "abort").length]).toEqual([0, 0]);
  });
});

/** How a call ended, and when. */
async function ending({ clock }: Setup, call: PromiseLike<unknown>) {
  const began = clock.now();
  let took = Number.NaN;
  const error = rejection(call).finally(() => {
    took = clock.now() - began;
  });
  await clock.advance(700_000);
  return { ...Object(await error), name: Reflect.get(Object(await error), "name"), took };
}

describe("the deadline of renders.batch covers each render as a whole:", () => {
  it.each([
    ["renders.create", "DeadlineError"],
    ["renders.get", "WaitTimeoutError"],
  ])("%s that does not respond", async (on, name) => {
    const setup = setUp({ renderDuration: 0 }, { timeout: 1e6 });
    const inputs = await inputsOf(setup, 1);
    setup.emulator.faults.add({ on, fault: "slow", ms: 1e9 });
    const first = async (options: BatchOptions, partner: PodPartner = setup.partner) => {
      for await (const outcome of partner.renders.batch(inputs, options)) if (!outcome.ok) throw outcome.error;
    };
    expect(await ending(setup, first({ deadline: 1_000 }))).toMatchObject({ name, took: 1_000 });
    const patient = setup.connect({ deadline: 2_000 });
    expect(await ending(setup, first({}, patient))).toMatchObject({ name, took: 2_000 });
    expect(setup.clock.pending).toBe(0);
  });

  it("cancels the picture when the last look-up fails, and includes the caller's stack", async () => {
    const setup = setUp({ renderDuration: 0 });
    const inputs = await inputsOf(setup, 1);
    setup.emulator.faults.add({ on: "renders.get", fault: "status", status: 403, code: "permission_denied" });
    for await (const outcome of setup.partner.renders.batch(inputs)) {
      expect(outcome).toMatchObject({
        ok: false,
        error: { code: "permission_denied", stack: expect.stringContaining("leaving.test.ts") },
      });
    }
    expect(setup.clock.pending).toBe(0);
  });
});

describe("the time limit of a wait", () => {
  const calls = {
    "renders.wait": (partner: PodPartner, render: RenderReference, options?: object) =>
      partner.renders.wait(render, options),
    "renders.media with wait": (partner: PodPartner, render: RenderReference, options?: object) =>
      partner.renders.media(render, { ...options, wait: true }),
    "renders.thumbnail with wait": (partner: PodPartner, render: RenderReference, options?: object) =>
      partner.renders.thumbnail(render, { ...options, wait: true }),
  };

  it.each(Object.entries(calls))("is its own deadline, or else the client's: %s", async (_, wait) => {
    const setup = setUp(endless);
    const [input] = await inputsOf(setup, 1);
    const { reference } = await setup.partner.renders.create(input as RenderInput);
    const bounded = setup.connect({ deadline: 1_000 });
    for (const [options, deadline] of [
      [{}, 1_000],
      [{ deadline: 3_000 }, 3_000],
    ] as const) {
      const { name, took } = await ending(setup, wait(bounded, reference, options));
      expect(name).toBe("WaitTimeoutError");
      // The last look-up starts while there is time for its response: a quarter of the time, and a second at most.
      expect(took).toBeGreaterThanOrEqual(deadline * 0.66);
      expect(took).toBeLessThanOrEqual(deadline);
    }
    expect(setup.clock.pending).toBe(0);
  });

  it("is 600 seconds without a deadline", async () => {
    const setup = setUp(endless);
    const [input] = await inputsOf(setup, 1);
    const { reference } = await setup.partner.renders.create(input as RenderInput);
    const { took } = await ending(setup, setup.partner.renders.wait(reference));
    expect(took).toBeGreaterThan(590_000);
    expect(took).toBeLessThanOrEqual(600_000);
  });
});
