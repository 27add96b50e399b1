/** Form fields: their values, and props that bind a control to a field. */
import { useState } from 'react';
import { fieldProblem } from './problem-text.ts';

/** Props of a text field or a choice. */
interface BoundField<Value> {
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  /** Error message of the server. */
  readonly error: string | null;
}

/** Props of a switch or a checkbox. */
interface BoundToggle {
  readonly isSelected: boolean;
  readonly onChange: (isSelected: boolean) => void;
}

interface FormFields<Fields> {
  readonly fields: Fields;
  readonly set: (changed: Partial<Fields>) => void;
  /** Binds a field. `paths` are the paths of the field in error messages, if they differ from its name. */
  readonly bind: <Name extends keyof Fields & string>(
    name: Name,
    ...paths: string[]
  ) => BoundField<Fields[Name]>;
  readonly bindToggle: <Name extends keyof Fields>(
    name: Name & (Fields[Name] extends boolean ? Name : never),
  ) => BoundToggle;
}

/** Fields with initial values; `failure` is the error of the request that sends them. */
export function useFields<Fields extends object>(
  start: Fields | (() => Fields),
  failure: Error | null,
): FormFields<Fields> {
  const [fields, setFields] = useState(start);
  const set = (changed: Partial<Fields>): void => setFields((before) => ({ ...before, ...changed }));
  return {
    fields,
    set,
    bind: (name, ...paths) => ({
      value: fields[name],
      onChange: (value) => set({ [name]: value } as unknown as Partial<Fields>),
      error: (paths.length > 0 ? paths : [name]).reduce<string | null>(
        (found, path) => found ?? fieldProblem(failure, path),
        null,
      ),
    }),
    bindToggle: (name) => ({
      isSelected: Boolean(fields[name]),
      onChange: (isSelected) => set({ [name]: isSelected } as unknown as Partial<Fields>),
    }),
  };
}
