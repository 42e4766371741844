import type { Program, Rules } from "./rules.ts";

const optional = (condition: unknown, line: string): string => (condition ? line : "");

/** HAProxy needs the certificate and its key in one file, and reads the key from a second file with the same name. */
const bind = ({ tls }: Rules) => optional(tls, ` ssl crt ${tls?.certificate} alpn h2,http/1.1`);

const limit = ({ perSecond, refusal = 403 }: Rules) =>
  optional(
    perSecond,
    `stick-table type integer size 1 expire 10s store http_req_rate(1s)
  http-request track-sc0 int(1)
  http-request deny deny_status ${refusal} if { sc_http_req_rate(0) gt ${perSecond} }`,
  );

const configure = (rules: Rules, port: number, folder: string): string => `
global
  maxconn 1000
  nbthread 1
  stats socket ${folder}/socket level admin expose-fd listeners
defaults
  mode http
  timeout connect 2s
  timeout client 30s
  timeout server ${rules.serviceTimeout ?? 10_000}ms
  timeout http-keep-alive ${rules.idleTimeout ?? 60_000}ms
  ${optional(rules.closes, "option httpclose")}
frontend clients
  bind 127.0.0.1:${port}${bind(rules)}
  http-request set-var(txn.version) req.ver
  http-response set-header X-Protocol HTTP/%[var(txn.version)]
  ${limit(rules)}
  default_backend service
backend service
  retries 0
  server one 127.0.0.1:${rules.upstream}
`;

export const haproxy: Program = {
  command: "haproxy",
  args: (configuration) => ["-W", "-db", "-f", configuration],
  configure,
  reload: "SIGUSR2",
};
