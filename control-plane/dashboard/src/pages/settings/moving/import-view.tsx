/** Report of an import: the number of imported items, and the reasons why other items were not imported. */
import type { ReactNode } from 'react';
import { useImportReason, useItemName } from '../../../i18n/reasons/use-import-reason.ts';
import { useText } from '../../../i18n/text.ts';
import { DataTable } from '../../../ui/display/data-table.tsx';
import { Disclosure } from '../../../ui/display/disclosure.tsx';
import { Callout } from '../../../ui/display/states.tsx';
import { Figure, Figures } from '../../../ui/display/values.tsx';
import { PROGRAMS, RESULTS, rowsOf } from './import-rows.ts';
import type { Item, Report } from './import-rows.ts';

interface ImportViewProps {
  readonly report: Report;
  /** Buttons, shown below the figures and above the details. */
  readonly actions?: ReactNode;
}

export function ImportView({ report, actions }: ImportViewProps): ReactNode {
  const { say, format } = useText();
  const { counts, dry_run: isTrial } = report;
  const taken = counts.done + counts.changed;
  const program = PROGRAMS[report.format];
  return (
    <>
      {isTrial ? (
        <Callout tone={taken === 0 ? 'warning' : 'info'}>
          {say(taken === 0 ? 'import.nothing' : 'import.would', { program })}
        </Callout>
      ) : (
        <Callout tone="good">{say('import.did', { program })}</Callout>
      )}
      <Figures>
        {RESULTS.map((result) => (
          <Figure key={result} label={say(`import.result.${result}`)} value={format.count(counts[result])} />
        ))}
      </Figures>
      {actions}
      {RESULTS.map(
        (result) =>
          counts[result] > 0 && (
            <Disclosure key={result} title={say(`import.items.${result}`, { count: counts[result] })}>
              <ItemTable report={report} result={result} />
            </Disclosure>
          ),
      )}
    </>
  );
}

interface ItemTableProps {
  readonly report: Report;
  readonly result: Item['result'];
}

function ItemTable({ report, result }: ItemTableProps): ReactNode {
  const { say } = useText();
  const reasonText = useImportReason();
  const itemName = useItemName();
  const rows = rowsOf(report, result);
  const rest = report.counts[result] - rows.length;
  return (
    <>
      <DataTable
        label={say(`import.result.${result}`)}
        rows={rows}
        keyOf={({ key }) => key}
        columns={[
          {
            id: 'name',
            title: say('import.name'),
            isName: true,
            cell: ({ name }) => <bdi>{itemName(name)}</bdi>,
          },
          { id: 'kind', title: say('field.kind'), cell: ({ kind }) => say(`import.kind.${kind}`) },
          {
            id: 'action',
            title: say('import.effect'),
            cell: ({ action }) => (action === null ? '–' : say(`import.effect.${action}`)),
          },
          {
            id: 'why',
            title: say('import.why'),
            cell: ({ reason }) => (reason === null ? '–' : reasonText(reason)),
          },
        ]}
      />
      {rest > 0 && <p className="quiet">{say('word.rest', { count: rest })}</p>}
    </>
  );
}
