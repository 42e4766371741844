import { expect, it } from "vitest";
import { address, orderInput, placeOrder, quoteInput, readOrder, sendOrder } from "./support/inputs.ts";
import { expectCreated, expectRefusal, type Service, startService } from "./support/service.ts";
import { expectShape, object, text } from "./support/shapes.ts";

/** The fields of 2.3. */
const fields =
  "company firstname lastname streetname housenumber housenumberAddition additionalInfo state zipcode city countryCode " +
  "phonenumber email";

const withAddress = (service: Service, changes: Readonly<Record<string, unknown>>) =>
  sendOrder(service, { dropshipAddress: { ...address, ...changes } });

/** The stored address of a new order. */
async function stored(service: Service, changes: Readonly<Record<string, unknown>> = {}) {
  const order = await placeOrder(service, { dropshipAddress: { ...address, ...changes } });
  const { dropshipAddressReference } = await readOrder(service, order);
  return (await service.get(`/addresses/${dropshipAddressReference}`)).body.address;
}

it("2.3 fields: an address in a response has 13 strings", async () => {
  await using service = await startService();
  const names = fields.split(" ");
  expect(names).toHaveLength(13);
  expectShape(await stored(service), object(Object.fromEntries(names.map((name) => [name, text]))));
});

it("2.3 fields: every field is stored as it was sent", async () => {
  await using service = await startService();
  const filled = Object.fromEntries(fields.split(" ").map((name) => [name, `${name} é 漢`]));
  const sent = { ...filled, countryCode: "DE", email: "grace@shop.example" };
  expect(await stored(service, sent)).toMatchObject(sent);
});

it.each(fields.split(" "))("2.3 fields: %s is refused when it is not a string", async (name) => {
  await using service = await startService();
  for (const value of [7, true, null, {}, ["NL"]]) expectRefusal(await withAddress(service, { [name]: value }), 400);
});

it("2.3 unknown: an unknown field is rejected in an order, a new address and a quote", async () => {
  await using service = await startService();
  const wrong = { ...address, street: "Keizersgracht" };
  const order = await placeOrder(service);
  expectRefusal(await sendOrder(service, { dropshipAddress: wrong }), 400);
  expectRefusal(await service.put(`/orders/${order}/dropship-address`, { dropshipAddress: wrong }), 400);
  expectRefusal(await service.post("/quote", quoteInput(service, { dropshipAddress: wrong })), 400);
});

it.each(["nl", "NLD", "N", "", "N1", "31", " NL", "NL\n"])("2.3 countryCode: %j is refused", async (countryCode) => {
  await using service = await startService();
  expectRefusal(await withAddress(service, { countryCode }), 400);
});

it.each([
  ["empty", ""],
  ["only spaces", "  "],
  ["missing", undefined],
])("2.3 email, 7 code invalid_address_missing_email: an address whose e-mail is %s is refused", async (_, email) => {
  await using service = await startService();
  expectRefusal(await withAddress(service, { email }), 400, "invalid_address_missing_email");
});

it.each(["US", "IT"])("2.3 rule 1: an address in %s must have a state", async (countryCode) => {
  await using service = await startService();
  expectRefusal(await withAddress(service, { countryCode, state: "" }), 400);
  expectRefusal(await withAddress(service, { countryCode, state: undefined }), 400);
  expectRefusal(await withAddress(service, { countryCode, state: "  " }), 400);
  expectCreated(await withAddress(service, { countryCode, state: "RM" }));
});

it("2.3 rule 1: an address in another country needs no state", async () => {
  await using service = await startService();
  for (const countryCode of ["NL", "DE", "CA", "GB", "AU"]) {
    expectCreated(await withAddress(service, { countryCode, state: "" }));
  }
});

it("2.3 rule 2: a full name of a state is accepted and stored", async () => {
  await using service = await startService();
  expect((await stored(service, { countryCode: "US", state: "California" })).state).toBe("California");
});

it("2.3 rule 3, 7 code invalid_address_denied_country: the same countries are denied to an order, a new address and a quote", async () => {
  await using service = await startService();
  const denied = "invalid_address_denied_country";
  const order = await placeOrder(service);
  const input = await orderInput(service, { dropshipAddress: { ...address, countryCode: "KP" } });
  expectRefusal(await service.post("/orders", input), 400, denied);
  const { dropshipAddress } = input.order as { dropshipAddress?: unknown };
  expectRefusal(await service.put(`/orders/${order}/dropship-address`, { dropshipAddress }), 400, denied);
  expectRefusal(await service.post("/quote", quoteInput(service, { dropshipAddress })), 400, denied);
});
