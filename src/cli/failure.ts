/** The exit codes of the program. 0 means that everything is fine. */
export const exitCodes = {
  /** The work failed, or `doctor` found something wrong. */
  failed: 1,
  /** The arguments are wrong. */
  usage: 2,
} as const;

/** An error that a user can correct. The program prints its message, which is one line, and exits with its code. */
export class Failure extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number = exitCodes.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The arguments are wrong. */
export const usage = (message: string): Failure => new Failure(message, exitCodes.usage);
