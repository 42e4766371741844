import { lazily } from "./lazily.ts";

/** A text in capitals, without spaces, punctuation and accents. Capitals also turn the Turkish dotless i into an I. */
export const folded = (text: string): string =>
  text
    .normalize("NFKD")
    .toUpperCase()
    .replace(/[^\p{L}\p{M}\p{N}]|[\u0300-\u036f]/gu, "");

const collator = lazily(() => new Intl.Collator("en", { sensitivity: "base" }));

/** Whether two texts are equal apart from case, accents, spaces and punctuation, which a service may write differently. */
export const isAlike = (left: string, right: string): boolean => collator().compare(folded(left), folded(right)) === 0;
