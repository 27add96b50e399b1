/** The reference at `/docs`: the OpenAPI document as a page that needs no network, no script and no login. */
import type { ContentDoc, OpenApiDocument, OperationDoc, SchemaDoc } from '../reference/openapi-document.ts';
import { page, write } from './page.ts';
import type { Markup, Page } from './page.ts';

/** Renders the reference. */
export function docsPage(document: OpenApiDocument): Page {
  const prefix = document.servers[0]!.url;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const byTag = Map.groupBy(operations, ({ operation }) => operation.tags[0]!);
  const chapters = [...byTag].map(([tag, members]) => {
    const parts = members.map(({ path, method, operation }) =>
      describeOperation(method, prefix + path, operation),
    );
    const about = document.tags.find(({ name }) => name === tag)?.description;
    return write`<h2>${tag}</h2>${about === undefined ? '' : write`<p>${plain(about)}</p>`}${parts}`;
  });
  const shapes = Object.entries(document.components.schemas).map(
    ([name, schema]) =>
      write`<details id="${name}"><summary><code>${name}</code></summary>${describeFields(schema)}</details>`,
  );
  const body = write`
<h1>${document.info.title} API</h1>
<p>Version ${document.info.version}. Paths begin with <code>${prefix}</code>.
As OpenAPI: <a href="${prefix}/openapi.json">openapi.json</a>.</p>
<p>${plain(document.info.description)}</p>
${chapters}
<h2>Schemas</h2>
${shapes}`;
  return page(`${document.info.title} API reference`, body);
}

function describeOperation(method: string, path: string, operation: OperationDoc): Markup {
  const body = Object.values(operation.requestBody?.content ?? {})[0]?.schema;
  const parameters = (operation.parameters ?? []).map(({ name, in: place, required, schema }) => [
    write`<code>${name}</code>`,
    required ? `${place}, required` : place,
    shapeOf(schema),
  ]);
  const answers = Object.entries(operation.responses).map(([status, { description, content, headers }]) => {
    const schema = Object.values(content ?? {})[0]?.schema;
    const fields = Object.keys(headers ?? {}).map((name) => write`<br><code>${name}</code>`);
    return [status, write`${plain(description)}${fields}`, schema === undefined ? '' : shapeOf(schema)];
  });
  return write`
<details id="${operation.operationId}">
<summary><span class="method">${method.toUpperCase()}</span> <code>${path}</code> ${plain(operation.summary)}</summary>
<p>${operation.deprecated === true ? 'Deprecated. ' : ''}${accessText(operation['x-weir-access'])}</p>
${parameters.length === 0 ? '' : write`<h3>Parameters</h3>${rows(parameters)}`}
${body === undefined ? '' : write`<h3>Body</h3><p>${shapeOf(body)}</p>`}
${exampleIn(operation.requestBody?.content)}
<h3>Responses</h3>
${rows(answers)}
${Object.entries(operation.responses).map(([status, { content }]) => (status < '300' ? exampleIn(content) : write``))}
</details>`;
}

/** The example of a body, if it has one. */
function exampleIn(content: ContentDoc = {}): Markup {
  const example = Object.values(content).find((media) => media.example !== undefined)?.example;
  if (example === undefined) return write``;
  return write`<pre>${typeof example === 'string' ? example : JSON.stringify(example, null, 2)}</pre>`;
}

function accessText(access: OperationDoc['x-weir-access']): string {
  switch (access) {
    case 'public':
      return 'Needs no authentication.';
    case 'member':
      return 'Needs a session or an API token of any role.';
    case 'family':
      return 'Needs a session or an API token of the role admin, or a session of the role family.';
    case 'viewer':
      return 'Needs a session or an API token of the role admin or viewer.';
    case 'admin':
      return 'Needs a session or an API token of the role admin.';
  }
}

function rows(cells: readonly (readonly (Markup | string)[])[]): Markup {
  return write`<div class="wide"><table>
    ${cells.map(
      (row) =>
        write`<tr>
          ${row.map((cell) => write`<td>${cell}</td>`)}
        </tr>`,
    )}
  </table></div>`;
}

function describeFields(schema: SchemaDoc): Markup {
  const { properties, required = [] } = schema;
  if (properties === undefined) return write`<p>${shapeOf(schema)}</p>`;
  return rows(
    Object.entries(properties).map(([name, property]) => [
      write`<code>${name}</code>`,
      required.includes(name) ? 'required' : '',
      shapeOf(property),
    ]),
  );
}

/** One line about the allowed values. */
function shapeOf(schema: SchemaDoc): Markup {
  const { $ref, anyOf, properties, type = 'any' } = schema;
  if (typeof type !== 'string') return write`${type.join(' or ')}${notesOn(schema)}`;
  if ($ref !== undefined) {
    const name = $ref.slice($ref.lastIndexOf('/') + 1);
    return write`<a href="#${name}"><code>${name}</code></a>`;
  }
  if (anyOf !== undefined) return joined(anyOf.map(shapeOf), ' or ');
  if (type === 'array') return write`list of ${shapeOf(schema.items ?? {})}`;
  if (properties === undefined) return write`${type}${notesOn(schema)}`;
  const fields = Object.entries(properties).map(
    ([name, field]) => write`<code>${name}</code>: ${shapeOf(field)}`,
  );
  return write`{ ${joined(fields, ', ')} }`;
}

function joined(parts: readonly Markup[], between: string): Markup {
  return write`${parts.map((part, index) => write`${index === 0 ? '' : between}${part}`)}`;
}

/** A text without the backticks of Markdown. */
function plain(text: string): string {
  return text.replaceAll('`', '');
}

function notesOn(schema: SchemaDoc): string {
  const notes = [
    schema.format,
    schema.enum?.join(' | '),
    bounds(schema.minimum, schema.maximum, ''),
    bounds(schema.minLength, schema.maxLength, ' characters'),
    schema.default === undefined ? undefined : `default ${JSON.stringify(schema.default)}`,
    schema.deprecated === true ? 'deprecated' : undefined,
    schema.description === undefined ? undefined : plain(schema.description),
  ].filter((note) => note !== undefined);
  return notes.length === 0 ? '' : ` (${notes.join('; ')})`;
}

function bounds(low: number | undefined, high: number | undefined, unit: string): string | undefined {
  if (low === undefined) return high === undefined ? undefined : `at most ${high}${unit}`;
  return high === undefined ? `at least ${low}${unit}` : `${low} to ${high}${unit}`;
}
