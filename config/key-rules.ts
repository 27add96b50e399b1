/**
 * Rules between keys: each value is good by itself, together they cannot work. They are asked once
 * everything else is right, so a message here is never the echo of another fault.
 */
import type { Report } from './key-kinds.ts';
import type { Config } from './schema.ts';

/** Tells `report` of every pair of values that contradict each other. */
export function checkRules(config: Config, report: Report): void {
  checkPorts(config, report);
  const { cache, blocking, server, dns } = config;

  if (cache.min_ttl_secs > cache.max_ttl_secs) {
    report('cache.min_ttl_secs', `at most cache.max_ttl_secs (${cache.max_ttl_secs})`, cache.min_ttl_secs);
  }
  if (blocking.mode === 'custom_ip' && blocking.custom_ipv4 === '' && blocking.custom_ipv6 === '') {
    report(
      'blocking.mode',
      'an address in blocking.custom_ipv4 or custom_ipv6 with this mode',
      blocking.mode,
    );
  }
  if (server.proxy_protocol_enabled && server.proxy_protocol_trusted.length === 0) {
    report(
      'server.proxy_protocol_enabled',
      'the load balancer in server.proxy_protocol_trusted; nobody could connect',
      true,
    );
  }
  const tls = server.encrypted_dns;
  if ((tls.tls_cert_path === '') !== (tls.tls_key_path === '')) {
    report('server.encrypted_dns.tls_cert_path', 'a certificate and a key, or neither', tls.tls_cert_path);
  }
  dns.pools.forEach((pool, index) => {
    if (dns.pools.findIndex((other) => other.name === pool.name) < index) {
      report(`dns.pools[${index}].name`, 'a name that no other pool has', pool.name);
    }
  });
}

/** DNS, DoT and the web all listen on TCP, on the same addresses. */
function checkPorts({ server }: Config, report: Report): void {
  const taken = new Map([[server.dns_port, 'server.dns_port']]);
  const claim = (key: string, port: number): void => {
    const owner = taken.get(port);
    if (owner !== undefined) report(key, `another port than ${owner}`, port);
    else if (port !== 0) taken.set(port, key);
  };
  claim('server.web_port', server.web_port);
  if (server.encrypted_dns.dot_enabled) claim('server.encrypted_dns.dot_port', server.encrypted_dns.dot_port);
}
