/** Decodes the bytes of a file: UTF-8, or UTF-16 with a byte order mark, or Latin-1, in which every byte is valid. */

/** Text of a file, without its byte order mark and with LF line endings. */
export function decodeText(content: Uint8Array): string {
  return decoded(content).replaceAll(/\r\n?/g, '\n');
}

/** Lines of a file, at most `MAX_LINES`. */
function linesOf(content: Uint8Array): string[] {
  return decodeText(content).split('\n', MAX_LINES);
}

/** Trimmed lines of a file, without empty lines and comments; none if the file does not exist. */
export function contentLines(content: Uint8Array | undefined): string[] {
  const lines = content === undefined ? [] : linesOf(content);
  return lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
}

const MAX_LINES = 1_000_000;

function decoded(content: Uint8Array): string {
  const [first, second] = content;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(content);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(content);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    return Buffer.from(content).toString('latin1');
  }
}
