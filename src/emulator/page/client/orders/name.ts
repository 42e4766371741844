import type { OrderView } from "../../overview/view.ts";

/** The name that the reader knows an order by. */
export const nameOf = ({ customIdentifier, legacyOrderCode }: OrderView): string => customIdentifier ?? legacyOrderCode;
