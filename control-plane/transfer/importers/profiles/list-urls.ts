/** The URLs of lists that NextDNS refers to by id. Pure. */

const HAGEZI = 'https://raw.githubusercontent.com/hagezi/dns-blocklists/main/adblock';
const URLS: Readonly<Record<string, string>> = {
  'adguard-dns-filter': 'https://adguardteam.github.io/AdGuardSDNSFilter/Filters/filter.txt',
  easylist: 'https://easylist.to/easylist/easylist.txt',
  easyprivacy: 'https://easylist.to/easylist/easyprivacy.txt',
  'hagezi-multi-light': `${HAGEZI}/light.txt`,
  'hagezi-multi-normal': `${HAGEZI}/multi.txt`,
  'hagezi-multi-pro': `${HAGEZI}/pro.txt`,
  'hagezi-multi-pro-plus': `${HAGEZI}/pro.plus.txt`,
  'hagezi-multi-ultimate': `${HAGEZI}/ultimate.txt`,
  oisd: 'https://big.oisd.nl',
  stevenblack: 'https://raw.githubusercontent.com/StevenBlack/hosts/master/hosts',
};

/** The URL of a list; undefined for an unknown list. */
export function listUrl(id: string): string | undefined {
  return Object.hasOwn(URLS, id) ? URLS[id] : undefined;
}
