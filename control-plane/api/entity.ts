/**
 * Entities of the API: the objects of paths such as `/groups/{id}`. Each route refers to its entity, and `route.ts`
 * implements for all entities what RFC 9110 requires: `Location` of a created entity, `ETag`, and `If-Match`, which is
 * checked in the transaction of the change. Read-only fields of a body are ignored, so that a client can read an
 * entity, edit it and send it back.
 */
import { createHash } from 'node:crypto';
import { NoFields } from '../../shared/api/zod.ts';
import type { Checked, FieldsSchema, Schema, Unchecked } from '../../shared/api/zod.ts';
import type { Queryable } from '../storage/db/queryable.ts';
import { preconditionFailed } from './api-error.ts';

/**
 * Throws 412 if the state of the entity differs from the state that the request expects. Runs in the transaction of the
 * change, before the change.
 */
export type Precondition = (tx: Queryable) => Promise<void>;

type Fields = Readonly<Record<string, unknown>>;

/** An entity as its feature defines it. */
interface EntityRow<P extends Schema, A extends FieldsSchema> {
  /** Path of the entity, without the prefix of the API; parameters are written as `{id}`. */
  readonly path: string;
  readonly params?: P;
  /** Schema of the entity in responses. */
  readonly answer: A;
  /** Schema of the body that writes the entity; the ETag covers the fields that are also in `answer`. */
  readonly body: FieldsSchema;
  /**
   * Reads the entity in the transaction of a change, at least the fields that the ETag covers; throws 404 if it does
   * not exist.
   */
  readonly read: (db: Queryable, params: Checked<P>) => Promise<Partial<Unchecked<A>>>;
  /** Fields that the ETag covers in addition, or with other values than in the response. */
  readonly covers?: (answer: Partial<Unchecked<A>>) => Fields;
  /** The parameters of the path, if the response has no fields with the same names. */
  readonly placeOf?: (answer: Unchecked<A>) => Fields;
}

/** An entity in the form that routes use. */
export interface Entity {
  readonly path: string;
  /** Fields of responses. A body may contain all of them; read-only fields are ignored. */
  readonly fields: readonly string[];
  /** Path of the entity, without the prefix of the API. */
  locate(answer: Fields): string;
  etagOf(answer: Fields): string;
  /** The precondition of an `If-Match` header; undefined if the request has none. */
  preconditionOf(ifMatch: string | undefined, params: unknown): Precondition | undefined;
}

/** Creates an entity. */
export function entity<A extends FieldsSchema, P extends Schema = Schema>(row: EntityRow<P, A>): Entity {
  const { path, placeOf } = row;
  const fields = Object.keys(row.answer.shape);
  const written = new Set(Object.keys(row.body.shape));
  const covered = fields.filter((field) => written.has(field));
  const etagOf = (answer: Fields): string => {
    const state = Object.fromEntries(covered.map((field) => [field, answer[field]]));
    return tagOf({ ...state, ...row.covers?.(answer as Partial<Unchecked<A>>) });
  };
  return {
    path,
    fields,
    etagOf,
    locate: (answer) => {
      const place: Fields = placeOf === undefined ? answer : placeOf(answer as Unchecked<A>);
      return path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(String(place[name])));
    },
    preconditionOf: (ifMatch, params) => {
      if (ifMatch === undefined) return undefined;
      const expected = tagsIn(ifMatch);
      return async (tx) => {
        const current = etagOf(await row.read(tx, params as Checked<P>));
        if (expected !== null && !expected.includes(current.slice(1, -1)))
          throw preconditionFailed('the entity has changed since it was read; read it again');
      };
    },
  };
}

/** An entity without writable fields: it is only created, read and possibly deleted. */
export function readOnlyEntity<A extends FieldsSchema>(
  row: Pick<EntityRow<Schema, A>, 'path' | 'answer' | 'placeOf'>,
): Entity {
  return entity({ ...row, body: NoFields, read: async () => ({}) });
}

/**
 * Opaque parts of the entity tags in If-Match (RFC 9110 section 13.1.1); null = any tag matches. Weak tags are
 * accepted, because a proxy that compresses responses makes their tags weak.
 */
export function tagsIn(ifMatch: string): readonly string[] | null {
  if (ifMatch.trim() === '*') return null;
  return ifMatch.split(',').map((tag) => tag.trim().replace(/^W\//, '').replace(/^"|"$/g, ''));
}

/** A body without the read-only fields of the entity. */
export function withoutReadOnly(body: unknown, { fields }: Entity, schema: FieldsSchema): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const ignored = new Set(readOnlyFields(fields, schema));
  return Object.fromEntries(Object.entries(body).filter(([field]) => !ignored.has(field)));
}

/** Fields that a body may contain and that are ignored. */
export function readOnlyFields(fields: readonly string[], schema: FieldsSchema): string[] {
  return fields.filter((field) => !(field in schema.shape));
}

/** The entity tag of a state. It depends on the order of the fields, which is the order of the schema. */
function tagOf(state: Fields): string {
  const hash = createHash('sha256').update(JSON.stringify(state));
  return `"${hash.digest('base64url').slice(0, 22)}"`;
}
