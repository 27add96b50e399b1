/** The reference at `/docs`: the OpenAPI document as a page that needs no network, no script and no login. */
import type { JsonSchema, OpenApiDocument, OperationDoc } from './openapi.ts';
import { html, page } from './page.ts';
import type { Markup, Page } from './page.ts';

/** Renders the reference. */
export function docsPage(document: OpenApiDocument): Page {
  const prefix = document.servers[0]!.url;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const byTag = Map.groupBy(operations, ({ operation }) => operation.tags[0]!);
  const body = html`
<h1>${document.info.title} API</h1>
<p>Version ${document.info.version}. Paths begin with <code>${prefix}</code>. The same as data:
<a href="${prefix}/openapi.json">openapi.json</a>.</p>
<p>${document.info.description.replaceAll('`', '')}</p>
${[...byTag].map(
  ([tag, members]) => html`
<h2>${tag}</h2>
${members.map(({ path, method, operation }) => describeOperation(method, prefix + path, operation))}`,
)}
<h2>Shapes</h2>
${Object.entries(document.components.schemas).map(
  ([name, schema]) => html`
<details id="${name}"><summary><code>${name}</code></summary>
${describeFields(schema)}
</details>`,
)}`;
  return page(`${document.info.title} API reference`, body);
}

function describeOperation(method: string, path: string, operation: OperationDoc): Markup {
  const body = operation.requestBody?.content['application/json']?.schema;
  return html`
<details id="${operation.operationId}">
<summary><span class="method">${method.toUpperCase()}</span> <code>${path}</code> ${operation.summary}</summary>
<p>${accessText(operation['x-weir-access'])}</p>
${operation.parameters.length === 0 ? '' : html`<h3>Parameters</h3>${rows(operation.parameters.map((parameter) => [parameter.name, `${parameter.in}${parameter.required ? ', required' : ''}`, shapeOf(parameter.schema)]))}`}
${body === undefined ? '' : html`<h3>Body</h3><p>${shapeOf(body)}</p>`}
<h3>Answers</h3>
${rows(
  Object.entries(operation.responses).map(([status, response]) => {
    const schema = Object.values(response.content ?? {})[0]?.schema;
    return [status, response.description, schema === undefined ? '' : shapeOf(schema)];
  }),
)}
</details>`;
}

function accessText(access: OperationDoc['x-weir-access']): string {
  switch (access) {
    case 'public':
      return 'Needs no authentication.';
    case 'viewer':
      return 'Needs a session or an API token of any role.';
    case 'admin':
      return 'Needs a session or an API token of the role admin.';
  }
}

function rows(cells: readonly (readonly (Markup | string)[])[]): Markup {
  return html`<table>${cells.map((row) => html`<tr>${row.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</table>`;
}

function describeFields(schema: JsonSchema): Markup {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>);
  if (properties.length === 0) return html`<p>${shapeOf(schema)}</p>`;
  const required = (schema['required'] ?? []) as string[];
  return rows(
    properties.map(([name, property]) => [
      html`<code>${name}</code>`,
      required.includes(name) ? 'required' : '',
      shapeOf(property),
    ]),
  );
}

/** One line that says what a value may be. */
function shapeOf(schema: JsonSchema): Markup {
  const reference = schema['$ref'];
  if (typeof reference === 'string') {
    const name = reference.slice(reference.lastIndexOf('/') + 1);
    return html`<a href="#${name}"><code>${name}</code></a>`;
  }
  const choices = schema['anyOf'] as JsonSchema[] | undefined;
  if (choices !== undefined) return html`${choices.map((choice, index) => html`${index === 0 ? '' : ' or '}${shapeOf(choice)}`)}`;
  if (schema['type'] === 'array') return html`list of ${shapeOf((schema['items'] ?? {}) as JsonSchema)}`;
  const inner = schema['properties'] as Record<string, JsonSchema> | undefined;
  if (inner !== undefined) return html`{ ${Object.entries(inner).map(([name, property], index) => html`${index === 0 ? '' : ', '}<code>${name}</code>: ${shapeOf(property)}`)} }`;
  return html`${String(schema['type'] ?? 'any')}${notesOn(schema)}`;
}

function notesOn(schema: JsonSchema): string {
  const notes = [
    schema['format'],
    (schema['enum'] as unknown[] | undefined)?.join(' | '),
    bounds(schema['minimum'], schema['maximum'], ''),
    bounds(schema['minLength'], schema['maxLength'], ' characters'),
    schema['default'] === undefined ? undefined : `default ${JSON.stringify(schema['default'])}`,
    schema['description'],
  ].filter((note) => note !== undefined);
  return notes.length === 0 ? '' : ` (${notes.join('; ')})`;
}

function bounds(low: unknown, high: unknown, unit: string): string | undefined {
  if (low === undefined && high === undefined) return undefined;
  if (high === undefined) return `at least ${String(low)}${unit}`;
  return low === undefined ? `at most ${String(high)}${unit}` : `${String(low)} to ${String(high)}${unit}`;
}
