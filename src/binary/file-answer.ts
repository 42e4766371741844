const typeOf = (headers: Headers): string => headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";

/** What no file of the service is: a page comes from somewhere between, and JSON tells of something. */
const noFile: ReadonlySet<string> = new Set(["text/html", "application/xhtml+xml", "application/json"]);

/** Why a successful answer is no file that could be downloaded; undefined when it is one. */
export function fileFault({ status, headers }: Response): string | undefined {
  const type = typeOf(headers);
  if (noFile.has(type)) return `expected a file, not ${type}`;
  if (status === 206) return "expected the whole file, not a part of it";
  if (status === 204 || status === 205 || headers.get("content-length") === "0") return "the file is empty";
  return undefined;
}
