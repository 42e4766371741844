import type { Program, Rules } from "./rules.ts";

const optional = (condition: unknown, line: string): string => (condition ? line : "");

const limit = ({ perSecond, burst = 5, refusal }: Rules) =>
  optional(
    perSecond,
    `limit_req zone=all ${optional(burst, `burst=${burst} nodelay`)}; ${optional(refusal, `limit_req_status ${refusal};`)}`,
  );

function configure(rules: Rules, port: number, folder: string): string {
  const { upstream, tls, serviceTimeout = 10_000, idleTimeout = 60_000, requestsPerConnection = 1_000 } = rules;
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  return `
daemon off;
worker_processes 1;
pid ${folder}/pid;
error_log ${folder}/error.log warn;
${optional(process.getuid?.() === 0, "user root;")}
events { worker_connections 1024; }
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join("\n  ")}
  ${optional(rules.perSecond, `limit_req_zone $binary_remote_addr zone=all:1m rate=${rules.perSecond}r/s;`)}
  upstream service { server 127.0.0.1:${upstream}; keepalive 16; }
  server {
    listen 127.0.0.1:${port}${optional(tls, " ssl http2")};
    ${optional(tls, `ssl_certificate ${tls?.certificate}; ssl_certificate_key ${tls?.key};`)}
    keepalive_timeout ${rules.closes ? 0 : `${idleTimeout}ms`};
    keepalive_requests ${requestsPerConnection};
    ${optional(rules.largestBody, `client_max_body_size ${rules.largestBody};`)}
    location / {
      ${limit(rules)}
      proxy_pass http://service;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_read_timeout ${serviceTimeout}ms;
      add_header X-Protocol $server_protocol always;
    }
  }
}`;
}

export const nginx: Program = {
  command: "nginx",
  args: (configuration) => ["-e", "stderr", "-c", configuration],
  configure,
  reload: "SIGHUP",
};
