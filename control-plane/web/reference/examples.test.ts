import { describe, expect, test } from '@jest/globals';
import { Conditions, headerFields, Preferences } from '../../../shared/api/zod.ts';
import { DocumentChecker } from '../../../test/support/reference/document-checker.ts';
import { everyOperation } from '../../../test/support/parts/every-route.ts';
import { exampleOf } from './examples.ts';
import { openApiDocument } from './openapi.ts';

const document = openApiDocument(everyOperation, '/api', '1.2.3');
const checker = new DocumentChecker(document);
const operations = everyOperation.map((row) => ({
  ...row,
  name: `${row.method} ${row.path}`,
  operation: document.paths[row.path]![row.method.toLowerCase()]!,
}));

/** All header fields that an operation may have. */
const HEADER = headerFields({ ...Preferences.shape, ...Conditions.shape });

describe('withExamples()', () => {
  test.each(operations)(
    '$name has an example of its body that is valid for its schemas',
    ({ body, operation }) => {
      if (body === undefined) return;
      const { schema, example } = Object.values(operation.requestBody!.content)[0]!;
      expect(checker.faultsOf(schema, example)).toEqual([]);
      expect(body.safeParse(example).error?.issues ?? []).toEqual([]);
    },
  );

  test.each(operations)('$name has an example of each response that is valid for its schemas', (row) => {
    for (const [status, { content = {} }] of Object.entries(row.operation.responses))
      for (const [type, { schema, example }] of Object.entries(content)) {
        if (!/[/+]json$/.test(type)) continue;
        expect([status, checker.faultsOf(schema, example)]).toEqual([status, []]);
        if (Number(status) === row.status)
          expect(row.answer?.safeParse(example).error?.issues ?? []).toEqual([]);
      }
  });

  test.each(operations)('$name has a valid example of each parameter', ({ params, query, operation }) => {
    for (const { in: place, name, schema, example } of operation.parameters ?? []) {
      expect([name, checker.faultsOf(schema, example)]).toEqual([name, []]);
      const { shape } = { path: params, query, header: HEADER }[place] as unknown as {
        shape: Record<string, { safeParse(value: unknown): { success: boolean } }>;
      };
      expect([name, shape[name]!.safeParse(String(example)).success]).toEqual([name, true]);
    }
  });
});

describe('exampleOf() for a schema in the API reference', () => {
  test.each([
    [{ examples: ['of the schema'], type: 'string' }, 'domain', 'of the schema'],
    [{ type: 'string' }, 'domain', 'ads.example.org'],
    [{ type: 'string' }, 'domain!', 'ads.example.org'],
    [{ type: ['string', 'null'] }, 'hostname', 'laptop'],
    [{ type: 'integer', minimum: 20 }, 'odd', 20],
    [{ type: 'integer', maximum: 3 }, 'limit', 3],
    [{ type: 'string', enum: ['a', 'b'] }, 'domain', 'a'],
    [{ type: 'string', default: 'x' }, 'odd', 'x'],
    [{ anyOf: [{ type: 'null' }, { type: 'string' }] }, 'odd', null],
    [{ type: 'object', additionalProperties: { type: 'boolean' } }, 'odd', { example: true }],
    [{ type: 'string', format: 'date-time' }, 'domain', '2026-01-15T12:00:00.000Z'],
  ])('exampleOf(%j) of the field %s is %j', (schema, field, value) => {
    expect(exampleOf(schema, {}, field)).toEqual(value);
  });

  test('follows references, and prefers the example of a field with the same schema', () => {
    const schemas = { BlocklistSource: { type: 'object', properties: { name: { type: 'string' } } } };
    const list = { type: 'array', items: { $ref: '#/components/schemas/BlocklistSource' } };
    expect(exampleOf(list, schemas)).toEqual([{ name: 'Ads' }]);
  });
});
