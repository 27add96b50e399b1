/** Upstreams that the configuration defines by a host name. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { UpstreamSettings } from '../../shared/policy/upstream-settings.ts';
import { a, idOf, question, questionOf, response } from '../../test/support/dns/built-messages.ts';
import {
  SERVFAIL,
  answers,
  closeAll,
  fails,
  pool,
  resolve,
  resolver,
  settingsOf,
  summary,
  upstream,
} from '../../test/support/dns/asked-resolver.ts';

afterEach(closeAll);

describe('Resolver: upstreams with host names', () => {
  test('resolve() finds the address of a host through the bootstrap servers, skipping those that fail', async () => {
    const bootstrap = await upstream((query) => {
      const record = a(Uint8Array.of(0xc0, 12), '127.0.0.1');
      query.reply(response(questionOf(query.bytes), { id: idOf(query.bytes), answers: [record] }));
    });
    const broken = await upstream(fails(SERVFAIL));
    const server = await upstream(answers(5));
    const named = { ...settingsOf(server), host: 'dns.example' };
    const addresses = [broken, bootstrap].map(({ ip, port }) => `${ip}:${String(port)}`);
    const by = resolver([pool('Failover', [named])], { bootstrap: addresses });
    const both = await Promise.all([resolve(by), resolve(by, question('b.example.org', 'A'))]);
    expect(both.map(summary)).toEqual(['0: 5', '0: 5']);
    expect([broken.udpQueries.length, bootstrap.udpQueries.length]).toEqual([2, 2]);
  });

  test('resolve() fails, and reports the host name, when no bootstrap server knows it', async () => {
    const bootstrap = await upstream(fails(0x8183));
    const named: UpstreamSettings = {
      address: 'udp://dns.example',
      transport: 'udp',
      host: 'dns.example',
      port: 53,
    };
    const by = resolver([pool('Failover', [named])], {
      bootstrap: [`${bootstrap.ip}:${String(bootstrap.port)}`],
    });
    expect(summary(await resolve(by))).toBe('network 2');
    expect(by.report()[0]?.lastError).toBe('no address for dns.example');
    expect(new Set(bootstrap.udpQueries.map(({ bytes }) => questionOf(bytes).qtype))).toEqual(
      new Set([1, 28]),
    );
  });

  test('resolve() tries every address of a host, starting with the address that answered last', async () => {
    const server = await upstream(answers(5));
    const bootstrap = await upstream((query) => {
      const addresses = questionOf(query.bytes).qtype === 1 ? ['127.0.0.2', '127.0.0.3', '127.0.0.1'] : [];
      const records = addresses.map((ip) => a(Uint8Array.of(0xc0, 12), ip));
      query.reply(response(questionOf(query.bytes), { id: idOf(query.bytes), answers: records }));
    });
    const named = { ...settingsOf(server), host: 'dns.example' };
    const by = resolver([pool('Failover', [named])], {
      bootstrap: [`${bootstrap.ip}:${String(bootstrap.port)}`],
    });
    expect(summary(await resolve(by))).toBe('0: 5');
    expect(summary(await resolve(by))).toBe('0: 5');
    expect(by.report()).toMatchObject([
      { failures: 0, resolved: ['127.0.0.2', '127.0.0.3', '127.0.0.1'], transport: 'udp' },
    ]);
  });

  test('resolve() queries the next address in parallel with a silent address', async () => {
    const server = await upstream(answers(5));
    const silentTwin = createSocket('udp4');
    silentTwin.bind(server.port, '127.0.0.2');
    await once(silentTwin, 'listening');
    const bootstrap = await upstream((query) => {
      const addresses = questionOf(query.bytes).qtype === 1 ? ['127.0.0.2', '127.0.0.1'] : [];
      const records = addresses.map((ip) => a(Uint8Array.of(0xc0, 12), ip));
      query.reply(response(questionOf(query.bytes), { id: idOf(query.bytes), answers: records }));
    });
    const named = { ...settingsOf(server), host: 'dns.example' };
    const by = resolver([pool('Failover', [named])], {
      bootstrap: [`${bootstrap.ip}:${String(bootstrap.port)}`],
      queryTimeoutMs: 3000,
    });
    expect(summary(await resolve(by))).toBe('0: 5');
    silentTwin.close();
  });

  test('resolve() uses a configured address of a host without a lookup', async () => {
    const bootstrap = await upstream();
    const server = await upstream(answers(6));
    const pinned = { ...settingsOf(server), host: 'dns.example', pinnedIp: '127.0.0.1' };
    const by = resolver([pool('Failover', [pinned])], {
      bootstrap: [`${bootstrap.ip}:${String(bootstrap.port)}`],
    });
    expect(summary(await resolve(by))).toBe('0: 6');
    expect(bootstrap.udpQueries).toHaveLength(0);
  });
});
