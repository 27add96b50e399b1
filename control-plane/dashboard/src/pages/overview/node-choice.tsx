/**
 * Selects the node whose queries the overview shows, or all nodes. Loaded on demand because most installations have one
 * node.
 */
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import { SelectField } from '../../ui/controls/fields.tsx';

/** Id of the choice "all"; no node has this name. */
const ALL = '*';

interface NodeChoiceProps {
  readonly names: readonly string[];
  /** Name of the selected node; empty for all nodes. */
  readonly value: string;
  readonly onChange: (name: string) => void;
}

/** Choice of a node; "all" comes first. */
export default function NodeChoice({ names, value, onChange }: NodeChoiceProps): ReactNode {
  const { say } = useText();
  return (
    <SelectField
      label={say('nodes.node')}
      isLabelHidden
      value={value === '' ? ALL : value}
      onChange={(chosen) => onChange(chosen === ALL ? '' : chosen)}
      choices={[
        { id: ALL, text: say('overview.nodes.all') },
        ...names.map((name) => ({ id: name, text: name })),
      ]}
    />
  );
}
