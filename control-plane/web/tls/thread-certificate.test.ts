import { afterEach, describe, expect, test } from '@jest/globals';
import type { ServedCertificate } from '../../../shared/threads/messages.ts';
import { TestClock } from '../../../test/support/parts/test-clock.ts';
import { until } from '../../../test/support/parts/until.ts';
import type { CertificatePair } from './certificate-pair.ts';
import { makeSelfSigned } from './self-signed.ts';
import { ThreadCertificate } from './thread-certificate.ts';
import { TicketKeys } from './ticket-keys.ts';

const FIRST = await makeSelfSigned(['first.example'], Date.now());
const NEXT = await makeSelfSigned(['next.example'], Date.now());
const SECRET = Buffer.alloc(32, 1);
const DAY_MS = 24 * 3600 * 1000;

const followers = new Set<(pair: CertificatePair) => void>();
afterEach(() => followers.clear());

/** A certificate of the web server, which tests replace by calling the followers. */
const opened = (pair: CertificatePair | null) => ({
  current: () => pair,
  onChange: (follower: (next: CertificatePair) => void) => {
    followers.add(follower);
    return () => followers.delete(follower);
  },
});

/** The certificate of a node, with its clock and the given secret. */
function certificateOf(secret = SECRET) {
  const clock = new TestClock();
  const known = { secret };
  const keys = new TicketKeys({ purpose: 'tls tickets', secret: () => known.secret, clock, lookMs: 1 });
  return { clock, known, certificate: new ThreadCertificate(opened(FIRST), keys) };
}

/** Collects certificates for threads until `stop`. */
function follow(certificate: ThreadCertificate): { given: ServedCertificate[]; stop: () => void } {
  const given: ServedCertificate[] = [];
  return { given, stop: certificate.follow((next) => given.push(next)) };
}

function keysOf({ ticketKeys }: ServedCertificate): string {
  return Buffer.from(ticketKeys).toString('hex');
}

describe('ThreadCertificate, the certificate of the DNS threads,', () => {
  test('gives the DNS threads a new ticket key each day, and the same certificate', async () => {
    const { certificate, clock } = certificateOf();
    const all = [certificate.current()];
    const { given, stop } = follow(certificate);
    for (const day of [1, 2]) {
      clock.advance(DAY_MS);
      await until(
        'the key of the day',
        () => given.length,
        (count) => count === day,
      );
    }
    stop();
    all.push(...given);
    expect(new Set(all.map(keysOf)).size).toBe(3);
    expect(all.map(({ ticketKeys }) => ticketKeys.length)).toEqual([48, 48, 48]);
    expect(new Set(all.map(({ cert, key }) => cert + key))).toEqual(new Set([FIRST.cert + FIRST.key]));
    // A replaced thread starts with the newest certificate.
    expect(certificate.current()).toEqual(given.at(-1));
  });

  test('gives starting threads the ticket keys that became active during their start', () => {
    const { certificate, known } = certificateOf();
    const early = certificate.current();
    known.secret = Buffer.alloc(32, 2);
    const { given, stop } = follow(certificate);
    stop();
    expect(given.map(keysOf)).toEqual([keysOf(certificate.current())]);
    expect(keysOf(given[0]!)).not.toBe(keysOf(early));
    const again = follow(certificate);
    again.stop();
    expect(again.given).toEqual([]);
  });

  test('gives the threads of all nodes the same ticket key once the nodes have the same secret', async () => {
    const first = certificateOf();
    const second = certificateOf(Buffer.alloc(32, 2));
    expect(keysOf(second.certificate.current())).not.toBe(keysOf(first.certificate.current()));
    const { given, stop } = follow(second.certificate);
    second.known.secret = Buffer.from(SECRET);
    await until(
      'the key of the shared secret',
      () => given.length,
      (count) => count === 1,
    );
    stop();
    expect(keysOf(given[0]!)).toBe(keysOf(first.certificate.current()));
  });

  test('gives threads a new certificate at once, without changing the ticket key', () => {
    const { certificate } = certificateOf();
    const { ticketKeys } = certificate.current();
    const { given, stop } = follow(certificate);
    for (const follower of followers) follower(NEXT);
    expect(given).toEqual([{ cert: NEXT.cert, key: NEXT.key, ticketKeys }]);
    stop();
    expect(followers.size).toBe(0);
  });

  test('throws if there is no certificate', () => {
    const keys = new TicketKeys({ purpose: 'tls tickets', secret: () => SECRET, clock: new TestClock() });
    expect(() => new ThreadCertificate(opened(null), keys)).toThrow('it has not been loaded yet');
  });
});
