/** The report of known vulnerabilities: it lists npm's advisories, and never fails a build. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

const SCRIPT = join(import.meta.dirname, '..', '..', '.config', 'audit-report.js');
const ADVISORY = {
  ...{
    title: 'Prototype pollution',
    url: 'https://advisories.example/1',
    severity: 'moderate',
    range: '<1.2.3',
  },
};
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-audit-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the report with this shell script in place of npm. */
function reportOf(script: string): { status: number | null; text: string } {
  writeFileSync(join(folder, 'npm'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}` };
  const { status } = spawnSync(process.execPath, [SCRIPT, folder], { encoding: 'utf8', env });
  return { status, text: readFileSync(join(folder, 'AUDIT.txt'), 'utf8') };
}

describe('npm run artefacts -- audit', () => {
  test('lists the advisories of npm audit, the most severe first, and exits with 0', () => {
    const vulnerabilities = {
      a: { name: 'a', via: [ADVISORY, 'b'] },
      b: { name: 'b', via: [{ ...ADVISORY, severity: 'critical', title: 'Worse' }] },
    };
    writeFileSync(join(folder, 'answer.json'), JSON.stringify({ vulnerabilities }));
    expect(reportOf(`cat ${folder}/answer.json; exit 1`)).toEqual({
      status: 0,
      text: [
        '2 advisories',
        'critical  b <1.2.3: Worse (https://advisories.example/1)',
        'moderate  a <1.2.3: Prototype pollution (https://advisories.example/1)',
        '',
      ].join('\n'),
    });
  });

  test('reports why the registry gave no answer, and exits with 0', () => {
    const answer = JSON.stringify({ message: 'the registry is unreachable' });
    expect(reportOf(`echo '${answer}'; exit 1`)).toEqual({
      status: 0,
      text: 'no answer: the registry is unreachable\n',
    });
    expect(reportOf('echo broken >&2; exit 1')).toEqual({ status: 0, text: 'no answer: broken\n' });
  });
});
