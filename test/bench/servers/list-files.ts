// The block list in the formats of the servers.
import { closeSync, existsSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { ListFiles, ListFormat } from './peer-server.ts';

const LINES_PER_WRITE = 20_000;
const RPZ_HEAD = '$TTL 3600\n@ SOA localhost. root.localhost. 1 3600 900 604800 3600\n@ NS localhost.\n';

const FORMATS: Record<ListFormat, { head: string; line: (name: string) => string }> = {
  plain: { head: '', line: (name) => `${name}\n` },
  dnsmasq: { head: '', line: (name) => `local=/${name}/\n` },
  rpz: { head: RPZ_HEAD, line: (name) => `${name} CNAME .\n` },
  unbound: { head: 'server:\n', line: (name) => `local-zone: "${name}" always_null\n` },
};

/** List files of `names` in `dir`. */
export function listFiles(dir: string, names: readonly string[]): ListFiles {
  return {
    names,
    file: (format) => {
      const file = join(dir, `names.${format}`);
      if (!existsSync(file)) writeList(file, names, format);
      return file;
    },
  };
}

function writeList(file: string, names: readonly string[], format: ListFormat): void {
  const { head, line } = FORMATS[format];
  const descriptor = openSync(file, 'w', 0o644);
  writeSync(descriptor, head);
  for (let from = 0; from < names.length; from += LINES_PER_WRITE)
    writeSync(
      descriptor,
      names
        .slice(from, from + LINES_PER_WRITE)
        .map(line)
        .join(''),
    );
  closeSync(descriptor);
}
