/** Entries of the palette that match a text. */
import type { Client } from '../../../../shared/api/policy/clients-api.ts';
import { canonicalDomain } from '../../../../shared/policy/domain-rule.ts';

/** Kinds of search results, in their order. */
export type FoundKind = 'client' | 'group' | 'service' | 'list' | 'rule' | 'setting';

/** An entry of the palette. */
export interface PaletteEntry {
  readonly id: string;
  readonly text: string;
  /** Also determines the order: pages, actions, names, then search results. */
  readonly kind: 'page' | 'action' | 'name' | FoundKind;
  readonly run: () => void;
}

const MAX_CLIENTS = 6;

/** Entries with words that begin with the words of the text, in any order; all entries for an empty text. */
export function matchingEntries(entries: readonly PaletteEntry[], text: string): PaletteEntry[] {
  const wanted = wordsOf(text);
  return entries.filter((entry) => {
    const words = wordsOf(entry.text);
    return wanted.every((start) => words.some((word) => word.startsWith(start)));
  });
}

function wordsOf(text: string): string[] {
  return text
    .toLocaleLowerCase()
    .split(/[\s.,:()-]+/)
    .filter((word) => word !== '');
}

/** Entries for the clients that the search found. */
export function clientEntries(clients: readonly Client[], open: (id: number) => void): PaletteEntry[] {
  return clients
    .slice(0, MAX_CLIENTS)
    .map(({ id, name, hostname, ip_address: ip, client_key: key, vendor }) => ({
      id: `client-${id}`,
      text: [name ?? hostname, ip ?? key, vendor].filter((part) => part !== null).join(' · '),
      kind: 'client',
      run: () => open(id),
    }));
}

/** A search result: its name, and the path that shows it. */
export interface FoundThing {
  readonly id: number | string;
  readonly text: string;
  readonly path: string;
}

/** Maximum number of entries of a kind; the pages show all of them. */
export const MAX_FOUND = 5;

/**
 * An entry for each of the first results. Results with the same path, such as a rule of several groups, share one
 * entry.
 */
export function foundEntries(
  kind: FoundKind,
  things: readonly FoundThing[],
  go: (path: string) => void,
): PaletteEntry[] {
  const byPath = new Map(things.toReversed().map((thing) => [thing.path, thing]));
  return things
    .filter((thing) => byPath.get(thing.path) === thing)
    .slice(0, MAX_FOUND)
    .map(({ id, text, path }) => ({ id: `${kind}-${id}`, text, kind, run: () => go(path) }));
}

/** Whether each word of a search occurs in one of these texts, ignoring case. */
export function hasWords(search: string, texts: readonly string[]): boolean {
  const all = texts.join(' ').toLocaleLowerCase();
  return search
    .toLocaleLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}

/** The text as a domain name; null if the text is not a domain name. A single word does not count. */
export function nameIn(text: string): string | null {
  const trimmed = text.trim();
  return trimmed.includes('.') ? canonicalDomain(trimmed) : null;
}
