// Every server that the bench can measure, in the order of the report.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { NativeTools } from '../native-tools.ts';
import { bind9 } from './bind9.ts';
import { dnsdist } from './dnsdist.ts';
import { dnsmasq } from './dnsmasq.ts';
import { echoServer } from './echo.ts';
import { pdnsRecursor } from './pdns-recursor.ts';
import type { BenchServer, Installed } from './peer-server.ts';
import { unbound } from './unbound.ts';
import type { WeirVariant } from './weir.ts';
import { weir } from './weir.ts';

/** A server that can be started on this machine. */
export interface Contestant {
  server: BenchServer;
  installed: Installed;
}

/** Weir with other settings, as a separate server. Throws if Weir is not installed. */
export function weirContestant(root: string, variant: WeirVariant): Contestant {
  const server = weir(root, versionOf(root), variant);
  const installed = server.installed();
  if (installed === undefined) throw new Error('start weir: it is not installed');
  return { server, installed };
}

/**
 * The requested servers (all by default) that are installed, and the names of the missing servers. `before` is the root
 * of another checkout of Weir, which also takes part.
 */
export function findServers(
  root: string,
  native: NativeTools | undefined,
  wanted: readonly string[],
  before?: string,
): { contestants: Contestant[]; missing: string[] } {
  const all = [
    weir(root, versionOf(root)),
    unbound,
    dnsmasq,
    pdnsRecursor,
    dnsdist,
    bind9,
    echoServer(native),
  ];
  const unknown = wanted.filter((name) => !all.some((server) => server.name === name));
  if (unknown.length > 0)
    throw new Error(
      `read --peers: no server ${unknown.join(', ')}; there are ${all.map(({ name }) => name).join(', ')}`,
    );
  const contestants: Contestant[] = [];
  if (before !== undefined) contestants.push(weirContestant(before, { name: 'weir-before' }));
  const missing: string[] = [];
  for (const server of all.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
    const installed = server.installed();
    if (installed === undefined) missing.push(server.name);
    else contestants.push({ server, installed });
  }
  return { contestants, missing };
}

function versionOf(root: string): string {
  const file = join(root, 'package.json');
  return z.object({ version: z.string() }).parse(JSON.parse(readFileSync(file, 'utf8'))).version;
}
