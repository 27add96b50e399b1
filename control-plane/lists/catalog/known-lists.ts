/**
 * URLs of popular public lists. Weir does not include their content, and fetches a list only when a user adds or
 * previews it. Their maintainers decide what they contain. A licence or update interval is null if their pages do not
 * state it, or if it could not be confirmed.
 */
import type { KnownList, ListPurpose } from '../../../shared/api/lists/list-catalog-api.ts';

const HOURS_PER_DAY = 24;

type Maker = Pick<KnownList, 'homepage' | 'licence' | 'expires_hours'>;
type Listed = readonly [name: string, purpose: ListPurpose, url: string];

const by =
  (maker: Maker) =>
  ([name, purpose, url]: Listed): KnownList => ({
    name,
    url,
    purpose,
    kind: purpose === 'repair' ? 'allow' : 'block',
    ...maker,
  });

const HAGEZI = 'https://raw.githubusercontent.com/hagezi/dns-blocklists/main/adblock';
const STEVEN_BLACK = 'https://raw.githubusercontent.com/StevenBlack/hosts/master';

const hagezi = by({
  homepage: 'https://github.com/hagezi/dns-blocklists',
  licence: 'GPL-3.0',
  expires_hours: HOURS_PER_DAY,
});
const stevenBlack = by({
  homepage: 'https://github.com/StevenBlack/hosts',
  licence: 'MIT',
  expires_hours: null,
});
const oisd = by({ homepage: 'https://oisd.nl/', licence: null, expires_hours: null });

/** Well-known lists, in the order in which they are shown for each purpose. */
export const KNOWN_LISTS: readonly KnownList[] = [
  ...[
    hagezi(['HaGeZi Light', 'ads', `${HAGEZI}/light.txt`]),
    hagezi(['HaGeZi Normal', 'ads', `${HAGEZI}/multi.txt`]),
    hagezi(['HaGeZi Pro', 'ads', `${HAGEZI}/pro.txt`]),
    hagezi(['HaGeZi Pro++', 'ads', `${HAGEZI}/pro.plus.txt`]),
    hagezi(['HaGeZi Ultimate', 'ads', `${HAGEZI}/ultimate.txt`]),
    oisd(['OISD small', 'ads', 'https://small.oisd.nl']),
    oisd(['OISD big', 'ads', 'https://big.oisd.nl']),
    stevenBlack(['StevenBlack unified hosts', 'ads', `${STEVEN_BLACK}/hosts`]),
  ],
  by({
    homepage: 'https://github.com/AdguardTeam/AdGuardSDNSFilter',
    licence: 'GPL-3.0',
    expires_hours: null,
  })(['AdGuard DNS filter', 'ads', 'https://adguardteam.github.io/AdGuardSDNSFilter/Filters/filter.txt']),
  by({ homepage: 'https://badmojr.github.io/1Hosts/', licence: null, expires_hours: null })([
    '1Hosts Lite',
    'ads',
    'https://badmojr.github.io/1Hosts/Lite/adblock.txt',
  ]),
  by({ homepage: 'https://pgl.yoyo.org/adservers/', licence: null, expires_hours: null })([
    'Peter Lowe',
    'ads',
    'https://pgl.yoyo.org/adservers/serverlist.php?hostformat=adblockplus&showintro=0&mimetype=plaintext',
  ]),
  by({ homepage: 'https://adaway.org/', licence: 'CC-BY-3.0', expires_hours: null })([
    'AdAway',
    'ads',
    'https://adaway.org/hosts.txt',
  ]),
  by({ homepage: 'https://easylist.to/', licence: 'GPL-3.0 or CC-BY-SA-3.0', expires_hours: null })([
    'EasyPrivacy domains',
    'trackers',
    'https://v.firebog.net/hosts/Easyprivacy.txt',
  ]),
  by({ homepage: 'https://github.com/Perflyst/PiHoleBlocklist', licence: 'MIT', expires_hours: null })([
    'Perflyst smart TVs',
    'trackers',
    'https://raw.githubusercontent.com/Perflyst/PiHoleBlocklist/master/SmartTV-AGH.txt',
  ]),
  by({ homepage: 'https://github.com/crazy-max/WindowsSpyBlocker', licence: 'MIT', expires_hours: null })([
    'WindowsSpyBlocker',
    'trackers',
    'https://raw.githubusercontent.com/crazy-max/WindowsSpyBlocker/master/data/hosts/spy.txt',
  ]),
  hagezi(['HaGeZi Threat Intelligence Feeds', 'threats', `${HAGEZI}/tif.txt`]),
  by({ homepage: 'https://urlhaus.abuse.ch/', licence: null, expires_hours: null })([
    'URLhaus',
    'threats',
    'https://urlhaus.abuse.ch/downloads/hostfile/',
  ]),
  by({ homepage: 'https://phishing.army/', licence: null, expires_hours: 6 })([
    'Phishing Army',
    'threats',
    'https://phishing.army/download/phishing_army_blocklist_extended.txt',
  ]),
  by({
    homepage: 'https://github.com/DandelionSprout/adfilt',
    licence: 'Dandelicence',
    expires_hours: null,
  })([
    "Dandelion Sprout's anti-malware list",
    'threats',
    'https://raw.githubusercontent.com/DandelionSprout/adfilt/master/Alternate%20versions%20Anti-Malware%20List/AntiMalwareAdGuardHome.txt',
  ]),
  by({
    homepage: 'https://github.com/hoshsadiq/adblock-nocoin-list',
    licence: 'MIT',
    expires_hours: null,
  })([
    'NoCoin',
    'mining',
    'https://raw.githubusercontent.com/hoshsadiq/adblock-nocoin-list/master/hosts.txt',
  ]),
  ...[
    oisd(['OISD NSFW', 'adult', 'https://nsfw.oisd.nl']),
    hagezi(['HaGeZi NSFW', 'adult', `${HAGEZI}/nsfw.txt`]),
    stevenBlack(['StevenBlack adult sites', 'adult', `${STEVEN_BLACK}/alternates/porn-only/hosts`]),
    hagezi(['HaGeZi Gambling', 'gambling', `${HAGEZI}/gambling.txt`]),
    stevenBlack(['StevenBlack gambling', 'gambling', `${STEVEN_BLACK}/alternates/gambling-only/hosts`]),
    hagezi(['HaGeZi social networks', 'social', `${HAGEZI}/social.txt`]),
    stevenBlack(['StevenBlack social networks', 'social', `${STEVEN_BLACK}/alternates/social-only/hosts`]),
    hagezi(['HaGeZi DoH, VPN, Tor and proxies', 'bypass', `${HAGEZI}/doh-vpn-proxy-bypass.txt`]),
    hagezi(['HaGeZi referral links', 'repair', `${HAGEZI}/whitelist-referral.txt`]),
  ],
  by({ homepage: 'https://github.com/anudeepND/whitelist', licence: 'MIT', expires_hours: null })([
    'anudeepND common exceptions',
    'repair',
    'https://raw.githubusercontent.com/anudeepND/whitelist/master/domains/whitelist.txt',
  ]),
];
