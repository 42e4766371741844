import type { RenderInput } from "pod-partner";
import { sampleImage } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { Latest } from "../../../../src/util/latest.ts";
import { setUp } from "../../../support/setup.ts";

type Setup = ReturnType<typeof setUp>;

async function pairOf({ partner, emulator }: Setup, name: string): Promise<RenderInput> {
  const { studio: compositionReference } = emulator.demo.compositions;
  const { reference: imageReference } = await partner.images.upload(sampleImage(name));
  return { compositionReference, imageReference };
}

const created = ({ emulator }: Setup) =>
  emulator.requests.filter(({ method, path }) => method === "POST" && path === "/renders").length;

describe("the same composition and image twice in one renders.batch", () => {
  it.each([1, 4])("are rendered once, and return two pictures, with concurrency %i", async (concurrency) => {
    const setup = setUp({ renderDuration: 90_000 });
    const pair = await pairOf(setup, "a");
    const rows = [
      { sku: "A", pair },
      { sku: "B", pair: { ...pair } },
      { sku: "C", pair: await pairOf(setup, "c") },
    ];
    const before = (await setup.partner.rendertokens.get()).remaining;
    const sizes = new Map<string, number>();
    const references = new Map<string, string>();
    const consume = async () => {
      for await (const outcome of setup.partner.renders.batch(rows, { map: (row) => row.pair, concurrency })) {
        if (!outcome.ok) throw outcome.error;
        const { media, render } = outcome.value;
        sizes.set(outcome.input.sku, (await media.bytes()).length);
        references.set(outcome.input.sku, render.reference);
        expect(media.size).toBe(sizes.get(outcome.input.sku));
      }
    };
    await setup.settle(consume());
    expect([...sizes.keys()].sort()).toEqual(["A", "B", "C"]);
    expect(references.get("A")).toBe(references.get("B"));
    expect(created(setup)).toBe(2);
    const { tokenCost } = await setup.partner.compositions.get(pair.compositionReference);
    expect(before - (await setup.partner.rendertokens.get()).remaining).toBe(2 * tokenCost);
  });

  it("fail together when their creation fails, and a later row tries it again", async () => {
    const setup = setUp({ renderDuration: 0 });
    const pair = await pairOf(setup, "a");
    setup.emulator.faults.add({ on: "renders.create", nth: 1, fault: "status", status: 409, code: "busy" });
    const oks: boolean[] = [];
    const consume = async () => {
      for await (const outcome of setup.partner.renders.batch([pair, pair, pair], { concurrency: 2 })) {
        oks.push(outcome.ok);
        if (outcome.ok) await outcome.value.media.cancel();
        else expect(outcome.error).toMatchObject({ name: "ConflictError", code: "busy" });
      }
    };
    await setup.settle(consume());
    expect([oks, created(setup)]).toEqual([[false, false, true], 2]);
  });

  it("do not let an invalid row pass beside a valid one with the same pair", async () => {
    const setup = setUp({ renderDuration: 0 });
    const pair = await pairOf(setup, "a");
    const faults: unknown[] = [];
    const consume = async () => {
      for await (const outcome of setup.partner.renders.batch([pair, { ...pair, sku: "A" }] as never)) {
        if (outcome.ok) await outcome.value.media.cancel();
        else faults.push(outcome.error);
      }
    };
    await setup.settle(consume());
    expect(faults).toMatchObject([{ name: "RequestValidationError", issues: [{ path: ["render", "sku"] }] }]);
    expect(created(setup)).toBe(1);
  });

  it("send the fields of `body` with the creation only, so that the picture can be read", async () => {
    const setup = setUp({ renderDuration: 0 });
    const pair = await pairOf(setup, "a");
    const body = { render: { compositionReference: pair.compositionReference } };
    for await (const outcome of setup.partner.renders.batch([pair], { body })) {
      if (!outcome.ok) throw outcome.error;
      await outcome.value.media.cancel();
    }
    expect(created(setup)).toBe(1);
  });
});

describe("the memory of the latest keys", () => {
  it("holds a number of keys, counted from their latest use", () => {
    const values = new Latest<number>(3);
    for (const n of [1, 2, 3]) values.set(String(n), n);
    expect(values.get("1")).toBe(1);
    values.set("4", 4);
    expect(["1", "2", "3", "4"].map((key) => values.get(key))).toEqual([1, undefined, 3, 4]);
  });

  it("forgets a value only if the key still has it", () => {
    const values = new Latest<string>(3);
    values.set("a", "first");
    values.set("a", "second");
    values.forget("a", "first");
    expect(values.get("a")).toBe("second");
    values.forget("a", "second");
    expect(values.get("a")).toBeUndefined();
  });
});
