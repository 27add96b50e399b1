import { describe, expect, test } from '@jest/globals';
import { ENGLISH_FAULTS } from './fault-lines.ts';
import type { FaultTexts } from './fault-lines.ts';
import { readFault, writeFault } from './read-fault.ts';

/** Values of the parameters that do not accept every text. */
const SAMPLES: Readonly<Record<string, string>> = {
  ...{ what: 'a string', got: '"x y"', unit: 'days', where: 'the certificate', why: 'it is not signed' },
  ...{ choices: '"a", "b"', last: '"c"', type: 'MX', kind: 'block' },
  ...{
    min: '2',
    max: '-7',
    count: '3',
    number: '4',
    length: '255',
    row: '0',
    bits: '512',
    services: '9',
    version: '5',
  },
};

const sampleOf = (text: string): string =>
  text.replaceAll(/\{(\w+)\}/g, (_place, name: string) => SAMPLES[name] ?? `<${name}>`);

describe('readFault(), which converts an English API error to a code with parameters,', () => {
  test.each(Object.entries(ENGLISH_FAULTS.lines))('recognizes the error %s', (code, text) => {
    const fault = readFault(sampleOf(text));
    expect(fault?.code).toBe(code);
    expect(fault && writeFault(fault, ENGLISH_FAULTS)).toBe(sampleOf(text));
  });

  test.each(Object.entries(ENGLISH_FAULTS.forms))(
    'recognizes the form %s of an expected value',
    (code, text) => {
      const fault = readFault(`expected ${sampleOf(text)}, got 3`);
      expect(fault).toMatchObject({ code: 'expected_got', params: { what: { code }, got: '3' } });
      expect(fault && writeFault(fault, ENGLISH_FAULTS)).toBe(`expected ${sampleOf(text)}, got 3`);
    },
  );

  test('returns the parameters of nested phrases', () => {
    expect(readFault('expected a whole number from 0 to 9 (seconds), got "x"')).toEqual({
      code: 'expected_got',
      params: {
        what: {
          code: 'in_unit',
          params: {
            what: { code: 'whole_number', params: { min: '0', max: '9' } },
            unit: { code: 'seconds', params: {} },
          },
        },
        got: '"x"',
      },
    });
  });

  test.each([
    '',
    'expected',
    'expected something unheard of',
    'expected a string ', // a blank at the end
    'Expected a string',
    'expected a string\nexpected a string',
    'must have at most many characters',
    'toString',
    '__proto__',
    `a group named "${'x'.repeat(2000)}" already exists`,
  ])('returns null for %j, which is not a known error', (line) => {
    expect(readFault(line)).toBeNull();
  });

  test('returns braces and parameter names in user input unchanged', () => {
    const line = 'a group named "{max} {name} $& $1" already exists';
    const fault = readFault(line);
    expect(fault).toEqual({ code: 'group_taken', params: { name: '{max} {name} $& $1' } });
    expect(fault && writeFault(fault, ENGLISH_FAULTS)).toBe(line);
  });

  test('returns null for a long text that matches no error', () => {
    const line = `expected ${'a such as b or c, got '.repeat(90)}`;
    expect(line.length).toBeLessThanOrEqual(2000);
    expect(readFault(line)).toBeNull();
  });
});

describe('writeFault(), which renders a fault in another language,', () => {
  test('inserts the parameters into the text of that language', () => {
    const german: FaultTexts = {
      lines: { ...ENGLISH_FAULTS.lines, expected_got: 'Erwartet: {what}; angegeben: {got}' },
      forms: { ...ENGLISH_FAULTS.forms, whole_number: 'eine ganze Zahl von {min} bis {max}' },
    };
    const fault = readFault('expected a whole number from 0 to 65535, got 1.5');
    expect(fault && writeFault(fault, german)).toBe(
      'Erwartet: eine ganze Zahl von 0 bis 65535; angegeben: 1.5',
    );
  });
});
