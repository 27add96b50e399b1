/** Tests of the needs that suites declare, and of `.config/needs.cjs`, which skips suites whose needs are not met. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { makeTempDir } from './test-database.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const FILTER = join(ROOT, '.config', 'needs.cjs');
const { needsOf } = createRequire(import.meta.url)(FILTER) as { needsOf: (suite: string) => string[] };

const folder = makeTempDir();
afterAll(() => rmSync(folder, { recursive: true }));

describe('all suites of the repository', () => {
  /** Programs that a slim Debian with Node does not have, and functions of test/support that start them, by package. */
  const RUN = {
    bind9: 'startPolicyZone',
    'bind9-dnsutils': 'dig|delv|openDelv',
    'bind9-utils': 'named-checkzone|dnssec-\\w+|signZones',
    curl: 'curl',
    dnsdist: 'dnsdist|startDnsdist',
    'dnsmasq-base': 'dnsmasq|startDnsmasq',
    'docker-compose': 'docker-compose',
    git: 'git',
    haproxy: 'haproxy|startHaproxy',
    iproute2: 'ip',
    'knot-dnsutils': 'kdig',
    ldnsutils: 'drill|ldns-\\w+',
    nsd: 'nsd|startNsd|startNsdOn',
    openssl: 'openssl|TestAuthority',
    pgbouncer: 'pgbouncer',
    prometheus: 'promtool',
    root: 'mount|umount',
    unbound: 'unbound|startUnbound|startEncryptedUnbound|startRecursion',
  };
  const suites = ['config', 'control-plane', 'deploy', 'dns-worker', 'shared', 'test'].flatMap((area) =>
    readdirSync(join(ROOT, area), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.test.ts') && !/(^|\/)(dist|node_modules)\//.test(name))
      .map((name) => join(ROOT, area, name)),
  );

  test('declare the package of each program that they run', () => {
    const faults = suites.flatMap((suite) => {
      const text = readFileSync(suite, 'utf8');
      const needs = needsOf(suite);
      return Object.entries(RUN)
        .filter(([need, words]) => {
          const program = `\\b(spawn|exec|run|require|find)\\w*(\\(\\w+\\))?\\(\\s*'(${words})'`;
          const start = `await (${words})\\(|new (${words})\\(`;
          return !needs.includes(need) && new RegExp(`${program}|${start}`).test(text);
        })
        .map(([need]) => `${relative(ROOT, suite)} needs ${need}`);
    });
    expect(faults).toEqual([]);
    expect(suites.length).toBeGreaterThan(700);
  });

  test('declare the needs of the modules of test/support that they import', () => {
    const modulePath = relative(folder, join(ROOT, 'test/support/browser/dashboard-fixture.ts'));
    const suite = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const importing = `/** @needs nsd, git */\nimport { DashboardFixture } from '${modulePath}';\n`;
    expect(needsOf(suite('importing.ts', importing))).toEqual(['chromium', 'git', 'nsd']);
    const typed = `import type { DashboardFixture } from '${modulePath}';\n`;
    expect(needsOf(suite('typed.ts', typed))).toEqual([]);
    const unknown = suite('unknown.ts', '/** @needs no-such-package */\n');
    expect(() => needsOf(unknown)).toThrow('needs no-such-package: add it to .config/needs.cjs');
  });
});

describe('jest on a machine without docker-compose', () => {
  beforeAll(() => {
    const config = { rootDir: folder, filter: FILTER, testEnvironment: 'node', transform: {}, cache: false };
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ jest: config }));
    writeFileSync(join(folder, 'plain.test.js'), `test('runs', () => undefined);\n`);
    writeFileSync(
      join(folder, 'needy.test.js'),
      `/** @needs docker-compose */\ntest('runs', () => undefined);\n`,
    );
  });

  function jest(args: readonly string[], env: Record<string, string> = {}) {
    const program = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');
    const flags = ['--disable-warning=ExperimentalWarning', program, '--maxWorkers', '1', ...args];
    return spawnSync(process.execPath, flags, {
      cwd: folder,
      encoding: 'utf8',
      env: { PATH: '/nowhere', ...env },
    });
  }
  const line = expect.stringMatching(/^skipped: needs docker-compose {2}\S*needy\.test\.js$/m) as unknown;

  test('prints one line for a suite that needs docker-compose, skips the suite, and runs the others', () => {
    const { status, stderr } = jest([]);
    expect([status, stderr]).toEqual([0, line]);
    expect(stderr).toMatch(/^Tests: +1 passed, 1 total$/m);
  });

  test('succeeds if only skipped suites were selected', () => {
    const { status, stdout, stderr } = jest(['--runTestsByPath', 'needy.test.js']);
    expect([status, stdout, stderr]).toEqual([0, '0 passed, 0 failed, 1 skipped\n', line]);
  });

  test('fails with WEIR_TEST_NO_SKIPS=1, and lists each suite with its missing need', () => {
    const { status, stderr } = jest([], { WEIR_TEST_NO_SKIPS: '1' });
    expect(stderr).toMatch(/no suite may be skipped .*\nneeds docker-compose {2}\S*needy\.test\.js$/m);
    expect(status).toBe(1);
  });
});
