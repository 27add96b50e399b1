/** The parts of an OpenAPI document that Weir uses, as created by `openapi.ts` and read by `docs-page.ts`. */
import type { Access } from '../../api/route-access.ts';

/** A parameter of the path, of the query string or in a header field. */
export interface ParameterDoc {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  /** False by default. */
  readonly required?: boolean;
  readonly deprecated?: boolean;
  readonly schema: SchemaDoc;
  readonly example?: unknown;
}

/** One method on one path. */
export interface OperationDoc {
  readonly operationId: string;
  readonly summary: string;
  /** True for a former spelling of another path. */
  readonly deprecated?: boolean;
  readonly tags: readonly string[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly 'x-weir-access': Access;
  readonly parameters?: readonly ParameterDoc[];
  readonly requestBody?: { readonly content: ContentDoc };
  readonly responses: Readonly<Record<string, ResponseDoc>>;
}

/** One response, by its status. */
export interface ResponseDoc {
  readonly description: string;
  readonly headers?: Readonly<Record<string, HeaderDoc>>;
  readonly content?: ContentDoc;
}

/** A header field of a response. */
export interface HeaderDoc {
  readonly description: string;
  readonly schema: SchemaDoc;
  readonly example?: unknown;
}

/** Bodies by media type. */
export type ContentDoc = Readonly<Record<string, MediaDoc>>;

/** A body of one media type. */
export interface MediaDoc {
  readonly schema: SchemaDoc;
  readonly example?: unknown;
}

/** The keywords of JSON Schema that Weir's schemas use. */
export interface SchemaDoc {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly examples?: readonly unknown[];
  readonly enum?: readonly string[];
  readonly anyOf?: readonly SchemaDoc[];
  readonly oneOf?: readonly SchemaDoc[];
  readonly allOf?: readonly SchemaDoc[];
  readonly items?: SchemaDoc;
  readonly properties?: Readonly<Record<string, SchemaDoc>>;
  readonly readOnly?: boolean;
  readonly additionalProperties?: boolean | SchemaDoc;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}

/** The document. */
export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string; readonly description?: string }[];
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationDoc>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, SchemaDoc>> };
}
