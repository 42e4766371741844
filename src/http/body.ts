import { ResponseTooLargeError } from "../errors/response-size.ts";

/** Reads a body as text, and no more of it than `limit` bytes. */
export async function readText(response: Response, limit: number, endpoint: string): Promise<string> {
  const { body, headers, status } = response;
  if (body === null) return "";
  const announced = headers.get("content-length");
  // The length of a compressed body is not the length of what comes out of it.
  if (announced !== null && !headers.has("content-encoding") && Number(announced) <= limit) return response.text();

  const decoder = new TextDecoder();
  let text = "";
  let length = 0;
  // Leaving the loop by the error cancels the body, and frees its socket.
  for await (const chunk of body) {
    length += chunk.byteLength;
    if (length > limit) throw new ResponseTooLargeError({ endpoint, limit, status });
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
