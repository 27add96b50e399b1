import { PassThrough } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { parseConfig } from '../../config/parse-config.ts';
import { hashPassword, verifyPassword } from '../web/auth/accounts/password.ts';
import { PasswordReader } from './read-password.ts';
import { setPassword } from './set-password.ts';

const PASSWORD = 'correct horse';
const HASH = '$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$RdescudvJCsgt3ub+b1dWRWJTmaasd';

/** Runs the subcommand with typed or piped input; returns its output and results. */
async function run(typed: string | readonly Uint8Array[], options: { tty?: boolean; toml?: string } = {}) {
  const raw: boolean[] = [];
  const input = Object.assign(new PassThrough(), {
    isTTY: options.tty ?? false,
    setRawMode: (on: boolean) => raw.push(on),
  });
  if (typeof typed === 'string') input.write(typed);
  else for (const chunk of typed) input.write(chunk);
  input.end();
  const loaded = parseConfig({ file: { name: 'weir.toml', text: options.toml ?? '' }, env: {} });
  if (!loaded.ok) throw new Error('the configuration of the test is bad');
  const printed: string[] = [];
  const stored: string[] = [];
  const status = await setPassword({
    loaded: loaded.value,
    reader: new PasswordReader(input),
    terminal: { out: (line) => printed.push(line), err: (line) => printed.push(line) },
    hash: hashPassword,
    store: async (_loaded, hash) => void stored.push(hash),
  });
  return { status, printed, stored, raw, closed: input.destroyed };
}

describe('setPassword() with piped input', () => {
  test('stores the hash of the first line', async () => {
    const { status, printed, stored, closed } = await run(`${PASSWORD}\r\nmore\n`);
    expect({ status, printed, closed }).toEqual({
      status: 0,
      printed: ['the password of admin is set'],
      closed: true,
    });
    expect(stored).toHaveLength(1);
    expect(await verifyPassword(stored[0] ?? '', PASSWORD)).toBe(true);
  });

  test('accepts a line without a line feed, and characters split between chunks', async () => {
    const bytes = Buffer.from('pässwörter');
    const { stored } = await run([bytes.subarray(0, 2), bytes.subarray(2)]);
    expect(await verifyPassword(stored[0] ?? '', 'pässwörter')).toBe(true);
  });

  test.each([
    ['', 0],
    ['seven77\n', 7],
    [`${'x'.repeat(257)}\n`, 257],
    ['\nsecond line\n', 0],
    ['\u{1f512}\u{1f511}\u{1f6aa}\u{1f3e0}\n', 4],
  ])('refuses %j', async (typed, length) => {
    const { status, printed, stored } = await run(typed);
    expect({ status, stored }).toEqual({ status: 1, stored: [] });
    expect(printed).toEqual([`password rejected: expected 8 to 256 characters, got ${length}`]);
  });

  test('prints the new hash instead of storing it if the configuration file sets the password hash', async () => {
    const { status, printed, stored } = await run(`${PASSWORD}\n`, {
      toml: `[auth.admin]\npassword_hash = "${HASH}"`,
    });
    expect({ status, stored }).toEqual({ status: 1, stored: [] });
    const hash = /^password_hash = "(.+)"$/.exec(printed.at(-1) ?? '')?.[1] ?? '';
    expect(await verifyPassword(hash, PASSWORD)).toBe(true);
  });
});

describe('setPassword() at a terminal', () => {
  test('asks twice without showing the password, and supports the backspace key', async () => {
    const { status, printed, stored, raw } = await run(`${PASSWORD}x\u007f\r${PASSWORD}\r`, { tty: true });
    expect(status).toBe(0);
    expect(printed).toEqual([
      'new password (8 to 256 characters):',
      'repeat:',
      'the password of admin is set',
    ]);
    expect(raw).toEqual([true, false, true, false]);
    expect(await verifyPassword(stored[0] ?? '', PASSWORD)).toBe(true);
  });

  test('refuses two passwords that differ', async () => {
    const { status, printed, stored } = await run(`${PASSWORD}\r${PASSWORD}!\r`, { tty: true });
    expect({ status, stored }).toEqual({ status: 1, stored: [] });
    expect(printed.at(-1)).toBe('password rejected: the two entries differ');
  });

  test.each([
    ['Ctrl-C', 'half\u0003'],
    ['Ctrl-D', '\u0004'],
  ])('changes nothing on %s and restores the terminal', async (_key, typed) => {
    const { status, printed, stored, raw, closed } = await run(typed, { tty: true });
    expect({ status, stored, closed }).toEqual({ status: 1, stored: [], closed: true });
    expect(printed.at(-1)).toBe('nothing was changed: no password was given');
    expect(raw).toEqual([true, false]);
  });
});
