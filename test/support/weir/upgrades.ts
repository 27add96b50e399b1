/** Upgrades of a running Weir server, run as an operator does, and the resulting processes. */
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { HANDOVER_SOCKET } from '../../../control-plane/node/upgrade/handover-format.ts';
import { until, within } from '../parts/until.ts';
import { commandOf } from './holder.ts';
import { OwnProcess, ownEnvironment, START_COMMAND, type Weir } from './weir-process.ts';

/** Result of an upgrade. */
export interface UpgradeRun {
  /** Exit status of the command. */
  readonly code: number | null;
  readonly output: string;
}

const ROOT = join(import.meta.dirname, '..', '..', '..');
const [NODE, START] = START_COMMAND;

/**
 * Runs `weir upgrade` from the release in a folder, by default from this checkout. Calls `onStep` with each printed
 * line and the started process.
 */
export async function runUpgrade(
  { tempDir, user }: Pick<Weir, 'tempDir' | 'user'>,
  onStep: (line: string, pid: number) => void = () => undefined,
  release = ROOT,
): Promise<UpgradeRun> {
  const program = join(release, 'control-plane', 'main.ts');
  const args = [...START.slice(0, -2), program, 'upgrade', '--config', join(tempDir.path, 'weir.toml')];
  const command = new OwnProcess(NODE, args, { cwd: tempDir.path, env: ownEnvironment(), ...user });
  let reported = 0;
  command.child.stdout?.on('data', () => {
    const lines = command.output.split('\n').slice(0, -1);
    const pid = Number(/process (\d+) of/.exec(command.output)?.[1]);
    for (; reported < lines.length; reported++) onStep(lines[reported]!, pid);
  });
  const { code } = await command.end();
  return { code, output: command.output };
}

/** Whether a process listens for upgrades. */
export async function acceptsHandover({ tempDir }: Pick<Weir, 'tempDir'>): Promise<boolean> {
  const socket = connect(join(tempDir.dataDir, HANDOVER_SOCKET));
  const connected = within(`a connection to ${HANDOVER_SOCKET}`, once(socket, 'connect'));
  const isListening = await connected.then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isListening;
}

/** The process that is to take over from process `pid`, once it has been started. */
export async function untilSuccessor(pid: number): Promise<number> {
  const isSuccessor = (command: readonly string[]): boolean => command.includes('--take-over');
  const children = await until(
    `a process that takes over from process ${String(pid)}`,
    () => childrenOf(pid).map((child) => ({ child, command: commandOf(child) })),
    (found) => found.some(({ command }) => isSuccessor(command)),
  );
  return Number(children.find(({ command }) => isSuccessor(command))!.child);
}

function childrenOf(pid: number): string[] {
  const children = readFileSync(`/proc/${String(pid)}/task/${String(pid)}/children`, 'utf8');
  return children.split(' ').filter((child) => child !== '');
}

/** The lowest niceness among the threads of a process: the niceness of the answer threads. */
export function nicenessOf(pid: number): number {
  const threads = readdirSync(`/proc/${String(pid)}/task`);
  // The name of a thread may contain spaces; niceness is the 17th field after it (proc(5)).
  const fields = threads.map((id) =>
    readFileSync(`/proc/${String(pid)}/task/${id}/stat`, 'utf8')
      .split(') ')
      .pop()!,
  );
  return Math.min(...fields.map((text) => Number(text.split(' ')[16])));
}
