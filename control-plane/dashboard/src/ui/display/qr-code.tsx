/** QR code, dark on light in every theme, as cameras expect. */
import { useMemo } from 'react';
import type { ReactNode } from 'react';
import { encode } from 'uqr';
import styles from './qr-code.module.css';

interface QrCodeProps {
  readonly text: string;
  /** Purpose of the code, for screen readers. */
  readonly label: string;
}

/** The code with the quiet zone around it. */
export function QrCode({ text, label }: QrCodeProps): ReactNode {
  const { data, size } = useMemo(() => encode(text, { border: 3 }), [text]);
  const path = data
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
    .join('');
  return (
    <svg
      className={styles['code']}
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
    >
      <path d={path} />
    </svg>
  );
}
