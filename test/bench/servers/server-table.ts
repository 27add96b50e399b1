// Every server the harness can measure, in the order of the report.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { NativeTools } from '../native-tools.ts';
import { bind9 } from './bind9.ts';
import { dnsdist } from './dnsdist.ts';
import { dnsmasq } from './dnsmasq.ts';
import { echoServer } from './echo.ts';
import { pdnsRecursor } from './pdns-recursor.ts';
import type { BenchServer, Installed } from './server.ts';
import { unbound } from './unbound.ts';
import { weir } from './weir.ts';

/** A server that can be started on this machine. */
export interface Contestant {
  server: BenchServer;
  installed: Installed;
}

/** The wanted servers (all, when none is named) that are installed, and the names of those that are not. */
export function findServers(
  root: string,
  native: NativeTools | undefined,
  wanted: readonly string[],
): { contestants: Contestant[]; missing: string[] } {
  const { version } = z
    .object({ version: z.string() })
    .parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  const all = [weir(root, version), unbound, dnsmasq, pdnsRecursor, dnsdist, bind9, echoServer(native)];
  const unknown = wanted.filter((name) => !all.some((server) => server.name === name));
  if (unknown.length > 0)
    throw new Error(
      `read --peers: no server ${unknown.join(', ')}; there are ${all.map(({ name }) => name).join(', ')}`,
    );
  const contestants: Contestant[] = [];
  const missing: string[] = [];
  for (const server of all.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
    const installed = server.installed();
    if (installed === undefined) missing.push(server.name);
    else contestants.push({ server, installed });
  }
  return { contestants, missing };
}
