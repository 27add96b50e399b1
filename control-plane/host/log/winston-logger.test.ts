import { describe, expect, test } from '@jest/globals';
import { PassThrough } from 'node:stream';
import { createLogger } from './winston-logger.ts';

function loggerTo(format: 'json' | 'text'): {
  logger: ReturnType<typeof createLogger>;
  lines: () => string[];
} {
  const output = new PassThrough();
  const logger = createLogger({ level: 'info', format }, output);
  const lines = (): string[] =>
    String(output.read() ?? '')
      .split('\n')
      .filter(Boolean);
  return { logger, lines };
}

describe('createLogger()', () => {
  test('writes one JSON object per line, with the fields of child loggers', () => {
    const { logger, lines } = loggerTo('json');
    logger
      .child({ worker: 1 })
      .child({ role: 'answer' })
      .warn('thread ended', { cause: new Error('boom'), big: 5n });
    expect(lines().map((line) => JSON.parse(line) as unknown)).toEqual([
      {
        worker: 1,
        role: 'answer',
        cause: 'boom',
        big: '5',
        timestamp: expect.any(String),
        level: 'warn',
        message: 'thread ended',
      },
    ]);
  });

  test('writes readable text in which no input can start a new line', () => {
    const { logger, lines } = loggerTo('text');
    logger.error('refuse name a\n2026 info forged', { name: 'x\ny', port: 53 });
    const [line, ...others] = lines();
    expect(others).toEqual([]);
    expect(line).toMatch(/ error refuse name a\\n2026 info forged name="x\\ny" port=53$/);
  });

  test.each(['text', 'json'] as const)(
    'does not treat parts of a message as a format string, as %s',
    (format) => {
      const { logger, lines } = loggerTo(format);
      const message = 'STATEMENT:  SELECT %s, %d, 100%% LIKE %j';
      logger.warn(message, { component: 'postgres' });
      const [line] = lines();
      expect(line).toContain(message);
      expect(line).toContain('postgres');
    },
  );

  test.each([
    ['text', /^<4>\d{4}-\S+ warn {2}low$/],
    ['json', /^<4>\{.*"message":"low"\}$/],
  ] as const)('writes the priority of each line for the journal, as %s', (format, line) => {
    const output = new PassThrough();
    createLogger({ level: 'info', format }, output, true).warn('low');
    expect(String(output.read()).trimEnd()).toMatch(line);
  });

  test.each(['text', 'json'] as const)(
    'escapes characters in %s lines that reorder or break a line',
    (format) => {
      const { logger, lines } = loggerTo(format);
      logger.info('renamed', {
        name: 'exe\u202egpj.\u2066',
        other: 'a\u0085b\u2028c\u009b31m',
        same: 'a\u200bb\u{e0041}\u200e',
      });
      const [written = ''] = lines();
      expect(written).toContain(String.raw`exe\u202egpj.\u2066`);
      expect(written).toContain(String.raw`a\u200bb\udb40\udc41\u200e`);
      expect(written).toContain(String.raw`a\u0085b\u2028c\u009b31m`);
      expect(written).toMatch(/^[\x20-\x7e]+$/);
    },
  );

  test('adjust() changes level and format of existing loggers', () => {
    const { logger, lines } = loggerTo('text');
    const child = logger.child({ a: 1 });
    child.debug('unheard');
    logger.adjust({ level: 'debug', format: 'json' });
    child.debug('heard');
    expect(lines().map((line) => (JSON.parse(line) as { message: string }).message)).toEqual(['heard']);
  });
});
