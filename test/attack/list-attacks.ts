/** Attacks through lists: regular expressions that are slow for each name, and lines that are slow to parse. */
import { createSocket } from 'node:dgram';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { query } from '../support/dns/dns-message.ts';
import { repeat } from './attack.ts';
import type { Attack, Target } from './attack.ts';

/** Sixty expressions that keep hundreds of states active, and ten with thousands of optional characters. */
const EXPRESSIONS = [
  ...Array.from({ length: 60 }, (_, index) => `/^[a-z.-]{0,${String(480 - index)}}[a-z]${String(index)}0$/`),
  ...Array.from({ length: 10 }, (_, index) => `/(?:.?.?.?.?.?){${String(999 - index)}}_0$/`),
];
const LINE_OCTETS = 65_536;
const HOSTILE_LINES = [
  '('.repeat(LINE_OCTETS / 2) + ')'.repeat(LINE_OCTETS / 2),
  `/${'('.repeat(LINE_OCTETS / 2)}${')'.repeat(LINE_OCTETS / 2)}/`,
  `||${'a.'.repeat(LINE_OCTETS / 2)}^`,
  `||example.org^$${'denyallow=a|'.repeat(LINE_OCTETS / 12)}`,
  `0.0.0.0 ${' a.example.org'.repeat(LINE_OCTETS / 14)}`,
  `address=/${'a/'.repeat(LINE_OCTETS / 2)}`,
  ' '.repeat(LINE_OCTETS),
];
const NEW_NAME_EVERY_MS = 20;
/** 68 bytes, all of which the expressions inspect. */
const LONG_NAME = `${'abcdefghijklmnopqrstuvwxyz-'.repeat(2).slice(0, 50)}.cost.example.com`;

export const listAttacks: readonly Attack[] = [
  { fault: 1, name: 'a list of costly expressions, and new names for them', begin: beginExpressions },
  { fault: 2, name: 'a list of hostile lines, fetched again and again', begin: beginLines },
];

async function beginExpressions({ weir, listFolder }: Target): Promise<() => Promise<string>> {
  const api = await weir.api();
  const file = join(listFolder, 'expressions.txt');
  writeFileSync(file, `${EXPRESSIONS.join('\n')}\n`);
  const source = await api.addSource({ name: 'expressions', url: `file://${file}` });
  const socket = createSocket('udp4');
  socket.on('message', () => replies++);
  let asked = 0;
  let replies = 0;
  const end = repeat(NEW_NAME_EVERY_MS, () => {
    socket.send(
      query(`n${String(asked++)}${LONG_NAME}`, 'A', { id: asked & 0xffff }),
      weir.dnsPort,
      '127.0.0.1',
    );
  });
  return async () => {
    end();
    socket.close();
    return `${String(asked)} new names asked, ${String(replies)} answered; ${String(source.invalid_lines)} of ${String(EXPRESSIONS.length)} lines refused`;
  };
}

async function beginLines({ weir, listFolder }: Target): Promise<() => Promise<string>> {
  const api = await weir.api();
  const file = join(listFolder, 'lines.txt');
  const write = (round: number): void =>
    writeFileSync(file, `${[`round-${String(round)}.example.org`, ...HOSTILE_LINES].join('\n')}\n`);
  write(0);
  const work = new AbortController();
  let rounds = 0;
  let slowestMs = 0;
  const rounding = (async () => {
    const { id } = await api.addSource({ name: 'lines', url: `file://${file}` });
    while (!work.signal.aborted) {
      write(++rounds);
      const startedAt = performance.now();
      await api.call('POST', `/blocklist-sources/${String(id)}/refresh`);
      await api.settledSource(id);
      slowestMs = Math.max(slowestMs, performance.now() - startedAt);
    }
  })();
  return async () => {
    work.abort();
    await rounding;
    return `${String(rounds)} compiles, the slowest ${String(Math.round(slowestMs))} ms`;
  };
}
