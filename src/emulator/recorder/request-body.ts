type Record = (piece: Uint8Array) => void;

/** Who records the bodies that the service has still to read. */
const recorders = new WeakMap<Request, Record>();

/** Has the body of a request recorded, piece by piece, while the service reads it. */
export function recordBody(request: Request, record: Record): void {
  if (request.body !== null) recorders.set(request, record);
}

/** The function to call with each piece of a body that is read. */
export const bodyRecorderOf = (request: Request): Record | undefined => recorders.get(request);

/** Records the body of a copy instead of the original's. */
export function moveBodyRecorder(original: Request, copy: Request): void {
  const record = recorders.get(original);
  if (record !== undefined) recorders.set(copy, record);
}
