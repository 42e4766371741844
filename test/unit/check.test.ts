import { afterEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import * as mini from "zod/mini";
import { check } from "../../src/schemas/check.ts";
import { open, strict } from "../../src/schemas/shape.ts";

describe("checking a value", () => {
  it("builds a schema when it is first needed, and once", () => {
    const schema = vi.fn(() => mini.string());
    expect(schema).not.toHaveBeenCalled();
    check(schema, "a", []);
    check(schema, 1, []);
    expect(schema).toHaveBeenCalledTimes(1);
  });

  it("tells every fault, with the way to it", () => {
    const schema = () =>
      strict<{ a: string; b: readonly number[] }>({ a: mini.string(), b: mini.array(mini.number()) });
    expect(check(schema, { b: [1, "2"], c: 3 }, ["order"])).toEqual({
      ok: false,
      issues: [
        { path: ["order", "a"], message: "Invalid input: expected string, received undefined" },
        { path: ["order", "b", 1], message: "Invalid input: expected number, received string" },
        { path: ["order", "c"], message: "is not a known field of this request" },
      ],
    });
  });

  it("lets unknown fields of an open object pass", () => {
    const schema = () => open<{ a: string }>({ a: mini.string() });
    expect(check(schema, { a: "a", b: 1 }, [])).toMatchObject({ ok: true });
    expect(check(schema, { b: 1 }, [])).toMatchObject({ ok: false, issues: [{ path: ["a"] }] });
  });
});

describe("the program's own zod", () => {
  const before = { ...z.config() };
  afterEach(() => void z.config(before));

  it("may speak another language, without effect on what the SDK tells", () => {
    z.config({ localeError: () => "non valido" });
    expect(z.string().safeParse(1).error?.issues[0]?.message).toBe("non valido");
    expect(check(() => mini.string(), 1, [])).toMatchObject({
      issues: [{ message: "Invalid input: expected string, received number" }],
    });
  });

  it("is not configured by the SDK", async () => {
    z.config({ localeError: undefined });
    vi.resetModules();
    await import("../../src/schemas/check.ts");
    expect(z.config().localeError).toBeUndefined();
  });
});
