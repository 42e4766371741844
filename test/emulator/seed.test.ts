import { describe, expect, it } from "vitest";
import { setUp } from "./support.ts";

describe("the orders of `seed.orders`", () => {
  it("have addresses with all 13 fields, as the service returns them (specification 2.3)", async () => {
    const { get } = setUp({ seed: { orders: 5 } });
    for (const { reference } of (await get("/orders")).body.orders) {
      const { order } = (await get(`/orders/${reference}`)).body;
      const { address } = (await get(`/addresses/${order.dropshipAddressReference}`)).body;
      const filled = expect.stringMatching(/./);
      expect(address).toEqual({
        reference: order.dropshipAddressReference,
        company: "",
        firstname: filled,
        lastname: filled,
        streetname: filled,
        housenumber: filled,
        housenumberAddition: "",
        additionalInfo: "",
        state: "",
        zipcode: filled,
        city: filled,
        countryCode: expect.stringMatching(/^[A-Z]{2}$/),
        phonenumber: "",
        email: expect.stringMatching(/^[^@]+@[^@]+$/),
      });
    }
    expect.assertions(5);
  });
});
