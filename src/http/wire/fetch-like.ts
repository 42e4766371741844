/** The `fetch` that the SDK uses: the platform's, an emulator's, or the caller's own. */
export type FetchLike = (request: Request, init?: RequestInit) => Promise<Response>;
