// `npm run bench -- upgrade`: a Weir server under load is upgraded repeatedly, forwards and backwards, then with the
// new process killed at each step. Datagrams are sent at a fixed rate without retries; clients of TCP, TLS and HTTPS
// send one question at a time, and retry once if a connection ends. Needs a C compiler for the load generator.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { runUpgrade } from '../../support/weir/upgrades.ts';
import type { Weir } from '../../support/weir/weir-process.ts';
import { takeTurn, type Turn, withStand } from './upgrade-turns.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const RESULT_FILE = join(ROOT, 'test', 'bench', 'results', 'upgrade.json');
const HELP = `npm run bench -- upgrade [options]

  --upgrades N     number of upgrades (20)
  --rate N         datagrams per second (20000)
  --clients N      of each of TCP, TLS and HTTPS (4)
  --no-kills       only complete upgrades
  --other FOLDER   another release with its packages, to upgrade to and back
`;
const LOAD_SECS = 15;
/** The output lines after which the new process is killed. */
const KILLED_AFTER = [
  / starts$/,
  / is loaded$/,
  /^the new process answers/,
  /in flight are answered$/,
] as const;

async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    allowNegative: true,
    options: {
      upgrades: { type: 'string', default: '20' },
      rate: { type: 'string', default: '20000' },
      clients: { type: 'string', default: '4' },
      other: { type: 'string', default: ROOT },
      kills: { type: 'boolean', default: true },
      help: { type: 'boolean' },
    },
  });
  if (values.help === true) return void process.stdout.write(HELP);
  const [rateQps, clients] = [Number(values.rate), Number(values.clients)];
  const turns: Turn[] = [];
  await withStand({ rateQps, clients, secs: LOAD_SECS }, async (stand) => {
    const { weir } = stand;
    turns.push(await takeTurn(stand, 'no upgrade', async () => undefined));
    for (let i = 0; i < Number(values.upgrades); i++) {
      const release = i % 2 === 0 ? values.other : ROOT;
      turns.push(await takeTurn(stand, i % 2 === 0 ? 'forwards' : 'backwards', () => upgrade(weir, release)));
    }
    for (const step of values.kills ? KILLED_AFTER : [])
      turns.push(await takeTurn(stand, `killed ${step.source}`, () => upgradeInVain(weir, step)));
  });
  mkdirSync(dirname(RESULT_FILE), { recursive: true });
  writeFileSync(RESULT_FILE, `${JSON.stringify({ rate: rateQps, turns }, null, 2)}\n`);
}

async function upgrade(weir: Weir, release: string): Promise<void> {
  const { code, output } = await runUpgrade(weir, undefined, release);
  if (code !== 0) throw new Error(`upgrade: ${output}`);
}

async function upgradeInVain(weir: Weir, step: RegExp): Promise<void> {
  const { code, output } = await runUpgrade(weir, (line, pid) => {
    if (step.test(line)) process.kill(pid, 'SIGKILL');
  });
  if (code !== 1) throw new Error(`upgrade whose process was killed: ${output}`);
}

await main(process.argv.slice(2));
