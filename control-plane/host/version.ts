/** Reads the version of Weir from `package.json`, its only source. */
import { readFileSync } from 'node:fs';

/** Version in semver form, such as `0.1.0`. */
export const version: string = readVersion();

function readVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const parsed = JSON.parse(text) as { readonly version: string };
  return parsed.version;
}
