/**
 * Manifest of the current build of the dashboard: `dashboard.json` in the directory of all builds; it gives the folder
 * of the build's files. A build is complete once this file refers to it; the file is replaced by a rename.
 */
import { join } from 'node:path';

/** The root of the installation. */
export const ROOT = join(import.meta.dirname, '..', '..', '..');
/** The sources of the dashboard, relative to the root. */
export const SOURCES = 'control-plane/dashboard';
/** The directory of the builds. */
export const DIST = join(ROOT, SOURCES, 'dist');
/** The manifest, in the directory `DIST`. */
export const MANIFEST_NAME = 'dashboard.json';

/** The forms in which a file is stored, with their file name suffixes. */
export const FormSuffix = { identity: '', br: '.br', gzip: '.gz' } as const;
/** A form: the name of a content coding (RFC 9110 section 8.4.1). */
export type Form = keyof typeof FormSuffix;

/** One form of a file. */
export interface StoredForm {
  readonly bytes: number;
  /** SHA-256 in hexadecimal. */
  readonly sha256: string;
}

/** A file of a build. */
export interface StoredFile {
  /** Path below the folder of the build. */
  readonly path: string;
  readonly type: string;
  readonly forms: { readonly identity: StoredForm } & Partial<Readonly<Record<Form, StoredForm>>>;
}

/** The manifest. */
export interface BuildManifest {
  readonly format: typeof FORMAT;
  /** Name of the folder, which is next to the manifest. */
  readonly folder: string;
  /** Sources of the build, see `source-hash.ts`. */
  readonly sources: { readonly hash: string; readonly shared: readonly string[] };
  readonly files: readonly StoredFile[];
  /** Paths of the files that each page needs before it can be shown, by the name of the page. */
  readonly pages: Readonly<Record<string, readonly string[]>>;
}

/** Must be incremented when the manifest or the forms change. */
export const FORMAT = 2;

/** Maximum size of all forms of all files; a larger build is refused. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_FILES = 2000;
const NAME = /^[A-Za-z0-9][\w.-]{0,200}$/;
const FILE_PATH = /^(?:assets\/)?[A-Za-z0-9][\w.-]{0,200}$/;
const SHARED_PATH = /^shared\/(?:[\w-]+\/)*[\w-]+(?:\.[\w-]+)*\.ts$/;
const SHA256 = /^[0-9a-f]{64}$/;
const TYPE = /^[a-z]+\/[a-z0-9.+-]+(?:; charset=utf-8)?$/;

/** Reads a manifest. @throws {Error} for another format, and for paths that lead out of the folder. */
export function parseManifest(text: string): BuildManifest {
  const manifest = JSON.parse(text) as Loose<BuildManifest>;
  const files = manifest?.files;
  const sources = manifest?.sources as Loose<BuildManifest['sources']>;
  const isWhole =
    manifest?.format === FORMAT &&
    matches(NAME, manifest.folder) &&
    matches(SHA256, sources?.hash) &&
    Array.isArray(sources?.shared) &&
    sources.shared.every((path) => matches(SHARED_PATH, path)) &&
    Array.isArray(files) &&
    files.length <= MAX_FILES &&
    files.every(isFile) &&
    new Set(files.map(({ path }: StoredFile) => path)).size === files.length &&
    bytesOf(files as readonly StoredFile[]) <= MAX_BYTES &&
    files.some(({ path }: StoredFile) => path === 'index.html') &&
    arePages(manifest.pages, new Set(files.map(({ path }: StoredFile) => path)));
  if (!isWhole) throw new Error(`${MANIFEST_NAME} is not a manifest of format ${FORMAT}`);
  return manifest as BuildManifest;
}

/** A value of type `T` before it is validated. */
type Loose<T> = { readonly [Key in keyof T]?: unknown } | null | undefined;

function isFile(value: unknown): boolean {
  const file = value as Loose<StoredFile>;
  const forms = Object.entries((file?.forms ?? {}) as Record<string, unknown>);
  return (
    matches(FILE_PATH, file?.path) &&
    matches(TYPE, file?.type) &&
    forms.some(([form]) => form === 'identity') &&
    forms.every(([form, stored]) => Object.hasOwn(FormSuffix, form) && isForm(stored))
  );
}

/** Whether a value lists files of the build for each page. */
function arePages(value: unknown, files: ReadonlySet<unknown>): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).every(
    (paths: unknown) => Array.isArray(paths) && paths.every((path: unknown) => files.has(path)),
  );
}

function isForm(value: unknown): boolean {
  const form = value as Loose<StoredForm>;
  return Number.isSafeInteger(form?.bytes) && Number(form?.bytes) >= 0 && matches(SHA256, form?.sha256);
}

function bytesOf(files: readonly StoredFile[]): number {
  return files.reduce(
    (sum, { forms }) => sum + Object.values(forms).reduce((bytes, form) => bytes + form.bytes, 0),
    0,
  );
}

function matches(pattern: RegExp, value: unknown): boolean {
  return typeof value === 'string' && pattern.test(value);
}
