/** The description of a change. Names that users have chosen keep their own direction of writing. */
import { Fragment } from 'react';
import type { ReactNode } from 'react';
import type { TextPart } from '../../../../../../shared/policy/changes/change-codes.ts';

export function ChangeLine({ parts }: { readonly parts: readonly TextPart[] }): ReactNode {
  return parts.map(({ text, isValue }, index) =>
    isValue ? <bdi key={index}>{text}</bdi> : <Fragment key={index}>{text}</Fragment>,
  );
}
