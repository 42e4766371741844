import { PodPartner } from "pod-partner";
import type { SimulatedWorld, SimulateOptions } from "pod-partner/testing";
import { forgetful, twoOrders } from "../../emulator/simulate/programs.ts";

export const options: SimulateOptions = { setUp: twoOrders };

async function listStores({ clientOptions, sleep }: SimulatedWorld) {
  await sleep(3_600_000);
  await new PodPartner(clientOptions).organization.stores.list();
}

export default [forgetful, listStores];
