/** Public lists that many people use, by name and address. Their makers decide what is in them. */
import type { SourceKind } from '../../../../../shared/policy/source-kind.ts';
import type { MessageKey } from '../../i18n/language.ts';

/** A list that can be chosen by its name. */
export interface KnownList {
  readonly name: string;
  readonly url: string;
  readonly kind: SourceKind;
  /** What it is about. */
  readonly about: MessageKey;
}

const HAGEZI = 'https://raw.githubusercontent.com/hagezi/dns-blocklists/main/adblock';
const STEVEN_BLACK = 'https://raw.githubusercontent.com/StevenBlack/hosts/master';

const known =
  (kind: SourceKind, about: MessageKey) =>
  (name: string, url: string): KnownList => ({ name, url, kind, about });
const ads = known('block', 'lists.about.ads');
const threats = known('block', 'lists.about.threats');
const adult = known('block', 'lists.about.adult');
const gambling = known('block', 'lists.about.gambling');
const repair = known('allow', 'lists.about.repair');

/** In the order in which they are offered. */
export const KNOWN_LISTS: readonly KnownList[] = [
  ads('StevenBlack unified hosts', `${STEVEN_BLACK}/hosts`),
  ads('AdGuard DNS filter', 'https://adguardteam.github.io/AdGuardSDNSFilter/Filters/filter.txt'),
  ads('HaGeZi Light', `${HAGEZI}/light.txt`),
  ads('HaGeZi Normal', `${HAGEZI}/multi.txt`),
  ads('HaGeZi Pro', `${HAGEZI}/pro.txt`),
  ads('HaGeZi Pro++', `${HAGEZI}/pro.plus.txt`),
  ads('OISD small', 'https://small.oisd.nl'),
  ads('OISD big', 'https://big.oisd.nl'),
  ads('1Hosts Lite', 'https://raw.githubusercontent.com/badmojr/1Hosts/master/Lite/adblock.txt'),
  ads(
    'Peter Lowe',
    'https://pgl.yoyo.org/adservers/serverlist.php?hostformat=adblockplus&showintro=0&mimetype=plaintext',
  ),
  threats('HaGeZi Threat Intelligence Feeds', `${HAGEZI}/tif.txt`),
  threats('URLhaus', 'https://urlhaus.abuse.ch/downloads/hostfile/'),
  threats('Phishing Army', 'https://phishing.army/download/phishing_army_blocklist_extended.txt'),
  adult('OISD NSFW', 'https://nsfw.oisd.nl'),
  adult('StevenBlack adult sites', `${STEVEN_BLACK}/alternates/porn-only/hosts`),
  gambling('HaGeZi Gambling', `${HAGEZI}/gambling.txt`),
  gambling('StevenBlack gambling', `${STEVEN_BLACK}/alternates/gambling-only/hosts`),
  repair('HaGeZi referral links', `${HAGEZI}/whitelist-referral.txt`),
  repair(
    'anudeepND common exceptions',
    'https://raw.githubusercontent.com/anudeepND/whitelist/master/domains/whitelist.txt',
  ),
];

/** Those of a kind that are not there yet. */
export function knownListsFor(kind: SourceKind, urls: readonly string[]): KnownList[] {
  const there = new Set(urls.map(plain));
  return KNOWN_LISTS.filter((list) => list.kind === kind && !there.has(plain(list.url)));
}

function plain(url: string): string {
  return url.toLowerCase().replace(/\/$/, '');
}
