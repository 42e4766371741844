import { NotFoundError } from "pod-partner";
import { describe, expect, it } from "vitest";
import { rejection, useExchange } from "../../support/exchange.ts";
import { ref } from "../../support/references.ts";

const address = {
  company: "",
  firstname: "Ada",
  lastname: "Jansen",
  streetname: "Kade",
  housenumber: "12",
  housenumberAddition: "b",
  additionalInfo: "",
  state: "",
  zipcode: "1011 AB",
  city: "Amsterdam",
  countryCode: "NL",
  phonenumber: "+31 20 0000000",
  email: "ada@example.com",
};

describe("addresses (specification 2.3, 4.4)", () => {
  const { context, exchange, checksResponses } = useExchange();
  const get = () => context.partner.addresses.get(ref("Address", "1"));

  it("addresses.get also accepts a bare address, since the specification does not show the shape of the response", async () => {
    const result = await exchange(get, { line: `GET /addresses/${ref("Address", "1")}` }, { body: address });
    expect(result).toStrictEqual(address);
  });

  it("addresses.get throws a NotFoundError for a replaced dropship address", async () => {
    context.service.respond({ status: 404, body: { code: "address_not_found", message: "No such address." } });
    expect(NotFoundError.isInstance(await rejection(get()))).toBe(true);
  });

  checksResponses("addresses.get", {
    call: get,
    wire: { address },
    refuses: Object.keys(address).map((field) => [["address", field], 12] as const),
    accepts: Object.keys(address)
      .filter((field) => field !== "countryCode")
      .map((field) => [["address", field], ""] as const),
  });
});
