import { createSocket } from 'node:dgram';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Clock } from '../../../shared/clock.ts';
import { FOLD } from '../../../shared/dns/name.ts';
import type { HardeningSettings } from '../../../shared/policy/hardening-settings.ts';
import {
  a,
  idOf,
  octets,
  opt,
  optWith,
  question,
  questionOf,
  response,
} from '../../../test/support/dns/built-messages.ts';
import { ScriptedUpstream } from '../../../test/support/dns/scripted-upstream.ts';
import type { ReceivedQuery, Script } from '../../../test/support/dns/scripted-upstream.ts';
import { until, within } from '../../../test/support/parts/until.ts';
import { ownRecord } from '../capability/capabilities.ts';
import type { CapabilityRecord } from '../capability/capability-record.ts';
import { Hardening } from '../capability/hardening.ts';
import { PUBLIC_NAME } from '../probe.ts';
import type { ExchangeOutcome } from '../transport/exchange.ts';
import { UdpUpstream } from './udp-upstream.ts';

/** A name with many letters: two of 256 queries practically never have it in the same letter case. */
const NAME = 'a-name-with-many-letters.in-it.example.org';
const WWW = question(NAME, 'A');
const COOKIE_OPTION = 10;
const LONG_SECS = 1_000_000;
const SERVER_COOKIE = Uint8Array.from({ length: 16 }, (_, i) => i + 1);

let upstream: ScriptedUpstream;
let udp: UdpUpstream;
let record: CapabilityRecord;
let nowMs = 0;
const clock: Clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };

function ask(question = WWW): Promise<ExchangeOutcome> {
  return within('the outcome', new Promise((resolve) => void udp.ask(question, resolve)));
}

function lastOctet(outcome: ExchangeOutcome): number | undefined {
  return outcome.kind === 'answer' ? outcome.answer.body.at(-1) : undefined;
}

function open(hardening: HardeningSettings): UdpUpstream {
  const server = { ip: upstream.ip, port: upstream.port, family: 4 } as const;
  return new UdpUpstream(server, {
    hardening: new Hardening(record, hardening, true),
    probe: PUBLIC_NAME,
    clock,
  });
}

/** The queries for the usual name, without probes. */
function asked(): ReceivedQuery[] {
  return upstream.udpQueries.filter(({ bytes }) =>
    Buffer.from(questionOf(bytes).qname).toString('latin1').toLowerCase().includes('a-name'),
  );
}

/** The cookie of a query, its first option; empty if there is none. */
function cookieOf({ bytes }: ReceivedQuery): Uint8Array {
  const at = 12 + questionOf(bytes).qname.length + 4 + 11;
  if (bytes.length < at + 4 || ((bytes[at]! << 8) | bytes[at + 1]!) !== COOKIE_OPTION)
    return new Uint8Array(0);
  return bytes.slice(at + 4, at + 4 + ((bytes[at + 2]! << 8) | bytes[at + 3]!));
}

interface Reply {
  readonly lastOctet?: number;
  /** Whether the reply has the name in lower case, like that of a server that does not keep the case. */
  readonly folded?: boolean;
  readonly cookie?: Uint8Array;
  readonly flags?: number;
  readonly extendedRcode?: number;
}

function reply(to: ReceivedQuery, how: Reply = {}): Uint8Array {
  const question = questionOf(to.bytes);
  const asked =
    how.folded === true ? { ...question, qname: question.qname.map((octet) => FOLD[octet]!) } : question;
  const edns = how.cookie === undefined ? opt() : optWith(COOKIE_OPTION, how.cookie);
  return response(asked, {
    id: idOf(to.bytes),
    ...(how.flags === undefined ? {} : { flags: how.flags }),
    answers: [a(Uint8Array.of(0xc0, 12), `192.0.2.${String(how.lastOctet ?? 1)}`)],
    additionals: [{ ...edns, ttl: (how.extendedRcode ?? 0) * 0x1000000 }],
  });
}

const plain: Script = (query) => query.reply(reply(query));
/** A server with cookies according to RFC 7873. */
const baking: Script = (query) =>
  query.reply(reply(query, { cookie: octets(cookieOf(query).subarray(0, 8), SERVER_COOKIE) }));

beforeEach(async () => {
  nowMs = 0;
  upstream = await ScriptedUpstream.start();
  record = ownRecord(clock);
  // Schedule no probes: only failing questions start probes.
  record.scheduleProbes(LONG_SECS);
  udp = open({ cookies: 'on', caseRandomization: 'on' });
});

afterEach(async () => {
  udp.close();
  await upstream.close();
});

describe('UdpUpstream: letter case (0x20)', () => {
  test('ask() sends each query name in a new random letter case', async () => {
    upstream.udpScript = plain;
    for (let i = 0; i < 20; i++) expect(lastOctet(await ask())).toBe(1);
    const names = asked().map(({ bytes }) => Buffer.from(questionOf(bytes).qname).toString('latin1'));
    expect(new Set(names).size).toBe(20);
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(1);
  });

  test('ask() ignores a reply in the wrong case, queries over TCP, and uses the right answer', async () => {
    upstream.tcpScript = (query) => {
      for (const held of asked()) held.reply(reply(held, { lastOctet: 2 }));
      query.connection?.destroy();
    };
    upstream.udpScript = (query) => query.reply(reply(query, { folded: true, lastOctet: 66 }));
    expect(lastOctet(await ask())).toBe(2);
    expect(upstream.tcpConnections).toBe(1);
  });

  test('ask() keeps using random case after answers over TCP and after forged replies', async () => {
    upstream.udpScript = (query) => query.reply(reply(query, { folded: true, lastOctet: 66 }));
    upstream.tcpScript = (query) => query.reply(reply(query, { folded: true, lastOctet: 9 }));
    for (let i = 0; i < 10; i++) expect(lastOctet(await ask())).toBe(9);
    const names = asked().map(({ bytes }) => Buffer.from(questionOf(bytes).qname).toString('latin1'));
    expect(names.every((name) => name !== name.toLowerCase())).toBe(true);
  });

  test('ask() does not query a server over TCP again that was silent over TCP', async () => {
    upstream.udpScript = (query) => query.reply(reply(query, { folded: true, lastOctet: 66 }));
    const first = udp.ask(WWW, () => undefined);
    await until(
      'the time-out to be recorded',
      () => record.finding('tcp'),
      (finding) => finding === 'silent',
    );
    upstream.udpScript = plain;
    expect(lastOctet(await ask())).toBe(1);
    expect(upstream.tcpConnections).toBe(1);
    first.cancel();
  });

  test('ask() does not count a name that is answered slowly over TCP as silence of the server', async () => {
    upstream.udpScript = () => undefined;
    const slow = udp.ask(WWW, () => undefined);
    slow.resend();
    slow.resend();
    await until(
      'the question from another port, after the time-out over TCP',
      () => new Set(asked().map(({ port }) => port)).size,
      (ports) => ports === 2,
    );
    expect(upstream.tcpQueries).toHaveLength(1);
    expect(record.finding('tcp')).toBe('unknown');
    slow.cancel();
  });

  test('ask() stops randomizing the letter case after two pairs of probes are answered only without it', async () => {
    upstream.udpScript = (query) => query.reply(reply(query, { folded: true }));
    upstream.onConnection = (connection) => connection.resetAndDestroy();
    const first = ask();
    await until('a pair', () => record.isStruck('case'));
    expect(record.finding('case')).toBe('unknown');
    nowMs += 1001;
    expect(lastOctet(await first)).toBe(1);
    expect(record.finding('case')).toBe('altered');
    expect(lastOctet(await ask())).toBe(1);
    // The first question is sent in mixed case from five ports, because only some of the servers might change the case,
    // then in lower case; the second question is sent in lower case.
    expect(asked()).toHaveLength(7);
  });

  test('ask() queries over TCP in parallel after one pair of probes was answered only without the feature', async () => {
    record.note('tcp', 'supported');
    record.strike('case', 'silent');
    upstream.udpScript = () => undefined;
    upstream.tcpScript = (query) => query.reply(reply(query, { lastOctet: 2 }));
    expect(lastOctet(await ask())).toBe(2);
    expect(asked()).toHaveLength(1);
  });

  test('ask() does not randomize the case even after an hour, until probes qualify the server again', async () => {
    record.note('case', 'altered');
    nowMs += 3_600_001;
    upstream.udpScript = plain;
    await ask();
    expect(Buffer.from(asked()[0]!.bytes).toString('latin1')).toContain('a-name-with-many-letters');
  });
});

describe('UdpUpstream: cookies (RFC 7873)', () => {
  test("ask() sends its client cookie, and the server's cookie once it is known", async () => {
    upstream.udpScript = baking;
    await ask();
    await ask();
    const [first, second] = asked().map(cookieOf);
    expect(first).toHaveLength(8);
    expect([...second!]).toEqual([...first!, ...SERVER_COOKIE]);
  });

  test('ask() uses a new client cookie after a day', async () => {
    upstream.udpScript = baking;
    await ask();
    nowMs += 86_400_001;
    await ask();
    const [first, second] = asked().map(cookieOf);
    expect(second).toHaveLength(8);
    expect([...second!]).not.toEqual([...first!]);
  });

  test.each<[string, (ours: Uint8Array) => Uint8Array]>([
    [
      'another client’s cookie',
      (ours) =>
        octets(
          ours.map((octet) => octet ^ 1),
          SERVER_COOKIE,
        ),
    ],
    ['a server cookie of 7 bytes', (ours) => octets(ours, SERVER_COOKIE.subarray(0, 7))],
    ['a server cookie of 33 bytes', (ours) => octets(ours, new Uint8Array(33))],
    ['an empty cookie (CVE-2026-33262)', () => new Uint8Array(0)],
  ])('ask() ignores a reply with %s and continues to wait', async (_what, cookie) => {
    upstream.udpScript = (query) => {
      const ours = cookieOf(query).slice(0, 8);
      query.reply(reply(query, { lastOctet: 66, cookie: cookie(ours) }));
      query.reply(reply(query, { cookie: octets(ours, SERVER_COOKIE) }));
    };
    expect(lastOctet(await ask())).toBe(1);
  });

  test('ask() ignores a cookie in the reply to a query without a cookie', async () => {
    udp.close();
    udp = open({ cookies: 'off', caseRandomization: 'off' });
    upstream.udpScript = (query) => query.reply(reply(query, { cookie: SERVER_COOKIE }));
    expect(lastOctet(await ask())).toBe(1);
    expect(cookieOf(asked()[0]!)).toHaveLength(0);
    expect(upstream.tcpConnections).toBe(0);
  });

  test('ask() rejects a reply without a cookie from a server that supports cookies, even after TCP', async () => {
    upstream.udpScript = baking;
    await ask();
    upstream.udpScript = (query) => query.reply(reply(query, { lastOctet: 66 }));
    upstream.tcpScript = (query) => query.reply(reply(query, { lastOctet: 9 }));
    for (let i = 0; i < 3; i++) expect(lastOctet(await ask())).toBe(9);
    expect(asked().map((query) => cookieOf(query).length)).toEqual([8, 24, 24, 24]);
  });

  test('ask() queries again with the new cookie after BADCOOKIE, then over TCP', async () => {
    upstream.udpScript = (query) => {
      const cookie = octets(cookieOf(query).subarray(0, 8), SERVER_COOKIE);
      const bad = { cookie, flags: 0x8187, extendedRcode: 1 };
      query.reply(reply(query, cookieOf(query).length === 8 ? bad : { cookie }));
    };
    expect(lastOctet(await ask())).toBe(1);
    expect(asked().map((query) => cookieOf(query).length)).toEqual([8, 24]);
    upstream.udpScript = (query) => {
      const cookie = octets(cookieOf(query).subarray(0, 8), SERVER_COOKIE);
      query.reply(reply(query, { cookie, flags: 0x8187, extendedRcode: 1 }));
    };
    upstream.tcpScript = (query) => query.reply(reply(query, { lastOctet: 9 }));
    expect(lastOctet(await ask())).toBe(9);
  });
});

describe('UdpUpstream: guessed message IDs', () => {
  const wrongId = (query: ReceivedQuery): Uint8Array => {
    const forged = reply(query, { lastOctet: 66 });
    forged[0]! ^= 1;
    return forged;
  };

  test('ask() queries over TCP if a reply has an ID that was never used on the port', async () => {
    upstream.udpScript = (query) => query.reply(wrongId(query));
    upstream.tcpScript = (query) => query.reply(reply(query, { lastOctet: 9 }));
    expect(lastOctet(await ask())).toBe(9);
    expect(asked()).toHaveLength(1);
  });

  test('ask() moves eight concurrent queries to TCP, and the remaining queries to new ports', async () => {
    upstream.udpScript = (query) => {
      const isMoved = asked().length > 20;
      query.reply(isMoved ? reply(query) : wrongId(query));
    };
    const answered = Array.from({ length: 20 }, () => ask());
    await until(
      'twelve moved questions',
      () => asked().length,
      (count) => count === 32,
    );
    await until(
      'eight questions over TCP',
      () => upstream.tcpQueries.length,
      (count) => count === 8,
    );
    for (const query of upstream.tcpQueries) query.reply(reply(query, { lastOctet: 9 }));
    const octetsOf = (await Promise.all(answered)).map(lastOctet);
    expect(octetsOf.filter((octet) => octet === 9)).toHaveLength(8);
    expect(octetsOf.filter((octet) => octet === 1)).toHaveLength(12);
    expect(new Set(asked().map(({ port }) => port)).size).toBe(32);
  });

  test('ask() moves to a new port if the server refuses TCP', async () => {
    upstream.onConnection = (connection) => connection.resetAndDestroy();
    upstream.udpScript = (query, index) => query.reply(index < 3 ? wrongId(query) : reply(query));
    expect(lastOctet(await ask())).toBe(1);
    expect(asked()).toHaveLength(4);
  });

  test('ask() waits only once for a server that is silent over TCP', async () => {
    upstream.udpScript = (query, index) => query.reply(index < 3 ? wrongId(query) : reply(query));
    expect(lastOctet(await ask())).toBe(1);
    expect([asked().length, upstream.tcpQueries.length]).toEqual([4, 1]);
  });
});

/** Number of forged replies for one question; the ordinary suite sends a tenth of the full number. */
const FORGED = Number(process.env['WEIR_FORGED_REPLIES'] ?? 5000);
const QUESTIONS = Number(process.env['WEIR_FORGED_QUESTIONS'] ?? 4);
const BURST = 64;

describe('UdpUpstream: malformed replies', () => {
  const cut: Script = (query) => query.reply(reply(query).subarray(0, -13));

  test('ask() uses the good answer over TCP if a reply with the right ID and cookie is malformed', async () => {
    upstream.udpScript = cut;
    upstream.tcpScript = (query) => query.reply(reply(query, { lastOctet: 9 }));
    expect(lastOctet(await ask())).toBe(9);
  });

  test('ask() keeps waiting for UDP if TCP fails (TuDoor)', async () => {
    upstream.udpScript = (query) => cut(query, 0);
    upstream.tcpScript = (query) => {
      query.connection?.destroy();
      plain(upstream.udpQueries[0]!, 0);
    };
    expect(lastOctet(await ask())).toBe(1);
  });

  test('ask() fails if the server sends the same malformed reply over TCP', async () => {
    upstream.udpScript = cut;
    upstream.tcpScript = cut;
    expect(await ask()).toMatchObject({ kind: 'failed', reason: 'malformed' });
  });
});

describe('UdpUpstream: forged replies', () => {
  test(`ask() accepts none of ${String(FORGED)} forged replies per query, and no query fails`, async () => {
    // The forger sees the port but not the id, the case or the cookie, and sends from the server's own address.
    upstream.udpScript = (query) => {
      let sent = 0;
      const burst = (): void => {
        if (upstream.isClosed) return;
        for (const until = Math.min(sent + BURST, FORGED); sent < until; sent++) {
          const forged = response(
            { ...questionOf(query.bytes), qname: WWW.qname },
            { id: sent & 0xffff, answers: [a(Uint8Array.of(0xc0, 12), '192.0.2.66')] },
          );
          upstream.sendUdp(forged, query.port);
        }
        if (sent < FORGED) setImmediate(burst);
      };
      burst();
    };
    // The first forged reply closes the port, and the question goes to TCP.
    upstream.tcpScript = (query) => query.reply(reply(query));
    for (let i = 0; i < QUESTIONS; i++) expect(lastOctet(await ask())).toBe(1);
  }, 600_000);

  test('ask() ignores replies from third parties even if they know port, ID and letter case', async () => {
    const stranger = createSocket('udp4');
    upstream.udpScript = (query) =>
      stranger.send(reply(query, { lastOctet: 66 }), query.port, '127.0.0.1', () =>
        query.reply(reply(query)),
      );
    expect(lastOctet(await ask())).toBe(1);
    stranger.close();
  });
});
