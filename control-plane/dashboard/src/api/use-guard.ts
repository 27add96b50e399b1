/**
 * Guards a form against concurrent changes with `If-Match`: the form is saved only if the entity has not changed since
 * the form was opened. If the entity has changed, the form shows its current state and the user decides.
 */
import { useEffect, useRef, useState } from 'react';
import type { AnswerOf, CallOf, Given, OperationName } from '../../../../shared/api/client/typed-client.ts';
import { ApiFailure } from '../../../../shared/api/client/typed-client.ts';
import { send } from './ask.ts';

type Reading = Extract<OperationName, `GET ${string}`>;

/** An entity with its ETag. */
interface Tagged<Entity> {
  readonly entity: Entity;
  readonly etag: string | null;
}

/** Guard of one form. */
export interface Guard<Entity> {
  /** Header fields for the request that saves the form. */
  readonly headers: () => { readonly headers?: Readonly<Record<string, string>> };
  /** The current entity if it has changed since the form was opened; null if it has not. */
  readonly newer: Entity | null;
  /** Accepts the current state as the state to edit. */
  readonly accept: () => void;
  /** The error of the request; null if `newer` is the reason of the error. */
  readonly failure: Error | null;
}

/** The guarded entity, and the error of the request that saves it. */
export interface GuardOptions<Name extends Reading> {
  readonly read: Name;
  /** Id of the entity; null for a new entity, or if no field of the form has changed yet. */
  readonly id: number | string | null;
  /** Name of the path parameter that contains `id`; "id" by default, null if the path has no parameter. */
  readonly by?: string | null;
  /** Whether an entity is unchanged since the form was opened, or since `id` was last null. */
  readonly isAsBegun: (entity: AnswerOf<Name>) => boolean;
  readonly failure: Error | null;
}

export function useGuard<Name extends Reading>(options: GuardOptions<Name>): Guard<AnswerOf<Name>> {
  const { read, id, by = 'id', isAsBegun, failure } = options;
  const [newer, setNewer] = useState<Tagged<AnswerOf<Name>> | null>(null);
  const etag = useRef<string | null>(null);
  const begun = useRef(isAsBegun);
  useEffect(() => {
    if (id === null) begun.current = isAsBegun;
  });
  useEffect(() => {
    etag.current = null;
    if (id === null) return undefined;
    const leaving = new AbortController();
    void readTagged(read, { id, by }, leaving.signal).then((now) => {
      if (now === null) return;
      if (begun.current(now.entity)) etag.current = now.etag;
      else setNewer(now);
    });
    return () => leaving.abort();
  }, [read, id, by]);
  useEffect(() => {
    if (id === null || !(failure instanceof ApiFailure) || failure.status !== CHANGED) return undefined;
    const leaving = new AbortController();
    void readTagged(read, { id, by }, leaving.signal).then((now) => setNewer(now));
    return () => leaving.abort();
  }, [read, id, by, failure]);
  return {
    headers: () => (etag.current === null ? {} : { headers: { 'If-Match': etag.current } }),
    newer: newer?.entity ?? null,
    accept: () => {
      etag.current = newer?.etag ?? null;
      setNewer(null);
    },
    failure: newer === null ? failure : null,
  };
}

const CHANGED = 412;

/**
 * Reads the entity; null if it cannot be read. Without the entity, the form has no guard, or shows the error of the
 * request that saves it.
 */
async function readTagged<Name extends Reading>(
  read: Name,
  { id, by }: { readonly id: number | string; readonly by: string | null },
  signal: AbortSignal,
): Promise<Tagged<AnswerOf<Name>> | null> {
  const call = { ...(by !== null && { params: { [by]: id } }), signal } as unknown as CallOf<Name>;
  try {
    const { answer, headers } = await send(read, ...([call] as unknown as Given<Name>));
    return { entity: answer, etag: headers.get('ETag') };
  } catch {
    return null;
  }
}
