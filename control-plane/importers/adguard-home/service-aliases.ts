/** Services that AdGuard Home and Weir's own catalog call by different ids. Pure. */

const OWN_IDS: Readonly<Record<string, string>> = {
  amazon_streaming: 'primevideo',
  apple_streaming: 'apple-tvplus',
  max: 'hbomax',
  ok: 'odnoklassniki',
  peacock_tv: 'peacock',
  plenty_of_fish: 'plenty-of-fish',
  pluto_tv: 'plutotv',
  rakuten_viki: 'rakuten-viki',
  samsung_tv_plus: 'samsung-tv-plus',
  x: 'twitter',
};

/** The id in Weir's own catalog; null where it is the same. */
export function ownServiceId(id: string): string | null {
  if (Object.hasOwn(OWN_IDS, id)) return OWN_IDS[id]!;
  return id.includes('_') ? id.replaceAll('_', '-') : null;
}
