/** The sample Internet of the demo: names that its devices query, their answers, and the lists that contain them. */
import { Rcode, RRType } from '../../shared/dns/iana.ts';
import { a, soa } from '../support/dns/built-messages.ts';
import type { TestRecord } from '../support/dns/built-messages.ts';

/** Names that devices query, by activity. */
export const SITES = {
  reading: [
    'www.search.example',
    'www.morning-news.example',
    'img.morning-news.example',
    'www.encyclopedia.example',
    'maps.atlas.example',
    'www.weather.example',
    'www.bazaar.example',
    'img.bazaar.example',
    'www.recipes.example',
    'www.town-hall.example',
    'xn--bcher-kva.example',
  ],
  money: ['www.bank.example', 'login.bank.example', 'mail.post-office.example'],
  messages: ['chat.messenger.example', 'media.messenger.example', 'push.phone-maker.example'],
  chatter: ['www.chatter.example', 'cdn.chatter.example', 'api.chatter.example'],
  video: ['www.streamer.example', 'cdn1.streamer.example', 'cdn2.streamer.example', 'api.streamer.example'],
  work: [
    'mail.office.example',
    'calendar.office.example',
    'files.office.example',
    'meet.office.example',
    'git.workshop.example',
    'docs.workshop.example',
  ],
  school: ['www.school.example', 'homework.school.example', 'www.encyclopedia.example'],
  games: ['play.blockworld.example', 'cdn.blockworld.example', 'match.console-maker.example'],
  prizes: ['www.lootbox.example', 'spin.lootbox.example'],
  home: ['nas.home.arpa', 'printer.home.arpa', '10.2.0.192.in-addr.arpa'],
  upkeep: ['time.example.org', 'updates.phone-maker.example', 'updates.laptop-maker.example'],
  television: ['epg.tv-maker.example', 'apps.tv-maker.example', 'telemetry.tv-maker.example'],
  thermostat: ['cloud.thermostat.example', 'api.weather.example', 'stats.thermostat.example'],
  printer: ['ink.printer-maker.example', 'firmware.printer-maker.example'],
  trackers: [
    'ads.adserver.example',
    'pixel.adserver.example',
    'beacon.metrics.example',
    'analytics.app-kit.example',
    'sync.cookie-match.example',
    'stats.game-maker.example',
    'crash.app-kit.example',
  ],
  traps: ['login-bank.phish.example', 'prize.winner.example'],
  broken: ['status.flaky.example', 'www.expired-keys.example', 'wpad.search.example'],
} as const;
export type Topic = keyof typeof SITES;

/** Names of the lists, in the order in which they are added. */
export const LISTS = ['Ads and trackers', 'Phishing and malware', 'Chatty devices'] as const;
export type ListName = (typeof LISTS)[number];

/** The names above that each list blocks, with their subdomains. */
export const LISTED: Readonly<Record<ListName, readonly string[]>> = {
  'Ads and trackers': ['adserver.example', 'metrics.example', 'app-kit.example', 'cookie-match.example'],
  'Phishing and malware': ['phish.example', 'winner.example'],
  'Chatty devices': ['stats.game-maker.example', 'stats.thermostat.example', 'metrics.example'],
};

/** Words for filler entries, which make a list about as long as a real one. */
const FILLER_WORDS = ['banner', 'click', 'count', 'pixel', 'promo', 'tag', 'track', 'view'];

/** Text of a list, including lines that are not rules. */
export function listText(name: ListName, entries: number): string {
  const place = LISTS.indexOf(name);
  const filler = Array.from({ length: entries }, (_, i) => {
    const word = FILLER_WORDS[(i + place) % FILLER_WORDS.length]!;
    return `||${word}${String(i)}.list-${String(place + 1)}.example^`;
  });
  const own = LISTED[name].map((domain) => `||${domain}^`);
  return ['! Made up for the demo', ...own, ...filler, 'this line is not a rule', ''].join('\n');
}

/** Response of the sample Internet to a question. */
export interface SiteAnswer {
  readonly rcode: number;
  readonly answers: readonly TestRecord[];
  readonly authorities: readonly TestRecord[];
}

const AT_QUESTION = Uint8Array.of(0xc0, 12);
const SERVFAIL_NAMES = new Set(['status.flaky.example', 'www.expired-keys.example']);

/** Whether the zone of a name is signed. */
export function isSigned(name: string): boolean {
  return /bank|post-office|town-hall|office\.example/.test(name);
}

/** The answer to a question: addresses, NXDOMAIN, or SERVFAIL. */
export function answerOf(name: string, qtype: number): SiteAnswer {
  if (SERVFAIL_NAMES.has(name)) return { rcode: Rcode.SERVFAIL, answers: [], authorities: [] };
  const zone = name.split('.').slice(-2).join('.');
  const denial = name === '.' ? [] : [soa(zone, 300, 300)];
  if (name.startsWith('wpad.')) return { rcode: Rcode.NXDOMAIN, answers: [], authorities: denial };
  const answers = qtype === RRType.A ? addresses(name) : qtype === RRType.AAAA ? addresses6(name) : [];
  return { rcode: Rcode.NOERROR, answers, authorities: answers.length === 0 ? denial : [] };
}

/** TTL of the answers for a name, 1 to 10 minutes. */
function ttlOf(name: string): number {
  return 60 + (hashOf(name) % 10) * 60;
}

function addresses(name: string): TestRecord[] {
  const hash = hashOf(name);
  const networks = ['198.51.100', '203.0.113'];
  return Array.from({ length: 1 + (hash % 2) }, (_, i) => ({
    ...a('.', `${networks[hash % 2]!}.${String(1 + ((hash >> 8) % 250) + i)}`, ttlOf(name)),
    owner: AT_QUESTION,
  }));
}

/** IPv6 addresses, which only half of the names have. */
function addresses6(name: string): TestRecord[] {
  const hash = hashOf(name);
  if (hash % 2 === 0) return [];
  const rdata = Uint8Array.of(
    0x20,
    0x01,
    0x0d,
    0xb8,
    0,
    hash & 7,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    (hash >> 8) & 0xff,
    1,
  );
  return [{ owner: AT_QUESTION, type: 'AAAA', ttl: ttlOf(name), rdata }];
}

function hashOf(text: string): number {
  let hash = 0;
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0;
  return hash >>> 4;
}
