/**
 * Validation compared with Unbound and delv: questions about zones signed with standard tools, correctly and
 * incorrectly, must have the same result, unless the case states the reason for a difference.
 *
 * @needs nsd unbound bind9-dnsutils
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExtendedError, type RRTypeName } from '../../shared/dns/iana.ts';
import { type RunningServer, startNsdOn } from '../support/dns/authority.ts';
import { LAB_CASES } from './dnssec/cases.ts';
import { startRecursion } from './dnssec/servers.ts';
import { signZones } from './dnssec/sign-zones.ts';
import { type LabValidator, openDelv, openServer, openWeir } from './dnssec/validators.ts';
import { LAB_ZONES } from './dnssec/zones.ts';

/**
 * delv is used only with `npm run lab`, because it starts a process for each question and agrees with Unbound on all
 * except a few.
 */
const ASKS_DELV = process.env['WEIR_TEST_VALIDATORS'] === 'all';

describe('LAB_CASES, the DNSSEC test queries,', () => {
  test('has at least 80 different queries, each about a zone of the lab', () => {
    const questions = LAB_CASES.map(({ name, type }) => `${name} ${type}`);
    expect(new Set(questions).size).toBe(questions.length);
    expect(questions.length).toBeGreaterThanOrEqual(80);
    const zones = LAB_ZONES.map(({ name }) => name);
    for (const { name } of LAB_CASES)
      expect(
        zones.some((zone) => name === '.' || name === zone || name.endsWith(`.${zone}`) || zone === ''),
      ).toBe(true);
  });
});

describe('Weir and other validating resolvers', () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-lab-zones-'));
  const servers: RunningServer[] = [];
  let weir: ReturnType<typeof openWeir>;
  let peers: { unbound: LabValidator; delv: LabValidator };

  beforeAll(async () => {
    const { files, rootKeys } = signZones(LAB_ZONES, folder);
    const authority = await startNsdOn(files);
    servers.push(authority);
    const recursion = await startRecursion(files, authority.port, null);
    servers.push(recursion);
    const validating = await startRecursion(files, authority.port, rootKeys);
    servers.push(validating);
    const key = /DNSKEY\s+(\d+ \d+ \d+) (.*)$/m.exec(rootKeys)!;
    const anchors = join(folder, 'anchors');
    writeFileSync(anchors, `trust-anchors { . static-key ${key[1]!} "${key[2]!.replaceAll(' ', '')}"; };\n`);
    weir = openWeir(recursion, rootKeys);
    peers = { unbound: await openServer(validating), delv: openDelv(recursion, anchors) };
  });

  afterAll(async () => {
    await weir.close();
    await peers.unbound.close();
    for (const server of servers.reverse()) await server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test.each(LAB_CASES.map((it) => [it.name, it.type, it.result, it] as const))(
    '%s %s is %s',
    async (name, type, result, { differs }) => {
      expect({
        weir: await weir.validate(name, type),
        unbound: await peers.unbound.validate(name, type),
      }).toEqual({ weir: result, unbound: differs?.unbound ?? result });
      if (ASKS_DELV) expect(await peers.delv.validate(name, type)).toBe(differs?.delv ?? result);
    },
  );

  test.each<[string, RRTypeName, number]>([
    ['www.bad-signature.test', 'A', ExtendedError.DNSSEC_BOGUS],
    ['www.expired.test', 'A', ExtendedError.SIGNATURE_EXPIRED],
    ['www.not-yet.test', 'A', ExtendedError.SIGNATURE_NOT_YET_VALID],
    ['www.no-keys.test', 'A', ExtendedError.DNSKEY_MISSING],
    ['www.ds-wrong-digest.test', 'A', ExtendedError.DNSKEY_MISSING],
    ['www.no-signature.test', 'A', ExtendedError.RRSIGS_MISSING],
    ['nothing.no-nsec.test', 'A', ExtendedError.NSEC_MISSING],
  ])('Weir reports why %s %s is bogus: extended error %d', async (name, type, extendedError) => {
    expect(await weir.resolve(name, type)).toMatchObject({ reason: 'bogus', extendedError });
  });
});
