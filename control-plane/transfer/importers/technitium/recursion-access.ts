/** Maps the clients that may use recursion of a Technitium DNS Server to allowed clients of Weir. Pure. */
import { importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import { networkFromText, networkToText } from '../../../../shared/net/cidr.ts';
import type { Network } from '../../../../shared/net/cidr.ts';
import type { ForeignTree } from '../files/foreign-tree.ts';
import { addAllowed, addBlocked, OWN_MACHINE, overlaps, reportOpen } from '../plan/planned-access.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';

/** A line of the list: the first one that contains an address decides; if there is none, the client is refused. */
interface AccessLine {
  readonly network: Network;
  readonly isAllowed: boolean;
}

/** Adds the keys. Technitium answers all clients from its own zones; in Weir the setting applies to all names. */
export function mapRecursionAccess(builder: PlanBuilder, settings: ForeignTree): void {
  const mode = settings.text('recursion');
  switch (mode) {
    case undefined:
      return;
    case 'Allow':
      return reportOpen(builder, 'recursion Allow');
    case 'AllowOnlyForPrivateNetworks':
      return addAllowed(builder, ['private'], 'recursion');
    case 'UseSpecifiedNetworkACL':
      return mapLines(builder, settings.texts('recursionNetworkACL') ?? [], 'recursionNetworkACL');
    // Before version 13 there were two lists, and denied networks came first.
    case 'UseSpecifiedNetworks':
      return mapLines(
        builder,
        [
          ...(settings.texts('recursionDeniedNetworks') ?? []).map((text) => `!${text}`),
          ...(settings.texts('recursionAllowedNetworks') ?? []),
        ],
        'recursion',
      );
    default:
      builder.notMapped('configuration', `recursion ${mode}`, importReason('technitium_recursion'));
  }
}

function mapLines(builder: PlanBuilder, written: readonly string[], from: string): void {
  const lines = written.flatMap((text): AccessLine[] => {
    const network = networkFromText(text.replace(/^!/, '').trim());
    if (network === null)
      builder.notMapped('configuration', `${from} ${text}`, importReason('not_a_network'));
    return network === null ? [] : [{ network, isAllowed: !text.startsWith('!') }];
  });
  const blocked = lines.flatMap((line, at) =>
    line.isAllowed ? [] : blockedBy(builder, line, lines, at, from),
  );
  const allowed = lines.filter(({ isAllowed }) => isAllowed).map(({ network }) => networkToText(network));
  addAllowed(builder, [...OWN_MACHINE, ...allowed], from);
  addBlocked(builder, blocked, from);
}

/**
 * The denied network, if it overlaps with an allowed network after it. If an allowed network before it also overlaps,
 * it is reported instead, because in Weir denied networks always take precedence.
 */
function blockedBy(
  builder: PlanBuilder,
  { network }: AccessLine,
  lines: readonly AccessLine[],
  at: number,
  from: string,
): string[] {
  const others = (part: readonly AccessLine[]): boolean =>
    part.some((line) => line.isAllowed && overlaps(line.network, network));
  const text = networkToText(network);
  if (!others(lines.slice(at + 1))) return [];
  if (!others(lines.slice(0, at))) return [text];
  builder.notMapped('configuration', `${from} !${text}`, importReason('technitium_network_order'));
  return [];
}
