/** A certificate and its key from files. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import { fieldProblem } from '../../../api/problem-text.ts';
import { useChange } from '../../../api/use-change.ts';
import { useText } from '../../../i18n/text.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { FileField } from '../../../ui/controls/file-field.tsx';
import { FormFault } from '../../../ui/display/form-fault.tsx';
import { Bar, Card, Stack } from '../../../ui/display/page.tsx';

const FIELDS = ['cert', 'key'] as const;
type Field = (typeof FIELDS)[number];
const TYPES = ['.pem', '.crt', '.cer', '.key'];

/** The card. */
export function CertificateForm(): ReactNode {
  const { say } = useText();
  const [files, setFiles] = useState<Readonly<Partial<Record<Field, File>>>>({});
  const { cert, key } = files;
  const upload = useChange('POST /tls/upload', {
    done: 'tls.replaced',
    quiet: true,
    onDone: () => setFiles({}),
  });
  const send = (): void => {
    const body = new FormData();
    for (const field of FIELDS) if (files[field] !== undefined) body.set(field, files[field]);
    void upload.run({ body });
  };
  return (
    <Card title={say('tls.upload')}>
      <Stack>
        <FormFault failure={upload.failure} fields={FIELDS} />
        {FIELDS.map((field) => (
          <FileField
            key={field}
            label={say(`tls.upload.${field}`)}
            help={say(`tls.upload.${field}.help`)}
            types={TYPES}
            file={files[field] ?? null}
            error={fieldProblem(upload.failure, field)}
            onFile={(file) => {
              upload.reset();
              setFiles({ ...files, [field]: file });
            }}
          />
        ))}
        <Bar>
          <Button
            kind="main"
            isPending={upload.isPending}
            isDisabled={cert === undefined || key === undefined}
            onPress={send}
          >
            {say('tls.upload.action')}
          </Button>
        </Bar>
      </Stack>
    </Card>
  );
}
