// Known vulnerabilities of the packages of a production install, as reported by `npm audit`: data/sbom/AUDIT.txt. A
// report that never fails a build: a new advisory about a package must not block a release that fixes something else.
// Usage: node .config/audit-report.js [FOLDER] (npm run artefacts -- audit).
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const FOLDER = process.argv[2] ?? join(ROOT, 'data', 'sbom');

/** The advisories in the output of `npm audit --json`, one per line, the most severe first. */
function linesOf({ vulnerabilities = {} }) {
  const ranks = ['critical', 'high', 'moderate', 'low', 'info'];
  return Object.values(vulnerabilities)
    .flatMap(({ name, via }) => via.filter((one) => typeof one === 'object').map((one) => ({ name, ...one })))
    .sort((a, b) => ranks.indexOf(a.severity) - ranks.indexOf(b.severity))
    .map(
      ({ name, range, severity, title, url }) => `${severity.padEnd(9)} ${name} ${range}: ${title} (${url})`,
    );
}

function report() {
  const asked = spawnSync('npm', ['audit', '--omit=dev', '--json'], { cwd: ROOT, encoding: 'utf8' });
  let answer;
  try {
    answer = JSON.parse(asked.stdout);
  } catch {
    answer = { message: asked.error?.message ?? asked.stderr.trim() };
  }
  if (answer.vulnerabilities === undefined) return `no answer: ${answer.message ?? answer.error?.summary}\n`;
  const lines = linesOf(answer);
  return `${lines.length} advisories\n${lines.map((line) => `${line}\n`).join('')}`;
}

mkdirSync(FOLDER, { recursive: true });
const text = report();
writeFileSync(join(FOLDER, 'AUDIT.txt'), text);
console.log(text.trimEnd());
