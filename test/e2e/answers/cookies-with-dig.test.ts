/**
 * DNS cookies of Weir as a server (RFC 7873, RFC 9018), tested with dig.
 *
 * @needs bind9-dnsutils
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { EVERY_ADDRESS, startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import { BACK_ENDS, Weir } from '../../support/weir/weir-process.ts';

/** Length of a client cookie with a server cookie. */
const COOKIE_BYTES = 24;
const run = promisify(execFile);

test.each(BACK_ENDS)('weir and dig agree on DNS cookies, back end %s', async (backEnd) => {
  await using upstream = await startEchoingUpstream();
  await using weir = await Weir.start({
    backEnd,
    upstreams: [`127.0.0.1:${upstream.port}`],
    database: 'none',
  });
  const dig = async (cookie: string): Promise<string | undefined> => {
    const where = ['@127.0.0.1', '-p', String(weir.dnsPort), '+tries=1', '+timeout=8'];
    const { stdout } = await run('dig', [...where, `+cookie${cookie}`, 'one.example.com', 'A']);
    expect(stdout).toContain(EVERY_ADDRESS);
    return /; COOKIE: ([0-9a-f]+) \(good\)/.exec(stdout)?.[1];
  };
  const first = await dig('');
  expect(first).toHaveLength(2 * COOKIE_BYTES);
  expect(await dig(`=${first!}`)).toBe(first);
});
