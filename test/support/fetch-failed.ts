/** How Node's `fetch` reports a system error. */
export const fetchFailed = (code: string, syscall: string): TypeError =>
  new TypeError("fetch failed", { cause: Object.assign(new Error(`${syscall} ${code}`), { code, syscall }) });
