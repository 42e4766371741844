/** Makes the function that takes the base URL's own path off a request's: undefined when it is not under it. */
export function createPathReader(baseUrl: string): (pathname: string) => string | undefined {
  const root = new URL(baseUrl).pathname;
  return (pathname) => (pathname.startsWith(`${root}/`) ? pathname.slice(root.length) : undefined);
}
