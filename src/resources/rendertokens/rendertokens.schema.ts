import * as z from "zod/mini";
import { open, timestamp } from "../../schemas/shape.ts";

/** The week's budget for renders, of the whole organization (specification 2.9, 8). */
export interface Rendertokens {
  /** Tokens deducted this week. */
  readonly used: number;
  /** Tokens that a week has. */
  readonly limit: number;
  /** Tokens left this week: a render that costs more is a `RendertokenLimitError`. */
  readonly remaining: number;
  /** ISO 8601 with offset: the coming Monday, 00:00 Europe/Amsterdam. */
  readonly resets: string;
}
export const rendertokens = () =>
  open<Rendertokens>({
    used: z.int(),
    limit: z.int(),
    remaining: z.int(),
    resets: timestamp(),
  });
