import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ListFault, readListFault, withoutAction } from '../../../shared/policy/list-fault.ts';
import { freePort } from '../../../test/support/weir/free-ports.ts';
import { type ListServer, startListServer } from '../../../test/support/weir/list-server.ts';
import { NO_OWN_HOST, SMALL_LIMITS } from '../../../test/support/weir/small-fetch.ts';
import { fetchList } from './fetch-list.ts';
import { ListError } from './list-error.ts';

let folder: string;
let lists: ListServer;

beforeAll(async () => {
  lists = await startListServer();
});
afterAll(() => lists.close());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-faults-'));
  lists.reset();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Reason why a fetch failed, as stored in the source's `last_error`. */
async function reasonOf(url: string, ownPorts: readonly number[] = []): Promise<string> {
  const fetched = fetchList({
    url,
    validators: { etag: null, lastModified: null },
    path: join(folder, 'list.tmp'),
    listDirs: [join(folder, 'lists')],
    bounds: { ...NO_OWN_HOST, ownPorts: () => new Set(ownPorts) },
    signal: new AbortController().signal,
    limits: { ...SMALL_LIMITS, idleMs: 1000 },
    lookup: async (host) => {
      if (host === 'inside.example') return [{ address: '192.168.7.7', family: 4 }];
      throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' });
    },
  });
  return fetched.then(
    () => '',
    (error: unknown) => (error instanceof ListError ? error.message : String(error)),
  );
}

describe('readListFault() with errors of real fetches', () => {
  test.each<[string, ListFault, number, () => string | Promise<string>]>([
    ['a host that does not exist', 'unknown_host', 0, () => 'https://no.example/ads.txt'],
    ['a closed port', 'refused', 0, async () => `http://127.0.0.1:${await freePort(['127.0.0.1'])}/`],
    ['a silent server', 'timeout', 0, () => served('/slow', () => undefined)],
    ['a missing file', 'not_found', 404, () => lists.url('/missing.txt')],
    ['an error of the server', 'status', 500, () => served('/500', (_, to) => to.writeHead(500).end())],
    ['a web page', 'web_page', 0, () => served('/page', '<!doctype html><title>Lists</title>')],
    ['an empty list', 'empty', 0, () => served('/empty', '')],
    ['a list that is too large', 'too_large', 0, () => served('/large', 'a.example\n'.repeat(200_000))],
    ['a name with a private address', 'private_address', 0, () => 'http://inside.example/ads.txt'],
    ['a metadata service', 'private_address', 0, () => 'http://169.254.169.254/latest'],
    [
      'a loop of redirects',
      'redirects',
      0,
      () => served('/loop', (_, to) => void to.writeHead(302, { Location: '/loop' }).end()),
    ],
    ['a file outside the list folders', 'folder', 0, () => 'file:///etc/hosts'],
    ['a missing local file', 'no_file', 0, () => 'file:///no/such/list.txt'],
    ['another protocol', 'bad_url', 0, () => 'ftp://lists.example/ads.txt'],
  ])('reads %s as %s', async (_title, fault, status, url) => {
    expect(readListFault(await reasonOf(await url()))).toEqual({ fault, status });
  });

  test('recognizes an error about an address of Weir itself', async () => {
    const { port } = new URL(lists.url('/'));
    expect(readListFault(await reasonOf(lists.url('/'), [Number(port)]))?.fault).toBe('own_port');
  });
});

describe('readListFault()', () => {
  test.each<[string, ListFault | null]>([
    ['expected an http:, https: or file: URL', 'bad_url'],
    ['a source with the URL https://lists.example/ads.txt already exists', 'taken'],
    ['could not read the list: none of its 12 rules can be used; line 1: unknown modifier', 'no_rules'],
    ['could not read the list: it contains no rules', 'empty'],
    ['a group named "Kids" already exists', null],
    ['expected at most 200 characters', null],
  ])('reads "%s" as %s', (message, fault) => expect(readListFault(message)?.fault ?? null).toBe(fault));

  test('returns null for an unknown error; withoutAction() removes the URL from the error text', () => {
    const message = 'could not fetch https://lists.example/ads.txt: something odd';
    expect(readListFault(message)).toBeNull();
    expect(withoutAction(message)).toBe('something odd');
  });
});

function served(path: string, answer: Parameters<ListServer['serve']>[1]): string {
  lists.serve(path, answer);
  return lists.url(path);
}
