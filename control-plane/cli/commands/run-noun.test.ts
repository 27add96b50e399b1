import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { everyRoute } from '../../../test/support/parts/every-route.ts';
import { memoryScreen } from '../../../test/support/parts/memory-screen.ts';
import type { RunningApi } from '../../../test/support/parts/running-api.ts';
import { serveSuite } from '../../../test/support/parts/served-suite.ts';
import { startLocalServer } from '../../web/edge/local-server.ts';
import { createApp } from '../../web/server/app.ts';
import { parseArguments } from '../arguments.ts';
import { runCommand } from './run-command.ts';

let folder: string;
let api: RunningApi;
let stop: () => Promise<void>;

serveSuite(everyRoute(), (served) => ({ api } = served), { toml: '' });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-nouns-'));
  stop = await startLocalServer(createApp(api.parts, api.routes), folder, api.logger);
});

afterAll(async () => {
  await stop();
  await rm(folder, { recursive: true });
});

/** Runs a command over the socket; `_` is replaced by a space within an argument. */
async function run(line: string): Promise<{ status: number; lines: string[]; errors: string[] }> {
  const command = parseArguments(line.split(' ').map((word) => word.replaceAll('_', ' ')));
  if (command.kind !== 'run') throw new Error(JSON.stringify(command));
  const screen = memoryScreen();
  const { spec, arguments: given, options } = command;
  const env = { WEIR_SERVER_DATA_DIR: folder };
  const status = await runCommand({ name: spec.name, arguments: given, options }, screen, env);
  return { status, lines: screen.lines, errors: screen.errors };
}

/** The output of a command that succeeds. */
async function linesOf(line: string): Promise<string[]> {
  const { status, lines, errors } = await run(line);
  expect([line, status, errors]).toEqual([line, 0, []]);
  return lines;
}

/** The JSON output of a command that succeeds. */
async function jsonOf<Answer = Record<string, unknown>>(line: string): Promise<Answer> {
  return JSON.parse((await linesOf(`${line} --json`)).join('\n')) as Answer;
}

describe('weir groups', () => {
  test('lists, adds, shows, changes and removes a group by its name', async () => {
    expect(await linesOf('groups add Kids --comment until_nine --no-ipv6')).toEqual([
      expect.stringMatching(/^added group "Kids" \(id \d+\)$/),
    ]);
    const [titles, ...rows] = await linesOf('groups');
    expect(titles).toMatch(/^ID +NAME +CLIENTS +ENABLED +NO IPV6 +COMMENT$/);
    expect(rows.map((row) => row.trim().split(/ {2,}/).slice(1))).toEqual([
      ['Default', '0', 'yes', 'no', expect.any(String)],
      ['Kids', '0', 'yes', 'yes', 'until nine'],
    ]);
    await linesOf('groups change kids --disable --ipv6 --name Teens');
    expect(await jsonOf('groups show Teens')).toMatchObject({ enabled: false, no_ipv6: false });
    expect(await linesOf('groups show Teens')).toContainEqual(expect.stringMatching(/^comment +until nine$/));
    await linesOf('clients add 192.0.2.7 --group Teens');
    expect(await run('groups remove Teens')).toMatchObject({ status: 1, lines: [] });
    expect(await linesOf('groups remove Teens --cascade')).toEqual([
      expect.stringMatching(/^removed group "Teens"/),
    ]);
    expect(await jsonOf('groups')).toHaveLength(1);
  });

  test('reports unknown groups, and missing or contradictory options', async () => {
    expect(await run('groups show Others')).toMatchObject({
      status: 2,
      errors: ['weir: group "Others" does not exist'],
    });
    expect(await run('groups show 99')).toMatchObject({ status: 1, errors: [expect.stringContaining('99')] });
    expect(await run('groups change 1')).toMatchObject({
      status: 2,
      errors: [expect.stringContaining('specify what to change: --name, --comment')],
    });
    expect(await run('groups change 1 --enable --disable')).toMatchObject({
      status: 2,
      errors: ['weir: --disable and its opposite were both given'],
    });
    expect(parseArguments(['groups', 'add'])).toMatchObject({ kind: 'mistake' });
  });
});

describe('weir clients', () => {
  test('adds a client by address or MAC, and finds it by address, MAC and name', async () => {
    await linesOf('groups add Adults');
    await linesOf('clients add 192.0.2.8 --name Desk --group Adults');
    await linesOf('clients add 02-00-5E-10-00-01 --name Tablet');
    for (const name of ['desk', '192.0.2.8'])
      expect(await jsonOf(`clients show ${name}`)).toMatchObject({ name: 'Desk', ip_address: '192.0.2.8' });
    expect(await jsonOf('clients show 02:00:5e:10:00:01')).toMatchObject({ name: 'Tablet' });
    const rows = await linesOf('clients --search desk');
    expect(rows).toHaveLength(2);
    expect(rows[1]).toMatch(/192\.0\.2\.8 .*Desk .*Adults/);
    await linesOf('clients change Desk --group none');
    expect(await jsonOf('clients show Desk')).toMatchObject({ group_id: 1 });
  });

  test('asks for an ID if two clients have the same name', async () => {
    await linesOf('clients add 192.0.2.20 --name Twin');
    await linesOf('clients add 192.0.2.21 --name Twin');
    expect(await run('clients remove Twin')).toMatchObject({
      status: 2,
      errors: [expect.stringMatching(/^weir: 2 clients have the name "Twin": use an id, \d+ or \d+$/)],
    });
    await linesOf('clients remove 192.0.2.20');
    await linesOf('clients remove Twin');
  });
});

describe('weir rules', () => {
  test('marks the IDs of regex rules with "r" to distinguish them from domain rules', async () => {
    await linesOf('groups add Ruled');
    await linesOf('rules add deny *.ads.example --group Ruled');
    await linesOf('rules add allow ^shop[0-9]+\\. --expression');
    const rows = (await linesOf('rules')).slice(1).map((row) => row.trim().split(/ {2,}/));
    expect(rows).toEqual([
      [expect.stringMatching(/^\d+$/), 'deny', '*.ads.example', 'Ruled', 'yes'],
      [expect.stringMatching(/^r\d+$/), 'allow', '^shop[0-9]+\\.', 'every group', 'yes'],
    ]);
    expect(await linesOf('rules --search SHOP')).toHaveLength(2);
    await linesOf(`rules change ${rows[1]![0]} --action deny --disable`);
    expect(await jsonOf(`rules show ${rows[1]![0]}`)).toMatchObject({ action: 'deny', enabled: false });
    await linesOf('rules remove *.ads.example');
    await linesOf(`rules remove ${rows[1]![0]}`);
    expect(await jsonOf('rules')).toEqual([]);
    expect(parseArguments(['rules', 'add', 'block', 'x.example'])).toMatchObject({ kind: 'mistake' });
  });
});

describe('weir tokens', () => {
  test('prints the secret of a token only when it is created', async () => {
    const { lines, errors } = await run('tokens add Grafana --role viewer');
    expect(lines).toEqual([expect.stringMatching(/^\S{20,}$/)]);
    expect(errors).toEqual([expect.stringMatching(/^weir: added token "Grafana" .* shown only once$/)]);
    const rows = await linesOf('tokens');
    expect(rows[1]).toMatch(/Grafana +viewer/);
    expect(rows.join()).not.toContain(lines[0]);
    await linesOf('tokens change Grafana --name Prometheus');
    await linesOf('tokens remove Prometheus');
    expect(await jsonOf('tokens')).toEqual([]);
  });
});

describe('weir users', () => {
  const { stdin } = process;
  let typed: PassThrough;
  beforeEach(() => {
    typed = new PassThrough();
    Object.defineProperty(process, 'stdin', { value: typed, configurable: true });
  });
  afterEach(() => {
    Object.defineProperty(process, 'stdin', { value: stdin, configurable: true });
  });

  test('reads the password of a new user from standard input', async () => {
    await api.setUp();
    typed.end('a fine long passphrase\n');
    await linesOf('users add vera --display-name Vera_M');
    expect(await jsonOf('users')).toContainEqual(
      expect.objectContaining({ username: 'vera', display_name: 'Vera M', role: 'viewer' }),
    );
    await linesOf('users change VERA --role admin');
    expect((await linesOf('users')).join('\n')).toMatch(/vera +Vera M +admin/);
    await linesOf('users remove vera');
  });

  test('links clients to a user of the role family by name, address and ID', async () => {
    await api.setUp();
    const ids = [];
    for (const client of ['192.0.2.31 --name Joystick', '192.0.2.32', '192.0.2.33'])
      ids.push((await jsonOf<{ id: number }>(`clients add ${client}`)).id);
    typed.end('a fine long passphrase\n');
    const { client_ids: linked } = await jsonOf(
      `users add frida --role family --clients joystick,192.0.2.32,${ids[2]}`,
    );
    expect(linked).toEqual(ids);
    expect(await run('users change frida --clients joystick,nothing')).toMatchObject({ status: 2 });
    expect(await jsonOf('users change frida --clients none')).toMatchObject({ client_ids: [] });
    await linesOf('users remove frida');
  });

  test('refuses a password that is too weak', async () => {
    typed.end('12345678\n');
    expect(await run('users add weak')).toMatchObject({ status: 1, lines: [] });
  });
});

describe('weir nodes, weir revisions and weir cache flush', () => {
  test('list the nodes', async () => {
    expect((await linesOf('nodes'))[0]).toMatch(/^NODE +VERSION +ADDRESS/);
  });

  test('list revisions, and refuse a rollback without a terminal or --yes', async () => {
    await linesOf('groups add Before');
    const [{ id }] = await jsonOf<[{ id: number }]>('revisions');
    await linesOf('groups add After');
    expect((await linesOf('revisions'))[1]).toMatch(/After/);
    expect((await jsonOf(`revisions show ${id}`))['changes']).toHaveLength(1);
    expect(await run(`revisions rollback ${id}`)).toMatchObject({
      status: 2,
      errors: [expect.stringContaining('--yes')],
    });
    expect((await run('revisions rollback newest --yes')).status).toBe(2);
  });

  test('clear the cache', async () => {
    expect(await linesOf('cache flush')).toEqual(['cleared all answers from the cache']);
    expect(await linesOf('cache flush --domain example.org')).toEqual([
      'cleared the answers for example.org from the cache',
    ]);
    expect((await run('cache flush --type NOPE')).status).toBe(1);
  });
});
