/**
 * Lists with regular expressions that are designed to be slow. Each new name of any client is matched against these
 * expressions. The node keeps answering, and no thread is considered hung.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ExplainAnswer } from '../../../shared/api/explain-api.ts';
import type { BlocklistSource } from '../../../shared/api/policy/sources-api.ts';
import type { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import type { ApiClient } from '../../support/weir/api-client.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { EVERY_ADDRESS, startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import { type ListServer, startListServer } from '../../support/weir/list-server.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const LISTS: Record<string, readonly string[]> = {
  '/counting': Array.from({ length: 60 }, (_, at) => {
    const letter = String.fromCharCode(97 + (at % 26));
    return `/^[a-z.-]{0,480}${letter.repeat(1 + Math.floor(at / 26))}[0-9]0$/`;
  }),
  '/optional': Array.from({ length: 10 }, (_, at) => `/(?:.?.?.?.?.?){999}_${String(at)}$/`),
  '/common': Array.from({ length: 500 }, (_, at) => `/com[a-z.]*(?:[0-9]?.?){${String(1 + (at % 90))}}_$/`),
  '/exponential': Array.from({ length: 500 }, (_, at) => {
    const [one, other] = [97 + (at % 26), 97 + Math.floor(at / 26)].map((code) => String.fromCharCode(code));
    return `/[${one!}-z][a-z0-9.-]{9}${other!}_/`;
  }),
};
/** Number of new names, and length of the long names. */
const ROUNDS = 60;
const LONGEST = 253;

let upstream: ScriptedUpstream;
let lists: ListServer;
let weir: Weir;
let udp: UdpClient;
let api: ApiClient;
beforeAll(async () => {
  upstream = await startEchoingUpstream();
  lists = await startListServer();
  weir = await Weir.start({ upstreams: [`127.0.0.1:${String(upstream.port)}`] });
  udp = await UdpClient.open(weir.dnsPort);
  api = await weir.api();
});
afterAll(async () => {
  udp.close();
  await lists.close();
  await upstream.close();
  expect(await weir.stop()).toMatchObject({ code: 0 });
});

/** Queries new names, short and long; returns how many of them got the upstream's answer. */
async function askNewNames(mark: string): Promise<number> {
  let answered = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const tail = `com.${mark}${String(round)}.example.com`;
    const filler = 'abcdefg-hij.klmno1pqrstu-v.wxyz'.repeat(8).slice(0, LONGEST - tail.length - 1);
    const name = round % 2 === 0 ? tail : `${filler.replace(/[.-]$/, 'x')}.${tail}`;
    const reply = await udp.ask(name, 'A');
    if (reply.data[0] === EVERY_ADDRESS) answered++;
  }
  return answered;
}

describe('weir with lists of hostile regular expressions', () => {
  test('answers new names while such lists are enabled and disabled, and no thread is replaced', async () => {
    const sources: BlocklistSource[] = [];
    for (const [path, lines] of Object.entries(LISTS)) {
      lists.serve(path, `||listed${path.slice(1)}.example^\n${lines.join('\n')}\n`);
      sources.push(await api.addSource({ name: path, url: lists.url(path) }));
    }
    expect((await udp.ask('listedcommon.example', 'A')).data).toEqual(['0.0.0.0']);
    expect(await askNewNames('a')).toBe(ROUNDS);
    // Proves that the expressions are matched, and were not discarded.
    expect((await udp.ask(`www.${'x-'.repeat(20)}x.x_7`, 'A')).data).toEqual(['0.0.0.0']);
    const why = await api.expect<ExplainAnswer>(
      200,
      'GET',
      '/explain?domain=www.y-x.x_7&type=a&client=127.0.0.1',
    );
    expect(why.decided_by).toMatchObject({ rule: '/(?:.?.?.?.?.?){999}_7$/', source: '/optional', line: 9 });
    for (const { id } of sources)
      await api.expect(200, 'PUT', `/blocklist-sources/${String(id)}`, { enabled: false });
    expect(await askNewNames('b')).toBe(ROUNDS);
    expect(weir.replacedThreads).toBe(0);
  });

  test('reports each line that exceeds the regex budget of its list, with the reason', async () => {
    const source = (await api.expect<BlocklistSource[]>(200, 'GET', '/blocklist-sources')).find(
      ({ name }) => name === '/exponential',
    )!;
    expect(source.invalid_lines).toBeGreaterThan(0);
    const samples = await api.expect<{ line: number; reason: string }[]>(
      200,
      'GET',
      `/blocklist-sources/${String(source.id)}/unused-lines`,
    );
    expect(samples[0]).toMatchObject({
      line: expect.any(Number),
      reason: expect.stringContaining('too many regular expressions'),
    });
  });
});
