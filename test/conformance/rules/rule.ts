/** Rules that a test holds: the rule's number and what it says. */
export type Rules = Readonly<Record<string, string>>;

/** Rules that no test holds: what the rule says, and why. */
export type Unheld = Readonly<Record<string, readonly [says: string, reason: string]>>;

/** Reasons that several rules share. */
export const notShown = "The specification marks it as not shown";
export const forClients = "A rule for clients: the service does not show whether they keep it";
export const outsideHttp = "It happens outside the API";
