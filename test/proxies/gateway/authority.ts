import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const openssl = (args: readonly string[]) => promisify(execFile)("openssl", args);

/** A certificate authority that only processes with its certificate trust. */
export interface Authority extends AsyncDisposable {
  /** Its own certificate, as PEM. */
  readonly certificate: string;
  /** Signs a certificate for a name such as `IP:127.0.0.1`; returns the paths of both files. */
  issue(name: string): Promise<{ readonly certificate: string; readonly key: string }>;
}

/** Creates a certificate and its key; self-signed without a `signer`. */
async function make(path: string, subject: string, extensions: readonly string[], signer?: string) {
  await openssl([
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"],
    ...["-keyout", `${path}.key`, "-out", path, "-subj", `/CN=${subject}`],
    ...extensions.flatMap((extension) => ["-addext", extension]),
    ...(signer === undefined ? [] : ["-CA", signer, "-CAkey", `${signer}.key`]),
  ]);
}

export async function createAuthority(): Promise<Authority> {
  const folder = await mkdtemp(join(tmpdir(), "pod-partner-authority-"));
  const root = join(folder, "root.pem");
  await make(root, "Test authority", ["keyUsage=critical,keyCertSign"]);
  let count = 0;
  return {
    certificate: await readFile(root, "utf8"),
    async issue(name) {
      const certificate = join(folder, `${++count}.pem`);
      await make(certificate, "gateway", [`subjectAltName=${name}`, "basicConstraints=critical,CA:FALSE"], root);
      return { certificate, key: `${certificate}.key` };
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
