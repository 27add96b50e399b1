// `npm run check`: runs all checks, two at a time, the longest first. Prints the output of each as it ends, and names
// those that failed. Usage: node .config/check.js
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

const CHECKS = ['lint', 'types', 'layout', 'imports', 'unused', 'tested', 'cited', 'style'];
const AT_ONCE = 2;

const waiting = [...CHECKS];
const failed = [];

async function runChecks() {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const sinceMs = performance.now();
    const check = spawn('npm', ['run', '--silent', name], { stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = once(check, 'close');
    const output = await Promise.all([text(check.stdout), text(check.stderr)]);
    const [code] = await ended;
    const secs = ((performance.now() - sinceMs) / 1000).toFixed(0);
    console.log(`${name}: ${code === 0 ? 'ok' : 'failed'} (${secs} s)`);
    for (const part of output) if (part.trim() !== '') console.log(part.trimEnd());
    if (code !== 0) failed.push(name);
  }
}

await Promise.all(Array.from({ length: AT_ONCE }, runChecks));
if (failed.length > 0) {
  console.error(`failed: ${failed.join(', ')}`);
  process.exitCode = 1;
}
