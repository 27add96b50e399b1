/** Checks values against the schemas of an OpenAPI document as a client would: JSON Schema 2020-12 with formats. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { OpenApiDocument, SchemaDoc } from '../../../control-plane/web/reference/openapi-document.ts';

/** Id under which the document is registered. */
const ID = 'weir';

/** Caches compiled schemas, because a walk over all operations uses each schema many times. */
export class DocumentChecker {
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true });
  private readonly compiled = new Map<string, ValidateFunction>();

  constructor({ components }: OpenApiDocument) {
    addFormats.default(this.ajv);
    for (const format of ['cidrv4', 'cidrv6']) this.ajv.addFormat(format, true);
    this.ajv.addSchema({ $id: ID, components: absolute(components) });
  }

  /** Faults in a value; empty if it matches the schema. */
  faultsOf(schema: SchemaDoc, value: unknown): string[] {
    const text = JSON.stringify(schema);
    const check = this.compiled.get(text) ?? this.ajv.compile(absolute(schema) as object);
    this.compiled.set(text, check);
    check(value);
    return (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message ?? ''}`);
  }
}

/** The schema, with references that also resolve outside the document. */
function absolute(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', `"${ID}#/components/`));
}
