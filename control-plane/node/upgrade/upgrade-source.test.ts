import { once } from 'node:events';
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { NodeState } from '../../../shared/threads/messages.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { until, within } from '../../../test/support/parts/until.ts';
import { makeTempDir } from '../../../test/support/weir/data-dir.ts';
import type { TempDir } from '../../../test/support/weir/data-dir.ts';
import { HandoverChannel } from './handover-channel.ts';
import { loadDescriptorCalls } from './descriptor-calls.ts';
import { HANDOVER_FORMAT, HANDOVER_SOCKET } from './handover-format.ts';
import { UpgradeSource } from './upgrade-source.ts';

const TIMEOUT_MS = 10_000;
const HELLO = { type: 'take-over', format: HANDOVER_FORMAT, version: '2.0.0', pid: 4242 } as const;

const native = loadDescriptorCalls();
let tempDir: TempDir;
let path: string;
let done: string[];
let logger: MemoryLogger;
let handing: UpgradeSource;

beforeEach(() => {
  tempDir = makeTempDir();
  path = join(tempDir.path, HANDOVER_SOCKET);
  logger = new MemoryLogger();
});

afterEach(() => {
  handing.close();
  tempDir.remove();
});

/** Starts the running side; its steps only record that they were called. */
async function start(silenceMs = TIMEOUT_MS, ownRelease = '/nonexistent'): Promise<void> {
  // A separate list for each test, because a handover that is undone after the end of its test must not add steps to
  // the list of the next test.
  const steps: string[] = [];
  done = steps;
  const step = (name: string) => async (): Promise<void> => void steps.push(name);
  handing = await UpgradeSource.start(
    {
      ...{ logger, version: '1.0.0', dnsPort: 53, niceness: 0, configFile: null, silenceMs, ownRelease },
      nodeState: () => (steps.includes('leave') ? NodeState.DRAINING : NodeState.READY),
      calls: 'calls' in native ? native.calls : null,
      prepare: async () => {
        steps.push('prepare');
        return [0, 1];
      },
      stopReading: step('stop reading'),
      readAgain: step('read again'),
      leave: step('leave'),
      keepAnswering: step('answer again'),
      gone: (pid) => void steps.push(`gone to ${String(pid)}`),
    },
    tempDir.path,
  );
}

async function open(): Promise<HandoverChannel> {
  const socket = connect(path);
  await within('the connection', once(socket, 'connect'));
  return new HandoverChannel(socket);
}

/** Makes a release whose process runs this script and which accepts any configuration. */
function makeRelease(script: string): void {
  const folder = join(tempDir.path, 'control-plane', 'cli');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'weir'), `#!/bin/sh\n[ "$1" = start ] || exit 0\n${script}\n`, { mode: 0o755 });
}

/** The channel of a new process that has started to answer queries. */
async function answering(): Promise<HandoverChannel> {
  const talk = await open();
  talk.send(HELLO);
  await talk.expect('welcome', TIMEOUT_MS);
  talk.send({ type: 'loaded' });
  // The state that this side had before it left.
  expect(await talk.expect('sockets', TIMEOUT_MS)).toMatchObject({ nodeState: NodeState.READY });
  talk.send({ type: 'reading' });
  await talk.expect('stopped', TIMEOUT_MS);
  return talk;
}

describe('UpgradeSource', () => {
  test('performs every step in order, and ends when the other process has the data directory', async () => {
    await start();
    const talk = await answering();
    expect(done).toEqual(['prepare', 'stop reading']);
    talk.send({ type: 'go' });
    await talk.expect('free', TIMEOUT_MS);
    talk.send({ type: 'holding' });
    await until(
      'the other process to have everything',
      () => done,
      (all) => all.length === 4,
    );
    expect(done).toEqual(['prepare', 'stop reading', 'leave', 'gone to 4242']);
    // The other process may already listen at this path.
    expect(existsSync(path)).toBe(true);
    talk.end();
  });

  test.each([
    ['ends', (talk: HandoverChannel) => talk.end()],
    ['reports that it failed', (talk: HandoverChannel) => talk.send({ type: 'failed', reason: 'no memory' })],
    ['ends in the middle of a message', (talk: HandoverChannel) => void talk.socket.end('{"type":')],
  ])('answers queries again if the other process %s', async (_what, act) => {
    await start();
    const talk = await answering();
    act(talk);
    await until(
      'the server to read again',
      () => done,
      (seen) => seen.includes('read again'),
    );
    expect(done).toEqual(['prepare', 'stop reading', 'read again']);
    await until(
      'the upgrade to be rolled back',
      () => logger.lines,
      (lines) => lines.some(({ message }) => message === 'an upgrade was rolled back'),
    );
    talk.end();
    // For the next process, the state is the same as before.
    done.length = 0;
    (await answering()).end();
    await until(
      'the server to read again',
      () => done,
      (seen) => seen.includes('read again'),
    );
  });

  test('answers queries again if the other process hangs', async () => {
    // The time limit is long enough for all steps before the other side stops responding.
    await start(1500);
    const talk = await answering();
    expect((await talk.next(TIMEOUT_MS))['reason']).toMatch(/silent for 1.5 s/);
    expect(done).toEqual(['prepare', 'stop reading', 'read again']);
    talk.end();
  });

  test('terminates a process that it has started and that never requests the sockets', async () => {
    await start(50);
    makeRelease('exec sleep 1000');
    for (const _attempt of ['the first', 'the next']) {
      const talk = await open();
      talk.send({ type: 'upgrade', release: tempDir.path });
      await talk.expect('step', TIMEOUT_MS);
      expect((await talk.next(TIMEOUT_MS))['reason']).toMatch(/was silent for 0.05 s, and was terminated/);
      await talk.ended();
    }
    expect(done).toEqual([]);
  });

  test('answers queries again if its successor has died and its own release cannot be started', async () => {
    await start();
    const dying = await answering();
    dying.send({ type: 'go' });
    await dying.expect('free', TIMEOUT_MS);
    dying.end();
    await until(
      'the start of its release to fail',
      () => logger.lines,
      (lines) => lines.some(({ fields }) => String(fields['reason']).includes('ENOENT')),
    );
    expect(done).toEqual(['prepare', 'stop reading', 'leave', 'answer again']);
    // The next process that requests a handover gets the sockets.
    done.length = 0;
    const talk = await answering();
    talk.send({ type: 'go' });
    await talk.expect('free', TIMEOUT_MS);
    talk.send({ type: 'holding' });
    await until(
      'the other process to have everything',
      () => done,
      (all) => all.length === 2,
    );
    expect(done).toEqual(['stop reading', 'gone to 4242']);
    talk.end();
  });

  test('ends only when the other process reports that its start is complete', async () => {
    await start();
    const talk = await answering();
    talk.send({ type: 'go' });
    await talk.expect('free', TIMEOUT_MS);
    talk.send({ type: 'failed', reason: 'no memory' });
    expect((await talk.next(TIMEOUT_MS))['reason']).toBe('no memory');
    expect(done).toEqual(['prepare', 'stop reading', 'leave', 'answer again']);
    done.length = 0;
    const next = await answering();
    next.send({ type: 'go' });
    await next.expect('free', TIMEOUT_MS);
    next.send({ type: 'holding' });
    await next.ended();
    expect(done).toEqual(['stop reading', 'gone to 4242']);
  });

  test('when Weir stops, terminates the process that it has started, and starts no other process', async () => {
    await start();
    const [ready, reported] = ['ready', 'told'].map((name) => join(tempDir.path, name));
    makeRelease(`trap 'touch ${reported}; exit' TERM; touch ${ready}; while :; do sleep 0.01; done`);
    const talk = await open();
    talk.send({ type: 'upgrade', release: tempDir.path });
    await until('the process to be ready', () => existsSync(ready!));
    await handing.end(Promise.resolve());
    expect(existsSync(reported!)).toBe(true);
    const other = await open();
    other.send({ type: 'upgrade', release: tempDir.path });
    expect((await other.next(TIMEOUT_MS))['reason']).toBe('the running server is stopping');
    for (const one of [talk, other]) one.end();
  });

  test('when Weir stops, lets a process that Weir did not start take over', async () => {
    await start();
    const talk = await answering();
    await handing.end(Promise.resolve());
    talk.send({ type: 'go' });
    await talk.expect('free', TIMEOUT_MS);
    talk.send({ type: 'holding' });
    await talk.ended();
    // The request to stop ends this process, not the handover.
    expect(done).toEqual(['prepare', 'stop reading', 'leave']);
  });

  test('when Weir stops, does not resume answering queries, and sends its successor no further messages', async () => {
    await start();
    const talk = await answering();
    const stopped = Promise.withResolvers<undefined>();
    await handing.end(stopped.promise);
    talk.send({ type: 'dance' });
    stopped.resolve(undefined);
    await expect(talk.next(TIMEOUT_MS)).rejects.toThrow('the other process has ended');
    expect(done).toEqual(['prepare', 'stop reading']);
  });

  test.each([
    [
      'a process with another protocol version',
      { ...HELLO, format: 'weir handover 0' },
      /"weir handover 0"; restart Weir instead/,
    ],
    [
      'a request for sockets without the ticket',
      { type: 'descriptors', ticket: '' },
      /no sockets are reserved/,
    ],
    ['an unknown message', { type: 'dance' }, /unknown message "dance"/],
    ['an upgrade to a folder without a release', { type: 'upgrade', release: '/nonexistent' }, /ENOENT/],
  ])('refuses %s, and performs no step of the upgrade', async (_what, message, reason) => {
    await start();
    const talk = await open();
    talk.send(message);
    expect((await talk.next(TIMEOUT_MS))['reason']).toMatch(reason);
    expect(done).toEqual([]);
    talk.end();
  });

  test('refuses another process while one process takes over', async () => {
    await start();
    const [one, other] = [await answering(), await open()];
    other.send(HELLO);
    expect((await other.next(TIMEOUT_MS))['reason']).toBe('another upgrade is in progress');
    for (const talk of [one, other]) talk.end();
    await until(
      'the server to read again',
      () => done,
      (seen) => seen.includes('read again'),
    );
  });

  test('allows only its own user to open its socket', async () => {
    await start();
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });
});
