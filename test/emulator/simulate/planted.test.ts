import { SimulationError } from "pod-partner/testing";
import { expect, it } from "vitest";
import { planted } from "./planted.ts";

it.each(planted)(
  "the schedule $replay breaks a program with this mistake: $name",
  { timeout: 300_000 },
  async (mistake) => {
    const error: unknown = await mistake.run({ replay: mistake.replay }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SimulationError);
    expect(String(error)).toContain(mistake.finds);
    expect(String(error)).toContain(mistake.tells);
  },
);
