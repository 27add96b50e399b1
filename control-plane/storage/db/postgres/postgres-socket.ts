/**
 * Chooses where the embedded server listens: on a Unix socket in its home directory, if the path fits into a socket
 * address and the file system supports sockets; or else on a socket in a temporary directory with a short path; or else
 * on a loopback TCP port. The server never listens on an address that another machine can reach.
 */
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo, ListenOptions } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PostgresAccount } from './postgres-account.ts';
import { createOwned } from './postgres-home.ts';
import type { PostgresHome } from './postgres-home.ts';
import type { PostgresSettings } from './postgres-settings.ts';

/** Address for connections, and the settings with which the server listens there. */
export interface PostgresSocket {
  /** Directory of the Unix socket, or a loopback address. */
  readonly host: string;
  readonly port: number;
  readonly settings: PostgresSettings;
  /** Deletes files that were created outside the home directory. */
  cleanUp(): void;
}

/** Maximum length of a Unix socket's path in the kernel, without the final zero. */
const MAX_SOCKET_PATH = 107;
/** Only a part of the file name of the socket; no server listens on this port. */
const SOCKET_PORT = 5432;

/** Finds the first location that works on this machine; `folder` is a subdirectory of the home directory. */
export async function choosePostgresSocket(home: PostgresHome, folder = 'run'): Promise<PostgresSocket> {
  const inHome = join(home.dir, folder);
  if (fits(inHome)) {
    createOwned(inHome, home.account);
    if (await canListen(inHome)) return unixSocket(inHome, () => undefined);
  }
  if (fits(join(tmpdir(), 'weir-XXXXXX'))) {
    const short = makeShortFolder(home.account);
    if (await canListen(short))
      return unixSocket(short, () => rmSync(short, { recursive: true, force: true }));
    rmSync(short, { recursive: true, force: true });
  }
  return loopback();
}

function fits(folder: string): boolean {
  return Buffer.byteLength(join(folder, `.s.PGSQL.${SOCKET_PORT}`)) <= MAX_SOCKET_PATH;
}

function makeShortFolder(account: PostgresAccount): string {
  const folder = mkdtempSync(join(tmpdir(), 'weir-'));
  chmodSync(folder, 0o700);
  if (!account.isSelf) chownSync(folder, account.uid, account.gid);
  return folder;
}

function unixSocket(host: string, cleanUp: () => void): PostgresSocket {
  const settings = { listen_addresses: '', unix_socket_directories: host, port: SOCKET_PORT };
  return { host, port: SOCKET_PORT, settings, cleanUp };
}

async function loopback(): Promise<PostgresSocket> {
  const port = await listenOnce({ host: '127.0.0.1', port: 0 });
  const settings = { listen_addresses: '127.0.0.1', unix_socket_directories: '', port };
  return { host: '127.0.0.1', port, settings, cleanUp: () => undefined };
}

async function canListen(folder: string): Promise<boolean> {
  const path = join(folder, '.probe');
  rmSync(path, { force: true });
  try {
    await listenOnce({ path });
    return true;
  } catch {
    return false; // For example, a shared folder of a virtual machine supports no sockets.
  }
}

/** Listens and closes again; returns the port, or 0 for a path. */
function listenOnce(options: ListenOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(options, () => {
      const address = server.address() as AddressInfo | string;
      server.close(() => resolve(typeof address === 'string' ? 0 : address.port));
    });
  });
}
