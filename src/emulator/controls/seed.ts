import { plant } from "../seeds/plant.ts";
import type { Planted, SeedRecords } from "../settings/planted.ts";
import { seedRecords } from "../settings/seed.schema.ts";
import { control } from "./control.ts";

/** The control that adds records. */
export interface SeedControls {
  /**
   * Adds products, orders with their shipments and claims, images and evidence, as the option `seed` does at the start. Returns their
   * references. Either all records are added or none.
   *
   * @throws {@link ControlError} for an entry that the rules of the service do not allow.
   *
   * @example
   * const { orders } = emulator.seed({ orders: [{ daysAgo: 9, shipments: [{ daysAgo: 7, claims: [{}] }] }] });
   */
  seed(records: SeedRecords): Planted;
}

export const seedControls = {
  seed: control({
    about: "Adds products, orders with their shipments and claims, images and evidence. Returns their references.",
    on: "world",
    required: [],
    fields: seedRecords,
    run: (emulation, records) => {
      // An entry can be refused in the middle of the list.
      const isList = Array.isArray(records.orders) || records.products !== undefined;
      const before = isList ? emulation.save() : undefined;
      try {
        return plant(emulation, records);
      } catch (error) {
        if (before !== undefined) emulation.load(before);
        throw error;
      }
    },
  }),
};
