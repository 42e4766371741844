const typeOf = (headers: Headers): string => headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";

/**
 * What no file of the service is, all of them being pictures (specification 2.9): words and data come from somewhere between, or
 * tell of something. A type that tells nothing, such as `application/octet-stream`, passes; so does a picture written in XML.
 */
const noFile = /^text\/|^(?!image\/).*[/+](json|xml)$/;

/** What is wrong with a file that has no bytes. */
export const emptyFile = "the file is empty";

/** Why an answer is no file that could be downloaded; undefined when it is one. */
export function fileFault({ status, headers }: Response): string | undefined {
  const type = typeOf(headers);
  if (status === 304) return "nothing has changed (304), although the request was not conditional";
  if (noFile.test(type)) return `expected a file, not ${type}`;
  if (status === 206) return "expected the whole file, not a part of it";
  if (status === 204 || status === 205 || headers.get("content-length") === "0") return emptyFile;
  return undefined;
}
