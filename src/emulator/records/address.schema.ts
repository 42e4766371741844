import * as z from "zod/mini";

const text = () => z.optional(z.string());

/** The texts of an address besides its country (specification 2.3). The emulator's own files may lack any of them. */
export const addressTexts = () => ({
  company: text(),
  firstname: text(),
  lastname: text(),
  streetname: text(),
  housenumber: text(),
  housenumberAddition: text(),
  additionalInfo: text(),
  state: text(),
  zipcode: text(),
  city: text(),
  phonenumber: text(),
  email: text(),
});
