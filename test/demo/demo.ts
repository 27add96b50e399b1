// `npm run demo`: a Weir with a made-up household, for people who want to look at the dashboard. It asks nothing of the
// Internet and keeps everything in one folder; Ctrl+C ends it, and the next start goes on from there.
import { once } from 'node:events';
import { join, resolve as resolvePath } from 'node:path';
import { parseArgs } from 'node:util';
import { reasonOf } from '../../shared/thrown.ts';
import { Demo } from './running-demo.ts';
import type { DemoOptions } from './running-demo.ts';

const HELP = `npm run demo -- [options]

  --dir DIR      folder of everything that it keeps (data/demo)
  --port N       port of the dashboard; the next two are those of its lists and of DNS (8090)
  --days N       days that the log goes back at the first start (7)
  --per-day N    questions of an ordinary day (60000)
`;
const FOLDER = join(import.meta.dirname, '..', '..', 'data', 'demo');

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Null where help is asked for. @throws {Error} that names what is wrong */
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
  return { dir: resolvePath(values.dir), ports, days: number('days'), perDay: number('per-day') };
}

async function run(options: DemoOptions): Promise<void> {
  const told = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  say('The first start makes days of questions, which takes a while; later ones are short.');
  const demo = await Demo.open(options);
  say(`
Open ${demo.origin}/ and log in as admin with the password ${demo.password}

Everything you see is made up, and you may change all of it. DNS is at 127.0.0.1 port ${demo.weir.dnsPort}, the output of
the server in ${join(options.dir, 'weir.log')}. Ctrl+C ends the demo; to begin again, remove ${options.dir}`);
  const hasEnded = once(demo.weir.child, 'exit').then(() => true);
  const isOver = await Promise.race([told.then(() => false), hasEnded]);
  say(isOver ? 'Weir has ended; its output says why.' : 'ending');
  if (isOver) process.exitCode = 1;
  await demo.close();
}

try {
  const options = readOptions();
  if (options === null) say(HELP);
  else await run(options);
} catch (error) {
  process.stderr.write(`${reasonOf(error)}\n`);
  process.exit(1);
}
