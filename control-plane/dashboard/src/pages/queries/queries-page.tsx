/** Page of the query log: live and older rows, with filters, explanations, and actions on rows. */
import { CircleHelp, Download, Trash2 } from 'lucide-react';
import { lazy, memo, Suspense, useMemo, useRef, useState } from 'react';
import type { ReactNode, RefObject } from 'react';
import { useLocation } from 'wouter';
import { useAsk } from '../../api/use-ask.ts';
import { useUrlState } from '../../api/url-state.ts';
import { useText } from '../../i18n/text.ts';
import { Page } from '../../ui/display/page.tsx';
import { afterPaint } from '../../ui/screen/after-paint.ts';
import { Button } from '../../ui/controls/button.tsx';
import { SwitchField } from '../../ui/controls/fields.tsx';
import { ExplainDrawer } from './explain/explain-drawer.tsx';
import { useVerdict } from './explain/use-verdict.ts';
import { targetOf, usualFor } from './explain/verdicts.ts';
import type { Groups } from './filters/condition-text.ts';
import { FilterBar } from './filters/filter-bar.tsx';
import { CONDITIONS, filtersOf, NO_FILTERS, replacing } from './filters/log-filters.ts';
import type { ConditionName } from './filters/log-filters.ts';
import { Keys } from './keys-dialog.tsx';
import { LogStatus, NoRows } from './log-status.tsx';
import type { LogRow } from './log/log-rows.ts';
import { LogWindow } from './log/log-window.tsx';
import { isBlocked } from './log/status-look.ts';
import type { LogHandle, PressedValue } from './log/log-window.tsx';
import { useIsEmpty, useLog } from './log/use-log.ts';
import styles from './queries-page.module.css';
import { download } from '../../api/download.ts';
import { Menu, MenuAt } from '../../ui/overlays/menu.tsx';
import { valueText } from './filters/condition-text.ts';
import { ForAdmins, useMe } from '../../api/session.tsx';
import type { VerdictActor } from './explain/use-verdict.ts';
import type { ShownLog } from './log/use-log.ts';
import type { RowKey } from './row-keys.ts';

const DEFAULTS = { ...NO_FILTERS, open: '', live: 'on' };
/** Placeholder in the URL for a row without an id. */
const UNNUMBERED = 'new';
const NO_GROUPS: Groups = [];

const ClearDialog = lazy(() => import('./clear-dialog.tsx'));

export default function QueriesPage(): ReactNode {
  const { say } = useText();
  const [fields, setFields] = useUrlState(DEFAULTS);
  const search = new URLSearchParams(filtersOf(fields)).toString();
  const filters = useMemo(() => Object.fromEntries(new URLSearchParams(search)), [search]);
  // A period with an end cannot get new rows.
  const mayBeLive = fields.to === '';
  const log = useLog(filters, mayBeLive && fields.live === 'on');
  const groups = useAsk('GET /groups', {}).data ?? NO_GROUPS;
  const [current, setCurrent] = useState(0);
  const [opened, setOpened] = useState<LogRow | null>(null);
  const [pressed, setPressed] = useState<PressedValue | null>(null);
  const handle = useRef<LogHandle>(null);
  const box = useRef<HTMLDivElement>(null);
  const verdicts = useVerdict();

  const open = (index: number): void => {
    const row = log.reader.view().rows.at(index)?.row;
    if (row === undefined) return;
    setCurrent(index);
    // Wait until the browser has shown that the row is pressed.
    afterPaint(() => {
      setOpened(row);
      setFields({ open: String(row.id ?? UNNUMBERED) }, { replace: fields.open !== '' });
    });
  };
  const filter = (name: ConditionName, value: string, isExcluded: boolean): void => {
    setFields({ ...replacing(name, value, isExcluded), open: '' });
    scrollTo({ top: 0 });
  };
  const known = opened !== null && String(opened.id ?? UNNUMBERED) === fields.open ? opened : null;
  const act = useRowKeys({
    log,
    current,
    opened: known,
    isOpen: fields.open !== '',
    open,
    handle,
    box,
    verdicts,
  });
  const close = (): void => {
    setFields({ open: '' });
    setTimeout(() => focusAgain(() => handle.current?.goTo(current)), 50);
  };
  const isEmpty = useIsEmpty(log);
  return (
    <Page
      title={say('page.queries')}
      actions={
        <>
          <SwitchField
            isSelected={mayBeLive && fields.live === 'on'}
            isDisabled={!mayBeLive}
            onChange={(isLive) => setFields({ live: isLive ? 'on' : 'off' }, { replace: true })}
          >
            {say('queries.tail.open')}
          </SwitchField>
          <LogTools
            name={fields.domain}
            filters={filters}
            groups={groups}
            onCleared={() => void log.reader.reload()}
          />
          <Keys onKey={act} />
        </>
      }
    >
      <div className={styles['part']}>
        <FilterBar filters={filters} onChange={setFields} groups={groups} box={box} />
        <LogStatus log={log} isLive={mayBeLive && fields.live === 'on'} />
        {isEmpty ? (
          <NoRows isFiltered={search !== ''} onClear={() => setFields(NO_FILTERS)} />
        ) : (
          <LogWindow
            log={log}
            current={current}
            onCurrent={setCurrent}
            onOpen={open}
            onValue={setPressed}
            isHeld={fields.open !== '' || pressed !== null}
            handle={handle}
          />
        )}
      </div>
      <ValueMenu pressed={pressed} groups={groups} onFilter={filter} onClose={() => setPressed(null)} />
      {fields.open !== '' && (
        <ExplainDrawer
          key={fields.open}
          id={fields.open}
          row={known}
          groups={groups}
          verdicts={verdicts}
          onFilter={filter}
          onClose={close}
        />
      )}
    </Page>
  );
}

interface LogToolsProps {
  /** Name by which the log is filtered; '' if there is none. */
  readonly name: string;
  readonly filters: Readonly<Record<string, string>>;
  readonly groups: Groups;
  readonly onCleared: () => void;
}

/** Buttons that open the page for explaining any name, export the shown rows, and clear the log. */
function LogTools({ name, filters, groups, onCleared }: LogToolsProps): ReactNode {
  const { say } = useText();
  const [, go] = useLocation();
  const [isClearing, setIsClearing] = useState(false);
  const path = name === '' ? '/why' : `/why?name=${encodeURIComponent(name)}`;
  return (
    <>
      <Button icon={CircleHelp} onPress={() => go(path)}>
        {say('why.open')}
      </Button>
      <ExportMenu filters={filters} />
      <ForAdmins>
        <Button icon={Trash2} onPress={() => setIsClearing(true)}>
          {say('queries.clear')}
        </Button>
        {isClearing && (
          <Suspense fallback={null}>
            <ClearDialog
              filters={filters}
              groups={groups}
              onCleared={onCleared}
              onClose={() => setIsClearing(false)}
            />
          </Suspense>
        )}
      </ForAdmins>
    </>
  );
}

/**
 * Focuses the row after the drawer has closed. The drawer itself does not restore the focus if the user has moved to
 * another row while it was open.
 */
function focusAgain(focus: () => void): void {
  if (document.activeElement === document.body) focus();
}

const FORMATS = ['csv', 'ndjson', 'parquet'] as const;

/** Exports the filtered rows as a file, which the browser streams to disk. */
const ExportMenu = memo(function ExportMenu({
  filters,
}: {
  readonly filters: Readonly<Record<string, string>>;
}): ReactNode {
  const { say } = useText();
  return (
    <Menu
      label={say('queries.export')}
      button={<Button icon={Download}>{say('queries.export')}</Button>}
      actions={FORMATS.map((format) => ({
        id: format,
        text: say(`queries.export.${format}`),
        run: () => download('/queries/export', { ...filters, format }, `queries.${format}`),
      }))}
    />
  );
});

interface ValueMenuProps {
  readonly pressed: PressedValue | null;
  readonly groups: readonly { readonly id: number; readonly name: string }[];
  readonly onFilter: (name: ConditionName, value: string, isExcluded: boolean) => void;
  readonly onClose: () => void;
}

/** Actions on a clicked value of a row. */
function ValueMenu({ pressed, groups, onFilter, onClose }: ValueMenuProps): ReactNode {
  const { say } = useText();
  const name = CONDITIONS.find((one) => one === pressed?.field);
  if (pressed === null || name === undefined) return null;
  const value = name === 'dnssec' ? pressed.row.dnssec_status : String(pressed.row[name] ?? '');
  const text = valueText(name, value, groups, say);
  return (
    <MenuAt
      at={pressed.element}
      label={text}
      onClose={onClose}
      actions={[
        { id: 'only', text: say('queries.only', { value: text }), run: () => onFilter(name, value, false) },
        {
          id: 'without',
          text: say('queries.without', { value: text }),
          run: () => onFilter(name, value, true),
        },
      ]}
    />
  );
}

/** State that the row shortcuts use. */
interface RowKeyParts {
  readonly log: ShownLog;
  /** Index of the current row. */
  readonly current: number;
  /** The row in the drawer, if it is loaded. */
  readonly opened: LogRow | null;
  readonly isOpen: boolean;
  readonly open: (index: number) => void;
  readonly handle: RefObject<LogHandle | null>;
  /** Container of the search box. */
  readonly box: RefObject<HTMLElement | null>;
  readonly verdicts: VerdictActor;
}

/** Handles the shortcuts for rows. */
function useRowKeys(parts: RowKeyParts): (key: RowKey) => void {
  const { log, current, opened, isOpen, open, handle, box, verdicts } = parts;
  const { isAdmin } = useMe();

  function go(step: number): void {
    const isInLog = document.activeElement?.closest('[data-index]') instanceof Element;
    // The first key press selects the row that the Tab key would focus.
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
    if (action === 'allow' && !isBlocked(row.status)) return;
    const target = targetOf(row);
    verdicts.apply({ action, ...usualFor(target) }, target);
  }

  return (key) => {
    if (key === 'next') go(1);
    else if (key === 'previous') go(-1);
    else if (key === 'allow' || key === 'block') decide(key);
    else if (key === 'explain') open(current);
    else if (!isOpen) box.current?.querySelector('input')?.focus();
  };
}
