import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { until, within } from '../../../test/support/parts/until.ts';
import { startListServer } from '../../../test/support/weir/list-server.ts';
import { SMALL_LIMITS } from '../../../test/support/weir/small-fetch.ts';
import { SNIFF_BYTES } from '../../policy/compile/parse/sniff-list.ts';
import type { FetchLimits } from './fetch-limits.ts';
import { type BodyReading, type StoredBody, storeBody } from './store-body.ts';

const LIST = '# list\n0.0.0.0 ads.example\n';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-body-'));
  path = join(folder, 'list.tmp');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A body in these pieces; records whether its reader has closed it. */
class Pieces implements AsyncIterable<Buffer> {
  isClosed = false;
  taken = 0;
  private readonly pieces: readonly (Buffer | string)[];

  constructor(...pieces: readonly (Buffer | string)[]) {
    this.pieces = pieces;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    try {
      for (const piece of this.pieces) {
        this.taken++;
        yield Buffer.from(piece);
      }
    } finally {
      this.isClosed = true;
    }
  }
}

interface Change extends Partial<Omit<BodyReading, 'limits'>> {
  readonly limits?: Partial<FetchLimits>;
}

function store(body: AsyncIterable<Buffer>, { limits, ...change }: Change = {}): Promise<StoredBody> {
  return storeBody(body, {
    shown: 'http://lists.example/a',
    isEncoded: false,
    path,
    limits: { ...SMALL_LIMITS, ...limits },
    signal: new AbortController().signal,
    ...change,
  });
}

function stored(): Buffer {
  return gunzipSync(readFileSync(path));
}

function sha256(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('hex');
}

describe('storeBody()', () => {
  test('stores the text gzip-compressed, readable by its owner only, and returns its size and digest', async () => {
    await expect(store(new Pieces(LIST))).resolves.toEqual({ bytes: LIST.length, digest: sha256(LIST) });
    expect(stored().toString()).toBe(LIST);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test.each<[string, Change, AsyncIterable<Buffer>]>([
    ['byte by byte', {}, new Pieces(...LIST)],
    ['with empty chunks', {}, new Pieces('', LIST.slice(0, 9), '', LIST.slice(9), '')],
    ['as a compressed file', {}, new Pieces(gzipSync(LIST))],
    [
      'as a compressed file byte by byte',
      {},
      new Pieces(...[...gzipSync(LIST)].map((one) => Buffer.of(one))),
    ],
    ['in a compressed transfer', { isEncoded: true }, new Pieces(gzipSync(LIST))],
    [
      'as a compressed file in a compressed transfer',
      { isEncoded: true },
      new Pieces(gzipSync(gzipSync(LIST))),
    ],
  ])('stores the same text for a list that arrives %s', async (_how, change, body) => {
    await expect(store(body, change)).resolves.toEqual({ bytes: LIST.length, digest: sha256(LIST) });
    expect(stored().toString()).toBe(LIST);
  });

  test('stores text of several chunks in order, also after the bytes that are checked for HTML', async () => {
    const pieces = Array.from({ length: 50 }, (_, at) => `n${at}.example # ${'-'.repeat(SNIFF_BYTES / 4)}\n`);
    const all = pieces.join('');
    await expect(store(new Pieces(...pieces))).resolves.toEqual({ bytes: all.length, digest: sha256(all) });
    expect(stored().toString()).toBe(all);
  });

  test.each([
    ['Latin-1', Buffer.from('# Werbung f\u00fcr B\u00fccher\nads.example\n', 'latin1')],
    ['a byte order mark', Buffer.from('\ufeffads.example\n')],
    ['bytes of no charset', Buffer.from([0x61, 0xff, 0x80, 0xc0, 0x0a])],
  ])('stores bytes unchanged: %s', async (_what, octets) => {
    await expect(store(new Pieces(octets))).resolves.toEqual({
      bytes: octets.length,
      digest: sha256(octets),
    });
    expect(stored()).toEqual(octets);
  });

  test.each<[string, Change, AsyncIterable<Buffer>]>([
    ['a body without chunks', {}, new Pieces()],
    ['an empty chunk', {}, new Pieces('')],
    ['a compressed empty body', { isEncoded: true }, new Pieces(gzipSync(''))],
    ['a compressed empty file', {}, new Pieces(gzipSync(''))],
  ])('refuses %s as empty', async (_what, change, body) => {
    await expect(store(body, change)).rejects.toMatchObject({
      code: 'empty',
      message: 'could not fetch http://lists.example/a: the list is empty',
    });
  });

  test.each<[string, RegExp, readonly (Buffer | string)[]]>([
    ['an HTML page', /HTML/, ['\n<!doctype html><p>Sign in']],
    ['an HTML page that arrives byte by byte', /HTML/, ['\n', ' ', '<', '!doctype html>']],
    ['a long HTML page', /HTML/, [`<html>${'-'.repeat(10 * SNIFF_BYTES)}`, 'more']],
    ['UTF-16', /UTF-16/, [Buffer.from('\ufeffads.example\n', 'utf16le')]],
    ['binary data', /binary/, [Buffer.of(1, 0, 2, 0)]],
    ['binary data whose first chunk is text', /binary/, ['ads.example\n', Buffer.of(0)]],
    [
      'binary data in the last byte that is examined',
      /binary/,
      ['a'.repeat(SNIFF_BYTES - 1), Buffer.of(0), 'a'],
    ],
    ['a compressed HTML page', /HTML/, [gzipSync('<html>')]],
  ])('refuses %s, which is not a list', async (_what, reason, pieces) => {
    await expect(store(new Pieces(...pieces))).rejects.toMatchObject({
      code: 'not_a_list',
      message: expect.stringMatching(reason),
    });
  });

  test('reports which file is not a list, and why', async () => {
    await expect(store(new Pieces('<html>'), { shown: '/lists/a' })).rejects.toMatchObject({
      message: 'could not fetch /lists/a: not a list: the file is an HTML or XML page',
    });
  });

  test('stops reading when the first bytes show that the body is a web page', async () => {
    const page = new Pieces('<html>', '-'.repeat(SNIFF_BYTES), ...Array.from({ length: 100 }, () => 'more'));
    await expect(store(page)).rejects.toMatchObject({ code: 'not_a_list' });
    expect([page.taken, page.isClosed]).toEqual([2, true]);
  });

  test('accepts text up to the limit of bytes, and no more', async () => {
    await expect(store(new Pieces('a.b\n', 'c.d\n'), { limits: { textBytes: 8 } })).resolves.toMatchObject({
      bytes: 8,
    });
    rmSync(path);
    const body = new Pieces('a.b\n', 'c.d\n', 'e', 'f');
    await expect(store(body, { limits: { textBytes: 8 } })).rejects.toMatchObject({
      code: 'too_large',
      message: 'could not fetch http://lists.example/a: larger than 8 bytes',
    });
    expect([body.taken, body.isClosed]).toEqual([3, true]);
  });

  test('accepts lines up to the limit of lines, and no more', async () => {
    await expect(store(new Pieces('a.b\n', 'c.d\ne.f'), { limits: { lines: 2 } })).resolves.toMatchObject({
      bytes: 11,
    });
    rmSync(path);
    await expect(store(new Pieces('a.b\n', 'c.d\ne.f\n'), { limits: { lines: 2 } })).rejects.toMatchObject({
      code: 'too_large',
      message: 'could not fetch http://lists.example/a: more than 2 lines',
    });
  });

  test('accepts a compressed transfer up to the limit of compressed bytes, and no more', async () => {
    const body = gzipSync(LIST);
    const change = { isEncoded: true, limits: { compressedBytes: body.length } };
    await expect(store(new Pieces(body), change)).resolves.toMatchObject({ bytes: LIST.length });
    rmSync(path);
    const limits = { compressedBytes: body.length - 1 };
    await expect(store(new Pieces(body), { isEncoded: true, limits })).rejects.toMatchObject({
      code: 'too_large',
      message: `could not fetch http://lists.example/a: larger than ${body.length - 1} bytes`,
    });
  });

  test('applies only the limit on uncompressed size to an uncompressed transfer', async () => {
    const limits = { compressedBytes: 1, textBytes: LIST.length };
    await expect(store(new Pieces(LIST), { limits })).resolves.toMatchObject({ bytes: LIST.length });
  });

  test.each<[string, Change, Buffer]>([
    ['file', {}, gzipSync(Buffer.alloc(30_000_000, 'ads.example\n'))],
    ['transfer', { isEncoded: true }, gzipSync(Buffer.alloc(30_000_000, 'ads.example\n'))],
    ['file of files', {}, gzipSync(gzipSync(Buffer.alloc(30_000_000, 'ads.example\n')))],
  ])('stores no more of a decompression bomb than the limit allows: %s', async (what, change, bomb) => {
    const kept = store(new Pieces(bomb), change);
    // A file that is compressed twice is not text.
    await expect(kept).rejects.toMatchObject({ code: what === 'file of files' ? 'not_a_list' : 'too_large' });
    expect(statSync(path).size).toBeLessThan(SMALL_LIMITS.textBytes);
  });

  test.each<[string, Change, Buffer]>([
    ['torn', { isEncoded: true }, gzipSync(LIST.repeat(500)).subarray(0, 60)],
    ['no', { isEncoded: true }, Buffer.from(LIST)],
    ['a file of torn', {}, gzipSync(LIST.repeat(500)).subarray(0, 60)],
  ])('throws the error of zlib for %s compressed data', async (_what, change, body) => {
    await expect(store(new Pieces(body), change)).rejects.toMatchObject({
      code: expect.stringMatching(/^Z_/),
    });
  });

  test('does not change a file that already exists', async () => {
    writeFileSync(path, 'another');
    await expect(store(new Pieces(LIST))).rejects.toMatchObject({ code: 'EEXIST' });
    expect(readFileSync(path, 'utf8')).toBe('another');
  });

  test('throws the error of the file system', async () => {
    const missing = join(folder, 'no', 'such', 'folder');
    await expect(store(new Pieces(LIST), { path: missing })).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test.each([false, true])('throws the error of the body; a compressed transfer: %j', async (isEncoded) => {
    const failed = new Error('the cable is gone');
    const body = async function* (): AsyncGenerator<Buffer> {
      yield isEncoded ? gzipSync(LIST).subarray(0, 20) : Buffer.from(LIST);
      throw failed;
    };
    await expect(store(body(), { isEncoded })).rejects.toBe(failed);
  });

  test('stops between two chunks when the signal is aborted, and closes the body', async () => {
    const stopping = new AbortController();
    let isClosed = false;
    const body = async function* (): AsyncGenerator<Buffer> {
      try {
        for (let at = 0; ; at++) {
          if (at === 100) stopping.abort();
          yield Buffer.from(LIST);
        }
      } finally {
        isClosed = true;
      }
    };
    await expect(store(body(), { signal: stopping.signal })).rejects.toMatchObject({ name: 'AbortError' });
    await until('the body to be closed', () => isClosed);
  });
});

describe('storeBody() with an HTTP response', () => {
  test('stops when the signal aborts request and storage, and closes the connection', async () => {
    const server = await startListServer();
    const stopping = new AbortController();
    const { signal } = stopping;
    let closed: Promise<unknown> = Promise.resolve();
    server.serve('/a', (request, response) => {
      closed = once(request.socket, 'close');
      response.write(LIST);
    });
    const asked = get(server.url('/a'), { agent: false, signal });
    const [response] = (await within('the response', once(asked, 'response'))) as [IncomingMessage];
    const kept = store(response, { signal });
    stopping.abort();
    await expect(kept).rejects.toThrow(/abort/);
    await within('the connection to close', closed);
    await server.close();
  });

  test('fails if the connection is closed before the end of the body', async () => {
    const server = await startListServer();
    server.serve('/a', (_, response) => {
      response.writeHead(200, { 'Content-Length': '1000' }).write(LIST, () => response.destroy());
    });
    const [response] = (await within(
      'the response',
      once(get(server.url('/a'), { agent: false }), 'response'),
    )) as [IncomingMessage];
    await expect(store(response)).rejects.toMatchObject({ message: 'aborted' });
    await server.close();
  });
});
