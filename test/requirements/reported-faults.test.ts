/**
 * The messages with which the server reports faults of requests: the dashboard must be able to translate them, except
 * messages that its own requests cannot cause. A changed message must be changed here and in `fault-lines.ts`.
 */
import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import ts from 'typescript';
import { z } from 'zod';
import { ApiError } from '../../control-plane/api/api-error.ts';
import { validate } from '../../control-plane/api/validate.ts';
import { faultsOfBody } from '../../control-plane/policy/settings/bad-fields.ts';
import { readFault } from '../../shared/api/client/faults/read-fault.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Files that report faults of requests. */
const FILES = [
  ...['config/**/*.ts', 'shared/api/**/*.ts'],
  'control-plane/{api,clients,filtering,insight,lists,policy,resolving,web}/**/*.ts',
  'control-plane/transfer/backup/*.ts',
];
/** Files that are not searched: tests, and code for requests that the dashboard does not send. */
const OTHER =
  /\.test\.ts$|\/(compat|edge|simulate|client)\/|simulate-api|config\/[\w-]*(toml|local-config|load-config)/;

/** Messages that stay in English, with `…` for parameters. */
const ENGLISH = [
  // Other code translates these messages: causes of failed lists and downloads (`list-fault.ts`).
  ...[
    'could not read the list: …',
    'could not read the list: it contains no rules',
    'a source with the URL … already exists',
  ],
  'could not read the list: none of its … rules can be used; line …: …',
  'expected an http:, https: or file: URL',
  // For these messages, the dashboard has each complete text, because the parameters are names of its forms.
  ...['expected ……', 'unknown …', 'expected the id of an existing …', 'expected each … once'],
  ...['a … with this …, action and group already exists', '…, is reached; delete a grant first'],
  'could not … the configuration file, so nothing was changed: …',
  // Only other programs send requests that cause these messages.
  ...['expected percent-encoded UTF-8', 'given more than once', 'expected JSON in UTF-8'],
  ...['expected either ip or value', 'expected value instead of ip for a record of type …'],
  ...['expected either fqdn, or hostname and domain', 'expected either … or …, or neither'],
  ...['expected a domain name, or query_id', 'not allowed together with client and client_key'],
  'not allowed together with query_id, which already identifies the query',
  ...['expected exactly one of url and text', '…list source … has custom rules, which are not fetched'],
  ...['expected null: custom rules have no URL', 'expected either period or from, not both'],
  ...['expected the next_cursor of a page', 'unknown or repeated field'],
  ...['expected a path of this server, such as /', 'expected an id that is not that of a custom service'],
  'expected at most …; use cursor, or from and to, to go further',
  'expected <N>m, <N>h, <N>d or <N>w of at most ten years',
  'can only be changed with POST /auth/change-password',
  'expected false: POST /backup with a passphrase makes a backup with secrets',
  // Messages about files on the machine, which are for administrators.
  'certificates: …, or remove it from the backup',
  ...['in the file ……: …', 'could not read …: …', 'the files no longer exist', 'the file … does not exist'],
  ...['… has … bytes; the maximum is …', 'expected this, or auth.oidc.client_secret'],
];

/** Values that parameters may have. */
const VALUES = ['7', 'block', 'x', 'an IP address', '"a"', 'the certificate'];

interface ReportedLine {
  readonly place: string;
  /** The message with `…` for parameters. */
  readonly line: string;
}

/** The text of a string, with `…` for each inserted value; null for other expressions. */
function textOf(node: ts.Node | undefined): string | null {
  if (node === undefined) return null;
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node))
    return node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join('');
  if (!ts.isBinaryExpression(node)) return null;
  const [left, right] = [textOf(node.left), textOf(node.right)];
  return left === null || right === null ? null : left + right;
}

/** The message that an expression reports; null for other expressions. */
function lineOf(node: ts.Node): string | null {
  if (ts.isNewExpression(node))
    return node.expression.getText() === 'CertificateFault' ? textOf(node.arguments?.[1]) : null;
  if (ts.isCallExpression(node)) {
    const called = node.expression.getText();
    if (called === 'conflict' || called === 'preconditionFailed') return textOf(node.arguments[0]);
    const place = { form: 0, serverForm: 0, refuse: 2 }[called];
    const form = place === undefined ? null : textOf(node.arguments[place]);
    return form === null ? null : `expected ${form}`;
  }
  const text = textOf(node);
  if (text === null || ts.isBinaryExpression(node.parent)) return null;
  const isMessage = ts.isPropertyAssignment(node.parent) && node.parent.name.getText() === 'message';
  return (isMessage && text.includes(' ')) || text.startsWith('expected ') ? text : null;
}

function linesIn(file: string): ReportedLine[] {
  const source = ts.createSourceFile(
    file,
    readFileSync(join(ROOT, file), 'utf8'),
    ts.ScriptTarget.Latest,
    true,
  );
  const lines: ReportedLine[] = [];
  const visit = (node: ts.Node): void => {
    const line = lineOf(node);
    const at = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
    if (line !== null && line !== 'expected …') lines.push({ place: `${file}:${at}`, line });
    ts.forEachChild(node, visit);
  };
  visit(source);
  return lines;
}

/** Whether a message is translated, with some values of its parameters. */
function isKnown(line: string): boolean {
  const [first, ...rest] = line.split('…');
  const filled = rest.reduce(
    (starts, piece) => starts.flatMap((start) => VALUES.map((value) => start + value + piece)),
    [first!],
  );
  return filled.some((one) => readFault(one) !== null);
}

describe('the API errors in the source code', () => {
  const found = (async () => {
    const files = await Array.fromAsync(glob(FILES, { cwd: ROOT }));
    return files.filter((file) => !OTHER.test(file)).flatMap(linesIn);
  })();

  test('can be translated, except for those that stay in English', async () => {
    const lines = await found;
    expect(lines.length).toBeGreaterThan(200);
    expect(lines.filter(({ line }) => !ENGLISH.includes(line) && !isKnown(line))).toEqual([]);
  });

  test('contain all errors that stay in English', async () => {
    const lines = new Set((await found).map(({ line }) => line));
    expect(ENGLISH.filter((line) => !lines.has(line))).toEqual([]);
    expect(ENGLISH.filter((line) => !line.includes('…') && isKnown(line))).toEqual([]);
  });
});

describe('the API errors of schemas', () => {
  const messageOf = (schema: z.ZodType, value: unknown): string => {
    try {
      validate(z.strictObject({ field: schema }), { field: value });
    } catch (error) {
      if (error instanceof ApiError) return error.fields![0]!.message;
    }
    throw new Error('expected the value to be refused');
  };

  test.each([
    ['missing', z.string(), undefined],
    ['missing', z.int(), undefined],
    ['expected_got', z.string(), 3],
    ['expected_got', z.number(), null],
    ['expected', z.int(), 1.5],
    ['expected_got', z.boolean(), 'yes'],
    ['expected_got', z.array(z.int()), {}],
    ['expected', z.enum(['a', 'b']), 'c'],
    ['empty_text', z.string().min(1), ''],
    ['short_text', z.string().min(2), 'a'],
    ['long_text', z.string().max(1), 'ab'],
    ['empty_items', z.array(z.int()).min(1), []],
    ['few_items', z.array(z.int()).min(2), [1]],
    ['many_items', z.array(z.int()).max(1), [1, 2]],
    ['small_number', z.int().min(1), -7],
    ['large_number', z.int().max(5), 9],
    ['expected', z.ipv4(), 'x'],
    ['expected', z.ipv6(), 'x'],
    ['expected', z.iso.datetime(), 'x'],
    ['expected', z.iso.date(), 'x'],
    ['invalid', z.union([z.int(), z.boolean()]), 'x'],
    ['unknown_field', z.strictObject({}), { other: 1 }],
  ])('are known: %s', (code, schema, value) => {
    expect(readFault(messageOf(schema, value))?.code).toBe(code);
  });
});

test('the errors for invalid configuration values are known', () => {
  const body = {
    server: { web_port: 1.5, allowed_hosts: ['-'], web_allowed: ['x'], log_level: 'loud' },
    dns: {
      ...{ allowed_clients: ['x'], blocked_clients: ['!'], bootstrap: ['x'], default_strategy: 'Random' },
      pools: [{ name: '', servers: [] }, { name: 'a', servers: ['ftp://x'] }, {}],
    },
    blocking: { mode: 'quiet', enabled: 3, custom_ipv4: '::1', ttl_secs: -1, list_dirs: 'x' },
    cache: { min_ttl_secs: 'x', max_ttl_secs: 99_999_999_999 },
    auth: { oidc: { issuer: 'http://login.example.org' } },
  };
  const faults = faultsOfBody(body, [], true).filter(({ message }) => !message.startsWith('no such key'));
  expect(faults.length).toBeGreaterThan(15);
  expect(faults.filter(({ message }) => readFault(message) === null)).toEqual([]);
});
