/** Tests of servers before they are added to a pool: servers that answer, fail, or support DNSSEC. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RRType } from '../../../shared/dns/iana.ts';
import { TestAuthority } from '../../../test/support/dns/certificates.ts';
import {
  idOf,
  questionOf,
  response,
  rrsig,
  soa,
  type TestRecord,
} from '../../../test/support/dns/built-messages.ts';
import { ScriptedUpstream } from '../../../test/support/dns/scripted-upstream.ts';
import { StreamServer } from '../../../test/support/dns/stream-server.ts';
import { tryUpstreams } from './upstream-test.ts';
import { UpstreamTrials } from './upstream-trials.ts';

const AD = 0x81a0;
const PLAIN = 0x8180;
const REFUSED = 0x8185;

/** The reply to a query for the root. */
function rootReply(query: Uint8Array, { flags, isSigned }: { flags: number; isSigned: boolean }): Uint8Array {
  const asked = questionOf(query);
  const isSoa = asked.qtype === RRType.SOA;
  const signed: TestRecord[] = isSigned && asked.dnssecOk ? [rrsig('.', 'SOA')] : [];
  const answers = isSoa ? [{ ...soa('example.org', 300, 300), owner: '.' }, ...signed] : [];
  return response(asked, { id: idOf(query), flags, answers });
}

async function startServer(kind: { flags: number; isSigned: boolean }): Promise<ScriptedUpstream> {
  const server = await ScriptedUpstream.start();
  server.udpScript = (query) => query.reply(rootReply(query.bytes, kind));
  server.tcpScript = server.udpScript;
  return server;
}

let validating: ScriptedUpstream;
let signed: ScriptedUpstream;
let unsigned: ScriptedUpstream;
let refusing: ScriptedUpstream;
beforeAll(async () => {
  validating = await startServer({ flags: AD, isSigned: true });
  signed = await startServer({ flags: PLAIN, isSigned: true });
  unsigned = await startServer({ flags: PLAIN, isSigned: false });
  refusing = await startServer({ flags: REFUSED, isSigned: false });
});
afterAll(() => Promise.all([validating, signed, unsigned, refusing].map((server) => server.close())));

const at = ({ port }: ScriptedUpstream): string => `127.0.0.1:${String(port)}`;
const parts = { bootstrap: [], dnsPort: 53 };
const never = new AbortController().signal;

describe('tryUpstreams()', () => {
  test('distinguishes servers that validate, that return signatures, and that remove signatures', async () => {
    const servers = [validating, signed, unsigned].map(at);
    const trials = await tryUpstreams(servers, { ...parts, asksSignatures: true });
    expect(servers.map((server) => trials.get(server)!.signatures)).toEqual([
      'validates',
      'signed',
      'unsigned',
    ]);
    for (const trial of trials.values())
      expect(trial).toMatchObject({ fault: null, isReachable: true, latencyMs: expect.any(Number) });
  });

  test('reports a server that answers REFUSED as reachable, but not a server whose port is closed', async () => {
    const closed = await ScriptedUpstream.start();
    await closed.close();
    const servers = [at(refusing), at(closed)];
    const trials = await tryUpstreams(servers, { ...parts, asksSignatures: true });
    expect(trials.get(at(refusing))).toMatchObject({ fault: 'REFUSED', isReachable: true, latencyMs: null });
    expect(trials.get(at(closed))).toMatchObject({ fault: expect.any(String), isReachable: false });
  });

  test('queries over TLS and HTTPS with the certificate authorities of the configuration', async () => {
    const authority = new TestAuthority();
    const certificate = authority.issue('DNS:dns.example.org');
    const answer = ({ bytes, reply }: { bytes: Uint8Array; reply: (message: Uint8Array) => void }): void =>
      reply(rootReply(bytes, { flags: AD, isSigned: true }));
    const tls = await StreamServer.start('tls', certificate, answer);
    const https = await StreamServer.start('https', certificate, answer);
    const servers = [
      `tls://dns.example.org@127.0.0.1:${String(tls.settings.port)}`,
      `https://dns.example.org@127.0.0.1:${String(https.settings.port)}/dns-query`,
    ];
    const known = await tryUpstreams(servers, { ...parts, extraCa: [authority.cert], asksSignatures: true });
    const unknown = await tryUpstreams(servers, { ...parts, asksSignatures: false });
    await Promise.all([tls, https].map((server) => server[Symbol.asyncDispose]()));
    authority.close();
    expect([...known.values()].map(({ signatures }) => signatures)).toEqual(['validates', 'validates']);
    for (const { fault } of unknown.values()) expect(fault).toMatch(/issuer|certificate/);
  });

  test('ends when its client disconnects', async () => {
    await using silent = await ScriptedUpstream.start();
    const gone = new AbortController();
    silent.udpScript = () => gone.abort(new Error('left'));
    const trial = tryUpstreams([at(silent)], { ...parts, asksSignatures: true }, gone.signal);
    await expect(trial).rejects.toThrow('left');
  });
});

describe('UpstreamTrials', () => {
  test('returns results in the order of the request, and reports texts that are not server addresses', async () => {
    const trials = new UpstreamTrials(() => parts);
    const results = await trials.run({ servers: [at(unsigned), at(refusing)] }, never);
    expect(results).toEqual([
      {
        address: at(unsigned),
        reachable: true,
        answers: true,
        latency_ms: expect.any(Number),
        dnssec: 'unsigned',
        error: null,
      },
      {
        address: at(refusing),
        reachable: true,
        answers: false,
        latency_ms: null,
        dnssec: 'unknown',
        error: 'REFUSED',
      },
    ]);
    await expect(trials.run({ servers: [at(signed), 'quic://x'] }, never)).rejects.toMatchObject({
      status: 400,
      fields: [{ path: 'servers.1' }],
    });
  });

  test('refuses a fourth test while three tests run and wait', async () => {
    const trials = new UpstreamTrials(() => parts);
    const run = (): Promise<unknown> => trials.run({ servers: [at(signed)] }, never);
    const first = [run(), run(), run()];
    await expect(run()).rejects.toMatchObject({ status: 503, code: 'busy' });
    await Promise.all(first);
    await expect(run()).resolves.toHaveLength(1);
  });
});
