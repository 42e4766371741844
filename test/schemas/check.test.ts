import { afterEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import * as mini from "zod/mini";
import { check } from "../../src/schemas/check.ts";
import { open, strict } from "../../src/schemas/shape.ts";

describe("check()", () => {
  it("builds a schema once, when it is first needed", () => {
    const schema = vi.fn(() => mini.string());
    expect(schema).not.toHaveBeenCalled();
    check(schema, "a", []);
    check(schema, 1, []);
    expect(schema).toHaveBeenCalledTimes(1);
  });

  it("reports every fault with its path", () => {
    const schema = () =>
      strict<{ a: string; b: readonly number[] }>({ a: mini.string(), b: mini.array(mini.number()) });
    expect(check(schema, { b: [1, "2"], c: 3 }, ["order"])).toEqual({
      ok: false,
      described: [],
      issues: [
        { path: ["order", "a"], message: "is missing: expected a string" },
        { path: ["order", "b", 1], message: "expected a number, not a string" },
        { path: ["order", "c"], message: "is not a known field of this request" },
      ],
    });
  });

  it.each([
    ["nothing", mini.number(), undefined, "is missing: expected a number"],
    ["null", mini.string(), null, "expected a string, not null"],
    ["an array", mini.object({}), [], "expected an object, not an array"],
    ["NaN", mini.number(), Number.NaN, "expected a number, not NaN"],
    ["a fraction", mini.int(), 1.5, "expected a whole number, not a fraction"],
    ["an unknown enum value", mini.enum(["a", "b", "c"]), "d", 'expected "a", "b" or "c"'],
    ["an empty string", mini.string().check(mini.minLength(1)), "", "expected a string that is not empty"],
    ["a short string", mini.string().check(mini.minLength(3)), "ab", "expected at least 3 characters"],
    ["a long list", mini.array(mini.any()).check(mini.maxLength(1)), [1, 2], "expected at most 1 item"],
    ["a small number", mini.number().check(mini.gte(3)), 2, "expected a number of at least 3"],
    ["a number at an open bound", mini.number().check(mini.positive()), 0, "expected a number above 0"],
    ["a large number", mini.number().check(mini.lt(3)), 4, "expected a number below 3"],
  ])("describes %s in plain words", (_, schema, value, message) => {
    expect(check(() => schema, value, [])).toMatchObject({ issues: [{ message }] });
  });

  it.each([
    [{ quantiti: 1 }, "quantity"],
    [{ QUANTITY: 1 }, "quantity"],
    [{ lines: [{ colour: 1 }] }, "color"],
    [{ xyz: 1 }, undefined],
    [{ constructor: 1 }, undefined],
    [{ ["q".repeat(100_000)]: 1 }, undefined],
  ])("suggests the most similar known name for an unknown one (case %#)", (value, likely) => {
    const schema = () =>
      mini.strictObject({
        quantity: mini.optional(mini.number()),
        lines: mini.optional(mini.array(mini.strictObject({ color: mini.optional(mini.string()) }))),
      });
    const suggestion = likely === undefined ? "" : `; did you mean \`${likely}\`?`;
    expect(check(schema, value, [])).toMatchObject({
      issues: [{ message: `is not a known field of this request${suggestion}` }],
    });
  });

  it("accepts unknown fields of an open object", () => {
    const schema = () => open<{ a: string }>({ a: mini.string() });
    expect(check(schema, { a: "a", b: 1 }, [])).toMatchObject({ ok: true });
    expect(check(schema, { b: 1 }, [])).toMatchObject({ ok: false, issues: [{ path: ["a"] }] });
  });
});

describe("the zod configuration of the program", () => {
  const before = { ...z.config() };
  afterEach(() => void z.config(before));

  it("does not change the SDK's messages when it sets another language", () => {
    z.config({ localeError: () => "non valido" });
    expect(z.string().safeParse(1).error?.issues[0]?.message).toBe("non valido");
    expect(check(() => mini.string(), 1, [])).toMatchObject({
      issues: [{ message: "expected a string, not a number" }],
    });
  });

  it("is not changed by the SDK", async () => {
    z.config({ localeError: undefined });
    vi.resetModules();
    await import("../../src/schemas/check.ts");
    expect(z.config().localeError).toBeUndefined();
  });
});
