import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seal, unseal } from "../../src/storage/scoped-storage.ts";

/** A value longer than one block, with a part of a word at its end. */
const long = Uint8Array.from({ length: 20_003 }, (_, index) => (index * 31) ^ (index >> 8));

describe("the seal of a value", () => {
  it("keeps any value under any key, also as a view that begins between two words", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme-ascii" }),
        fc.uint8Array({ maxLength: 40 }),
        fc.nat(7),
        (key, value, offset) => {
          const shifted = new Uint8Array(offset + value.length).subarray(offset);
          shifted.set(value);
          const sealed = seal(key, shifted);
          expect(sealed).toEqual(seal(key, value));
          const moved = new Uint8Array(offset + sealed.length).subarray(offset);
          moved.set(sealed);
          expect(unseal(key, moved)).toEqual(value);
        },
      ),
    );
  });

  it("is broken by each changed bit, also in the seal itself", () => {
    for (const value of [long.subarray(0, 7), long.subarray(0, 64)]) {
      const sealed = seal("file:key", value);
      for (let bit = 0; bit < 8 * sealed.length; bit += 1) {
        const damaged = sealed.with(bit >> 3, (sealed[bit >> 3] ?? 0) ^ (1 << (bit & 7)));
        expect(unseal("file:key", damaged)).toBeUndefined();
      }
    }
  });

  it("is broken by words that changed places, by a lost end, by zeros at the end and by a run of zeros", () => {
    const sealed = seal("file:key", long);
    const swapped = sealed.slice();
    swapped.set(sealed.subarray(8_200, 8_204), 12_300);
    swapped.set(sealed.subarray(12_300, 12_304), 8_200);
    const longer = new Uint8Array(sealed.length + 1);
    longer.set(sealed);
    for (const damaged of [
      swapped,
      sealed.slice(0, -1),
      longer,
      sealed.slice().fill(0, 8_192, 12_288),
      new Uint8Array(8),
    ]) {
      expect(unseal("file:key", damaged)).toBeUndefined();
    }
    expect(unseal("file:key", sealed)).toEqual(long);
  });

  it("is broken under another key, also one that only moves a byte between the key and the value", () => {
    expect(unseal("file:kez", seal("file:key", long))).toBeUndefined();
    const sealed = seal("ab", Uint8Array.of(0x63));
    const moved = new Uint8Array(8);
    moved.set(sealed.subarray(0, 8));
    expect(unseal("abc", moved)).toBeUndefined();
  });
});
