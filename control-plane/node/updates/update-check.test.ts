/** Tests the daily check with a real HTTPS server and a clock that the test moves. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { TestAuthority } from '../../../test/support/dns/certificates.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { TestClock } from '../../../test/support/parts/test-clock.ts';
import { NO_OWN_HOST } from '../../../test/support/weir/small-fetch.ts';
import { fetchAnswer } from './fetch-answer.ts';
import { UpdateCheck } from './update-check.ts';

const HOUR_MS = 3_600_000;
const PAGE = 'https://weir.example.org/releases/0.2.0';
const NEWER = { version: '0.2.0', url: PAGE };

const trusted = getCACertificates('default');
let authority: TestAuthority;
let server: Server;
let base: string;
let dataDir: string;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
let asked: string[];

beforeAll(async () => {
  authority = new TestAuthority();
  server = createServer(authority.issue('IP:127.0.0.1'), (request, response) => {
    asked.push(request.url!);
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  setDefaultCACertificates([authority.cert]);
  dataDir = mkdtempSync(join(tmpdir(), 'weir-updates-'));
  asked = [];
  answer = (_, response) => response.end(JSON.stringify(NEWER));
});
afterEach(() => rmSync(dataDir, { recursive: true }));
afterAll(async () => {
  setDefaultCACertificates(trusted);
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
  authority.close();
});

/** Opens a check like that of a node. */
async function open({ clock = new TestClock(), url = `${base}/newest.json`, version = '0.1.0' } = {}) {
  const logger = new MemoryLogger();
  const configured = { url };
  const check = new UpdateCheck({
    ...{ url: () => configured.url, version, dataDir, mayWrite: Promise.resolve(), clock, logger },
    bounds: NO_OWN_HOST,
    random: () => 0.5,
  });
  const stop = check.start();
  // The check starts as soon as the data directory exists.
  await Promise.resolve();
  await check.check();
  const passHours = async (hours: number): Promise<void> => {
    for (let hour = 0; hour < hours; hour++) {
      clock.advance(HOUR_MS);
      await check.check();
    }
  };
  return { check, clock, logger, configured, stop, passHours };
}

describe('UpdateCheck', () => {
  test('checks once a day, the first time within an hour, and reports a newer version', async () => {
    const { check, stop, passHours } = await open();
    expect([asked, check.state().newer]).toEqual([[], null]);
    await passHours(1);
    expect([asked, check.state().newer, check.state().fault]).toEqual([['/newest.json'], NEWER, null]);
    // One request is sent at 12:00 UTC each day.
    await passHours(10 * 24);
    expect(asked).toHaveLength(10);
    await stop();
  });

  test('reports no newer version if the running version is the newest', async () => {
    const { check, stop, passHours } = await open({ version: '0.2.0' });
    await passHours(1);
    expect([asked.length, check.state().newer]).toEqual([1, null]);
    await stop();
  });

  test('checks nothing without a URL, and discards the result of another URL', async () => {
    const { check, configured, stop, passHours } = await open({ url: '' });
    await passHours(72);
    expect([asked, readdirSync(dataDir)]).toEqual([[], []]);
    configured.url = `${base}/newest.json`;
    await passHours(2);
    expect(check.state().newer).toEqual(NEWER);
    configured.url = '';
    expect(check.state()).toEqual({ checkedAtMs: null, newer: null, fault: null });
    await stop();
  });

  test('keeps the time and the result of the last check across a restart', async () => {
    const first = await open();
    await first.passHours(1);
    await first.stop();
    const second = await open({ clock: first.clock });
    expect(second.check.state().newer).toEqual(NEWER);
    expect(asked).toHaveLength(1);
    await second.stop();
  });

  test.each<[string, (path: string) => void]>([
    ['is damaged', (path) => writeFileSync(path, '{"url":')],
    ['cannot be read', (path) => mkdirSync(path)],
  ])('replaces a file that %s, and logs that', async (_what, spoil) => {
    const path = join(dataDir, 'update-check.json');
    spoil(path);
    const { check, logger, stop, passHours } = await open();
    await passHours(1);
    expect(check.state().newer).toEqual(NEWER);
    expect(logger.lines[0]).toMatchObject({
      level: 'warn',
      message: 'could not read the state of the update check',
      fields: { path, reason: expect.any(String) },
    });
    await stop();
  });

  test('logs nothing at the first start, without a stored result', async () => {
    const { logger, stop, passHours } = await open();
    await passHours(1);
    expect(logger.lines).toEqual([]);
    await stop();
  });

  test('keeps the known version and reports why a later request failed, without a warning each day', async () => {
    const { check, logger, stop, passHours } = await open();
    await passHours(1);
    answer = (_, response) => response.writeHead(500).end();
    await passHours(48);
    expect(check.state()).toMatchObject({ newer: NEWER, fault: expect.stringMatching(/answered 500/) });
    expect(logger.lines.filter(({ level }) => level !== 'info')).toEqual([]);
    await stop();
  });
});

describe('fetchAnswer()', () => {
  const fetch = (path = '/', totalMs?: number): Promise<string> =>
    fetchAnswer({
      ...{ url: `${base}${path}`, bounds: NO_OWN_HOST, signal: new AbortController().signal },
      ...(totalMs !== undefined && { totalMs }),
    });

  test('accepts a compressed response', async () => {
    answer = (_, response) => response.setHeader('Content-Encoding', 'gzip').end(gzipSync('{}'));
    expect(await fetch()).toBe('{}');
  });

  test.each<[string, RegExp, (response: ServerResponse) => void]>([
    ['a redirect', /redirect/, (response) => response.writeHead(302, { Location: `${base}/other` }).end()],
    ['an error', /answered 404/, (response) => response.writeHead(404).end()],
    ['a response that is too large', /more than 16384 bytes/, (response) => response.end('x'.repeat(20_000))],
    [
      'a response that is too large when decompressed',
      /could not be decompressed/,
      (response) => response.setHeader('Content-Encoding', 'gzip').end(gzipSync(Buffer.alloc(10_000_000))),
    ],
    [
      'an encoding that was not requested',
      /encoding/,
      (response) => response.setHeader('Content-Encoding', 'br').end('x'),
    ],
    ['a connection that is closed early', /connection|aborted|socket/, (response) => response.destroy()],
  ])('refuses %s', async (_what, fault, respond) => {
    answer = (_, response) => respond(response);
    await expect(fetch()).rejects.toThrow(fault);
    expect(asked).toHaveLength(1);
  });

  test('gives up on a response that never ends', async () => {
    answer = (_, response) => {
      response.write('{');
    };
    await expect(fetch('/', 50)).rejects.toThrow('no answer within 50 ms');
    answer = () => undefined;
    await expect(fetch('/', 50)).rejects.toThrow(
      /no answer within 50 ms|no connection after 50 ms|no data for/,
    );
  });

  test('refuses a certificate that no CA of this machine has signed', async () => {
    setDefaultCACertificates(trusted);
    await expect(fetch()).rejects.toThrow(/certificate/);
    expect(asked).toEqual([]);
  });
});
