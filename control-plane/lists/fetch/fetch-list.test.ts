import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { FetchOutcome, ListRequest } from './fetch-list.ts';
import { fetchList } from './fetch-list.ts';
import type { FetchLimits } from './fetch-limits.ts';

const LIST = '# list\n0.0.0.0 ads.example\n';
const LIMITS: FetchLimits = {
  connectMs: 5000,
  idleMs: 5000,
  totalMs: 10_000,
  redirects: 5,
  compressedBytes: 100_000,
  textBytes: 1_000_000,
  lines: 100_000,
};
const BOUNDS = { localDomain: () => '', ownPorts: () => new Set<number>() };
const NO_VALIDATORS = { etag: null, lastModified: null };

let folder: string;
let server: Server;
let base: string;
let answer: RequestListener;
let seen: IncomingMessage[];

beforeAll(async () => {
  server = createServer((request, response) => {
    seen.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-fetch-'));
  seen = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function fetchFrom(url: string, change: Partial<ListRequest> = {}): Promise<FetchOutcome> {
  return fetchList({
    url,
    validators: NO_VALIDATORS,
    path: join(folder, 'list.tmp'),
    listDirs: [join(folder, 'lists')],
    bounds: BOUNDS,
    signal: new AbortController().signal,
    limits: LIMITS,
    ...change,
  });
}

function storedText(): string {
  return gunzipSync(readFileSync(join(folder, 'list.tmp'))).toString();
}

describe('fetchList() over http', () => {
  test('stores the text gzip-compressed and returns size, digest and validators', async () => {
    answer = (_, response) =>
      response.writeHead(200, { ETag: '"7"', 'Last-Modified': 'Wed, 01 Jan 2025 00:00:00 GMT' }).end(LIST);
    await expect(fetchFrom(`${base}/list`)).resolves.toEqual({
      type: 'fetched',
      bytes: LIST.length,
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      validators: { etag: '"7"', lastModified: 'Wed, 01 Jan 2025 00:00:00 GMT' },
    });
    expect(storedText()).toBe(LIST);
    expect(seen[0]?.headers).toMatchObject({ 'accept-encoding': 'gzip', 'user-agent': 'Weir' });
    expect(seen[0]?.headers).not.toHaveProperty('if-none-match');
  });

  test('asks whether the list has changed and reports 304 as unchanged', async () => {
    answer = (request, response) =>
      response.writeHead(request.headers['if-none-match'] === '"7"' ? 304 : 200).end();
    const validators = { etag: '"7"', lastModified: 'Wed, 01 Jan 2025 00:00:00 GMT' };
    await expect(fetchFrom(base, { validators })).resolves.toEqual({ type: 'unchanged' });
    expect(seen[0]?.headers['if-modified-since']).toBe(validators.lastModified);
    expect(existsSync(join(folder, 'list.tmp'))).toBe(false);
  });

  test.each([
    ['a compressed transfer', { 'Content-Encoding': 'gzip' }, gzipSync(LIST)],
    ['a compressed file', {}, gzipSync(LIST)],
    [
      'a compressed file in a compressed transfer',
      { 'Content-Encoding': 'x-gzip' },
      gzipSync(gzipSync(LIST)),
    ],
  ])('decompresses %s', async (_what, headers, body) => {
    answer = (_, response) => response.writeHead(200, headers).end(body);
    await expect(fetchFrom(base)).resolves.toMatchObject({ bytes: LIST.length });
    expect(storedText()).toBe(LIST);
  });

  test('follows redirects, relative ones too', async () => {
    answer = (request, response) => {
      const next = { '/a': '/b', '/b': `${base}/c` }[request.url ?? ''];
      if (next === undefined) response.end(LIST);
      else response.writeHead(302, { Location: next }).end();
    };
    await expect(fetchFrom(`${base}/a`)).resolves.toMatchObject({ type: 'fetched' });
    expect(seen.map(({ url }) => url)).toEqual(['/a', '/b', '/c']);
  });

  const endless: RequestListener = (_, response) => {
    const chunk = Buffer.alloc(65_536, 'ads.example\n');
    const more = (): void => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on('drain', more);
    more();
  };

  test.each<[string, RequestListener, string, RegExp]>([
    ['404', (_, r) => r.writeHead(404).end('<html>'), 'http_status', /the server answered 404$/],
    ['500', (_, r) => r.writeHead(500).end(), 'http_status', /answered 500$/],
    ['206', (_, r) => r.writeHead(206).end(LIST), 'http_status', /answered 206$/],
    ['an HTML page', (_, r) => r.end('\n<!doctype html><p>Sign in'), 'not_a_list', /not a list: .*HTML/],
    ['binary data', (_, r) => r.end(Buffer.from([1, 0, 2, 0])), 'not_a_list', /binary/],
    ['nothing', (_, r) => r.end(), 'empty', /the list is empty$/],
    [
      'nothing, compressed',
      (_, r) => r.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync('')),
      'empty',
      /empty/,
    ],
    ['text without end', endless, 'too_large', /larger than 1000000 bytes$/],
    ['lines without end', (_, r) => r.end('a\n'.repeat(100_001)), 'too_large', /more than 100000 lines$/],
    [
      'a gzip bomb',
      (_, r) =>
        r
          .writeHead(200, { 'Content-Encoding': 'gzip' })
          .end(gzipSync(Buffer.alloc(30_000_000, 'ads.example\n'))),
      'too_large',
      /larger than 1000000 bytes$/,
    ],
    [
      'too much compressed data',
      (_, r) =>
        r
          .writeHead(200, { 'Content-Encoding': 'gzip' })
          .end(gzipSync(Buffer.alloc(500_000, 'x'), { level: 0 })),
      'too_large',
      /larger than 100000 bytes$/,
    ],
    [
      'torn compressed data',
      (_, r) =>
        r.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync(LIST.repeat(500)).subarray(0, 60)),
      'bad_encoding',
      /damaged compressed data/,
    ],
    [
      'an encoding not asked for',
      (_, r) => r.writeHead(200, { 'Content-Encoding': 'br' }).end('x'),
      'bad_encoding',
      /"br"/,
    ],
    [
      'a redirect loop',
      (_, r) => r.writeHead(302, { Location: '/' }).end(),
      'redirects',
      /more than 5 redirects$/,
    ],
    ['a redirect to nowhere', (_, r) => r.writeHead(301).end(), 'redirects', /without a usable location$/],
    [
      'a redirect to a file',
      (_, r) => r.writeHead(301, { Location: 'file:///etc/passwd' }).end(),
      'redirects',
      /file:/,
    ],
    [
      'a redirect to a link-local address',
      (_, r) => r.writeHead(302, { Location: 'http://169.254.169.254/meta-data' }).end(),
      'refused_host',
      /169\.254\.169\.254 is link-local/,
    ],
    [
      'a connection closed in the middle',
      (_, r) => r.writeHead(200, { 'Content-Length': '1000' }).write(LIST, () => r.destroy()),
      'network',
      /closed before the end/,
    ],
  ])('says why for %s', async (_what, listener, code, message) => {
    answer = listener;
    await expect(fetchFrom(base)).rejects.toMatchObject({
      name: 'ListError',
      code,
      message: expect.stringMatching(message),
    });
  });

  test('gives up on a server that falls silent', async () => {
    answer = (_, response) => void response.writeHead(200).write(LIST);
    await expect(fetchFrom(base, { limits: { ...LIMITS, idleMs: 50 } })).rejects.toMatchObject({
      code: 'timeout',
      message: expect.stringMatching(/silent for 50 ms$/),
    });
  });

  test('gives up on a server that dribbles', async () => {
    answer = (_, response) => {
      const timer = setInterval(() => response.write('# more\n'), 10);
      response.on('close', () => clearInterval(timer));
    };
    await expect(fetchFrom(base, { limits: { ...LIMITS, totalMs: 150 } })).rejects.toMatchObject({
      code: 'timeout',
      message: expect.stringMatching(/not finished after 150 ms$/),
    });
  });

  test('gives up on a TLS server that never shakes hands', async () => {
    const sockets = new Set<Socket>();
    const mute = createTcpServer((socket) => sockets.add(socket.on('error', () => undefined)));
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    const url = `https://127.0.0.1:${(mute.address() as AddressInfo).port}/`;
    await expect(fetchFrom(url, { limits: { ...LIMITS, connectMs: 50 } })).rejects.toMatchObject({
      code: 'timeout',
      message: expect.stringMatching(/not connected after 50 ms$/),
    });
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => mute.close(resolve));
  });

  test('names the fault of a server that is not there, and no password', async () => {
    const free = createTcpServer();
    await new Promise<void>((resolve) => free.listen(0, '127.0.0.1', resolve));
    const { port } = free.address() as AddressInfo;
    await new Promise((resolve) => free.close(resolve));
    const failure = fetchFrom(`http://user:secret@127.0.0.1:${port}/list`);
    await expect(failure).rejects.toMatchObject({
      code: 'network',
      message: expect.stringMatching(/ECONNREFUSED/),
    });
    await expect(failure).rejects.toMatchObject({ message: expect.not.stringMatching(/secret/) });
  });

  test('names a disk that takes no list', async () => {
    answer = (_, response) => response.end(LIST);
    await expect(fetchFrom(base, { path: join(folder, 'no', 'such', 'folder') })).rejects.toMatchObject({
      code: 'disk',
      message: expect.stringMatching(/^store http.*ENOENT/),
    });
  });

  test('ends when it is told to', async () => {
    const stop = new AbortController();
    answer = () => stop.abort();
    await expect(fetchFrom(base, { signal: stop.signal })).rejects.toMatchObject({ code: 'stopped' });
  });

  test('refuses what is no URL and what is no list protocol', async () => {
    await expect(fetchFrom('lists')).rejects.toMatchObject({ code: 'bad_url' });
    await expect(fetchFrom('ftp://lists.example/')).rejects.toMatchObject({ code: 'bad_url' });
  });
});

describe('fetchList() of a file', () => {
  beforeEach(() => mkdirSync(join(folder, 'lists')));

  function fileUrl(...path: string[]): string {
    return pathToFileURL(join(folder, ...path)).href;
  }

  test('stores it, and knows next time that it has not changed, and when it has', async () => {
    writeFileSync(join(folder, 'lists', 'a.txt'), LIST);
    const first = await fetchFrom(fileUrl('lists', 'a.txt'));
    expect(first).toMatchObject({ type: 'fetched', bytes: LIST.length });
    expect(storedText()).toBe(LIST);
    const { validators } = first as Extract<FetchOutcome, { type: 'fetched' }>;
    const path = join(folder, 'second.tmp');
    await expect(fetchFrom(fileUrl('lists', 'a.txt'), { validators, path })).resolves.toEqual({
      type: 'unchanged',
    });
    utimesSync(join(folder, 'lists', 'a.txt'), 1000, 1000);
    await expect(fetchFrom(fileUrl('lists', 'a.txt'), { validators, path })).resolves.toMatchObject({
      type: 'fetched',
    });
  });

  test('decompresses it', async () => {
    writeFileSync(join(folder, 'lists', 'a.gz'), gzipSync(LIST));
    await expect(fetchFrom(fileUrl('lists', 'a.gz'))).resolves.toMatchObject({ bytes: LIST.length });
  });

  test.each<[string, () => string, string]>([
    [
      'a file elsewhere',
      () => (writeFileSync(join(folder, 'secret'), 'a.example'), fileUrl('secret')),
      'refused_path',
    ],
    [
      'a link that leads elsewhere',
      () => {
        writeFileSync(join(folder, 'secret'), 'a.example');
        symlinkSync(join(folder, 'secret'), join(folder, 'lists', 'link'));
        return fileUrl('lists', 'link');
      },
      'refused_path',
    ],
    [
      'a folder whose name only starts like that of a list folder',
      () => {
        mkdirSync(join(folder, 'lists-of-others'));
        writeFileSync(join(folder, 'lists-of-others', 'a'), 'a.example');
        return fileUrl('lists-of-others', 'a');
      },
      'refused_path',
    ],
    [
      'a way up',
      () => (writeFileSync(join(folder, 'secret'), 'x'), `${fileUrl('lists')}/%2e%2e/secret`),
      'refused_path',
    ],
    ['a folder', () => (mkdirSync(join(folder, 'lists', 'sub')), fileUrl('lists', 'sub')), 'refused_path'],
    ['a file that is not there', () => fileUrl('lists', 'none'), 'unreadable'],
    ['an empty file', () => (writeFileSync(join(folder, 'lists', 'a'), ''), fileUrl('lists', 'a')), 'empty'],
  ])('refuses %s', async (_what, prepare, code) => {
    await expect(fetchFrom(prepare())).rejects.toMatchObject({ name: 'ListError', code });
  });

  test('takes a link that stays below the list folders', async () => {
    writeFileSync(join(folder, 'lists', 'a.txt'), LIST);
    symlinkSync('a.txt', join(folder, 'lists', 'link'));
    await expect(fetchFrom(fileUrl('lists', 'link'))).resolves.toMatchObject({ type: 'fetched' });
  });
});
