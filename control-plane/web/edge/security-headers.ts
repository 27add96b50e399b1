/** Header fields of every response of the web server: the fields of helmet, and some that helmet omits. */
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import helmet from 'helmet';

/** Directives of a content policy, each with its sources. */
export type ContentDirectives = Readonly<Record<string, readonly string[]>>;

/** For responses other than pages, and as a base for pages: no loading, no framing, no script from text. */
const STRICT: ContentDirectives = {
  'default-src': ["'none'"],
  'base-uri': ["'none'"],
  'form-action': ["'none'"],
  'frame-ancestors': ["'none'"],
  'require-trusted-types-for': ["'script'"],
  'trusted-types': ["'none'"],
};

/** A Content-Security-Policy that allows only the given sources. */
export function contentPolicy(allowed: ContentDirectives = {}): string {
  return Object.entries({ ...STRICT, ...allowed })
    .map(([directive, sources]) => [directive, ...sources].join(' '))
    .join('; ');
}

/** HSTS for half a year; not for subdomains, which may belong to other services. */
const TRANSPORT = { maxAge: 180 * 24 * 3600, includeSubDomains: false };

/** Helmet's fields except for the content policy, which pages replace with their own. */
function helmetWith(
  isSecure: boolean,
  strictTransportSecurity: false | typeof TRANSPORT,
): ReturnType<typeof helmet> {
  return helmet({
    contentSecurityPolicy: false,
    xFrameOptions: { action: 'deny' },
    strictTransportSecurity,
    // Over plain HTTP, browsers ignore these fields and log an error and a warning on each page.
    crossOriginOpenerPolicy: isSecure,
    originAgentCluster: isSecure,
  });
}

/** Features that no page of Weir uses, so that injected scripts cannot use them either. */
const PERMISSIONS = [
  'accelerometer',
  'autoplay',
  'camera',
  'display-capture',
  'encrypted-media',
  'fullscreen',
  'geolocation',
  'gyroscope',
  'magnetometer',
  'microphone',
  'midi',
  'payment',
  'picture-in-picture',
  'publickey-credentials-get',
  'screen-wake-lock',
  'usb',
  'xr-spatial-tracking',
]
  .map((feature) => `${feature}=()`)
  .join(', ');

const DATA_POLICY = contentPolicy();

/** Sets the fields; Strict-Transport-Security only over TLS, and only if Weir itself serves TLS. */
export function securityHeaders({ isHttps }: { readonly isHttps: boolean }): RequestHandler {
  const plain = helmetWith(false, false);
  const secured = helmetWith(true, isHttps && TRANSPORT);
  return (request: Request, response: Response, next: NextFunction): void => {
    response.setHeader('Content-Security-Policy', DATA_POLICY);
    response.setHeader('Permissions-Policy', PERMISSIONS);
    response.setHeader('Cache-Control', 'no-store');
    (request.secure ? secured : plain)(request, response, next);
  };
}
