import { connectionReset } from "../faults/broken-connection.ts";

/** Whether the state that a world belongs to was replaced. */
export interface Lifetime {
  isOver: boolean;
}

/** Breaks the connection of a request that arrived before its state was replaced, as a restart of a service does. */
export function assertCurrent({ lifetime }: { readonly lifetime: Lifetime }): void {
  if (lifetime.isOver) throw connectionReset();
}
