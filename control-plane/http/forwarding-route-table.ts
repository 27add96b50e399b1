/** The routes of what is asked from whom. Part of `route-table.ts`, whose head says what a row means. */
import { IdParams } from '../../shared/api/fields.ts';
import {
  ForwardZone,
  ForwardZoneCreateBody,
  ForwardZoneList,
  ForwardZoneUpdateBody,
} from '../../shared/api/policy/forward-zones-api.ts';
import { DnsSettings, DnsSettingsBody } from '../../shared/api/settings-api.ts';
import * as zones from '../forward-zones/forward-zone-routes.ts';
import * as settings from '../settings/dns-settings-routes.ts';
import { route } from '../api/route.ts';
import type { Route } from '../api/route.ts';

const SETTINGS_SUMMARY = 'Change the DNS settings; absent fields keep their value';
const TAKEN = { 409: 'the zone is there already' };

export const forwardingRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/forward-zones',
    access: 'viewer',
    tag: 'Forwarding',
    summary: 'All conditional forward zones',
    answer: ForwardZoneList,
    handle: zones.listForwardZones,
  }),
  route({
    method: 'POST',
    path: '/forward-zones',
    access: 'admin',
    tag: 'Forwarding',
    summary: 'Create a forward zone; the longest name that fits a question decides',
    body: ForwardZoneCreateBody,
    status: 201,
    answer: ForwardZone,
    errors: TAKEN,
    handle: zones.createForwardZone,
  }),
  route({
    method: 'GET',
    path: '/forward-zones/{id}',
    access: 'viewer',
    tag: 'Forwarding',
    summary: 'One forward zone',
    params: IdParams,
    answer: ForwardZone,
    handle: zones.readForwardZone,
  }),
  route({
    method: 'PUT',
    path: '/forward-zones/{id}',
    access: 'admin',
    tag: 'Forwarding',
    summary: 'Change a forward zone; absent fields keep their value',
    params: IdParams,
    body: ForwardZoneUpdateBody,
    answer: ForwardZone,
    errors: TAKEN,
    handle: zones.updateForwardZone,
  }),
  route({
    method: 'DELETE',
    path: '/forward-zones/{id}',
    access: 'admin',
    tag: 'Forwarding',
    summary: 'Delete a forward zone; its sockets are closed',
    params: IdParams,
    handle: zones.deleteForwardZone,
  }),
  route({
    method: 'GET',
    path: '/settings',
    access: 'viewer',
    tag: 'Forwarding',
    summary: 'How names of the local network are looked up',
    answer: DnsSettings,
    handle: settings.readSettings,
  }),
  route({
    method: 'POST',
    path: '/settings',
    access: 'admin',
    tag: 'Forwarding',
    summary: SETTINGS_SUMMARY,
    body: DnsSettingsBody,
    answer: DnsSettings,
    handle: settings.changeSettings,
  }),
  route({
    method: 'PUT',
    path: '/settings',
    access: 'admin',
    tag: 'Forwarding',
    summary: SETTINGS_SUMMARY,
    body: DnsSettingsBody,
    answer: DnsSettings,
    handle: settings.changeSettings,
  }),
];
