/** Makes a function that removes the path of the base URL from a request's path. It returns undefined for other paths. */
export function createPathReader(baseUrl: string): (pathname: string) => string | undefined {
  const root = new URL(baseUrl).pathname;
  return (pathname) => (pathname.startsWith(`${root}/`) ? pathname.slice(root.length) : undefined);
}
