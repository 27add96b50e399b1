import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { until, within } from '../../../test/support/parts/until.ts';
import {
  type ReplicatedDatabase,
  startReplicatedDatabase,
} from '../../../test/support/weir/replicated-database.ts';
import { type DatabaseTarget, parseDatabaseUrls } from './database-target.ts';
import { SeenServer, type ServerPosition } from './seen-server.ts';
import { type ChosenServer, connectToChosen, keepComparing } from './server-choice.ts';

describe('keepComparing()', () => {
  const SERVER_POSITION: ServerPosition = { system: '7', timeline: 1, position: 1 };
  const [inUse] = parseDatabaseUrls('postgres://weir@127.0.0.1:1/postgres') as [DatabaseTarget];

  /** Starts comparing; returns the recorded values and a function that ends it. */
  function compare(serverPosition: () => Promise<ServerPosition>, others: readonly DatabaseTarget[] = []) {
    const ending = new AbortController();
    const noted: unknown[] = [];
    const note = async (what: unknown): Promise<void> => void noted.push(what);
    const targets = [inUse, ...others];
    const done = keepComparing({
      targets,
      inUse,
      serverPosition,
      seen: { note },
      ended: ending.signal,
      pauseMs: 1,
    });
    return { ending, done, noted };
  }

  test('ends immediately while the server in use has not responded, and ignores its later response', async () => {
    const [asked, answer] = [Promise.withResolvers<undefined>(), Promise.withResolvers<ServerPosition>()];
    const { ending, done, noted } = compare(() => {
      asked.resolve(undefined);
      return answer.promise;
    });
    await within('the question', asked.promise);
    ending.abort();
    await within('the comparison to end', done);
    answer.resolve(SERVER_POSITION);
    await answer.promise;
    expect(noted).toEqual([]);
  });

  test('ends immediately while another server has not responded, and closes that connection', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as { port: number };
    const [other] = parseDatabaseUrls(`postgres://weir@127.0.0.1:${String(port)}/postgres`);
    const patient = { ...other!, config: { ...other!.config, connectionTimeoutMillis: 0 } };
    const { ending, done } = compare(() => Promise.resolve(SERVER_POSITION), [patient]);
    const [socket] = (await within('a connection to the silent server', once(silent, 'connection'))) as [
      Socket,
    ];
    const closed = once(socket.resume(), 'close');
    ending.abort();
    await within('the comparison and its connection to end', Promise.all([done, closed]));
    silent.close();
  });
});

describe('after a standby is promoted while its old primary is still running,', () => {
  let folder: string;
  let servers: ReplicatedDatabase;
  let first: DatabaseTarget;
  let second: DatabaseTarget;
  let seen: SeenServer;
  let promotion: Promise<void> | undefined;
  const promote = (): Promise<void> => (promotion ??= servers.promote());
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'weir-servers-'));
    chmodSync(folder, 0o755);
    servers = await startReplicatedDatabase(folder);
    [first, second] = parseDatabaseUrls(servers.url) as [DatabaseTarget, DatabaseTarget];
  });
  beforeEach(() => {
    seen = new SeenServer(mkdtempSync(join(folder, 'seen-')), new MemoryLogger());
  });
  afterAll(async () => {
    await servers[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  /** The chosen server, with the position that it reports. */
  async function choose(targets: readonly DatabaseTarget[]): Promise<ChosenServer> {
    const server = await connectToChosen(targets, seen);
    await server.client.end();
    return server;
  }

  /** The second server with parameters of its URL. */
  function secondWith(parameters: string): DatabaseTarget {
    return parseDatabaseUrls(`${servers.urls.standby}&${parameters}`)[0]!;
  }

  test('keepComparing() ends because the primary was replaced, and connectToChosen() prefers the promoted server', async () => {
    const { serverPosition } = await choose([first]);
    const comparing = keepComparing({
      ...{ targets: [first, second], inUse: first, seen, pauseMs: 10 },
      serverPosition: () => Promise.resolve(serverPosition),
      ended: new AbortController().signal,
    });
    const ended = expect(comparing).rejects.toThrow(`it was replaced by ${second.name}`);
    await promote();
    await within('the comparison to end', ended);
    expect(seen.load()).toMatchObject({ timeline: 2 });
    expect((await choose([first, second])).target.name).toBe(second.name);
  });

  test('keepComparing() ignores a read-only server, and a server whose CA file is missing', async () => {
    await promote();
    const { serverPosition } = await choose([first]);
    const others = [
      secondWith('options=-c%20default_transaction_read_only%3Don'),
      secondWith('sslmode=verify-full&sslrootcert=/no/such/file'),
    ];
    const ending = new AbortController();
    let checks = 0;
    const comparing = keepComparing({
      ...{ targets: [first, ...others], inUse: first, seen, pauseMs: 1 },
      serverPosition: async () => {
        checks++;
        return serverPosition;
      },
      ended: ending.signal,
    });
    await Promise.race([
      comparing,
      until(
        'the third check',
        () => checks,
        (now) => now > 2,
      ),
    ]);
    ending.abort();
    await within('the comparison to end', comparing);
    expect(seen.load()).toEqual(serverPosition);
  });

  test('connectToChosen() refuses the old primary once the promoted server was seen, until database-seen.json is deleted', async () => {
    await promote();
    const { target, serverPosition } = await choose([first, second]);
    expect(target.name).toBe(second.name);
    await seen.note(serverPosition);
    await expect(connectToChosen([first], seen)).rejects.toThrow(
      /an old primary: it is on timeline 1, and this node has seen timeline 2; .* delete .*database-seen\.json/,
    );
    rmSync(seen.path);
    expect((await choose([first])).target.name).toBe(first.name);
  });
});
