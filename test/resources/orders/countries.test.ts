import { PodPartner, RequestValidationError } from "pod-partner";
import { createEmulator, validAddress, validOrder, validQuote } from "pod-partner/testing";
import { describe, expect, it, vi } from "vitest";

function setUp() {
  const emulator = createEmulator();
  const warn = vi.fn();
  const partner = new PodPartner({ ...emulator.clientOptions, logger: { warn } });
  const address = (countryCode: string) => ({ ...validAddress(), countryCode, state: "XY" });
  /** Each call that takes an address. */
  const calls = {
    "orders.create": (code: string) => partner.orders.create(validOrder(emulator, { dropshipAddress: address(code) })),
    "orders.ensure": (code: string) =>
      partner.orders.ensure(validOrder(emulator, { customIdentifier: `shop-${code}`, dropshipAddress: address(code) })),
    "orders.quote": (code: string) => partner.orders.quote(validQuote(emulator, { dropshipAddress: address(code) })),
    "orders.replaceDropshipAddress": async (code: string) => {
      const { reference } = await partner.orders.create(validOrder(emulator));
      emulator.requests.clear();
      return partner.orders.replaceDropshipAddress(reference, address(code));
    },
  };
  return { emulator, calls, warnings: () => warn.mock.calls.map(([text]) => text) };
}

const names = Object.keys(setUp().calls) as (keyof ReturnType<typeof setUp>["calls"])[];

describe.each(names)("the countryCode of %s", (name) => {
  it.each([
    ["UK", "GB"],
    ["EL", "GR"],
    ["uk", "GB"],
    ["nl", "NL"],
    ["Nl", "NL"],
    [" DE ", "DE"],
  ])("%j is refused before anything is sent, with the code that is meant", async (code, meant) => {
    const { emulator, calls } = setUp();
    const error = await Promise.resolve(calls[name](code)).catch((thrown: unknown) => thrown);
    expect(RequestValidationError.isInstance(error)).toBe(true);
    expect(String(error)).toContain(`did you mean ${meant}?`);
    expect([...emulator.requests]).toEqual([]);
  });

  it.each(["", "NLD", "Netherlands", "N1", "ΝL", "12"])("%j is refused without a guess", async (code) => {
    const { emulator, calls } = setUp();
    const error = await Promise.resolve(calls[name](code)).catch((thrown: unknown) => thrown);
    expect(RequestValidationError.isInstance(error)).toBe(true);
    expect(String(error)).not.toContain("did you mean");
    expect([...emulator.requests]).toEqual([]);
  });

  it.each("AA AN AP BU CS DD EU FX QM SU TP UN XA XX YU ZR ZZ".split(" "))(
    "%s is sent with one warning",
    async (code) => {
      const { calls, warnings } = setUp();
      await calls[name](code);
      await calls[name](code);
      expect(warnings()).toEqual([
        `pod-partner: the countryCode ${code} is not assigned in ISO 3166-1: the service may refuse the address`,
      ]);
    },
  );

  it.each("NL GB GR US IT XK TL SS BQ CW SX AQ BV HM TF PS EH TW AX".split(" "))(
    "%s is sent without one",
    async (code) => {
      const { calls, warnings } = setUp();
      await calls[name](code);
      expect(warnings()).toEqual([]);
    },
  );
});

it("warns the process when there is no logger", async () => {
  const emitted = vi.spyOn(process, "emitWarning").mockReturnValue(undefined);
  const emulator = createEmulator();
  const { quote } = new PodPartner(emulator.clientOptions).orders;
  const of = (countryCode: string) => quote(validQuote(emulator, { dropshipAddress: { countryCode } }));
  await of("QQ");
  await of("QQ");
  expect(emitted.mock.calls).toEqual([
    [expect.stringContaining("the countryCode QQ is not assigned"), { code: "POD_PARTNER_UNLIKELY_INPUT" }],
  ]);
  emitted.mockRestore();
});
