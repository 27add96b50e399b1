/** Reads dnsmasq's configuration: options of files and of included files, each file once. */
import { contentLines } from '../files/decode-text.ts';
import { fileAt, filesIn, type FileSet, pathOf } from '../files/file-set.ts';
import { ONLY_TEXT } from '../files/open-upload.ts';
import { isOption } from './dnsmasq-rest.ts';

/** An option, as `name=value` or the name alone. */
export interface DnsmasqOption {
  readonly name: string;
  readonly value: string;
}

/** Options that also occur in files of other programs. */
const COMMON = /^(?:port|interface|user|group|domain|server|address|local|log-.*)$/;
const OPTION = /^([a-z0-9][a-z0-9-]*)(?:\s*=\s*(.*))?$/i;
/** Minimum share of lines that are options of dnsmasq. */
const KNOWN_PART = 0.5;
const SAMPLE_LINES = 200;

/** Whether these are files of dnsmasq. */
export function isDnsmasq(files: FileSet): boolean {
  if (fileAt(files, 'dnsmasq.conf') !== undefined || filesIn(files, 'dnsmasq.d').length > 0) return true;
  const lines = contentLines(files.get(ONLY_TEXT)).slice(0, SAMPLE_LINES);
  const known = optionsOf(lines).filter(({ name }) => isOption(name));
  const isDistinctive = known.some(({ name, value }) => !COMMON.test(name) || value.startsWith('/'));
  return isDistinctive && known.length > lines.length * KNOWN_PART;
}

/** All options, in the order in which dnsmasq reads them; a line that is not an option has the name `''`. */
export function readDnsmasq(files: FileSet): DnsmasqOption[] {
  const seen = new Set<string>();
  const options: DnsmasqOption[] = [];
  const main = pathOf(files, 'dnsmasq.conf');
  const isListed = optionsOf(contentLines(main === undefined ? undefined : files.get(main))).some(
    ({ name }) => name === 'conf-dir',
  );
  const roots = [
    ...(main === undefined ? [] : [main]),
    ...(files.has(ONLY_TEXT) ? [ONLY_TEXT] : []),
    // If the main file includes other files, only those files are read, because it may exclude some files of the
    // directory.
    ...(isListed ? [] : filesIn(files, 'dnsmasq.d').map(([path]) => path)),
  ];
  for (const path of roots) readFile(files, path, seen, options);
  return options;
}

/** The options of lines. */
export function optionsOf(lines: readonly string[]): DnsmasqOption[] {
  return lines.map((line) => {
    const text = line.replace(/\s+#.*$/, '').trim();
    const [, name, value = ''] = OPTION.exec(text) ?? [];
    return name === undefined
      ? { name: '', value: text }
      : { name: name.toLowerCase(), value: value.replace(/^"(.*)"$/, '$1').trim() };
  });
}

/** A file that includes itself, directly or indirectly, is read once. */
function readFile(files: FileSet, path: string, seen: Set<string>, into: DnsmasqOption[]): void {
  if (seen.has(path)) return;
  seen.add(path);
  for (const option of optionsOf(contentLines(files.get(path)))) {
    const included = includedBy(files, option);
    if (included === null) into.push(option);
    else for (const inner of included) readFile(files, inner, seen, into);
  }
}

/** Paths of the files that an option includes; null if the archive has no such file. */
function includedBy(files: FileSet, { name, value }: DnsmasqOption): string[] | null {
  const [written = '', ...patterns] = value.split(',').map((part) => part.trim());
  const path = written.replace(/^\/+/, '').replace(/\/+$/, '');
  if (name === 'conf-file' || name === 'servers-file') {
    const found = pathOf(files, path) ?? pathOf(files, path.split('/').at(-1) ?? path);
    return found === undefined ? null : [found];
  }
  if (name !== 'conf-dir') return null;
  const found =
    filesIn(files, path).length > 0 ? filesIn(files, path) : filesIn(files, path.split('/').at(-1) ?? path);
  return found.length > 0
    ? found.map(([inside]) => inside).filter((inside) => isRead(inside, patterns))
    : null;
}

/** `.bak` excludes files with this suffix; `*.conf` reads only files with this suffix. */
function isRead(path: string, patterns: readonly string[]): boolean {
  const name = path.split('/').at(-1) ?? path;
  const ends = (ending: string): boolean => ending !== '' && name.endsWith(ending);
  const wanted = patterns.filter((pattern) => pattern.startsWith('*')).map((pattern) => pattern.slice(1));
  const unwanted = patterns.filter((pattern) => !pattern.startsWith('*'));
  return !unwanted.some(ends) && (wanted.length === 0 || wanted.some(ends));
}
