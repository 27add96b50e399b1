import { describe, expect, test } from '@jest/globals';
import { passwordIn, sidIn } from './compat-body.ts';

const NO_PASSWORD = 'No password found in JSON payload';

describe('passwordIn()', () => {
  test('returns the password of a request body', () => {
    expect(passwordIn(Buffer.from('{"password":"geheim ü","totp":null}'))).toBe('geheim ü');
  });

  test.each([
    ['', 'No request body data', null],
    ['{"password":', 'Invalid request body data (no valid JSON), error at hint', expect.any(String)],
    ['{"a":1,}', 'Invalid request body data (no valid JSON), error at hint', 'position 7'],
    ['[]', NO_PASSWORD, null],
    ['null', NO_PASSWORD, null],
    ['"password"', NO_PASSWORD, null],
    ['7', NO_PASSWORD, null],
    ['{}', NO_PASSWORD, null],
    ['{"__proto__":{"password":"x"}}', NO_PASSWORD, null],
    ['{"Password":"x"}', NO_PASSWORD, null],
    ['{"password":null}', "Field password has to be of type 'string'", null],
    ['{"password":["x"]}', "Field password has to be of type 'string'", null],
  ])('rejects %j', (text, message, hint) => {
    expect(() => passwordIn(Buffer.from(text))).toThrow(
      expect.objectContaining({ status: 400, key: 'bad_request', message, hint }),
    );
  });

  test.each(['{"password": hunter2}', 'password=hunter2', '{"password":"hunter2"'])(
    'does not repeat %j in its error',
    (text) => {
      expect(() => passwordIn(Buffer.from(text))).toThrow(
        expect.objectContaining({ hint: expect.stringMatching(/^position \d+$/) }),
      );
    },
  );
});

describe('sidIn(), the session ID in a request body,', () => {
  test.each([
    ['', undefined],
    ['{"sid":"abc"}', 'abc'],
    ['sid=abc&x=1', 'abc'],
    ['{"sid":7}', undefined],
    ['{"__proto__":{"sid":"x"}}', undefined],
    ['[{"sid":"x"}]', undefined],
    ['\u0000\u00ff', undefined],
  ])('for %j returns the session ID %s', (text, expected) => {
    expect(sidIn(Buffer.from(text))).toBe(expected);
  });
});
