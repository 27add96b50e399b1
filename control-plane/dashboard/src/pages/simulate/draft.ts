/** A draft as a list of changes, and the request that simulates it. Pure functions. */
import type { SourceKind } from '../../../../../shared/policy/source-kind.ts';
import type { Draft } from '../../ui/policy/use-simulation.ts';

/** One change of a draft. */
export type DraftChange =
  | {
      readonly kind: 'turnOn';
      readonly id: number;
      readonly of: SourceKind;
      readonly name: string;
      /** Whether the list is enabled and has a held update, which the simulation then uses. */
      readonly isHeld: boolean;
    }
  | { readonly kind: 'turnOff'; readonly id: number; readonly of: SourceKind; readonly name: string }
  | { readonly kind: 'url'; readonly url: string; readonly of: SourceKind }
  | {
      readonly kind: 'domain';
      readonly domain: string;
      readonly action: 'allow' | 'deny';
      readonly groupId: number | null;
    }
  | {
      readonly kind: 'block' | 'unblock';
      readonly serviceId: string;
      readonly name: string;
      readonly groupId: number;
    }
  | { readonly kind: 'client'; readonly address: string; readonly groupId: number };

/** Kinds of changes that the form offers. */
export const CHANGE_KINDS = ['turnOn', 'turnOff', 'url', 'domain', 'block', 'unblock', 'client'] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

/** The draft in the body of the request. */
export function draftOf(changes: readonly DraftChange[], period: string): Draft {
  const of = <Kind extends ChangeKind>(kind: Kind) =>
    changes.filter((change): change is Extract<DraftChange, { kind: Kind }> => change.kind === kind);
  const services = (kind: 'block' | 'unblock') =>
    changes.flatMap((change) =>
      change.kind === kind && 'serviceId' in change
        ? { service_id: change.serviceId, group_id: change.groupId }
        : [],
    );
  return {
    period,
    lists: {
      add: [
        ...of('turnOn').map(({ id }) => ({ source_id: id })),
        ...of('url').map(({ url, of: kind }) => ({ url, kind, name: url.slice(0, 200) })),
      ],
      drop: of('turnOff').map(({ id }) => id),
    },
    managed_domains: {
      add: of('domain').map(({ domain, action, groupId }) => ({ domain, action, group_id: groupId })),
    },
    services: { block: services('block'), unblock: services('unblock') },
    clients: of('client').map(({ address, groupId }) => ({ ip_address: address, group_id: groupId })),
  };
}

/** Key of a change. Changes with the same key are equal, and the draft contains each of them once. */
export function keyOf(change: DraftChange): string {
  return JSON.stringify(change);
}
