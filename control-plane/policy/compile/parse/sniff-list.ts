/**
 * Distinguishes a filter list from other content that web servers send: HTML pages, archives, images. It examines only
 * the first bytes; `parse-list.ts` parses the lines.
 */

/** Number of first bytes of a file that `sniffList` needs; a shorter file is examined completely. */
export const SNIFF_BYTES = 1024;

/** Reason why these first bytes of a file cannot be a list, or null. */
export function sniffList(head: Uint8Array): string | null {
  if ((head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff))
    return 'the text is UTF-16; lists are UTF-8';
  const end = Math.min(head.length, SNIFF_BYTES);
  let first = hasBom(head) ? 3 : 0;
  while (first < end && head[first]! <= 0x20 && head[first] !== 0) first++;
  // No rule in any list syntax starts with this character; every HTML or XML page does.
  if (head[first] === 0x3c) return 'the file is an HTML or XML page';
  for (let at = 0; at < end; at++) if (head[at] === 0) return 'the file is binary';
  return null;
}

/** Whether `bytes` start with the byte order mark of UTF-8. */
export function hasBom(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}
