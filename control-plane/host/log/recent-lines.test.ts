import { expect, test } from '@jest/globals';
import { PassThrough } from 'node:stream';
import { MAX_LINES, RecentLines } from './recent-lines.ts';
import { createLogger } from './winston-logger.ts';

function open(level: 'info' | 'error' = 'info') {
  const output = new PassThrough();
  let nowMs = 0;
  const recent = new RecentLines(() => ++nowMs);
  return { recent, logger: recent.keepFrom(createLogger({ level, format: 'text' }, output)), output };
}

test('RecentLines keeps warnings and errors with all their fields, newest first, and no other log lines', async () => {
  const { recent, logger, output } = open();
  logger.info('started');
  logger.child({ part: 'lists' }).child({ list: 3 }).warn('could not download', { reason: 'a timeout' });
  logger.error('disk full');
  logger.debug('asked');
  expect(recent.all()).toEqual([
    { timestampMs: 2, level: 'error', message: 'disk full', fields: '' },
    {
      timestampMs: 1,
      level: 'warn',
      message: 'could not download',
      fields: 'part=lists list=3 reason="a timeout"',
    },
  ]);
  output.end();
  const written = (await output.toArray()).join('');
  expect(written.match(/could not download part=lists list=3/g)).toHaveLength(1);
});

test('RecentLines keeps a warning below the configured log level, which can be changed', () => {
  const { recent, logger, output } = open('error');
  logger.warn('not written');
  expect(output.read()).toBeNull();
  expect(recent.all()).toHaveLength(1);
  logger.adjust({ level: 'warn', format: 'text' });
  logger.warn('written');
  expect(String(output.read())).toContain('written');
});

test('RecentLines limits the number of lines and the length of each line', () => {
  const { recent, logger } = open();
  for (let i = 0; i <= MAX_LINES; i++) logger.warn(`line ${i}`);
  expect(recent.all()).toHaveLength(MAX_LINES);
  expect(recent.all().at(-1)!.message).toBe('line 1');
  logger.warn('x'.repeat(100_000), { text: 'y'.repeat(100_000) });
  const { message, fields } = recent.all()[0]!;
  expect(message.length + fields.length).toBeLessThan(2100);
});

test('RecentLines escapes characters that reorder or break a line', () => {
  const { recent, logger } = open();
  logger.warn('renamed', { name: 'exe\u202egpj', text: 'a\nb' });
  expect(recent.all()[0]!.fields).toBe(String.raw`name="exe\u202egpj" text="a\nb"`);
});
