/** Decisions of the household, which the policy over the API and the made-up log share. */

/** The children's devices are offline from half past nine to half past six. */
export const BEDTIME = { name: 'Bedtime', fromMinute: 21 * 60 + 30, toMinute: 6 * 60 + 30 } as const;

/** A custom service. */
export const CHATTER = { name: 'Chatter', domains: ['chatter.example'] } as const;

/** A rule for the children. */
export const PRIZES = { name: 'Games of chance', domain: 'lootbox.example' } as const;

/** An expression. */
export const TELEMETRY = { name: 'Telemetry', pattern: '^telemetry[.]', names: /^telemetry[.]/ } as const;
