/** A list with an Add button. An empty list shows a text about its purpose. */
import type { LucideIcon } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ForAdmins } from '../../api/session.tsx';
import { AddButton } from '../controls/add-button.tsx';
import { Answered, Empty } from './states.tsx';
import type { Answer } from './states.tsx';

interface AddableListProps<Row> {
  readonly of: Answer<readonly Row[]>;
  readonly icon: LucideIcon;
  /** Title and text that are shown while the list is empty. */
  readonly emptyTitle: string;
  readonly emptyText: string;
  readonly addText: string;
  readonly form: (close: () => void) => ReactNode;
  readonly children: (rows: readonly Row[]) => ReactNode;
}

/** The form that adds a row stays open when the first row arrives. */
export function AddableList<Row>(props: AddableListProps<Row>): ReactNode {
  const { of, icon, emptyTitle, emptyText, addText, form, children } = props;
  const [isAdding, setAdding] = useState(false);
  const add = <AddButton text={addText} onPress={() => setAdding(true)} />;
  return (
    <>
      <Answered of={of} lines={6}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty icon={icon} title={emptyTitle}>
              <p>{emptyText}</p>
              {add}
            </Empty>
          ) : (
            <>
              <ForAdmins>
                <div>{add}</div>
              </ForAdmins>
              {children(rows)}
            </>
          )
        }
      </Answered>
      {isAdding && form(() => setAdding(false))}
    </>
  );
}
