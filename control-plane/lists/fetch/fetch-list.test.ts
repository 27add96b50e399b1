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
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type ListAnswer, type ListServer, startListServer } from '../../../test/support/weir/list-server.ts';
import { NO_OWN_HOST, SMALL_LIMITS } from '../../../test/support/weir/small-fetch.ts';
import type { FetchOutcome, ListRequest } from './fetch-list.ts';
import { fetchList } from './fetch-list.ts';

const LIST = '# list\n0.0.0.0 ads.example\n';
const NO_VALIDATORS = { etag: null, lastModified: null };

let folder: string;
let lists: ListServer;
let base: string;

beforeAll(async () => {
  lists = await startListServer();
  base = lists.url('/');
});
afterAll(() => lists.close());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-fetch-'));
  lists.reset();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function fetchFrom(url: string, change: Partial<ListRequest> = {}): Promise<FetchOutcome> {
  return fetchList({
    url,
    validators: NO_VALIDATORS,
    path: join(folder, 'list.tmp'),
    listDirs: [join(folder, 'lists')],
    bounds: NO_OWN_HOST,
    signal: new AbortController().signal,
    limits: SMALL_LIMITS,
    ...change,
  });
}

function storedText(): string {
  return gunzipSync(readFileSync(join(folder, 'list.tmp'))).toString();
}

describe('fetchList() over http', () => {
  test('stores the text gzip-compressed and returns size, digest, ETag and date', async () => {
    lists.serve('/', (_, response) =>
      response.writeHead(200, { ETag: '"7"', 'Last-Modified': 'Wed, 01 Jan 2025 00:00:00 GMT' }).end(LIST),
    );
    await expect(fetchFrom(base)).resolves.toEqual({
      type: 'fetched',
      bytes: LIST.length,
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      validators: { etag: '"7"', lastModified: 'Wed, 01 Jan 2025 00:00:00 GMT' },
    });
    expect(storedText()).toBe(LIST);
    expect(lists.requests[0]?.headers).toMatchObject({ 'accept-encoding': 'gzip', 'user-agent': 'Weir' });
    expect(lists.requests[0]?.headers).not.toHaveProperty('if-none-match');
  });

  test('requests the list conditionally and reports 304 as unchanged', async () => {
    lists.serve('/', (request, response) =>
      response.writeHead(request.headers['if-none-match'] === '"7"' ? 304 : 200).end(),
    );
    const validators = { etag: '"7"', lastModified: 'Wed, 01 Jan 2025 00:00:00 GMT' };
    await expect(fetchFrom(base, { validators })).resolves.toEqual({ type: 'unchanged' });
    expect(lists.requests[0]?.headers['if-modified-since']).toBe(validators.lastModified);
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
    lists.serve('/', (_, response) => response.writeHead(200, headers).end(body));
    await expect(fetchFrom(base)).resolves.toMatchObject({ bytes: LIST.length });
    expect(storedText()).toBe(LIST);
  });

  test.each<[string, ListAnswer, string, RegExp]>([
    ['404', (_, r) => r.writeHead(404).end('<html>'), 'http_status', /the server answered 404$/],
    [
      '304 to an unconditional request',
      (_, r) => r.writeHead(304).end(),
      'http_status',
      /answered 304 .* to the first request$/,
    ],
    ['an HTML page', (_, r) => r.end('\n<!doctype html><p>Sign in'), 'not_a_list', /not a list: .*HTML/],
    [
      'torn compressed data',
      (_, r) =>
        r.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync(LIST.repeat(500)).subarray(0, 60)),
      'bad_encoding',
      /the compressed data ends too early$/,
    ],
    [
      'an encoding that was not requested',
      (_, r) => r.writeHead(200, { 'Content-Encoding': 'br' }).end('x'),
      'bad_encoding',
      /"br"/,
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
  ])('explains the failure: %s', async (_what, listener, code, message) => {
    lists.serve('/', listener);
    await expect(fetchFrom(base)).rejects.toMatchObject({
      name: 'ListError',
      code,
      message: expect.stringMatching(message),
    });
  });

  test('gives up on a server that sends only a few bytes at a time', async () => {
    lists.serve('/', (_, response) => {
      const timer = setInterval(() => response.write('# more\n'), 10);
      response.on('close', () => clearInterval(timer));
    });
    await expect(fetchFrom(base, { limits: { ...SMALL_LIMITS, totalMs: 150 } })).rejects.toMatchObject({
      code: 'timeout',
      message: expect.stringMatching(/not finished after 150 ms$/),
    });
  });

  test('reports that the disk cannot store the list', async () => {
    lists.serve('/', (_, response) => response.end(LIST));
    await expect(fetchFrom(base, { path: join(folder, 'no', 'such', 'folder') })).rejects.toMatchObject({
      code: 'disk',
      message: expect.stringMatching(/^could not store http.*: the directory does not exist$/),
    });
  });

  test('ends when it is aborted', async () => {
    const stop = new AbortController();
    lists.serve('/', () => stop.abort());
    await expect(fetchFrom(base, { signal: stop.signal })).rejects.toMatchObject({ code: 'stopped' });
  });

  test('refuses an invalid URL and an unsupported protocol', async () => {
    await expect(fetchFrom('lists')).rejects.toMatchObject({ code: 'bad_url' });
    await expect(fetchFrom('ftp://lists.example/')).rejects.toMatchObject({ code: 'bad_url' });
  });
});

describe('fetchList() for a file: URL', () => {
  beforeEach(() => mkdirSync(join(folder, 'lists')));

  function fileUrl(...path: string[]): string {
    return pathToFileURL(join(folder, ...path)).href;
  }

  test('stores the file, and detects at the next fetch whether it has changed', async () => {
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

  test('decompresses the file', async () => {
    writeFileSync(join(folder, 'lists', 'a.gz'), gzipSync(LIST));
    await expect(fetchFrom(fileUrl('lists', 'a.gz'))).resolves.toMatchObject({ bytes: LIST.length });
  });

  test.each<[string, () => string, string]>([
    [
      'a file outside the list folders',
      () => (writeFileSync(join(folder, 'secret'), 'a.example'), fileUrl('secret')),
      'refused_path',
    ],
    [
      'a symbolic link to a file outside the list folders',
      () => {
        writeFileSync(join(folder, 'secret'), 'a.example');
        symlinkSync(join(folder, 'secret'), join(folder, 'lists', 'link'));
        return fileUrl('lists', 'link');
      },
      'refused_path',
    ],
    [
      'a folder whose name starts with the name of a list folder',
      () => {
        mkdirSync(join(folder, 'lists-of-others'));
        writeFileSync(join(folder, 'lists-of-others', 'a'), 'a.example');
        return fileUrl('lists-of-others', 'a');
      },
      'refused_path',
    ],
    [
      'a path with ..',
      () => (writeFileSync(join(folder, 'secret'), 'x'), `${fileUrl('lists')}/%2e%2e/secret`),
      'refused_path',
    ],
    ['a folder', () => (mkdirSync(join(folder, 'lists', 'sub')), fileUrl('lists', 'sub')), 'refused_path'],
    ['a missing file', () => fileUrl('lists', 'none'), 'unreadable'],
    ['an empty file', () => (writeFileSync(join(folder, 'lists', 'a'), ''), fileUrl('lists', 'a')), 'empty'],
  ])('refuses %s', async (_what, prepare, code) => {
    await expect(fetchFrom(prepare())).rejects.toMatchObject({ name: 'ListError', code });
  });

  test('accepts a symbolic link whose target is below the list folders', async () => {
    writeFileSync(join(folder, 'lists', 'a.txt'), LIST);
    symlinkSync('a.txt', join(folder, 'lists', 'link'));
    await expect(fetchFrom(fileUrl('lists', 'link'))).resolves.toMatchObject({ type: 'fetched' });
  });
});
