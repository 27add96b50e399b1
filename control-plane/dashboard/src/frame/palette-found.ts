/** Search results of the palette: a few devices, groups, services, lists, rules and settings. */
import { useAsk } from '../api/use-ask.ts';
import { useMe } from '../api/session.tsx';
import { useText } from '../i18n/text.ts';
import { findKeys } from '../pages/settings/keys/config-key.ts';
import { useKeyHelp } from '../pages/settings/keys/key-help.ts';
import { partsFor } from '../pages/settings/parts.ts';
import { matching } from '../ui/policy/matching-services.ts';
import { useServices } from '../ui/policy/service-blocks.ts';
import { clientEntries, foundEntries, hasWords, MAX_FOUND } from './palette-entries.ts';
import type { FoundThing, PaletteEntry } from './palette-entries.ts';

const MIN_SEARCH = 2;

/**
 * The entries for the search results. For a text shorter than two characters, there are no entries and no request is
 * sent.
 */
export function useFound(text: string, go: (path: string) => void): PaletteEntry[] {
  const { say } = useText();
  const me = useMe();
  const search = text.trim();
  const enabled = search.length >= MIN_SEARCH;
  const once = { enabled };
  const clients = useAsk('GET /clients', { query: { search, limit: MAX_FOUND } }, once);
  const domains = useAsk('GET /managed-domains', { query: { search, limit: MAX_FOUND } }, once);
  const filters = useAsk('GET /regex-filters', {}, once);
  const groups = useAsk('GET /groups', {}, once);
  const blocklists = useAsk('GET /blocklist-sources', {}, once);
  const allowlists = useAsk('GET /allowlist-sources', {}, once);
  const services = useServices(enabled);
  const { textOf } = useKeyHelp();
  if (!enabled) return [];
  const lists = [
    ...(blocklists.data ?? []).map((list) => ({ ...list, kind: 'block' })),
    ...(allowlists.data ?? []).map((list) => ({ ...list, kind: 'allow' })),
  ];
  const rules: FoundThing[] = [
    ...(domains.data?.data ?? []).map(({ id, domain }) => ({
      id,
      text: domain,
      path: `/rules?search=${encodeURIComponent(domain)}`,
    })),
    ...(filters.data ?? [])
      .filter(({ pattern, name, comment }) => hasWords(search, [pattern, name, comment]))
      .map(({ id, pattern }) => ({
        id: `regex-${id}`,
        text: pattern,
        path: `/rules?tab=expression&search=${encodeURIComponent(pattern)}`,
      })),
  ];
  const settings: FoundThing[] = [
    ...partsFor(me)
      .map((part) => ({ id: part, text: say(`settings.part.${part}`), path: `/settings?part=${part}` }))
      .filter((part) => hasWords(search, [part.text])),
    ...findKeys(search, textOf).map((entry) => ({
      id: entry.key,
      text: `${textOf(entry)} · ${entry.key}`,
      path: `/settings?search=${encodeURIComponent(entry.key)}`,
    })),
  ];
  return [
    ...clientEntries(clients.data?.data ?? [], (id) => go(`/clients?open=${id}`)),
    ...foundEntries(
      'group',
      (groups.data ?? [])
        .filter(({ name, comment }) => hasWords(search, [name, comment]))
        .map(({ id, name }) => ({ id, text: name, path: `/groups?open=${id}` })),
      go,
    ),
    ...foundEntries(
      'service',
      matching(services ?? [], search).map(({ id, name }) => ({
        id,
        text: name,
        path: `/services?open=${encodeURIComponent(id)}`,
      })),
      go,
    ),
    ...foundEntries(
      'list',
      lists
        .filter(({ name, url, comment }) => hasWords(search, [name, url ?? '', comment]))
        .map(({ id, name, kind }) => ({
          id: `${kind}-${id}`,
          text: name,
          path: `/lists?kind=${kind}&open=${id}`,
        })),
      go,
    ),
    ...foundEntries('rule', rules, go),
    ...foundEntries('setting', settings, go),
  ];
}
