import { describe, expect, test } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { everyOperation, everyRow } from '../../../test/support/parts/every-route.ts';
import { route } from '../../api/route.ts';
import { openApiDocument } from './openapi.ts';
import { TAG_TEXTS } from './tag-texts.ts';

const document = openApiDocument(everyRow, '/api', '1.2.3');

describe('openApiDocument()', () => {
  test('describes every route under the path prefix', () => {
    expect(document.openapi).toBe('3.1.0');
    expect(document.servers.map(({ url }) => url)).toEqual(['/api', '/svc/api']);
    expect(openApiDocument([], '/svc/api', '1').servers.map(({ url }) => url)).toEqual(['/svc/api', '/api']);
    expect(document.info).toMatchObject({ title: 'Weir', version: '1.2.3' });
    for (const { method, path, status, summary, tag, access } of everyRow) {
      const operation = document.paths[path]![method.toLowerCase()]!;
      expect(operation).toMatchObject({ summary, tags: [tag], 'x-weir-access': access });
      expect(Object.keys(operation.responses)).toContain(String(status));
    }
  });

  test('is valid OpenAPI 3.1 according to an independent validator', async () => {
    const whole = openApiDocument(everyOperation, '/api', '1.2.3');
    const parsed = JSON.parse(JSON.stringify(whole)) as Record<string, unknown>;
    const result = await new Validator().validate(parsed);
    expect(result).toEqual({ valid: true });
  });

  test('describes each tag of the routes', () => {
    expect(document.tags.map(({ name }) => name)).toEqual([...new Set(everyRow.map(({ tag }) => tag))]);
    for (const { name, description } of document.tags)
      expect([name, description]).toEqual([name, TAG_TEXTS[name]]);
    expect(document.tags.filter(({ description }) => description === undefined)).toEqual([]);
  });

  test('lists the header fields of responses', () => {
    const { responses } = document.paths['/queries/export']!['get']!;
    expect(Object.keys(responses['429']!.headers!)).toEqual(['Retry-After']);
    expect(Object.keys(responses['503']!.headers!)).toEqual(['Retry-After']);
    expect(Object.keys(responses['401']!.headers!)).toEqual(['WWW-Authenticate']);
  });

  test('has only references that exist, and unique names', () => {
    const text = JSON.stringify(document);
    const references = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, target]) => target!);
    expect(references.length).toBeGreaterThan(20);
    for (const target of references) {
      expect(target).toMatch(/^#\/components\/schemas\//);
      expect(document.components.schemas).toHaveProperty(target.slice('#/components/schemas/'.length));
    }
    const ids = [...text.matchAll(/"operationId":"([^"]+)"/g)].map(([, id]) => id);
    expect(ids).toHaveLength(everyRow.length);
    expect(new Set(ids).size).toBe(ids.length);
    expect(document.paths['/auth/sessions']!['get']!.operationId).toBe('getAuthSessions');
    expect(document.paths['/groups/{id}']!['delete']!.operationId).toBe('deleteGroupsById');
  });

  test('marks former spellings of parameters as deprecated, each with the current spelling', () => {
    const found = Object.entries(document.components.schemas).flatMap(([name, { properties = {} }]) =>
      Object.entries(properties)
        .filter(([, { deprecated }]) => deprecated === true)
        .map(([field, { description }]) => {
          expect(Object.keys(properties)).toContain(description!.replace('use ', ''));
          return `${name}.${field}`;
        }),
    );
    expect(found).toEqual(expect.arrayContaining(['AuditLogEntry.actor', 'Session.last_seen_at']));
    expect(document.paths['/whitelist-sources/{id}']!['put']!.deprecated).toBe(true);
    expect(document.paths['/allowlist-sources/{id}']!['put']!.deprecated).toBeUndefined();
    const { parameters } = document.paths['/audit-log']!['get']!;
    expect(parameters!.filter(({ deprecated }) => deprecated).map(({ name }) => name)).toEqual(['actor']);
  });

  test('describes bodies and parameters as the routes check them', () => {
    const create = document.components.schemas['GroupCreate']!;
    expect([create.required, create.additionalProperties]).toEqual([['name'], false]);
    const { parameters } = document.paths['/queries']!['get']!;
    const limit = parameters!.find((parameter) => parameter.name === 'limit');
    expect(limit).toMatchObject({ in: 'query', schema: { type: 'integer', minimum: 1, maximum: 1000 } });
    expect(limit).not.toHaveProperty('required', true);
    const [id] = document.paths['/groups/{id}']!['get']!.parameters!;
    expect(id).toMatchObject({ name: 'id', in: 'path', required: true, schema: { type: 'integer' } });
    expect(document.paths['/health']!['get']!.security).toEqual([]);
    expect(document.paths['/groups']!['post']!.security).toEqual([
      { session: [] },
      { apiKey: [] },
      { bearer: [] },
      { sid: [] },
    ]);
  });

  test('lists the media types of routes that write their own response', () => {
    const { responses, parameters } = document.paths['/queries/export']!['get']!;
    const text = { schema: { type: 'string' } };
    expect(responses['200']).toEqual({
      description: 'success',
      content: {
        'text/csv': text,
        'application/x-ndjson': text,
        'application/vnd.apache.parquet': { schema: {} },
      },
    });
    expect(parameters!.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['format', 'status', 'status!']),
    );
    expect(parameters!.map(({ name }) => name)).not.toContain('limit');
  });

  test('lists the errors that follow from the input of a route, and the errors in its definition', () => {
    const errorsOf = (path: string, method: string): string[] => {
      const { responses } = document.paths[path]![method]!;
      return Object.keys(responses).filter((status) => Number(status) >= 400);
    };
    expect(errorsOf('/health', 'get')).toEqual(['400', '421', '429', '503']);
    expect(errorsOf('/auth/sessions/{id}', 'get')).toEqual(['400', '401', '404', '421', '429', '503']);
    expect(errorsOf('/groups/{id}', 'get')).toEqual(['400', '401', '403', '404', '421', '429', '503']);
    expect(errorsOf('/groups/{id}', 'put').concat('')).toEqual(
      expect.arrayContaining(['400', '401', '403', '404', '413', '415', '421', '429', '503']),
    );
    const row = { method: 'GET', path: '/odd', access: 'public', tag: 'Odd', summary: 'An odd row' } as const;
    const odd = route({ ...row, errors: { 418: 'a teapot' }, handle: () => undefined });
    const { responses } = openApiDocument([odd], '/api', '1').paths['/odd']!['get']!;
    expect(responses['418']).toMatchObject({
      description: 'a teapot',
      content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
    });
    expect(responses['204']).toEqual({ description: 'success, without a body' });
  });

  test('describes the same body for all error statuses', () => {
    const twofold = everyRow.find(({ alsoStatuses }) => Object.keys(alsoStatuses).length > 0)!;
    const { responses } = document.paths[twofold.path]![twofold.method.toLowerCase()]!;
    for (const [status, description] of Object.entries(twofold.alsoStatuses))
      expect(responses[status]).toEqual({ ...responses[String(twofold.status)], description });
  });
});
