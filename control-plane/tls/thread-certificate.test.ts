import { afterEach, describe, expect, test } from '@jest/globals';
import type { ServedCertificate } from '../../shared/threads/messages.ts';
import { until } from '../../test/support/parts/until.ts';
import type { CertificatePair } from './certificate-pair.ts';
import { makeSelfSigned } from './self-signed.ts';
import { ThreadCertificate } from './thread-certificate.ts';

const FIRST = await makeSelfSigned(['first.example'], Date.now());
const NEXT = await makeSelfSigned(['next.example'], Date.now());

const followers = new Set<(pair: CertificatePair) => void>();
afterEach(() => followers.clear());

/** A certificate of the web, to be replaced by calling the followers. */
const opened = (pair: CertificatePair | null) => ({
  current: () => pair,
  onChange: (follower: (next: CertificatePair) => void) => {
    followers.add(follower);
    return () => followers.delete(follower);
  },
});

/** What threads are given, until `stop`. */
function follow(certificate: ThreadCertificate): { given: ServedCertificate[]; stop: () => void } {
  const given: ServedCertificate[] = [];
  return { given, stop: certificate.follow((next) => given.push(next)) };
}

describe('ThreadCertificate', () => {
  test('gives threads another key for tickets with each renewal, and the same certificate', async () => {
    const certificate = new ThreadCertificate(opened(FIRST), 1);
    const first = certificate.current();
    const { given, stop } = follow(certificate);
    await until(() => given.length >= 2);
    stop();
    const known = given.length;
    const all = [first, ...given];
    expect(new Set(all.map(({ ticketKeys }) => Buffer.from(ticketKeys).toString('hex'))).size).toBe(
      known + 1,
    );
    expect(new Set(all.map(({ ticketKeys }) => ticketKeys.length))).toEqual(new Set([48]));
    expect(new Set(all.map(({ cert, key }) => cert + key))).toEqual(new Set([FIRST.cert + FIRST.key]));
    // A thread that is replaced starts with the newest.
    expect(certificate.current()).toEqual(given.at(-1));
  });

  test('gives threads a new certificate at once, with the key for tickets in force', () => {
    const certificate = new ThreadCertificate(opened(FIRST));
    const { ticketKeys } = certificate.current();
    const { given, stop } = follow(certificate);
    for (const follower of followers) follower(NEXT);
    expect(given).toEqual([{ cert: NEXT.cert, key: NEXT.key, ticketKeys }]);
    stop();
    expect(followers.size).toBe(0);
  });

  test('serves nothing where there is no certificate', () => {
    expect(() => new ThreadCertificate(opened(null))).toThrow('not open yet');
  });
});
