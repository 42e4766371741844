import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { endWithProcess } from "./end-with-process.ts";
import { freePort, listening } from "./port.ts";

/** Debian has the programs of the server in a folder for each version, and not on the path. */
const versions = "/usr/lib/postgresql";
const programs = existsSync(versions)
  ? readdirSync(versions)
      .sort((one, other) => Number(other) - Number(one))
      .map((version) => join(versions, version, "bin"))
  : [];

const works = (program: string) => spawnSync(program, ["--version"]).status === 0;
const pathOf = (program: string): string | undefined =>
  [...programs.map((folder) => join(folder, program)), program].find(works);

const [initdb, server] = ["initdb", "postgres"].map(pathOf);

/** Whether the machine has the programs of a Postgres server installed. */
export const postgresInstalled = initdb !== undefined && server !== undefined;
export const pgbouncerInstalled = works("pgbouncer");

/** Postgres and PgBouncer refuse to run as root: then they run as the user of Debian's package. */
function user(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  return { uid: idOf("-u"), gid: idOf("-g") };
}

/** A folder that belongs to the user of the programs. */
function ownFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `pod-partner-${name}-`));
  const { uid, gid } = user();
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
  return folder;
}

/** A program that listens on a port. */
interface Server {
  readonly port: number;
  readonly url: string;
  kill(): Promise<void>;
}

/** A Postgres server on a free port, with the data of a new folder. */
export interface PostgresServer extends Server {
  /** Ends it as a crash would. */
  crash(): Promise<void>;
  /** Starts it on the same port, with its data. */
  start(): Promise<void>;
}

/** Milliseconds in which a server starts, also on a busy machine. */
const longestStart = 30_000;

const urlOf = (port: number) => `postgres://postgres@127.0.0.1:${port}/postgres`;

async function end(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill(signal);
  await exited;
}

/** Starts a server. `settings` are those of `postgresql.conf`. */
export async function startPostgres(settings: Readonly<Record<string, string>> = {}): Promise<PostgresServer> {
  if (initdb === undefined || server === undefined) throw new Error("Postgres is not installed");
  const [folder, port] = [ownFolder("postgres"), await freePort()];
  const options = { ...user(), cwd: folder };
  const local = ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"];
  await promisify(execFile)(initdb, ["--pgdata=data", ...local], options);
  const all = {
    port,
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    fsync: "off",
    // Nothing is shared but one server: small ones start faster.
    shared_buffers: "16MB",
    autovacuum: "off",
    ...settings,
  };
  const set = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  let child: ChildProcess | undefined;
  const postgres: PostgresServer = {
    port,
    url: urlOf(port),
    start: async () => {
      child = spawn(server, ["-D", "data", ...set], { ...options, stdio: "ignore" });
      endWithProcess(child, "QUIT");
      await listening(port, AbortSignal.timeout(longestStart));
      await untilReady(port);
    },
    crash: () => end(child, "SIGQUIT"),
    kill: async () => {
      await end(child, "SIGQUIT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await postgres.start();
  return postgres;
}

/** It listens before it accepts sessions: after a crash, it first restores what its log has. */
async function untilReady(port: number): Promise<void> {
  const { Client } = await import("pg");
  for (;;) {
    const client = new Client({ connectionString: urlOf(port) });
    client.on("error", () => undefined);
    try {
      await client.connect();
      return;
    } catch (error) {
      if (!/starting up|not yet accepting|recovery|ECONNREFUSED|terminated/.test(String(error))) throw error;
    } finally {
      await client.end().catch(() => undefined);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Starts PgBouncer in transaction mode before a server: many clients, few connections of the server. */
export async function startPgBouncer(server: PostgresServer, connections = 2): Promise<Server> {
  const [folder, port] = [ownFolder("pgbouncer"), await freePort()];
  writeFileSync(join(folder, "users"), '"postgres" ""\n');
  const config = [
    "[databases]",
    `postgres = host=127.0.0.1 port=${server.port} user=postgres`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = trust",
    `auth_file = ${join(folder, "users")}`,
    "pool_mode = transaction",
    "max_client_conn = 200",
    `default_pool_size = ${connections}`,
  ];
  writeFileSync(join(folder, "pgbouncer.ini"), `${config.join("\n")}\n`);
  const child = spawn("pgbouncer", ["-q", join(folder, "pgbouncer.ini")], { ...user(), stdio: "ignore" });
  endWithProcess(child, "KILL");
  await listening(port, AbortSignal.timeout(longestStart));
  return {
    port,
    url: urlOf(port),
    kill: async () => {
      await end(child, "SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
