import { ref } from "./references.ts";

/** All 13 fields of an address (specification 2.3) as they are sent: unused ones are empty strings. */
export const sentAddress = {
  company: "",
  firstname: "Ada",
  lastname: "Jansen",
  streetname: "Kade",
  housenumber: "12",
  housenumberAddition: "",
  additionalInfo: "",
  state: "",
  zipcode: "1011 AB",
  city: "Amsterdam",
  countryCode: "NL",
  phonenumber: "",
  email: "ada@example.com",
};

/** A dropship order as a caller writes it: unused address fields are left out. */
export const dropshipOrder = {
  storeReference: ref("Store", "1"),
  customIdentifier: "shop-1001",
  shippingKind: "dropship" as const,
  dropshipAddress: {
    firstname: "Ada",
    lastname: "Jansen",
    streetname: "Kade",
    housenumber: "12",
    zipcode: "1011 AB",
    city: "Amsterdam",
    countryCode: "NL",
    email: "ada@example.com",
  },
  dropshipMinimalShippingLevel: "tracked" as const,
  orderlines: [
    {
      productReference: ref("Product", "1"),
      imageReference: ref("Image", "1"),
      quantity: 2,
      annotations: [{ key: "line", value: "7" }],
    },
    { productReference: ref("Product", "2"), quantity: 1 },
  ],
};

export const combinedOrder = {
  storeReference: ref("Store", "1"),
  customIdentifier: "shop-1002",
  shippingKind: "combined" as const,
  orderlines: [{ productReference: ref("Product", "1"), imageReference: ref("Image", "1"), quantity: 1 }],
};
