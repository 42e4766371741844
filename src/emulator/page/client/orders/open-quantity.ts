import type { LineView, OrderView } from "../../overview/view.ts";

/** The quantity of a line that is neither shipped nor canceled. */
export const openQuantity = ({ quantity, shipped, canceled }: LineView): number => quantity - shipped - canceled;

export const isOpen = ({ lines }: OrderView): boolean => lines.some((line) => openQuantity(line) > 0);
