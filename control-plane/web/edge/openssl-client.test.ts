/** @needs openssl */
import { expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import express from 'express';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { testConfig } from '../../../test/support/parts/test-config.ts';
import { giveInput } from '../../../test/support/weir/standard-input.ts';
import { makeSelfSigned } from '../tls/self-signed.ts';
import { startWebServer } from './server.ts';

test('startWebServer() with a certificate answers openssl s_client', async () => {
  const pair = await makeSelfSigned(['localhost', '127.0.0.1'], Date.now());
  const certificate = { current: () => pair, onChange: () => () => undefined };
  const ticketKeys = { current: () => Buffer.alloc(48, 1), onChange: () => () => undefined };
  const deadlines = { headMs: 10_000, requestMs: 30_000, idleMs: 10_000, silentMs: 120_000 };
  const edge = { certificate, ticketKeys, deadlines };
  const web = await startWebServer(express(), testConfig(''), new MemoryLogger(), edge);
  try {
    const { port } = web.endpoints[0]!;
    const args = ['s_client', '-connect', `127.0.0.1:${port}`, '-servername', 'localhost', '-brief'];
    const run = promisify(execFile)('openssl', args);
    const asked = 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
    const [{ stderr }] = await Promise.all([run, giveInput(run.child.stdin!, asked)]);
    expect(stderr).toContain('Protocol version: TLSv1.3');
    expect(stderr).toContain('Peer certificate: CN = localhost, O = Weir');
  } finally {
    await web.close();
  }
});
