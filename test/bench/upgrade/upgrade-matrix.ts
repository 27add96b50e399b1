// `npm run bench -- upgrade-matrix`: a Weir server under load is upgraded to a release that fails at each step of the
// start in turn, by an error or a kill; then the same for upgrades from and to another release. Prints a table; exits
// with 1 if a query was lost or answered with SERVFAIL.
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { START_STEPS } from '../../../control-plane/node/upgrade/start-steps.ts';
import { FaultyRelease, type StepFault } from '../../support/weir/faulty-release.ts';
import { runUpgrade } from '../../support/weir/upgrades.ts';
import { type Stand, takeTurn, type Turn, withStand } from './upgrade-turns.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const HELP = `npm run bench -- upgrade-matrix [options]

  --rate N         datagrams per second (20000)
  --clients N      of each of TCP, TLS and HTTPS (4)
  --secs N         seconds of load for each upgrade (9)
  --other FOLDER   an earlier release with its packages, for failing upgrades from it and to it
`;
/** The output lines of the command after which a process of an earlier release is killed. */
const KILLED_AFTER = [
  / starts$/,
  / is loaded$/,
  /^the new process answers/,
  /in flight are answered$/,
  /has locked the data/,
];

/** An upgrade and the result of its load. */
class Matrix {
  readonly turns: Turn[] = [];
  private readonly stand: Stand;

  constructor(stand: Stand) {
    this.stand = stand;
  }

  /** Makes an upgrade that succeeds. */
  upgrade(kind: string, release: string): Promise<void> {
    return this.take(kind, 0, () => runUpgrade(this.stand.weir, undefined, release));
  }

  /** Makes an upgrade that fails at a step of the new release. */
  failAt(release: FaultyRelease, step: (typeof START_STEPS)[number], fault: StepFault): Promise<void> {
    release.failAt(step, fault);
    return this.take(`${step}: ${fault}`, 1, () => runUpgrade(this.stand.weir, undefined, release.folder));
  }

  /** Makes an upgrade whose process is killed after a line of the command's output. */
  kill(release: string, line: RegExp): Promise<void> {
    return this.take(`killed after "${line.source}"`, 1, () =>
      runUpgrade(
        this.stand.weir,
        (text, pid) => {
          if (line.test(text)) process.kill(pid, 'SIGKILL');
        },
        release,
      ),
    );
  }

  /** Makes an upgrade with a configuration whose port another process uses. */
  async takePort(release: string, key: 'web_port' | 'dot_port'): Promise<void> {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    const file = join(this.stand.weir.tempDir.path, 'weir.toml');
    const before = readFileSync(file, 'utf8');
    writeFileSync(file, before.replace(new RegExp(`^${key} = \\d+$`, 'm'), `${key} = ${String(port)}`));
    // The file is restored only after the upgrade, because a process that is restarted during the upgrade also reads
    // it.
    await this.take(`${key} taken`, 1, async () => {
      const run = await runUpgrade(this.stand.weir, undefined, release);
      writeFileSync(file, before);
      return run;
    });
    holder.close();
  }

  /** Makes an upgrade for each step and fault. */
  async failAll(release: FaultyRelease, faults: readonly StepFault[]): Promise<void> {
    for (const step of START_STEPS) for (const fault of faults) await this.failAt(release, step, fault);
  }

  private async take(
    kind: string,
    expected: number,
    run: () => Promise<{ code: number | null; output: string }>,
  ): Promise<void> {
    const turn = await takeTurn(this.stand, kind, async () => {
      const { code, output } = await run();
      if (code !== expected) throw new Error(`${kind}: exit status ${String(code)}: ${output}`);
    });
    this.turns.push(turn);
  }
}

async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rate: { type: 'string', default: '20000' },
      clients: { type: 'string', default: '4' },
      secs: { type: 'string', default: '9' },
      other: { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  if (values.help === true) return void process.stdout.write(HELP);
  const folder = mkdtempSync(join(tmpdir(), 'weir-releases-'));
  const load = { rateQps: Number(values.rate), clients: Number(values.clients), secs: Number(values.secs) };
  try {
    await withStand(load, async (stand) => {
      const matrix = new Matrix(stand);
      const faulty = new FaultyRelease(join(folder, 'faulty'));
      await matrix.upgrade('this to this', ROOT);
      await matrix.failAll(faulty, ['throws', 'is killed']);
      for (const key of ['web_port', 'dot_port'] as const) await matrix.takePort(ROOT, key);
      if (values.other !== undefined) await failWith(matrix, values.other, faulty);
      report(matrix.turns);
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Downgrades to an earlier release that fails, then upgrades from it. */
async function failWith(matrix: Matrix, other: string, faulty: FaultyRelease): Promise<void> {
  for (const key of ['web_port', 'dot_port'] as const) await matrix.takePort(other, key);
  for (const line of KILLED_AFTER) await matrix.kill(other, line);
  await matrix.upgrade('this to earlier', other);
  for (const step of START_STEPS) await matrix.failAt(faulty, step, 'throws');
  await matrix.upgrade('earlier to this', ROOT);
}

/** One line for each upgrade. */
function report(turns: readonly Turn[]): void {
  const line = (cells: readonly (string | number | undefined)[]): string => `| ${cells.join(' | ')} |\n`;
  process.stdout.write(
    line(['upgrade', 'ms', 'UDP sent', 'lost', 'SERVFAIL', 'streams answered', 'again', 'lost', 'max ms']),
  );
  for (const { kind, tookMs, sent, lost, servfail, streams, maxUs = 0 } of turns)
    process.stdout.write(line([kind, tookMs, sent, lost, servfail, ...streams, Math.round(maxUs / 1000)]));
  const isClean = turns.every(({ lost, servfail, streams }) => lost + servfail + streams[2] === 0);
  if (!isClean) process.exitCode = 1;
}

await main(process.argv.slice(2));
