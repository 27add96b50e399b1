import { createSocket } from 'node:dgram';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Clock } from '../../../shared/clock.ts';
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
import type { ExchangeOutcome } from './exchange.ts';
import { UdpUpstream } from './udp-upstream.ts';

/** Long enough that 256 questions in one case are out of the question. */
const NAME = 'a-name-with-many-letters.in-it.example.org';
const WWW = question(NAME, 'A');
const COOKIE_OPTION = 10;
const SERVER_COOKIE = Uint8Array.from({ length: 16 }, (_, i) => i + 1);

let upstream: ScriptedUpstream;
let udp: UdpUpstream;
let nowMs = 0;
const clock: Clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };

function ask(asked = WWW): Promise<ExchangeOutcome> {
  return within('the outcome', new Promise((resolve) => void udp.ask(asked, resolve)));
}

function lastOctet(outcome: ExchangeOutcome): number | undefined {
  return outcome.kind === 'answer' ? outcome.answer.body.at(-1) : undefined;
}

/** The cookie of a query; empty where there is none. It is the first option. */
function cookieOf({ bytes }: ReceivedQuery): Uint8Array {
  const at = 12 + questionOf(bytes).qname.length + 4 + 11;
  if (bytes.length < at + 4 || ((bytes[at]! << 8) | bytes[at + 1]!) !== COOKIE_OPTION)
    return new Uint8Array(0);
  return bytes.slice(at + 4, at + 4 + ((bytes[at + 2]! << 8) | bytes[at + 3]!));
}

interface Reply {
  readonly lastOctet?: number;
  /** Lower case, as a server that does not keep the name as it came. */
  readonly folded?: boolean;
  readonly cookie?: Uint8Array;
  readonly flags?: number;
  readonly extendedRcode?: number;
}

function reply(to: ReceivedQuery, how: Reply = {}): Uint8Array {
  const asked = how.folded === true ? { ...questionOf(to.bytes), qname: WWW.qname } : questionOf(to.bytes);
  const edns = how.cookie === undefined ? opt() : optWith(COOKIE_OPTION, how.cookie);
  return response(asked, {
    id: idOf(to.bytes),
    ...(how.flags === undefined ? {} : { flags: how.flags }),
    answers: [a(Uint8Array.of(0xc0, 12), `192.0.2.${String(how.lastOctet ?? 1)}`)],
    additionals: [{ ...edns, ttl: (how.extendedRcode ?? 0) * 0x1000000 }],
  });
}

const plain: Script = (query) => query.reply(reply(query));
/** A server with cookies, as RFC 7873 has them. */
const baking: Script = (query) =>
  query.reply(reply(query, { cookie: octets(cookieOf(query).subarray(0, 8), SERVER_COOKIE) }));

beforeEach(async () => {
  nowMs = 0;
  upstream = await ScriptedUpstream.start();
  udp = new UdpUpstream({ ip: upstream.ip, port: upstream.port, family: 4 }, clock);
});

afterEach(async () => {
  udp.close();
  await upstream.close();
});

describe('UdpUpstream: letter case (0x20)', () => {
  test('ask() asks with letters in another case each time', async () => {
    upstream.udpScript = plain;
    for (let i = 0; i < 20; i++) expect(lastOctet(await ask())).toBe(1);
    const names = upstream.udpQueries.map(({ bytes }) =>
      Buffer.from(questionOf(bytes).qname).toString('latin1'),
    );
    expect(new Set(names).size).toBe(20);
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(1);
  });

  test('ask() drops a reply in the wrong case, asks over TCP, and takes the right one that comes', async () => {
    upstream.tcpScript = (query) => {
      for (const held of upstream.udpQueries) held.reply(reply(held, { lastOctet: 2 }));
      query.connection?.destroy();
    };
    upstream.udpScript = (query) => query.reply(reply(query, { folded: true, lastOctet: 66 }));
    expect(lastOctet(await ask())).toBe(2);
    expect(upstream.tcpConnections).toBe(1);
  });

  test('ask() believes a server to ignore case once that is proven over TCP, for an hour', async () => {
    upstream.udpScript = (query) => query.reply(reply(query, { folded: true }));
    upstream.tcpScript = (query) => query.reply(reply(query, { folded: true, lastOctet: 9 }));
    expect(lastOctet(await ask())).toBe(9);
    expect(lastOctet(await ask())).toBe(1);
    expect(Buffer.from(upstream.udpQueries[1]!.bytes).toString('latin1')).toContain(
      'a-name-with-many-letters',
    );
    nowMs += 3_600_001;
    expect(lastOctet(await ask())).toBe(9);
  });

  test('ask() goes on with random case where a forged reply was wrong and the server is not', async () => {
    upstream.udpScript = (query) => query.reply(reply(query, { folded: true, lastOctet: 66 }));
    upstream.tcpScript = (query) => query.reply(reply(query, { lastOctet: 9 }));
    for (let i = 0; i < 10; i++) expect(lastOctet(await ask())).toBe(9);
  });

  test('ask() serves a server without TCP that ignores case, and believes it after eight questions', async () => {
    upstream.udpScript = (query) => query.reply(reply(query, { folded: true }));
    upstream.onConnection = (connection) => connection.resetAndDestroy();
    for (let i = 0; i < 8; i++) expect(lastOctet(await ask())).toBe(1);
    expect(upstream.udpQueries).toHaveLength(16);
    expect(lastOctet(await ask())).toBe(1);
    expect(upstream.udpQueries).toHaveLength(17);
  });
});

describe('UdpUpstream: cookies (RFC 7873)', () => {
  test('ask() sends its own cookie, and the server’s once it has one', async () => {
    upstream.udpScript = baking;
    await ask();
    await ask();
    const [first, second] = upstream.udpQueries.map(cookieOf);
    expect(first).toHaveLength(8);
    expect([...second!]).toEqual([...first!, ...SERVER_COOKIE]);
  });

  test('ask() renews its cookie after a day', async () => {
    upstream.udpScript = baking;
    await ask();
    nowMs += 86_400_001;
    await ask();
    const [first, second] = upstream.udpQueries.map(cookieOf);
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
    ['a cookie without the server’s part', (ours) => ours],
    ['a server cookie of 7 octets', (ours) => octets(ours, SERVER_COOKIE.subarray(0, 7))],
    ['a server cookie of 33 octets', (ours) => octets(ours, new Uint8Array(33))],
    ['an empty cookie (CVE-2026-33262)', () => new Uint8Array(0)],
  ])('ask() drops a reply with %s and waits on', async (_what, cookie) => {
    upstream.udpScript = (query) => {
      const ours = cookieOf(query).slice(0, 8);
      query.reply(reply(query, { lastOctet: 66, cookie: cookie(ours) }));
      query.reply(reply(query, { cookie: octets(ours, SERVER_COOKIE) }));
    };
    expect(lastOctet(await ask())).toBe(1);
    expect(upstream.tcpConnections).toBe(0);
  });

  test('ask() does not believe a reply without cookie from a server that has them', async () => {
    upstream.udpScript = baking;
    await ask();
    upstream.udpScript = (query) => {
      query.reply(reply(query, { lastOctet: 66 }));
    };
    upstream.tcpScript = (query) => {
      query.reply(
        reply(query, { lastOctet: 9, cookie: octets(cookieOf(query).subarray(0, 8), SERVER_COOKIE) }),
      );
    };
    for (let i = 0; i < 3; i++) expect(lastOctet(await ask())).toBe(9);
  });

  test('ask() forgets cookies where the server proves over TCP that it has none any more', async () => {
    upstream.udpScript = baking;
    await ask();
    upstream.udpScript = plain;
    upstream.tcpScript = (query) => query.reply(reply(query, { lastOctet: 9 }));
    expect(lastOctet(await ask())).toBe(9);
    expect(lastOctet(await ask())).toBe(1);
  });

  test('ask() asks again with the new cookie after BADCOOKIE, then over TCP', async () => {
    upstream.udpScript = (query) => {
      const cookie = octets(cookieOf(query).subarray(0, 8), SERVER_COOKIE);
      const bad = { cookie, flags: 0x8187, extendedRcode: 1 };
      query.reply(reply(query, cookieOf(query).length === 8 ? bad : { cookie }));
    };
    expect(lastOctet(await ask())).toBe(1);
    expect(upstream.udpQueries.map((query) => cookieOf(query).length)).toEqual([8, 24]);
    upstream.udpScript = (query) => {
      const cookie = octets(cookieOf(query).subarray(0, 8), SERVER_COOKIE);
      query.reply(reply(query, { cookie, flags: 0x8187, extendedRcode: 1 }));
    };
    upstream.tcpScript = (query) => query.reply(reply(query, { lastOctet: 9 }));
    expect(lastOctet(await ask())).toBe(9);
  });
});

/** Forged replies for one question: all of them in the ordinary suite are a tenth of the full race. */
const FORGED = Number(process.env['WEIR_FORGED_REPLIES'] ?? 5000);
const QUESTIONS = Number(process.env['WEIR_FORGED_QUESTIONS'] ?? 4);
const BURST = 64;

describe('UdpUpstream: servers without EDNS', () => {
  const hasEdns = ({ bytes }: ReceivedQuery): boolean => bytes[11] === 1;
  const refusing: Script = (query) => {
    const asked = questionOf(query.bytes);
    const answers = [a(Uint8Array.of(0xc0, 12), '192.0.2.1')];
    query.reply(
      response(asked, { id: idOf(query.bytes), ...(hasEdns(query) ? { flags: 0x8181 } : { answers }) }),
    );
  };
  const untilAsked = async (count: number): Promise<void> => {
    await until(
      `query ${String(count)} over TCP`,
      () => upstream.tcpQueries.length,
      (seen) => seen >= count,
    );
  };

  test('ask() takes the answer without EDNS, and remembers that once it is proven over TCP, for an hour', async () => {
    upstream.udpScript = refusing;
    upstream.tcpScript = refusing;
    expect(lastOctet(await ask())).toBe(1);
    const askAgain = async (): Promise<boolean> => {
      await ask();
      return hasEdns(upstream.udpQueries.at(-2)!);
    };
    await until('a question that begins without EDNS', askAgain, (edns) => !edns, { pauseMs: 1 });
    expect(upstream.tcpQueries.map(hasEdns)).toEqual([true, false]);
    nowMs += 3_600_001;
    const before = upstream.udpQueries.length;
    expect(lastOctet(await ask())).toBe(1);
    expect(upstream.udpQueries.slice(before).map(hasEdns)).toEqual([true, false]);
  });

  test('ask() learns nothing from forged refusals, and looks into them over TCP once a minute (CVE-2026-52690)', async () => {
    upstream.udpScript = refusing;
    upstream.tcpScript = plain;
    for (let i = 0; i < 5; i++) expect(lastOctet(await ask())).toBe(1);
    await untilAsked(1);
    for (let i = 0; i < 20; i++) expect(lastOctet(await ask())).toBe(1);
    expect(hasEdns(upstream.udpQueries.at(-2)!)).toBe(true);
    expect(upstream.tcpQueries).toHaveLength(1);
    nowMs += 60_001;
    await ask();
    await untilAsked(2);
  });

  test('ask() believes refusals where TCP fails after eight of them, none before', async () => {
    upstream.udpScript = refusing;
    upstream.onConnection = (connection) => connection.destroy();
    const connectionsAfter = async (): Promise<number> => {
      expect(lastOctet(await ask())).toBe(1);
      if (upstream.tcpConnections < 8) expect(hasEdns(upstream.udpQueries.at(-2)!)).toBe(true);
      return upstream.tcpConnections;
    };
    await until('eight connections', connectionsAfter, (count) => count >= 8, { pauseMs: 1 });
    const queriesOfNext = async (): Promise<number> => {
      const before = upstream.udpQueries.length;
      await ask();
      return upstream.udpQueries.length - before;
    };
    await until('a question that is asked once', queriesOfNext, (count) => count === 1, { pauseMs: 1 });
    expect(hasEdns(upstream.udpQueries.at(-1)!)).toBe(false);
  });

  test('ask() asks without EDNS after a refusal that does not repeat the question, and goes on waiting beside it', async () => {
    const bare = (query: ReceivedQuery): Uint8Array =>
      octets(query.bytes.subarray(0, 2), [0x81, 0x81], new Uint8Array(8));
    upstream.udpScript = (query) => {
      if (hasEdns(query)) query.reply(bare(query));
      else plain(query, 0);
    };
    expect(lastOctet(await ask())).toBe(1);
    upstream.udpScript = (query) => {
      if (hasEdns(query)) query.reply(bare(query));
      else for (const held of upstream.udpQueries.filter(hasEdns)) held.reply(reply(held, { lastOctet: 9 }));
    };
    expect(lastOctet(await ask())).toBe(9);
  });
});

describe('UdpUpstream: malformed replies', () => {
  const cut: Script = (query) => query.reply(reply(query).subarray(0, -13));

  test('ask() takes the good answer over TCP where a reply with its proof cannot be read', async () => {
    upstream.udpScript = cut;
    upstream.tcpScript = (query) => query.reply(reply(query, { lastOctet: 9 }));
    expect(lastOctet(await ask())).toBe(9);
  });

  test('ask() goes on waiting where TCP fails (TuDoor)', async () => {
    upstream.udpScript = (query) => cut(query, 0);
    upstream.tcpScript = (query) => {
      query.connection?.destroy();
      plain(upstream.udpQueries[0]!, 0);
    };
    expect(lastOctet(await ask())).toBe(1);
  });

  test('ask() ends where the server says the same over TCP', async () => {
    upstream.udpScript = cut;
    upstream.tcpScript = cut;
    expect(await ask()).toMatchObject({ kind: 'failed', reason: 'malformed' });
  });
});

describe('UdpUpstream: forgeries', () => {
  test(`ask() takes none of ${String(FORGED)} forged replies a question, and no question fails`, async () => {
    // The forger sees the port but not the id, the case or the cookie, and writes from the server's own address.
    upstream.udpScript = (query) => {
      let sent = 0;
      const burst = (): void => {
        for (const until = Math.min(sent + BURST, FORGED); sent < until; sent++) {
          const forged = response(
            { ...questionOf(query.bytes), qname: WWW.qname },
            { id: sent & 0xffff, answers: [a(Uint8Array.of(0xc0, 12), '192.0.2.66')] },
          );
          upstream.sendUdp(forged, query.port);
        }
        if (sent < FORGED) setImmediate(burst);
        else query.reply(reply(query));
      };
      burst();
    };
    // A forged reply with the right id has TCP asked; it is silent, so that the whole flood is to be stood.
    upstream.tcpScript = () => undefined;
    for (let i = 0; i < QUESTIONS; i++) {
      const asked = ask();
      // The true reply may be lost in the flood, as on any network: then the server is asked again.
      const resending = setInterval(
        () => upstream.udpQueries.at(-1)?.reply(reply(upstream.udpQueries.at(-1)!)),
        250,
      );
      expect(lastOctet(await asked)).toBe(1);
      clearInterval(resending);
    }
  }, 600_000);

  test('ask() ignores third parties even if they know port, id and case', async () => {
    const stranger = createSocket('udp4');
    upstream.udpScript = (query) =>
      stranger.send(reply(query, { lastOctet: 66 }), query.port, '127.0.0.1', () =>
        query.reply(reply(query)),
      );
    expect(lastOctet(await ask())).toBe(1);
    stranger.close();
  });
});
