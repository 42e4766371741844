/** What the SDK asks of a `fetch`: the platform's own, an emulator's, or a partner's. */
export type FetchLike = (request: Request, init?: RequestInit) => Promise<Response>;
