/** The worst service for a client: it creates a second order for the same identifier. */
export const harsh = { repeatedIdentifier: "create" } as const;
