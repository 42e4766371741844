type Init = Readonly<{ status: number; headers?: Headers | Readonly<Record<string, string>> }>;

/** A response whose body is in memory. It can be recorded and written to a socket without its stream, which costs more time. */
export class WholeResponse extends Response {
  readonly whole: string | Uint8Array<ArrayBuffer>;

  constructor(whole: string | Uint8Array<ArrayBuffer>, init: Init) {
    super(whole, init);
    this.whole = whole;
  }
}
