/**
 * The lines about uploads of other programs that cannot be imported, by code. They are part of the closed set of
 * `fault-lines.ts`.
 */
export const UPLOAD_LINES = {
  upload_large: 'the file is too large',
  upload_rows: 'the file would create {count} rows; the maximum for one import is {max}',
  upload_unknown:
    'Weir does not recognise which program the file is from; name it with --format, or with format in the API: {formats}',
  upload_slow: 'it takes longer than {secs} s',
  upload_unreadable: 'the file cannot be read: {reason}',
  upload_thread_ended: 'the file cannot be read: its thread ended',
  // Archives
  gzip_damaged: 'the gzip file cannot be unpacked: {reason}',
  zip_damaged: 'the zip file is damaged: {reason}',
  zip_damaged_at: 'the zip file is damaged at {file}',
  zip_files: 'the zip file has more than {max} files',
  zip_twice: 'the zip file has {file} twice',
  zip_large: 'the unpacked zip file is too large',
  zip_link: '{file} in the zip file is a link or a device',
  zip_encrypted: '{file} in the zip file is encrypted',
  tar_damaged: 'the tar is damaged: {reason}',
  tar_files: 'the tar has more than {max} files',
  tar_twice: 'the tar has {file} twice',
  tar_large: 'the unpacked tar is too large',
  tar_link: '{file} in the tar is a link or a device',
  tar_outside: '{file} in the tar is outside of it',
  // Files of any program
  file_damaged: '{file} is damaged: {reason}',
  file_large: '{file} is too large',
  file_line: '{file}, line {line}: {reason}',
  file_not_yaml: '{file}, line {line}: not YAML ({reason})',
  file_odd_yaml: '{file} is not valid YAML, or has too many aliases or levels',
  file_not_json: '{file} is not JSON',
  file_values: '{file} contains too many values',
  file_levels: '{file} is nested too deeply',
  file_version: '{file} has version {version}; Weir reads up to {max}',
  file_short: '{file} ends too early',
  file_without_rows: '{file} is not a list of rows',
  table_rows: '{file}: {table} has too many rows',
  table_odd: '{file}: {table} is not an ordinary table',
  table_long: '{file}: {table} has a value that is too long',
  // Files of certain programs
  adguard_missing: 'the upload does not contain {file}',
  adguard_without_number: 'the file has no schema_version with a number, so it is not an {file}',
  adguard_without_schema: '{file} has no schema_version',
  adguard_old: '{file} has schema {version}; Weir reads {min} and newer: upgrade AdGuard Home first',
  not_blocky: 'this is not a configuration of blocky',
  not_controld: 'this is not a folder of Control D',
  not_hosts: 'this is not a hosts file: {count} of its lines are not an address with names',
  not_nextdns: 'this is not a profile of NextDNS',
  not_pihole: 'this is not an export of Pi-hole: it has neither lists nor domains',
  not_technitium: 'this is not a backup of a Technitium DNS Server',
  not_technitium_file: '{file} is not this kind of Technitium file',
} as const;

/** Code of an upload that cannot be imported. */
export type UploadCode = keyof typeof UPLOAD_LINES;
