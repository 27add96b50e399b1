import { beforeEach, describe, expect, test } from '@jest/globals';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { until } from '../../../test/support/parts/until.ts';
import { type WebServer, WebServerError } from '../edge/server.ts';
import { RetriedWebServer } from './retried-web-server.ts';

const ENDPOINT = { address: '127.0.0.1', port: 8080 };

let logger: MemoryLogger;
let web: RetriedWebServer;
/** Calls of the server, in order. */
let done: string[];
/** Attempts that fail before one succeeds. */
let failures: number;

beforeEach(() => {
  logger = new MemoryLogger();
  web = new RetriedWebServer(logger);
  done = [];
  failures = 2;
});

function listener(): WebServer {
  return {
    endpoints: [ENDPOINT],
    descriptors: () => [7],
    close: async () => void done.push('close'),
    pause: async (copy) => [copy(7)],
    resume: () => void done.push('resume'),
  };
}

const start = (isStrict = false): Promise<void> =>
  web.start({
    listen: async () => {
      if (failures-- > 0)
        throw new WebServerError('127.0.0.1', 8080, Object.assign(new Error(), { code: 'EADDRINUSE' }));
      return listener();
    },
    listening: ({ endpoints }) => void done.push(`listening on ${String(endpoints[0]?.port)}`),
    isStrict,
    retryMs: 5,
  });

describe('RetriedWebServer, which retries to open its port,', () => {
  test('listens at a later attempt, and logs the failure once', async () => {
    await start();
    expect(web.trouble()).toMatch(/port 8080 is in use/);
    expect([web.endpoints, web.descriptors()]).toEqual([[], []]);
    await until(
      'the web server to listen',
      () => web.trouble(),
      (trouble) => trouble === null,
    );
    expect([web.endpoints, web.descriptors()]).toEqual([[ENDPOINT], [7]]);
    expect(done).toEqual(['listening on 8080']);
    expect(logger.lines.map(({ message }) => message)).toEqual([
      'the web server is not listening; DNS works without it',
    ]);
    await web.close();
    expect(done).toEqual(['listening on 8080', 'close']);
  });

  test('throws the first failure if the server must listen from the start', async () => {
    await expect(start(true)).rejects.toThrow(/port 8080 is in use/);
  });

  test('throws errors that do not concern its port', async () => {
    const listen = (): Promise<never> => Promise.reject(new TypeError('a fault of the code'));
    await expect(web.start({ listen, listening: () => undefined })).rejects.toThrow('a fault of the code');
  });

  test('makes no attempt while it is paused, and continues after the pause', async () => {
    await start();
    expect(await web.pause((fd) => fd + 1)).toEqual([]);
    const left = failures;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(failures).toBe(left);
    web.resume();
    await until(
      'the web server to listen',
      () => web.trouble(),
      (trouble) => trouble === null,
    );
    expect(await web.pause((fd) => fd + 1)).toEqual([8]);
    web.resume();
    expect(done).toEqual(['listening on 8080', 'resume']);
  });
});
