// Options that a single bench has in addition to the options of `npm run bench`, all positive numbers, and a function
// that runs such a bench.
import { parseArgs } from 'node:util';
import { stopRunning } from './process/child.ts';

/** The bench's own numbers, and the remaining arguments for `parseOptions`. */
export interface OwnNumbers<Name extends string> {
  readonly own: Readonly<Record<Name, number>>;
  readonly rest: string[];
}

/** Reads the numbers; null if the arguments request help. Throws an Error that names the invalid option. */
export function readOwnNumbers<Name extends string>(
  args: readonly string[],
  defaults: Readonly<Record<Name, number>>,
): OwnNumbers<Name> | null {
  const names = Object.keys(defaults) as Name[];
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
  const { values } = parseArgs({
    args: [...args],
    strict: false,
    options: { ...options, help: { type: 'boolean' } },
  });
  if (values.help === true) return null;
  const own: Record<Name, number> = { ...defaults };
  for (const name of names) {
    const given = (values as Partial<Record<Name, unknown>>)[name];
    if (given === undefined) continue;
    const value = Number(given);
    if (!(value > 0)) throw new Error(`read --${name}: expected a positive number`);
    own[name] = value;
  }
  const isOwn = (word = ''): boolean => names.some((name) => word === `--${name}`);
  return { own, rest: args.filter((word, index) => !isOwn(word) && !isOwn(args[index - 1])) };
}

/** Runs a bench with this process's arguments; a signal ends everything that the bench has started. */
export async function runBench(main: (args: string[]) => Promise<void>): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      void stopRunning().then(() => process.exit(130));
    });
  try {
    await main(process.argv.slice(2));
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  }
}
