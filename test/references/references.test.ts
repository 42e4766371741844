import fc from "fast-check";
import { isReference, parseReference, RequestValidationError } from "pod-partner";
import { describe, expect, it } from "vitest";
import { kinds } from "../conformance/support/endpoints.ts";
import { ref } from "../support/references.ts";

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const fault = (run: () => unknown): unknown => {
  try {
    return expect.fail(`gave ${JSON.stringify(run())}`);
  } catch (error) {
    return error;
  }
};

describe("references (specification 2.1)", () => {
  it("have all kinds of the specification", () => {
    expect(kinds.filter((kind) => isReference(kind, ref(kind)))).toStrictEqual([...kinds]);
  });

  describe.each(kinds)("of kind %s", (kind) => {
    const valid = `${kind}_0123456789abcdefghjkmnpqrs`;

    it("are returned unchanged", () => {
      expect(parseReference(kind, valid)).toBe(valid);
      expect(parseReference(kind, `${kind}_tvwxyz00000000000000000000`)).toBe(`${kind}_tvwxyz00000000000000000000`);
    });

    it("are not references of another kind, and the error names their kind", () => {
      for (const other of kinds.filter((candidate) => candidate !== kind)) {
        expect(isReference(other, valid)).toBe(false);
        const error = fault(() => parseReference(other, valid));
        if (!RequestValidationError.isInstance(error)) throw error;
        expect(error.issues).toHaveLength(1);
        expect(error.issues[0]?.path).toStrictEqual([]);
        expect(error.message).toContain(`reference of kind ${kind}`);
      }
    });
  });

  const tail = "0123456789abcdefghjkmnpqrs";
  it.each([
    ["an i", `Order_${tail.slice(1)}i`],
    ["an l", `Order_${tail.slice(1)}l`],
    ["an o", `Order_${tail.slice(1)}o`],
    ["a u", `Order_${tail.slice(1)}u`],
    ["an upper-case letter", `Order_${tail.slice(1)}A`],
    ["upper case throughout", `Order_${tail.toUpperCase()}`],
    ["a letter beyond ASCII", `Order_${tail.slice(1)}é`],
    ["a digit beyond ASCII", `Order_${tail.slice(1)}٣`],
    ["25 characters", `Order_${tail.slice(1)}`],
    ["27 characters", `Order_${tail}0`],
    ["no characters", "Order_"],
    ["no underscore", `Order${tail}`],
    ["two underscores", `Order__${tail.slice(1)}`],
    ["the kind in lower case", `order_${tail}`],
    ["no kind", `_${tail}`],
    ["an unknown kind", `Invoice_${tail}`],
    ["a line break after it", `Order_${tail}\n`],
    ["a space before it", ` Order_${tail}`],
    ["a second line", `x\nOrder_${tail}`],
    ["a path after it", `Order_${tail}/cancel`],
    ["nothing in it", ""],
  ])("cannot be a text with %s", (_, text) => {
    expect(isReference("Order", text)).toBe(false);
    expect(RequestValidationError.isInstance(fault(() => parseReference("Order", text)))).toBe(true);
  });

  it.each([[null], [undefined], [5], [{}], [[ref("Order")]], [new String(ref("Order"))]])(
    "cannot be %o, which is not a string",
    (value) => {
      expect(isReference("Order", value as string)).toBe(false);
      expect(RequestValidationError.isInstance(fault(() => parseReference("Order", value as string)))).toBe(true);
    },
  );

  it.each(["constructor", "__proto__", "toString", "Invoice"])("do not have the kind %s", (kind) => {
    expect(isReference(kind as "Order", `${kind}_${tail}`)).toBe(false);
  });

  const anyKind = fc.constantFrom(...kinds);
  const character = fc.constantFrom(...alphabet);

  it("can be every text that matches the pattern", () => {
    fc.assert(
      fc.property(anyKind, fc.array(character, { minLength: 26, maxLength: 26 }), (kind, characters) => {
        const text = `${kind}_${characters.join("")}`;
        return isReference(kind, text) && parseReference(kind, text) === text;
      }),
    );
  });

  it("cannot be any other text", () => {
    const nearly = fc
      .tuple(anyKind, fc.array(fc.oneof({ weight: 20, arbitrary: character }, fc.string({ unit: "binary" }))))
      .map(([kind, parts]) => `${kind}_${parts.join("").slice(0, 27)}`);
    const length = fc
      .tuple(anyKind, fc.integer({ min: 0, max: 60 }), character)
      .map(([kind, count, one]) => `${kind}_${one.repeat(count)}`);
    fc.assert(
      fc.property(anyKind, fc.oneof(fc.string({ unit: "binary" }), nearly, length), (kind, text) => {
        // The pattern of the specification, with `\z` instead of `$`: no line break may follow.
        const [prefix, rest, ...more] = text.split("_");
        const wanted =
          prefix === kind &&
          more.length === 0 &&
          rest?.length === 26 &&
          [...rest].every((one) => alphabet.includes(one));
        return isReference(kind, text) === wanted;
      }),
      { numRuns: 1000 },
    );
  });
});
