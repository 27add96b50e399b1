import { describe, expect, test } from '@jest/globals';
import { everyRow } from '../../../test/support/parts/every-route.ts';
import { docsPage } from './docs-page.ts';
import { openApiDocument } from '../reference/openapi.ts';
import type { OpenApiDocument, OperationDoc, SchemaDoc } from '../reference/openapi-document.ts';

const document = openApiDocument(everyRow, '/svc/api', '1.2.3');

/** A document with one operation whose request and response bodies have `schema`. */
function documentOf(schema: SchemaDoc, change: Partial<OperationDoc> = {}): OpenApiDocument {
  const operation: OperationDoc = {
    operationId: 'getThings',
    summary: 'Lists things',
    tags: ['Things'],
    security: [],
    'x-weir-access': 'public',
    responses: { 200: { description: 'success', content: { 'application/json': { schema } } } },
    ...change,
  };
  return { ...document, paths: { '/things': { get: operation } }, components: { schemas: {} } };
}

/** The text of the page, without tags. */
function readable(described: OpenApiDocument): string {
  const { html } = docsPage(described);
  return html
    .slice(html.indexOf('<body>'))
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ');
}

describe('docsPage(), the API reference,', () => {
  test('contains every route with the path prefix, and every schema', () => {
    const { html } = docsPage(document);
    for (const { path, summary } of everyRow) {
      expect(html).toContain(`<code>/svc/api${path}</code>`);
      expect(html).toContain(summary.replaceAll('`', '').replaceAll("'", '&#39;'));
    }
    for (const name of Object.keys(document.components.schemas)) expect(html).toContain(`id="${name}"`);
    expect(html).toContain('href="/svc/api/openapi.json"');
    expect(html).toContain('Version 1.2.3');
  });

  test('shows no backticks of Markdown', () => {
    expect(docsPage(document).html).not.toContain('`');
  });

  test('has only links to schemas that exist', () => {
    const { html } = docsPage(document);
    const targets = [...html.matchAll(/href="#(\w+)"/g)].map(([, name]) => name!);
    expect(targets.length).toBeGreaterThan(20);
    for (const name of targets) expect(html).toContain(`<details id="${name}">`);
  });

  test('shows the routes of a tag in one chapter', () => {
    const { html } = docsPage(document);
    for (const tag of new Set(everyRow.map((row) => row.tag)))
      expect(html.split(`<h2>${tag}</h2>`)).toHaveLength(2);
  });

  test.each([
    ['public', 'Needs no authentication.'],
    ['member', 'Needs a session or an API token of any role.'],
    ['family', 'Needs a session or an API token of the role admin, or a session of the role family.'],
    ['viewer', 'Needs a session or an API token of the role admin or viewer.'],
    ['admin', 'Needs a session or an API token of the role admin.'],
  ] as const)('shows who may call a route: %s', (access, words) => {
    expect(readable(documentOf({}, { 'x-weir-access': access }))).toContain(words);
  });

  test.each<readonly [string, SchemaDoc]>([
    ['any', {}],
    ['string (ipv4; at most 15 characters)', { type: 'string', format: 'ipv4', maxLength: 15 }],
    ['string (a | b; default &#34;a&#34;)', { type: 'string', enum: ['a', 'b'], default: 'a' }],
    ['integer (1 to 10; how many)', { type: 'integer', minimum: 1, maximum: 10, description: 'how many' }],
    ['number (at least 0)', { type: 'number', minimum: 0 }],
    ['list of string', { type: 'array', items: { type: 'string' } }],
    ['string or null', { anyOf: [{ type: 'string' }, { type: 'null' }] }],
    [
      '{ id : integer, name : string }',
      { type: 'object', properties: { id: { type: 'integer' }, name: { type: 'string' } } },
    ],
  ])('describes a value as: %s', (words, schema) => {
    expect(readable(documentOf(schema))).toContain(`200 success ${words} `);
  });

  test('shows required parameters and the request body', () => {
    const text = readable(
      documentOf(
        {},
        {
          parameters: [
            { name: 'id', in: 'path', required: true, schema: { type: 'integer' } },
            { name: 'limit', in: 'query', schema: { type: 'integer' } },
          ],
          requestBody: { content: { 'application/json': { schema: { type: 'boolean' } } } },
        },
      ),
    );
    expect(text).toContain('Parameters id path, required integer limit query integer');
    expect(text).toContain('Body boolean Responses');
    expect(readable(documentOf({}))).not.toContain('Parameters');
  });

  test('shows examples of bodies and successful responses, and the header fields of responses', () => {
    const json = (example: unknown) => ({ 'application/json': { schema: {}, example } });
    const text = readable(
      documentOf(
        {},
        {
          requestBody: { content: json({ name: 'Kids' }) },
          responses: {
            200: { description: 'success', content: json([7]) },
            404: { description: 'the entity does not exist', content: json('not shown') },
            429: {
              description: 'too many',
              headers: { 'Retry-After': { description: 'when', schema: {} } },
            },
          },
        },
      ),
    );
    expect(text).toContain('{ &#34;name&#34;: &#34;Kids&#34; }');
    expect(text).toContain('[ 7 ]');
    expect(text).not.toContain('not shown');
    expect(text).toContain('429 too many Retry-After');
  });

  test('has a description of each chapter', () => {
    const tags = [{ name: 'Things', description: 'All things.' }];
    expect(readable({ ...documentOf({}), tags })).toContain('Things All things. ');
  });

  test('escapes HTML in descriptions', () => {
    const { html } = docsPage(documentOf({ description: '<script>alert(1)</script>' }));
    expect(html).not.toContain('<script');
    expect(html).toContain('&#60;script&#62;');
  });
});
