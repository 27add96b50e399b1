/** What the keys of the log do. */
import type { RefObject } from 'react';
import { useMe } from '../../api/session.tsx';
import type { Judge } from './explain/use-verdict.ts';
import type { LogRow } from './log/log-rows.ts';
import type { LogHandle } from './log/log-window.tsx';
import type { ShownLog } from './log/use-log.ts';
import type { RowKey } from './row-keys.ts';

/** What they work on. */
export interface RowKeyParts {
  readonly log: ShownLog;
  /** The place of the row that is meant. */
  readonly current: number;
  /** The row in the drawer, where it is known. */
  readonly opened: LogRow | null;
  readonly isOpen: boolean;
  readonly open: (index: number) => void;
  readonly handle: RefObject<LogHandle | null>;
  /** Holds the search box. */
  readonly box: RefObject<HTMLElement | null>;
  readonly judge: Judge;
}

/** Does what a key means. */
export function useRowKeys(parts: RowKeyParts): (key: RowKey) => void {
  const { log, current, opened, isOpen, open, handle, box, judge } = parts;
  const { isAdmin } = useMe();

  function go(step: number): void {
    const isInLog = document.activeElement?.closest('[data-index]') instanceof Element;
    // The first press takes the row that the Tab key would reach.
    const there = Math.max(
      0,
      Math.min(current + (isInLog || isOpen ? step : 0), log.reader.view().count - 1),
    );
    handle.current?.goTo(there);
    if (isOpen) open(there);
  }

  function decide(action: 'allow' | 'block'): void {
    const row = isOpen ? opened : log.reader.view().rows.at(current)?.row;
    if (!isAdmin || row === null || row === undefined) return;
    const target = { domain: row.domain, client: row.client, clientId: row.client_id, groupId: row.group_id };
    judge.judge({ action, scope: 'client', span: 600 }, target);
  }

  return (key) => {
    if (key === 'next') go(1);
    else if (key === 'previous') go(-1);
    else if (key === 'allow' || key === 'block') decide(key);
    else if (key === 'explain') open(current);
    else if (!isOpen) box.current?.querySelector('input')?.focus();
  };
}
