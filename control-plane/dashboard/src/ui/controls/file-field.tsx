/** Field for a local file. */
import { FileUp } from 'lucide-react';
import { useId } from 'react';
import type { ReactNode } from 'react';
import { FileTrigger } from 'react-aria-components/FileTrigger';
import { useText } from '../../i18n/text.ts';
import { Button } from './button.tsx';
import styles from './file-field.module.css';

interface FileFieldProps {
  readonly label: string;
  readonly help?: string;
  /** Error message; null if the value is valid. */
  readonly error?: string | null;
  /** The chosen file; null until one is chosen. */
  readonly file: File | null;
  readonly onFile: (file: File) => void;
  /** File extensions or media types of the files that the user can choose. */
  readonly types?: readonly string[];
  readonly isDisabled?: boolean;
}

/** A button that opens the browser's file dialog, and the name and size of the chosen file. */
export function FileField(props: FileFieldProps): ReactNode {
  const { label, help, error = null, file, onFile, types, isDisabled = false } = props;
  const { say, format } = useText();
  const id = useId();
  return (
    <div
      className={styles['field']}
      role="group"
      aria-labelledby={`${id}-label`}
      aria-describedby={`${id}-about`}
    >
      <span id={`${id}-label`} className={styles['label']}>
        {label}
      </span>
      <div className={styles['choice']}>
        <FileTrigger
          {...(types !== undefined && { acceptedFileTypes: [...types] })}
          onSelect={(files) => {
            const chosen = files?.[0];
            if (chosen !== undefined) onFile(chosen);
          }}
        >
          <Button icon={FileUp} isDisabled={isDisabled}>
            {say(file === null ? 'file.choose' : 'file.other')}
          </Button>
        </FileTrigger>
        {file !== null && (
          <span className={styles['chosen']}>
            <bdi>{file.name}</bdi> <span className="quiet">{format.bytes(file.size)}</span>
          </span>
        )}
      </div>
      <span id={`${id}-about`} className={styles['about']}>
        {help !== undefined && <span className="quiet">{help}</span>}
        {error !== null && (
          <span role="alert" className={styles['error']}>
            {error}
          </span>
        )}
      </span>
    </div>
  );
}
