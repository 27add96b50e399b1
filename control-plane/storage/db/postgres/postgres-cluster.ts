/**
 * Runs programs on the files of a cluster while no server runs: initdb, which creates the cluster, and a program that
 * sets a new password for its role.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeOwnedFile } from './owned-files.ts';
import { spawnIdentity } from './postgres-account.ts';
import type { PostgresHome } from './postgres-home.ts';
import { explainSpawnError, serverEnvironment } from './postgres-process.ts';

const SYNC_METHOD = '--sync-method=syncfs';

/** A cluster and the role whose password is set. */
export interface ClusterTask {
  readonly home: PostgresHome;
  readonly runtime: string;
  readonly role: string;
  readonly password: string;
  /** Ends the program. */
  readonly signal: AbortSignal;
}

/**
 * Runs initdb. The cluster only gets its final name when it is complete, so that no directory looks like a cluster if
 * the process is killed during initdb.
 */
export async function createCluster({ home, runtime, role, password, signal }: ClusterTask): Promise<void> {
  for (const entry of readdirSync(home.dir)) {
    if (entry.startsWith('cluster.new-')) rmSync(join(home.dir, entry), { recursive: true, force: true });
  }
  const mark = randomBytes(4).toString('hex');
  const unfinished = join(home.dir, `cluster.new-${mark}`);
  const passwordFile = join(home.dir, `cluster.new-${mark}.password`);
  writeOwnedFile(passwordFile, `${password}\n`, home.account);
  const flags = ['-D', unfinished, '-U', role, `--pwfile=${passwordFile}`, '--auth=scram-sha-256'];
  // choice: no page checksums. With checksums, every page of the log is written to the WAL a second time when it is
  // first read, which makes storing the log 20 % slower and wears out small flash disks.
  flags.push('--encoding=UTF8', '--locale=C', '--no-data-checksums', '--no-instructions', SYNC_METHOD);
  try {
    await runProgram('initdb', flags, { home, runtime, signal });
    renameSync(unfinished, home.cluster);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    throw error;
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

/** Flushes to disk a whole cluster whose server ran without fsync. */
export async function syncCluster(task: Pick<ClusterTask, 'home' | 'runtime' | 'signal'>): Promise<void> {
  await runProgram('initdb', ['--sync-only', '-D', task.home.cluster, SYNC_METHOD], task);
}

/** Sets the role's password in a cluster on which no server is running. */
export async function setPassword({ home, runtime, role, password, signal }: ClusterTask): Promise<void> {
  const flags = ['--single', '-D', home.cluster, 'postgres'];
  await runProgram(
    'postgres',
    flags,
    { home, runtime, signal },
    `ALTER ROLE "${role}" PASSWORD '${password}';\n`,
  );
}

/** Runs a program to its end; rejects with its output if it fails. */
function runProgram(
  program: string,
  flags: readonly string[],
  { home, runtime, signal }: Pick<ClusterTask, 'home' | 'runtime' | 'signal'>,
  input = '',
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(join(runtime, 'bin', program), flags, {
      cwd: home.dir,
      env: serverEnvironment(),
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
      signal,
      killSignal: 'SIGKILL',
      ...spawnIdentity(home.account),
    });
    let output = '';
    const keep = (chunk: Buffer): void => void (output = (output + chunk.toString('utf8')).slice(-2000));
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.once('error', (error) => {
      reject(
        new Error(
          `could not run ${program}: ${explainSpawnError(error, { runtime, account: home.account })}`,
          {
            cause: error,
          },
        ),
      );
    });
    child.once('close', (code) => {
      if (code === 0) return resolve();
      reject(
        new Error(
          `${program} failed on ${home.dir}: ${mainErrorOf(output) || `ended with code ${code ?? '?'}`}`,
        ),
      );
    });
    child.stdin.on('error', () => undefined); // The exit code and the output show the reason.
    child.stdin.end(input);
  });
}

/** The error lines of the output, without times and process ids, so that equal errors have equal messages. */
function mainErrorOf(output: string): string {
  if (output.includes('could not look up effective user ID')) {
    return `user id ${process.geteuid?.() ?? '?'} has no entry in /etc/passwd; add one or set database.url`;
  }
  return output
    .trim()
    .split('\n')
    .map((line) => /(?:FATAL|PANIC|HINT|DETAIL|error|could not|cannot).*$/.exec(line)?.[0])
    .filter((line) => line !== undefined)
    .slice(0, 2)
    .join('; ');
}
