/**
 * Set-up of a test file in which a running server gets one changed key after another: while a case runs, the server
 * ignores the key of this case. `WEIR_IGNORED_KEYS` maps titles of cases to keys.
 */
import { afterEach, beforeEach, expect } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { IGNORED_KEY_FILE } from './ignoring-schema.ts';

const keys = JSON.parse(process.env['WEIR_IGNORED_KEYS'] ?? '{}') as Record<string, string>;

beforeEach(() => {
  const { currentTestName: name = '' } = expect.getState();
  const [, key = ''] = Object.entries(keys).find(([title]) => name.endsWith(title)) ?? [];
  writeFileSync(IGNORED_KEY_FILE, key);
});
// Runs before the hooks of the test file, which restore the previous values of the server.
afterEach(() => writeFileSync(IGNORED_KEY_FILE, ''));
