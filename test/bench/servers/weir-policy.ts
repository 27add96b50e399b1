// The policy of a large household, written directly into Weir's embedded database, because tens of thousands of API
// calls would take longer than the rest of the bench.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import type { WeirApi } from './weir-api.ts';

/** Number of objects of each kind, distributed evenly over the groups. */
export interface WeirPolicy {
  /** Clients at every other address from 127.16.0.0 on. */
  clients: number;
  /** Subnets of eight addresses each, from 127.16.0.0 on. */
  subnets: number;
  /** Blocked services, with names that no client queries. */
  services: number;
}

const DOMAINS_PER_SERVICE = 20;

/** Writes the policy and activates it. */
export async function addPolicy(dataDir: string, api: WeirApi, policy: WeirPolicy): Promise<void> {
  const password = readFileSync(join(dataDir, 'postgres.password'), 'utf8').trim();
  const host = join(dataDir, 'postgres', 'run');
  const client = new Client({ host, user: 'weir', database: 'postgres', password });
  await client.connect();
  try {
    const groups = `(SELECT array_agg(id ORDER BY id) AS ids, count(*)::int AS count FROM groups WHERE id > 1) g`;
    await client.query(
      `INSERT INTO clients (ip_address, group_id)
         SELECT inet '127.16.0.0' + 2 * n, g.ids[n % g.count + 1] FROM generate_series(0, $1 - 1) n, ${groups}`,
      [policy.clients],
    );
    await client.query(
      `INSERT INTO client_subnets (cidr, group_id)
         SELECT set_masklen(inet '127.16.0.0' + 8 * n, 29)::cidr, g.ids[n % g.count + 1]
           FROM generate_series(0, $1 - 1) n, ${groups}`,
      [policy.subnets],
    );
    await client.query(
      `INSERT INTO custom_services (service_id, name, category, domains)
         SELECT 'custom-s' || n, 's' || n, 'gambling',
                (SELECT array_agg('d' || d || '.s' || n || '.service.example.org') FROM generate_series(1, $2::int) d)
           FROM generate_series(0, $1 - 1) n`,
      [policy.services, DOMAINS_PER_SERVICE],
    );
    await client.query(
      `INSERT INTO blocked_services (service_id, group_id)
         SELECT 'custom-s' || n, g.ids[n % g.count + 1] FROM generate_series(0, $1 - 1) n, ${groups}`,
      [policy.services],
    );
  } finally {
    await client.end();
  }
  await api.swapSnapshot('the policy of the bench');
}
