import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../shared/clock.ts';
import { TestAuthority } from '../../../test/support/dns/certificates.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { makeTempDir, startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { until } from '../../../test/support/parts/until.ts';
import { ChangeFollower } from '../../storage/cluster/change-follower.ts';
import { ClusterSecret } from '../../storage/cluster/cluster-secret.ts';
import { CertificateFiles } from './certificate-files.ts';
import { type CertificatePair, readPair } from './certificate-pair.ts';
import { SharedCertificate } from './shared-certificate.ts';
import { WebCertificate } from './web-certificate.ts';

let own: TestDatabase;
let folder: string;
let authority: TestAuthority;
let follower: ChangeFollower;
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  own = await startTestDatabase();
  folder = makeTempDir();
  authority = new TestAuthority();
  follower = new ChangeFollower(
    own.database,
    { catchUp: async () => undefined, mark: () => null },
    new MemoryLogger(),
    () => undefined,
  );
});
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  await own.database.query('DELETE FROM web_certificate');
});
afterAll(async () => {
  await follower.close();
  await own.stop();
  authority.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A node with this name; a second call stands for another start in its data directory. */
function nodeOf(name: string) {
  const dataDir = join(folder, name);
  mkdirSync(dataDir, { recursive: true });
  const logger = new MemoryLogger();
  const { database } = own;
  const secret = new ClusterSecret({ database, dataDir, logger });
  const files = new CertificateFiles({ cert: join(dataDir, 'cert.pem'), key: join(dataDir, 'key.pem') });
  const certificate = new WebCertificate({ files, names: () => [name], clock: systemClock, logger });
  const shared = new SharedCertificate({
    database,
    secret,
    certificate,
    dataDir,
    clock: systemClock,
    logger,
  });
  return { files, logger, secret, certificate, shared };
}

/** A pair as in an upload. */
function issue(isExpired = false): CertificatePair {
  const { cert, key } = authority.issue('DNS:dns.example.org', isExpired);
  return readPair(cert, key);
}

async function share(node: ReturnType<typeof nodeOf>, pair: CertificatePair): Promise<void> {
  await node.secret.agree();
  await own.database.transaction((tx) => node.shared.share(tx, pair));
}

describe('SharedCertificate, the certificate of all nodes,', () => {
  test('is active on other nodes and in their files at once; its key is encrypted in the database', async () => {
    const [first, second] = [nodeOf('first'), nodeOf('second')];
    for (const { shared } of [first, second]) stops.push(shared.follow(follower));
    const pair = issue();
    await share(first, pair);
    await until(
      'the second node to use the pair',
      () => second.certificate.current()?.cert,
      (cert) => cert === pair.cert,
    );
    expect((await second.files.read())?.cert).toBe(pair.cert);
    const { rows } = await own.database.query<{ sealed: Buffer }>('SELECT sealed FROM web_certificate');
    expect(rows[0]!.sealed.toString('latin1')).not.toContain('PRIVATE KEY');
    const next = issue();
    await share(second, next);
    await until(
      'the first node to use the next pair',
      () => first.certificate.current()?.cert,
      (cert) => cert === next.cert,
    );
  });

  test('is adopted only once: certificate files that are replaced on a node later are kept, even after a restart', async () => {
    const node = nodeOf('third');
    await share(node, issue());
    await node.shared.take();
    const later = issue();
    await node.files.store(later);
    const again = nodeOf('third');
    await again.shared.take();
    expect((await again.files.read())?.cert).toBe(later.cert);
  });

  test('is not adopted if a node cannot serve it, and the reason is logged once', async () => {
    const giver = nodeOf('giver');
    const linked = nodeOf('linked');
    symlinkSync('elsewhere.pem', linked.files.paths.cert);
    await share(giver, issue());
    await linked.shared.take();
    expect(linked.logger.text()).toContain('is a link that another program manages');
    const late = nodeOf('late');
    await share(giver, issue(true));
    await late.shared.take();
    expect(late.logger.text()).toContain('the certificate expired');
    await own.database.query(
      `UPDATE web_certificate SET sealed = sealed || '\\x00', version = gen_random_uuid()`,
    );
    for (let times = 0; times < 2; times++) await late.shared.take();
    expect(late.logger.text().match(/another secret, or is damaged/g)).toHaveLength(1);
    expect(await late.files.exist()).toBe(false);
    expect(readFileSync(join(folder, 'late', 'web-certificate-version'), 'latin1')).toMatch(
      /^[0-9a-f-]{36}\n$/,
    );
  });
});
