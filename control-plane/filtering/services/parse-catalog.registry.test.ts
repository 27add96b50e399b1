/** A catalog that is updated from a web server with the format of AdGuard's registry. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { catalogParts, deleteFetches } from '../../../test/support/parts/shared-catalog.ts';
import { startTestDatabase, type TestDatabase } from '../../../test/support/parts/test-database.ts';
import { CatalogRefresh } from './catalog-refresh.ts';
import { parseCatalog, readShippedCatalog } from './parse-catalog.ts';
import { ServiceCatalog } from './service-catalog.ts';

const DAY_MS = 86_400_000;
const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" fill="currentColor" viewBox="0 0 24 24"><path d="M3 3v18h18V3H3z"/></svg>';
const CHAT = {
  id: 'chat_app',
  name: 'Chat App',
  group: 'messenger',
  icon_svg: SVG,
  rules: ['||chat.example^', '|edge.cdn.example^', '||chat-files.example ^', '||plain.example'],
};
const NETFLIX = { id: 'netflix', name: 'Netflix', group: 'streaming', rules: ['||netflix-new.example^'] };

let own: TestDatabase;
let dataDir: string;
let catalog: ServiceCatalog;
let refresh: CatalogRefresh;
let logger: MemoryLogger;
let server: Server;
let url: string;
let body: string;
let status: number;
let asked: (string | undefined)[];
let blocked: Set<string>;
let readBlocked: () => Promise<ReadonlySet<string>>;
let nowMs: number;

beforeAll(async () => {
  own = await startTestDatabase();
});
afterAll(() => own.stop());
beforeEach(async () => {
  await deleteFetches(own.database);
  dataDir = mkdtempSync(join(tmpdir(), 'weir-registry-'));
  catalog = new ServiceCatalog(dataDir);
  logger = new MemoryLogger();
  [status, asked, blocked, nowMs] = [200, [], new Set(), Date.UTC(2026, 5, 1)];
  readBlocked = () => Promise.resolve(blocked);
  server = createServer((request, response) => {
    asked.push(request.headers['if-none-match']);
    const isKnown = status === 200 && request.headers['if-none-match'] === '"1"';
    response.writeHead(isKnown ? 304 : status, { etag: '"1"' }).end(isKnown ? '' : body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/services.json`;
  refresh = new CatalogRefresh({
    catalog,
    ...catalogParts(own.database, logger),
    dataDir,
    url: () => url,
    refreshHours: () => 24,
    listDirs: () => [],
    bounds: { localDomain: () => '', ownPorts: () => new Set() },
    blocked: () => readBlocked(),
    apply: async () => undefined,
    clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
    logger,
  });
});
afterEach(async () => {
  await refresh.close();
  server.close();
  rmSync(dataDir, { recursive: true, force: true });
});

async function take(...services: unknown[]): Promise<void> {
  body = JSON.stringify({ blocked_services: services, groups: [{ id: 'messenger' }] });
  server.removeAllListeners('request');
  server.on('request', (_request, response) => response.writeHead(status).end(body));
  nowMs += DAY_MS;
  await refresh.check();
}

describe('CatalogRefresh with the registry of HostlistsRegistry', () => {
  test('adds the services of the registry to the shipped ones, with exact domains, and icons as data: URLs', async () => {
    const before = catalog.all().length;
    await take(CHAT);
    expect(catalog.get('chat_app')).toEqual({
      id: 'chat_app',
      name: 'Chat App',
      category: 'social_media',
      category_name: 'Social Media',
      tags: ['messaging'],
      icon: `data:image/svg+xml;base64,${Buffer.from(SVG).toString('base64')}`,
      domains: ['chat.example', 'chat-files.example', 'plain.example'],
      exact_domains: ['edge.cdn.example'],
      is_custom: false,
      updated_at: new Date(nowMs).toISOString(),
      withdrawn_at: null,
    });
    expect(catalog.all()).toHaveLength(before + 1);
    const again = new ServiceCatalog(dataDir);
    await again.load(logger, url);
    expect(again.all()).toEqual(catalog.all());
    expect(logger.text()).not.toContain('warn');
  });

  test('adds domains to a shipped service, and removes none', async () => {
    const before = catalog.get('netflix')!.domains;
    await take(NETFLIX, { ...CHAT, id: 'x', name: 'Paramount+', rules: ['||p.example^'] });
    expect(catalog.get('netflix')!.domains).toEqual([...before, 'netflix-new.example']);
    expect(catalog.get('x')).toBeUndefined();
    expect(catalog.get('paramountplus')!.domains).toContain('p.example');
  });

  test('leaves out rules that are not domains, and services without rules or without a category', async () => {
    const rules = [
      '||com^',
      '||a.example^$dnstype=A',
      '||a-*.example^',
      '/x/',
      '@@||b.example^',
      '||192.0.2.1^',
    ];
    await take(CHAT, { ...CHAT, id: 'none', rules }, { ...CHAT, id: 'ai', name: 'AI', group: 'ai' }, 7, {
      id: 'Bad Id',
    });
    expect(['none', 'ai', 'Bad Id'].map((id) => catalog.get(id))).toEqual([undefined, undefined, undefined]);
    await take({ ...CHAT, rules: [...CHAT.rules, ...rules] });
    expect(catalog.get('chat_app')!.domains).toEqual(['chat.example', 'chat-files.example', 'plain.example']);
  });

  test('keeps a withdrawn service with its domains while a group blocks it, even across a restart', async () => {
    await take(CHAT, { ...CHAT, id: 'idle', name: 'Idle' });
    blocked.add('chat_app');
    await take(NETFLIX);
    const since = new Date(nowMs).toISOString();
    await take(NETFLIX);
    expect(catalog.find('chat_app')?.domains).toContain('chat.example');
    expect(catalog.get('chat_app')?.withdrawn_at).toBe(since);
    for (const next of [url, '']) {
      const again = new ServiceCatalog(dataDir);
      await again.load(logger, next);
      expect(again.find('chat_app')).toEqual(catalog.find('chat_app'));
      expect(again.find('netflix')!.domains.includes('netflix-new.example')).toBe(next !== '');
    }
    await take(CHAT);
    expect(catalog.get('chat_app')?.withdrawn_at).toBeNull();
  });

  test('keeps at most 200 withdrawn services that no group blocks', async () => {
    const many = Array.from({ length: 300 }, (_, n) => ({
      ...CHAT,
      id: `n${String(n)}`,
      name: `N${String(n)}`,
    }));
    await take(...many);
    blocked.add('n299');
    await take(NETFLIX);
    expect(catalog.all().filter(({ withdrawn_at: at }) => at !== null)).toHaveLength(201);
    expect(catalog.get('n299')).toBeDefined();
  });

  test('sends the ETag of the last catalog, but not to the server of another URL', async () => {
    body = JSON.stringify({ blocked_services: [CHAT] });
    await refresh.check();
    nowMs += DAY_MS;
    await refresh.check();
    url = url.replace('services.json', 'other.json');
    nowMs += DAY_MS;
    await refresh.check();
    expect(asked).toEqual([undefined, '"1"', undefined]);
  });

  test.each<[string, () => Promise<void>]>([
    ['responds with 500', () => ((status = 500), take(CHAT))],
    ['cannot be reached', () => (server.close(), take(CHAT))],
    ['sends an empty catalog', () => take()],
    ['sends JSON of another schema', () => take(1, 'x', null, { id: 'a' })],
    ['sends more than 8 MiB', () => take({ ...CHAT, note: 'x'.repeat(9_000_000) })],
    [
      'lists 20,001 services',
      () => take(...Array<unknown>(20_001).fill({ ...CHAT, rules: ['||a.example^'] })),
    ],
  ])('keeps the last valid catalog if the server %s, and logs a warning once', async (_what, fail) => {
    await take(CHAT, NETFLIX);
    const before = catalog.all();
    await fail();
    expect(catalog.all()).toEqual(before);
    nowMs += DAY_MS;
    await refresh.check();
    const failures = logger.lines.filter(({ message }) =>
      message.endsWith('not updated; the previous one stays active'),
    );
    expect(failures.map(({ level }) => level)).toEqual(['warn', 'debug']);
  });

  test('keeps the last valid catalog if the blocked services cannot be read from the database', async () => {
    await take(CHAT);
    readBlocked = () => Promise.reject(new Error('no database'));
    await take(NETFLIX);
    expect(catalog.get('chat_app')?.withdrawn_at).toBeNull();
    expect(logger.text()).toContain('no database');
  });

  test.each([
    '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><path d="M0 0"/></svg>',
    '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
    '<svg xmlns="http://www.w3.org/2000/svg"><foreignObject><b>x</b></foreignObject></svg>',
    '<svg xmlns="http://www.w3.org/2000/svg"><a href="javascript:alert(1)"><path d="M0 0"/></a></svg>',
    '<svg xmlns="http://www.w3.org/2000/svg"><use href="https://x.example/a.svg#a"/></svg>',
    '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0" fill="url(https://x.example/)"/></svg>',
    '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0" style="fill:red"/></svg>',
    '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/></svg><script>alert(1)</script>',
    '<!DOCTYPE svg [<!ENTITY a "b">]><svg xmlns="http://www.w3.org/2000/svg"><title>&a;</title></svg>',
    '<svg xmlns="http://www.w3.org/1999/xhtml"><path d="M0 0"/></svg>',
    '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"></svg>',
    '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/>',
    `<svg xmlns="http://www.w3.org/2000/svg"><path d="${'M0 0'.repeat(5000)}"/></svg>`,
    'https://x.example/icon.png',
    5,
  ])('accepts a service, but not its icon, if the icon is not a plain drawing (%#)', async (icon) => {
    await take({ ...CHAT, icon_svg: icon });
    expect(catalog.get('chat_app')).toMatchObject({
      icon: null,
      domains: expect.arrayContaining(['chat.example']),
    });
  });
});

describe('the shipped service catalog', () => {
  test('complies with the rules for fetched catalogs', () => {
    const text = readFileSync(new URL('./catalog-data.json', import.meta.url), 'utf8');
    expect(readShippedCatalog(text)).toEqual(parseCatalog(text).services);
  });

  test.each([
    ['games', ['minecraft', 'roblox', 'steam']],
    ['messaging', ['discord', 'signal', 'whatsapp']],
    ['ai', ['chatgpt', 'claude', 'gemini']],
    ['popular', ['chatgpt', 'roblox', 'youtube']],
  ] as const)('tags well-known services: %s', (tag, ids) => {
    for (const id of ids) expect(catalog.get(id)?.tags).toContain(tag);
  });

  test('has icons with a free licence, and a domain for every service', () => {
    const services = catalog.all();
    expect(
      services.filter(({ icon }) => icon?.startsWith('data:image/svg+xml;base64,')).length,
    ).toBeGreaterThan(90);
    expect(services.every(({ domains, exact_domains: exact }) => domains.length + exact.length > 0)).toBe(
      true,
    );
  });
});
