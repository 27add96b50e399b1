/** The clients of the conformance run, as processes. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { PYTHON } from '../support/parts/programs.ts';
import { giveInput } from '../support/weir/standard-input.ts';
import type { ConformanceCase, Over } from './conformance-case.ts';

/** Address of Weir, and the certificate authority of its certificate. */
export interface Target {
  readonly ports: { readonly dns: number; readonly dot: number; readonly doh: number };
  readonly caPath: string;
}

/** The name in Weir's certificate. */
export const SERVER_NAME = 'dns.zone.example';

const SCRIPT = join(import.meta.dirname, 'raw-client.py');
const TIMEOUT_MS = 30_000;
const NO_BOUND = 1 << 24;

/** Output of a client, including its error output. */
export async function ask(row: ConformanceCase, over: Over, asked: Target): Promise<string> {
  const { command, args, input } = commandOf(row, over, asked);
  return run(command, args, input);
}

interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly input?: string;
}

function commandOf(row: ConformanceCase, over: Over, { ports, caPath }: Target): Command {
  const { by, args } = row;
  const port = over === 'dot' ? ports.dot : over === 'doh' ? ports.doh : ports.dns;
  const trust = [`+tls-ca=${caPath}`, `+tls-hostname=${SERVER_NAME}`];
  switch (by) {
    case 'dig':
    case 'kdig': {
      const patience = by === 'dig' ? ['+tries=1', '+time=10'] : ['+retry=0', '+time=10'];
      const way = { udp: [], tcp: ['+tcp'], dot: ['+tls', ...trust], doh: ['+https', ...trust] }[over];
      return { command: by, args: ['@127.0.0.1', '-p', String(port), ...patience, ...way, ...args] };
    }
    case 'drill':
      return {
        command: by,
        args: ['-p', String(port), ...(over === 'tcp' ? ['-t'] : []), ...args, '@127.0.0.1'],
      };
    case 'curl': {
      const url = `https://${SERVER_NAME}:${port}`;
      const place = ['--resolve', `${SERVER_NAME}:${port}:127.0.0.1`, '--cacert', caPath];
      return {
        command: by,
        args: [
          '-sSi',
          ...place,
          ...args.map((arg) => arg.replace('URLPORT', String(port)).replace('URL', url)),
        ],
      };
    }
    case 'openssl': {
      const place = ['-connect', `127.0.0.1:${port}`, '-servername', SERVER_NAME];
      const trusted = ['-CAfile', caPath, '-verify_hostname', SERVER_NAME, '-verify_return_error'];
      return { command: by, args: ['s_client', ...place, ...trusted, ...args], input: '' };
    }
    case 'dnspython':
      return { command: PYTHON, args: [SCRIPT, over, String(port), caPath, SERVER_NAME, ...args] };
  }
}

function run(command: string, args: readonly string[], input?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { timeout: TIMEOUT_MS, maxBuffer: NO_BOUND, encoding: 'latin1' } as const;
    const child = execFile(command, args, options, (error, stdout, stderr) => {
      const late = error?.killed === true ? `\n${command} did not end in ${TIMEOUT_MS} ms` : '';
      resolve(stdout + stderr + late);
    });
    if (input !== undefined) giveInput(child.stdin!, input).catch(reject);
  });
}
