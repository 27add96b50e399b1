/** Special cases of hosts files: the addresses that mean "block", and names of the machine itself. */
import { isIP } from 'node:net';
import type { ScannedName } from './name-scan.ts';

const BLOCK_ADDRESSES: ReadonlySet<string> = new Set([
  '0',
  '0.0.0.0',
  '127.0.0.1',
  '::',
  '::0',
  '::1',
  '0:0:0:0:0:0:0:0',
  '0:0:0:0:0:0:0:1',
  '0000:0000:0000:0000:0000:0000:0000:0000',
  '0000:0000:0000:0000:0000:0000:0000:0001',
]);

/** Names of the machine itself and its network in hosts files; never rules. */
const LOCAL_NAMES: ReadonlySet<string> = new Set([
  'localhost',
  'localhost.localdomain',
  'localhost4',
  'localhost4.localdomain4',
  'localhost6',
  'localhost6.localdomain6',
  'localdomain',
  'local',
  'broadcasthost',
  'ip6-localhost',
  'ip6-loopback',
  'ip6-localnet',
  'ip6-mcastprefix',
  'ip6-allnodes',
  'ip6-allrouters',
  'ip6-allhosts',
]);

/** Kind of a word in a hosts line. */
export type WordKind = 'block-address' | 'real-address' | 'no-address';

/** Maximum length of an address as text, including a zone index. */
const MAX_ADDRESS_LENGTH = 64;

/** Classifies the word [start, end) of `bytes`. */
export function wordKindOf(bytes: Uint8Array, start: number, end: number): WordKind {
  if (isZeroAddress(bytes, start, end)) return 'block-address';
  if (end - start > MAX_ADDRESS_LENGTH) return 'no-address';
  const word = text(bytes, start, end);
  if (BLOCK_ADDRESSES.has(word)) return 'block-address';
  return isIP(word) === 0 ? 'no-address' : 'real-address';
}

/** Whether the word is `0.0.0.0`, the most common address, without creating a string. */
function isZeroAddress(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start !== 7) return false;
  for (let at = 0; at < 7; at++) if (bytes[start + at] !== ((at & 1) === 0 ? 0x30 : 0x2e)) return false;
  return true;
}

/** Whether a scanned name is one of `LOCAL_NAMES`. */
export function isLocalName(name: ScannedName): boolean {
  if (name.labels > 2 || name.end - name.start > 'localhost6.localdomain6'.length) return false;
  // All local names with two labels start with "localhost"; checking one byte avoids creating a string for almost all
  // names.
  if (name.labels === 2 && (name.bytes[name.start]! | 0x20) !== 0x6c) return false;
  return LOCAL_NAMES.has(text(name.bytes, name.start, name.end).toLowerCase());
}

function text(bytes: Uint8Array, start: number, end: number): string {
  let result = '';
  for (let at = start; at < end; at++) result += String.fromCharCode(bytes[at]!);
  return result;
}
