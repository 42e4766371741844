import { configureGlobal } from "fast-check";

// Property tests make the same values in each run. `PROPERTY_SEED=random` makes others, and any number repeats those of a failure.
const { PROPERTY_SEED: seed = "20261123" } = process.env;
if (seed !== "random") configureGlobal({ seed: Number(seed) });
