import type { Member } from "../http/pacing/tokens.ts";
import type { RedisConnection } from "./connection.ts";
import { LeasePool } from "./lease-pool.ts";
import { Outbox } from "./outbox.ts";
import { SharedLevels } from "./shared-levels.ts";

/** What one process has of a fleet: its own buckets, the tokens that it holds, the reports to send, and the shared levels. */
export class FleetState {
  readonly member: Member;
  readonly connection: RedisConnection;
  readonly keyOf: (policy: string) => string;
  readonly pool = new LeasePool();
  readonly outbox = new Outbox();
  readonly levels = new SharedLevels();

  constructor(member: Member, connection: RedisConnection, keyOf: (policy: string) => string) {
    this.member = member;
    this.connection = connection;
    this.keyOf = keyOf;
  }

  now(): number {
    return this.member.clock.now();
  }

  /** Returns the tokens that were due by `before`: no call waits for them. */
  returnDue(before: number): void {
    for (const [policy, unused] of this.pool.returnDue(before)) this.outbox.returnTokens(policy, unused);
  }
}
