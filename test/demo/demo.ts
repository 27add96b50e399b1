// `npm run demo`: a Weir server with a sample household, for people who want to try the dashboard. It sends nothing to
// the Internet and keeps all files in one folder. Ctrl+C stops it, and the next start continues with the same data.
import { once } from 'node:events';
import { join, resolve as resolvePath } from 'node:path';
import { parseArgs } from 'node:util';
import { reasonOf } from '../../shared/errors.ts';
import { Demo } from './running-demo.ts';
import type { DemoOptions } from './running-demo.ts';

const HELP = `npm run demo -- [options]

  --dir DIR      data folder (data/demo)
  --port N       port of the dashboard; the next two ports serve its lists and DNS (8090)
  --days N       days of query log to create at the first start (7)
  --per-day N    queries on a usual day (60000)
`;
const FOLDER = join(import.meta.dirname, '..', '..', 'data', 'demo');

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Null for --help. @throws {Error} with the invalid option */
function readOptions(): DemoOptions | null {
  const { values } = parseArgs({
    options: {
      dir: { type: 'string', default: FOLDER },
      port: { type: 'string', default: '8090' },
      days: { type: 'string', default: '7' },
      'per-day': { type: 'string', default: '60000' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  const number = (name: 'port' | 'days' | 'per-day'): number => {
    const value = Number(values[name]);
    if (value > 0) return value;
    throw new Error(`read --${name}: expected a positive number`);
  };
  const web = number('port');
  const ports = { web, lists: web + 1, dns: web + 2 };
  return {
    dir: resolvePath(values.dir),
    ports,
    days: number('days'),
    perDay: number('per-day'),
    output: process.stdout,
  };
}

async function run(options: DemoOptions): Promise<void> {
  const interrupted = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  const demo = await Demo.open(options);
  print(`
Open ${demo.origin}/ and log in as admin with the password ${demo.password}

All data is made up; change anything you like. DNS listens on 127.0.0.1 port ${demo.weir.dnsPort}, and the server log is
${join(options.dir, 'weir.log')}. Press Ctrl+C to stop the demo. To start from scratch, delete ${options.dir}`);
  const hasEnded = once(demo.weir.child, 'exit').then(() => true);
  const isOver = await Promise.race([interrupted.then(() => false), hasEnded]);
  print(isOver ? 'Weir stopped unexpectedly; see the server log.' : 'Stopping the demo.');
  if (isOver) process.exitCode = 1;
  await demo.close();
}

try {
  const options = readOptions();
  if (options === null) print(HELP);
  else await run(options);
} catch (error) {
  process.stderr.write(`${reasonOf(error)}\n`);
  process.exit(1);
}
