import type { CheckTexts } from './check-texts.ts';

export const ENGLISH: CheckTexts = {
  title: 'Does this device use Weir?',
  needsScript: 'This check needs JavaScript.',
  checking: 'Checking. This takes a few seconds.',
  phone: 'This phone',
  tablet: 'This tablet',
  computer: 'This computer',
  device: 'This device',
  all: '{device} uses Weir',
  some: '{device} does not always use Weir',
  none: '{device} does not use Weir on {node}',
  allDetail: 'All {count} test names were queried at {node}.',
  someDetail:
    'Only {seen} of {count} test names were queried at {node}. There is probably a second DNS server.',
  noneDetail: 'None of the {count} test names was queried there.',
  failed: 'The check failed',
  failedDetail: 'Weir did not answer ({reason}). Try again.',
  tooMany: 'Too many checks from this network. Try again in a minute.',
  families: 'IPv4 and IPv6',
  familySeen: '{seen} of {count} names, from {clients}',
  familyNotSeen: 'no name',
  oneFamilyAll: 'No query came over {other}, and none is missing: every name was queried over {used}.',
  oneFamilySome:
    'No query came over {other}. The second DNS server may be an {other} address that the router announces.',
  forwarded:
    'The queries came from {client}, but this page was opened from {address}. If those are two devices, a router or another server sends queries on behalf of this one, and Weir cannot distinguish the devices behind it.',
  maybeForwarded:
    'If these are not addresses of this device, a router or another server sends queries on its behalf, and Weir cannot distinguish the devices behind it.',
  limits:
    'This check cannot see a second DNS server that is used only now and then, or a browser that queries its own DNS service first and Weir after that (Firefox with increased protection).',
  nextSteps: 'Next steps',
  steps: [
    'Enter Weir as the only DNS server in the router, or on this device, and reconnect the device. A second DNS server bypasses Weir.',
    'Do the same for IPv6: many routers announce their own IPv6 DNS server.',
    'Turn off secure DNS (DNS over HTTPS) in the browser, and Private DNS on Android.',
    'Turn off VPNs, proxies and iCloud Private Relay, and check again.',
    'Weir may refuse the network of this device: see Access under Devices in the dashboard.',
    'If there are several Weir servers, another one may have been queried.',
  ],
  guides: 'Guides for routers and devices',
  askTitle: 'Is a page blocked?',
  askName: 'Name or address of the page',
  askButton: 'Ask to unblock',
  askOutcomes: {
    asked: 'Your request is shown in the dashboard. It expires after a day.',
    already_asked: 'This device has an open request already. Wait for its answer.',
    not_blocked: 'This name is not blocked for this device.',
    unknown_device: 'Weir has not received a query from this device yet. Open any page and try again.',
  },
  askInvalid: 'This is not a domain name.',
  askRefused:
    'Weir accepts no requests from here: this device may not query Weir, or a proxy hides its address.',
  askTooMany: 'Too many requests. Try again later.',
  again: 'Check again',
  dashboard: 'Dashboard',
};
