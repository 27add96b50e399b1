/**
 * Requirements of RFCs for a server like Weir, checked with third-party clients over every protocol.
 *
 * @needs nsd bind9-dnsutils knot-dnsutils ldnsutils curl openssl python3-dnspython
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startNsdOn } from '../support/dns/authority.ts';
import type { RunningServer } from '../support/dns/authority.ts';
import { TestAuthority } from '../support/dns/certificates.ts';
import { encryptedToml } from '../support/weir/encrypted-toml.ts';
import { freePort } from '../support/weir/free-ports.ts';
import { Weir } from '../support/weir/weir-process.ts';
import { signZones } from '../lab/dnssec/sign-zones.ts';
import { ask, SERVER_NAME } from './conformance-clients.ts';
import type { Target } from './conformance-clients.ts';
import { ZONES } from './conformance-zone.ts';
import { DNSSEC_CASES } from './dnssec-cases.ts';
import { EDNS_CASES } from './edns-cases.ts';
import { QUESTION_CASES } from './question-cases.ts';
import { STREAM_CASES } from './stream-cases.ts';

const CASES = [...QUESTION_CASES, ...EDNS_CASES, ...DNSSEC_CASES, ...STREAM_CASES];

/** With `npm run lab -- conformance`, each row runs over each of its transports. */
const IS_WHOLE = process.env['WEIR_TEST_WAYS'] === 'all';

describe('weir, queried by third-party clients', () => {
  let folder: string;
  let authority: TestAuthority;
  let upstream: RunningServer;
  let weir: Weir;
  let asked: Target;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'weir-conformance-'));
    const { files, rootKeys } = signZones(ZONES, folder);
    const anchors = join(folder, 'anchors');
    writeFileSync(anchors, rootKeys);
    upstream = await startNsdOn(files);
    authority = new TestAuthority();
    const { certPath, keyPath } = authority.issue(`DNS:${SERVER_NAME}`);
    const ports = { dot: await freePort(['127.0.0.1']), doh: await freePort(['127.0.0.1']) };
    weir = await Weir.start({
      upstreams: [`${upstream.ip}:${upstream.port}`],
      toml: `[dns]
dnssec_enabled = true
dnssec_trust_anchors = ${JSON.stringify(anchors)}
dnssec_anchor_updates = "off"
${encryptedToml(ports, { certPath, keyPath })}`,
    });
    asked = { ports: { dns: weir.dnsPort, ...ports }, caPath: join(authority.folder, 'ca.pem') };
    const api = await weir.api();
    await api.expect(201, 'POST', '/managed-domains', { domain: 'blocked.zone.example', action: 'deny' });
  });

  afterAll(async () => {
    await weir.stop();
    await upstream.close();
    authority.close();
    rmSync(folder, { recursive: true, force: true });
  });

  // By default, each row uses only one of its transports, in rotation, because each query starts a process.
  const rows = CASES.flatMap((row, at) =>
    row.over
      .filter((_way, index) => IS_WHOLE || index === at % row.over.length)
      .map((over) => [row.rfc, row.statement, row.by, over, row] as const),
  );

  test.each(rows)('%s: %s (%s over %s)', async (_rfc, _says, _by, over, row) => {
    const output = await ask(row, over, asked);
    for (const shown of row.shows) expect(output).toMatch(shown);
    for (const hidden of row.hides ?? []) expect(output).not.toMatch(hidden);
  });
});
